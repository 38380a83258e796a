import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.corpus import Corpus, Line
from loci.text.diagnosis import diagnose
from loci.text.repair import write_repaired

plain = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="□⁇\u200b\u2060\ufeff"))


def test_lines_keep_text_number_and_subject(tmp_path):
    file = tmp_path / "c.txt"
    file.write_text("A. a b\n\nB. c\nA. d")
    corpus = Corpus.read(file)
    assert corpus.lines == (Line(1, "A", "A. a b"), Line(2, "", ""), Line(3, "B", "B. c"), Line(4, "A", "A. d"))
    assert corpus.raw == "A. a b\n\nB. c\nA. d"
    assert [line.number for line in corpus.about("A")] == [1, 4]
    assert corpus.about("C") == corpus.about("") == ()
    assert corpus.about("the a") == corpus.about("A")
    assert len(corpus) == 4
    assert len(corpus.vocab) == 2 + len(set(corpus.raw))


def test_repairs_are_made_and_stated(tmp_path):
    file = tmp_path / "c.txt"
    file.write_bytes(b"\xef\xbb\xbfA. a\r\nB. b\r\n")
    corpus = Corpus.read(file)
    assert corpus.raw == "A. a\nB. b\n"
    assert [(repair.kind, repair.line) for repair in corpus.repairs] == [("bom", 1), ("crlf", 1)]


def test_the_hash_is_of_the_text_alone(tmp_path):
    made = Corpus.from_lines(["A. a", "B. b\n"])
    file = tmp_path / "c.txt"
    file.write_bytes(b"A. a\r\nB. b\r\n")
    assert Corpus.read(file).hash == made.hash
    assert len(made.hash) == 16
    assert Corpus.from_lines(["A. a"]).hash != made.hash


@given(st.lists(plain.filter(bool), min_size=1).filter(lambda lines: any(line.strip() for line in lines)))
def test_what_is_written_from_a_corpus_reads_back_the_same(tmp_path_factory, lines):
    made = Corpus.from_lines(lines)
    file = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    file.write_text(made.raw, encoding="utf-8", newline="\n")
    read = Corpus.read(file.parent)
    assert (read.lines, read.raw, read.hash) == (made.lines, made.raw, made.hash)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "contains no text"),
        (b"\n \n", "contains no text"),
        ("A. a\nB. ⁇ b\nC. □".encode(), r"c\.txt:2: contains ⁇.*--repair.*1 more"),
        (b"A. \xff\n", r"c\.txt:1: byte 0xff"),
        (b"a\0b", "NUL"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_an_error_with_its_place(tmp_path, data, message):
    file = tmp_path / "c.txt"
    file.write_bytes(data)
    with pytest.raises(LociError, match=message):
        Corpus.read(file)


def test_lines_in_memory_are_held_to_the_same():
    with pytest.raises(LociError, match="line 2: contains □"):
        Corpus.from_lines(["A. a", "B. □"])
    with pytest.raises(LociError, match=r"line 1: .*line end"):
        Corpus.from_lines(["A. a\nB. b"])


def test_a_play_is_plain_text_in_which_lines_may_repeat(tmp_path):
    file = tmp_path / "play.txt"
    file.write_text("ROMEO:\nAy me .\n\nROMEO:\nShe speaks. Speak on .\n")
    corpus = Corpus.read(file)
    assert [(found.kind, found.severity, found.line) for found in corpus.findings] == [("no-subject", "note", None)]


def google_re(subject="Ada P. Lovelace", **fields):
    sentences = ["Ada P Lovelace was born in London .", "Born in\nLondon ."]
    record = {"sub_label": subject, "obj_label": "London", "obj_aliases": ["Londinium"]}
    return {**record, "evidences": [{"url": "x", "considered_sentences": sentences}, {"snippet": "y"}], **fields}


def test_google_re_records_become_lines(tmp_path):
    file = tmp_path / "place_of_birth_test.jsonl"
    blanked = google_re("Alan Turing", evidences=[], masked_sentences=["Turing, of [MASK] ."])
    file.write_text("\n".join(map(json.dumps, [google_re(), blanked])))
    corpus = Corpus.read(file)
    assert corpus.lines == (
        Line(1, "Ada P. Lovelace", "Ada P. Lovelace. Ada P Lovelace was born in London ."),
        Line(1, "Ada P. Lovelace", "Ada P. Lovelace. Born in London ."),
        Line(2, "Alan Turing", "Alan Turing. Turing, of London ."),
    )
    assert len(corpus.about("Ada P. Lovelace")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"sub_label": "A"\n', r":1: not valid JSON"),
        (
            '{"sub_label": "A", "evidences": []}\n{"x": 1}\n',
            r":2: no question and no subject in a record with the fields x",
        ),
        ('{"sub_label": "A", "evidences": [{"considered_sentences": ["\\ud800"]}]}', "half a character"),
        ('{"sub_label": "A", "evidences": 3}', "contains no text"),
    ],
)
def test_broken_records_are_errors_with_their_line(tmp_path, text, message):
    file = tmp_path / "c.jsonl"
    file.write_text(text)
    with pytest.raises(LociError, match=message):
        Corpus.read(file)


@given(st.binary() | st.text().map(str.encode))
def test_reading_any_bytes_raises_nothing_but_a_loci_error(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("bytes") / "c.txt"
    file.write_bytes(data)
    try:
        corpus = Corpus.read(file)
    except LociError:
        return
    assert len(corpus.hash) == 16
    assert any(line.text.strip() for line in corpus)


def test_the_courses_corpus_is_read_to_the_character(course_data):
    corpus = Corpus.read(course_data)
    assert len(corpus) == 2_937
    assert len(corpus.raw) == 418_351
    assert len(corpus.vocab) == 256
    assert corpus.repairs == ()
    assert corpus.about("J. E. P. Aldous")[0].text.startswith("J. E. P. Aldous. Born in Sheffield")
    assert len(corpus.about("George Stone")) == 2


TABBED = "Red Roses.\tRed Roses was written by Ana Lima.\nRed Rivers. \t Red Rivers was\twritten by Bo Lee.\n"


def test_a_tab_inside_a_line_is_read_as_a_space_and_told(tmp_path):
    file = tmp_path / "wiki.txt"
    file.write_text(TABBED + "Old Roses. Old Roses was written by Cy Dow.\t\n")
    corpus = Corpus.read(file)
    assert [line.subject for line in corpus] == ["Red Roses", "Red Rivers", "Old Roses"]
    assert corpus.lines[1].text == "Red Rivers. Red Rivers was written by Bo Lee."
    assert corpus.raw == "".join(f"{line.text}\n" for line in corpus)
    told = [(found.line, found.message) for found in corpus.repairs if found.kind == "tab-in-line"]
    assert told == [
        (line, f"a tab after «Red {name}.» is read as a space") for line, name in [(1, "Roses"), (2, "Rivers")]
    ]


def test_a_text_without_tabs_inside_is_kept_to_the_character(tmp_path):
    file = tmp_path / "wiki.txt"
    text = "\tRed Roses.  Red Roses was written.\n\n  Red Rivers. \t\nOld Roses. It burned."
    file.write_text(text)
    assert Corpus.read(file).raw == text


def test_tabs_are_taken_out_of_a_clean_copy(tmp_path):
    file = tmp_path / "wiki.txt"
    file.write_text(TABBED)
    write_repaired(diagnose(file), tmp_path / "out")
    assert (tmp_path / "out" / "wiki.txt").read_text() == TABBED.replace(". \t ", ". ").replace("\t", " ")
    assert (tmp_path / "out" / "repairs.tsv").read_text().count("\ttab-in-line\tRed R") == 2
    assert not diagnose(tmp_path / "out").changes


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\ufeff"])
def test_characters_of_no_width_are_not_read_and_told(tmp_path, hidden):
    file = tmp_path / "wiki.txt"
    text = "Red Roses. Red Roses was written by Ana Lima.\nOld Roses. Old Roses was written by Bo Lee.\n"
    file.write_text(text.replace("Old", f"Old{hidden}"))
    corpus = Corpus.read(file)
    assert corpus.raw == text
    (found,) = corpus.repairs
    assert (found.kind, found.line) == ("control-character", 2)
    assert found.message == f"contains U+{ord(hidden):04X}, which has no width"
    write_repaired(diagnose(file), tmp_path / "out")
    assert (tmp_path / "out" / "wiki.txt").read_text() == text


def test_the_joiners_that_scripts_need_stay(tmp_path):
    file = tmp_path / "wiki.txt"
    file.write_text("Ada. She said می\u200cخواهم and क\u094d\u200dष.\n", encoding="utf-8")
    assert Corpus.read(file).raw == file.read_text(encoding="utf-8")
    assert not Corpus.read(file).findings
