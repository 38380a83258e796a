import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.answering.evidence import Evidence, EvidenceIndex
from loci.text.corpus import Corpus

CORPUS = Corpus.from_lines(
    [
        "Ada Byrne. Ada Byrne was born in Cork and lived in Milano .",
        "Ada Byrne. Ada Byrne wrote about Cork, the city of Cork .",
        "Bo Lind. Bo Lind, a Swedish singer, was born in Lund .",
        "Cy Lind. Cy Lind is a brother of Bo Lind .",
        "",
    ]
)


def test_the_subject_comes_first_and_the_answer_is_marked():
    found = EvidenceIndex(CORPUS).find("Where was Ada Byrne born?", subject="Ada Byrne", answer="Cork", limit=3)
    assert [(e.number, e.found_by) for e in found[:2]] == [(1, "subject"), (2, "subject")]
    assert all(e.found_by == "search" for e in found[2:])
    assert [found[1].text[a:b] for a, b in found[1].marks] == ["Cork", "Cork"]
    assert found[0].supports


def test_search_finds_lines_by_their_words_and_none_twice():
    found = EvidenceIndex(CORPUS).find("Where was Bo Lind born?", subject="Bo Lind", answer="Lund", limit=5)
    assert [e.number for e in found] == [3, 4]
    assert [e.found_by for e in found] == ["subject", "search"]
    assert found[1].score > 0
    assert not found[1].supports


def test_an_unknown_subject_is_searched_for():
    index = EvidenceIndex(CORPUS)
    assert not index.knows("Bea Lind")
    assert index.knows("Bo Lind")
    found = index.find("Where was Bea Lind born?", subject="Bea Lind", answer="Lund", limit=1)
    assert (found[0].number, found[0].found_by) == (3, "search")
    assert index.find("zzz", answer="", limit=2) == []


def test_nothing_to_search():
    assert EvidenceIndex(Corpus.from_lines([])).find("q", subject="x", answer="y") == []


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=3))
def test_segments_are_the_text(text, answer):
    corpus = Corpus.from_lines([f"S. {text}x"])
    found = EvidenceIndex(corpus).find("q", subject="S", answer=answer, limit=1)[0]
    assert "".join(piece for piece, _ in found.segments()) == found.text
    assert all(piece == answer for piece, marked in found.segments() if marked)


def test_as_dict():
    found = EvidenceIndex(CORPUS).find("q", subject="Bo Lind", answer="Lund", limit=1)[0].as_dict()
    assert found["line"] == 3
    assert found["marks"] == [[found["text"].index("Lund"), found["text"].index("Lund") + 4]]


def test_missing_library_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "bm25s", None)
    with pytest.raises(Exception, match="needs bm25s"):
        EvidenceIndex(CORPUS).find("q", subject="nobody")


def test_of_several_files_a_line_is_named_by_its_file_and_its_number_there(tmp_path):
    (tmp_path / "wiki.txt").write_text("Ada Byrne. Ada Byrne was born in Cork .\n\n")
    (tmp_path / "more.txt").write_text("Bo Lind. Bo Lind was born in Lund .\nCy Lind. Cy Lind was born in Kiel .\n")
    index = EvidenceIndex(Corpus.read(tmp_path))
    found = index.find("Where was Cy Lind born?", subject="Cy Lind", answer="Kiel", limit=3)
    assert {(one.subject, one.where) for one in found} == {("Cy Lind", "more.txt:2"), ("Bo Lind", "more.txt:1")}
    assert Evidence.from_dict(found[0].as_dict()) == found[0]
    assert found[0].as_dict()["file"] == "more.txt"
    (tmp_path / "more.txt").unlink()
    (alone,) = EvidenceIndex(Corpus.read(tmp_path)).find("Where was Ada Byrne born?", subject="Ada Byrne", limit=1)
    assert (alone.where, "file" in alone.as_dict()) == ("1", False)
