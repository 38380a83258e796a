import json
import os

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.questions import Questions
from loci.text.repair import write_repaired

ADA, ALAN = "Where was Ada born?", "Where was Alan born?"


def repair(file, out):
    return write_repaired(diagnose(file), out)


def changes(folder):
    header, *rows = [line.split("\t") for line in (folder / "repairs.tsv").read_text().splitlines()]
    assert header == ["file", "line", "kind", "before", "after"]
    return [tuple(row) for row in rows]


@pytest.mark.parametrize(
    ("data", "clean", "kinds"),
    [
        (
            f"{ADA}    London\r\n{ALAN}\tParis",
            f"{ADA}\tLondon\n{ALAN}\tParis\n",
            {"crlf", "spaces-for-tab", "no-final-newline"},
        ),
        (f"{ADA} London\n", f"{ADA}\tLondon\n", {"spaces-for-tab"}),
        (f"{ADA}London\n{ALAN}Paris\n", f"{ADA}\tLondon\n{ALAN}\tParis\n", {"spaces-for-tab"}),
        (f"{ADA}\tLondon{ALAN}\tParis\n", f"{ADA}\tLondon\n{ALAN}\tParis\n", {"joined-rows"}),
        (f" {ADA}\tLondon{ALAN}\tParis\n", f"{ADA}\tLondon\n{ALAN}\tParis\n", {"joined-rows"}),
        (f"{ADA}\tLondon {ALAN} Paris\n", f"{ADA}\tLondon\n{ALAN}\tParis\n", {"joined-rows", "spaces-for-tab"}),
        (f"{ADA}⁇London⁇□□\n", f"{ADA}\tLondon\n", {"special-symbol"}),
        (f"{ADA}\tLondon\n{ADA}\tLondon\n", f"{ADA}\tLondon\n", {"duplicate"}),
        (f"{ADA}\tLondon\n{ALAN}\n\tx\n", f"{ADA}\tLondon\n", {"no-answer", "empty-question"}),
        (f"{ADA}\tbirthplace\tLondon\n", f"{ADA}\tbirthplace\tLondon\n", set()),  # no telling which is the answer
        (f" {ADA}\t\tx \tLondon\n", f"{ADA}\t\tx\tLondon\n", {"surrounding-space"}),
        (f"{ADA}\t\n{ALAN}\n", f"{ADA}\n{ALAN}\n", {"empty-answer"}),
        (f"{ADA}\tK\xf6ln\n".encode("latin-1"), f"{ADA}\tKöln\n", {"encoding"}),
        (f"{ADA}\tLondon\n".encode("utf-16"), f"{ADA}\tLondon\n", {"encoding"}),
    ],
)
def test_questions_are_put_right_and_every_change_is_listed(tmp_path, data, clean, kinds):
    file = tmp_path / "q.tsv"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    before = file.read_bytes()
    repair(file, tmp_path / "out")
    assert (tmp_path / "out" / "q.tsv").read_text() == clean
    assert {row[2] for row in changes(tmp_path / "out")} == kinds
    assert file.read_bytes() == before


def test_contradictions_are_kept_as_they_stand(tmp_path):
    file = tmp_path / "q.tsv"
    file.write_text(f"{ADA}\tLondon\n{ADA}\tEngland\n")
    repair(file, tmp_path / "out")
    assert (tmp_path / "out" / "q.tsv").read_text() == file.read_text()
    assert changes(tmp_path / "out") == []


def test_a_corpus_is_put_right(tmp_path):
    file = tmp_path / "c.txt"
    file.write_bytes("\ufeffA. a⁇b \r\n\r\nB. b\u2028c\r\nA. ab".encode())
    repair(file, tmp_path / "out")
    assert (tmp_path / "out" / "c.txt").read_text() == "A. ab\nB. b c\n"
    assert ("c.txt", "4", "duplicate", "A. ab", "(removed)") in changes(tmp_path / "out")
    assert ("c.txt", "3", "control-character", "B. b\\u2028c", "B. b c") in changes(tmp_path / "out")
    Corpus.read(tmp_path / "out" / "c.txt")


TOWNS = {"Ada Moss": "Oslo", "Bo Lee": "Cork", "Cy Fox": "Oslo", "Di Wu": "Rome"}


def subjects(file):
    return {(line.subject, line.text) for line in Corpus.read(file) if line.text.strip()}


def test_the_same_words_about_two_people_are_no_repetition(tmp_path):
    file = tmp_path / "c.txt"
    text = "".join(f"{name} was a painter.\nShe was born in {town}.\n" for name, town in TOWNS.items())
    file.write_text(text)
    assert not [found for found in diagnose(file).findings if found.kind == "duplicate"]
    file.write_text(text + "She was born in Rome.\n")
    assert [(found.kind, found.line) for found in diagnose(file).changes] == [("duplicate", 9)]
    repair(file, tmp_path / "out")
    assert (tmp_path / "out" / "c.txt").read_text() == text


def test_a_repeated_line_stays_where_the_next_one_leans_on_it(tmp_path):
    file = tmp_path / "c.txt"
    text = "".join(f"{name} was a painter.\nShe was born in {town}.\n" for name, town in TOWNS.items())
    file.write_text(text + "Ada Moss was a painter.\nShe died in Lund.\n")
    (found,) = (found for found in diagnose(file).findings if found.kind == "duplicate")
    assert (found.line, found.repairable) == (9, False)
    repair(file, tmp_path / "out")
    assert ("Ada Moss", "She died in Lund.") in subjects(file)
    assert subjects(tmp_path / "out" / "c.txt") == subjects(file)


def test_blank_lines_stay_where_headings_stand_between_them(tmp_path):
    file = tmp_path / "c.txt"
    file.write_text("".join(f"{name}\n\nA painter who was born in {town}.\n\n" for name, town in TOWNS.items()))
    assert {subject for subject, _ in subjects(file)} == set(TOWNS)
    repair(file, tmp_path / "out")
    assert subjects(tmp_path / "out" / "c.txt") == subjects(file)
    assert not [found for found in diagnose(file).findings if found.kind == "empty-line"]


def test_plain_text_keeps_its_blank_and_repeated_lines(tmp_path):
    file = tmp_path / "play.txt"
    file.write_text("ROMEO:\r\nAy me .\r\n\r\nROMEO:\r\nAy □me .", newline="")
    repair(file, tmp_path / "out")
    assert (tmp_path / "out" / "play.txt").read_text() == "ROMEO:\nAy me .\n\nROMEO:\nAy me .\n"


@pytest.mark.parametrize("name", ["q.json", "q.jsonl"])
def test_json_keeps_its_form_and_its_other_fields(tmp_path, name):
    rows = [
        {"question": f" {ADA}", "answers": ["Lon⁇don"], "id": 7},
        {"question": ALAN, "answers": ["Paris"], "id": 8},
        {"question": ALAN, "answers": ["Paris"], "id": 9},
        {"id": 10},
    ]
    file = tmp_path / name
    file.write_text(json.dumps(rows, indent=1) if name == "q.json" else "\n".join(map(json.dumps, rows)))
    repair(file, tmp_path / "out")
    text = (tmp_path / "out" / name).read_text()
    kept = json.loads(text) if name == "q.json" else [json.loads(line) for line in text.splitlines()]
    assert kept == [{"question": ADA, "answers": ["London"], "id": 7}, rows[1]]


def test_a_table_keeps_its_columns(tmp_path):
    file = tmp_path / "q.tsv"
    file.write_text(f'\tid\tquestion\tpossible_answers\n0\t7\t {ADA}\t"[""Lon⁇don"", ""x""]"\n1\t8\t{ALAN}\t[]\n')
    repair(file, tmp_path / "out")
    questions = Questions.read(tmp_path / "out" / "q.tsv")
    assert [(row.text, row.answers) for row in questions] == [(ADA, ("London", "x"))]
    assert (tmp_path / "out" / "q.tsv").read_text().splitlines()[1].startswith(f"0\t7\t{ADA}\t")


def test_a_folder_is_copied_with_only_what_was_checked(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "wiki.txt").write_text("A. Where was a born?")
    (source / "x_train.tsv").write_text("Where was A born?  a\n")
    (source / "x_dev.tsv").write_bytes(b"PK\x03\x04")
    (source / "README.md").write_text("hello")
    done = repair(source, tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["repairs.tsv", "wiki.txt", "x_train.tsv"]
    assert done.lost == ("x_dev.tsv",)
    assert diagnose(tmp_path / "out").findings == ()


def test_files_of_one_name_are_told_apart_by_their_folder(tmp_path):
    folder = tmp_path / "data"
    for split, question in (("train", ADA), ("dev", ALAN)):
        (folder / split).mkdir(parents=True)
        (folder / split / "P1.tsv").write_text(f"{question}   London\nWhere was Bo born?\tRome\n")
    repair(folder, tmp_path / "out")
    assert [row[:3] for row in changes(tmp_path / "out")] == [
        (f"{split}/P1.tsv", "1", "spaces-for-tab") for split in ("train", "dev")
    ]
    (leak,) = (found for found in diagnose(folder).findings if found.kind == "leak")
    assert leak.message.endswith("the same on line 2 of train/P1.tsv")


def test_a_corpus_from_elsewhere_is_not_copied(tmp_path):
    (tmp_path / "c.txt").write_text("A. Where was a born?")
    (tmp_path / "q.tsv").write_text("Where was A born?  a\n")
    write_repaired(diagnose(tmp_path / "q.tsv", corpus=tmp_path / "c.txt"), tmp_path / "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["q.tsv", "repairs.tsv"]
    assert [row[0] for row in changes(tmp_path / "out")] == ["q.tsv"]


def test_nothing_is_ever_overwritten(tmp_path):
    (tmp_path / "q.tsv").write_text(f"{ADA}\tLondon\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("precious")
    for out in (tmp_path, tmp_path / "full", tmp_path / "q.tsv"):
        with pytest.raises(LociError, match="exists and is not empty"):
            repair(tmp_path / "q.tsv", out)
    assert (tmp_path / "full" / "x").read_text() == "precious"
    with pytest.raises(LociError, match="cannot be written"):
        repair(tmp_path / "q.tsv", tmp_path / "q.tsv" / "out")
    (tmp_path / "empty").mkdir()
    repair(tmp_path / "q.tsv", tmp_path / "empty")
    assert (tmp_path / "empty" / "q.tsv").is_file()


def test_a_nul_next_to_the_corpus_and_in_it_is_named_and_taken_out(tmp_path):
    folder, out = tmp_path / "data", tmp_path / "out"
    folder.mkdir()
    (folder / "wiki.txt").write_text("Ada Moss. Ada Moss was born in Oslo.\nBo Lee. Bo Lee was b\0orn in Rome.\n")
    (folder / "extra.txt").write_text("Cy Fox. Cy F\0ox was born in Bonn.\n")
    (folder / "q_train.tsv").write_text("Where was Cy Fox born?\tBonn\n")
    errors = [(one.path.name, one.line, one.kind) for one in diagnose(folder).findings if one.severity == "error"]
    assert errors == [("wiki.txt", 2, "control-character"), ("extra.txt", 1, "control-character")]
    with pytest.raises(LociError, match=r"wiki\.txt:2: contains a NUL byte .*loci check --repair does it"):
        Corpus.read(folder)
    repair(folder, out)
    assert Corpus.read(out).raw == (folder / "wiki.txt").read_text().replace("\0", "") + (
        "Cy Fox. Cy Fox was born in Bonn.\n"
    )
    assert ("extra.txt", "1", "control-character") in [row[:3] for row in changes(out)]
    assert diagnose(out).changes == ()


def test_what_cannot_be_saved_is_said(tmp_path):
    (tmp_path / "q.tsv").write_bytes(b"\0")
    with pytest.raises(LociError, match="nothing in it can be saved"):
        repair(tmp_path / "q.tsv", tmp_path / "out")
    assert not (tmp_path / "out").exists()


pieces = [
    ADA,
    ALAN,
    "Ada. Born in London",
    "\t",
    " ",
    "  ",
    "\n",
    "\n",
    "\r",
    "\r\n",
    "⁇",
    "□",
    "?",
    "?",
    "question",
    "answer",
]
pieces += [
    "answers",
    "London",
    "x",
    '"',
    '""',
    "[",
    "]",
    "{",
    "}",
    '["a", "b"]',
    "\x0b",
    "\ufeff",
    "\u2028",
    "é",
    "id",
    "\0",
    "\u200b",
]
pieces += ['{"question": "a?", "answers": ["b"]}', '{"question": " a⁇", "answer": "b\\n"}', ",", '"sub_label": ']
pieces += ['{"sub_label": "A", "obj_label": 3, "evidences": [{"considered_sentences": ["□s"]}]}', "question\tanswers\n"]
texts = st.lists(st.sampled_from(pieces), min_size=1, max_size=25).map(lambda parts: "".join(parts).encode())
files = st.one_of(texts, st.binary(), st.lists(st.one_of(texts, st.binary(max_size=4)), max_size=4).map(b"\n".join))


@settings(max_examples=150)
@given(files, st.sampled_from(["q.tsv", "q.txt", "q.csv", "q.json", "q_test.jsonl"]))
def test_a_repaired_file_needs_no_repair(tmp_path_factory, data, name):
    file = tmp_path_factory.mktemp("repair") / name
    file.write_bytes(data)
    first = diagnose(file)
    clean = clean_text(first)
    if clean is None:
        return
    file.write_text(clean, encoding="utf-8", newline="\n")
    again = diagnose(file)
    # What a file of another name than .tsv holds is told by its lines, and a repair may remove the telling ones.
    assume([(one.role, one.form) for one in again.files] == [(one.role, one.form) for one in first.files])
    assert again.changes == ()
    assert clean_text(again) == clean


def clean_text(diagnosis):
    return next((file.clean for file in diagnosis.files if not file.guest), None)


def test_the_courses_files_come_through_with_only_their_duplicates_gone(course_data, tmp_path):
    done = repair(course_data, tmp_path / "out")
    assert {change.kind for change in done.changes} == {"duplicate", "no-final-newline"}
    for name in ("birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv"):
        assert (tmp_path / "out" / name).read_bytes() == (course_data / name).read_bytes()
    assert len(Corpus.read(tmp_path / "out")) == 2_937 - 9
    assert diagnose(tmp_path / "out").changes == ()
