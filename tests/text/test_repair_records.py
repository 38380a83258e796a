"""Repair of files of records: documents, LAMA's facts, and lists that are broken somewhere."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.formats import FORMATS
from loci.text.formats.base import Format, Passage
from loci.text.questions import Questions
from loci.text.repair import write_repaired
from loci.training.sources import TrainingData

TOWNS = {"Ada Moss": "Oslo", "Bo Lind": "Rome", "Cy Berg": "Lund"}
ASKED = "".join(f"Where was {name} born?\t{town}\n" for name, town in TOWNS.items())


def written(records, name):
    return json.dumps(records, indent=1) if name.endswith(".json") else "".join(f"{json.dumps(r)}\n" for r in records)


def read(file):
    text = file.read_text()
    return json.loads(text) if file.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def repair(path, out):
    return write_repaired(diagnose(path), out)


def texts(path):
    return [line.text for line in Corpus.read(path)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "birth_train.tsv").write_text(ASKED)
    return tmp_path / "data"


def document(name, more=""):
    return {"title": name, "text": f"# {name}\n{name} was born in {TOWNS[name]}.{more}", "id": 7}


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.json"])
def test_documents_are_repaired_in_their_form(folder, tmp_path, name):
    ada, bo, cy = map(document, TOWNS)
    (folder / name).write_text(written([ada, document("Bo Lind", "\nHe was\u2028tall\u2047."), {"id": 8}, cy], name))
    done = repair(folder, tmp_path / "out")
    assert (done.written, done.lost) == ((name, "birth_train.tsv"), ())
    bo["text"] += "\nHe was tall."
    assert read(tmp_path / "out" / name) == [ada, bo, cy]
    assert {change.kind for change in done.changes if change.path.name == name} >= {"special-symbol", "unknown-record"}
    again = diagnose(tmp_path / "out")
    assert again.ok
    assert again.changes == ()
    data = TrainingData.read(tmp_path / "out")
    assert len(data.reading_examples) == len(data.questions) == 3
    assert "Bo Lind. He was tall." in [line.text for line in data.corpus]


def test_documents_alone_are_repaired_and_sound_ones_stay_as_they_are_written(tmp_path):
    line = '{"title":"Ada Moss",  "text":"Born in Oslo.\\nDied in Cork."}'
    (tmp_path / "docs.jsonl").write_text(line)
    repair(tmp_path / "docs.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "docs.jsonl").read_text() == line + "\n"


ODD = {
    "two on a line": lambda one, two, more: f"{one} {two}\n{more}\n",
    "no space": lambda one, two, more: f"{one}{two}\n{more}\n",
    "commas": lambda one, two, more: f"{one},\n{two},\n{more}\n",
    "several lines": lambda one, two, more: "\n".join(json.dumps(json.loads(r), indent=2) for r in (one, two, more)),
    "one of them": lambda one, two, more: f"{one}\n{json.dumps(json.loads(two), indent=1)}\n\n{more}\n",
}


@pytest.mark.parametrize("how", ODD)
def test_json_lines_that_are_not_one_a_line_are_all_read_and_written_one_a_line(folder, tmp_path, how):
    docs = [document(name, " {") for name in TOWNS]
    (folder / "docs.jsonl").write_text(ODD[how](*map(json.dumps, docs)))
    diagnosis = diagnose(folder)
    assert diagnosis.ok
    assert [one.kind for one in diagnosis.findings if one.severity == "warning"] == ["odd-lines"]
    assert len(TrainingData.read(folder).reading_examples) == 3
    repair(folder, tmp_path / "out")
    assert read(tmp_path / "out" / "docs.jsonl") == docs
    assert diagnose(tmp_path / "out").changes == ()


def test_a_broken_record_among_odd_lines_costs_no_other(tmp_path):
    asked = [json.dumps({"question": f"Where was {name} born?", "answer": town}) for name, town in TOWNS.items()]
    text = f"{asked[0]} nonsense {asked[1]}\n" + '{\n  "question": "Wh\n}\n' + f"{asked[2]}\n"
    (tmp_path / "q_train.jsonl").write_text(text)
    diagnosis = diagnose(tmp_path / "q_train.jsonl")
    errors = [(one.kind, one.line) for one in diagnosis.findings if one.severity == "error"]
    assert errors == [("not-json", 1), ("not-json", 2)]
    repair(tmp_path / "q_train.jsonl", tmp_path / "out")
    assert (tmp_path / "out" / "q_train.jsonl").read_text().splitlines() == asked


def test_no_repair_is_promised_where_nothing_can_be_saved(folder):
    (folder / "birth_train.tsv").unlink()
    (folder / "birth_train.jsonl").write_text(
        '{"question": "Where?", "answer": true}\n{"question": "Who?", "answer"}\n'
    )
    (folder / "docs.jsonl").write_text(written([document("Ada Moss")], "docs.jsonl"))
    diagnosis = diagnose(folder)
    assert not diagnosis.ok
    assert diagnosis.changes == ()


def fact(name, *sentences, **fields):
    told = {"evidences": [{"considered_sentences": list(sentences)}]} if sentences else {}
    return {"sub_label": name, "obj_label": TOWNS[name], "predicate_id": "P19", **told, **fields}


def test_facts_that_are_only_the_corpus_are_repaired_too(folder, tmp_path):
    facts = [fact(name, f"{name} is from \u2047{town} .") for name, town in TOWNS.items()]
    (folder / "facts.jsonl").write_text(written([*facts, {"sub_label": ""}], "facts.jsonl"))
    assert repair(folder, tmp_path / "out").written == ("facts.jsonl", "birth_train.tsv")
    assert texts(tmp_path / "out") == [f"{name}. {name} is from {town} ." for name, town in TOWNS.items()]
    assert diagnose(tmp_path / "out").findings == ()


@pytest.mark.parametrize("alone", [False, True])
def test_relations_toml_goes_with_the_questions(folder, tmp_path, alone):
    (folder / "wiki.txt").write_text("".join(f"{name}. Is from {town} .\n" for name, town in TOWNS.items()))
    (folder / "relations.toml").write_bytes(b'home = "Where was {subject} born?"  # as it stands\r\n')
    done = repair(folder / "birth_train.tsv" if alone else folder, tmp_path / "out")
    assert done.copied == ("relations.toml",)
    assert (tmp_path / "out" / "relations.toml").read_bytes() == (folder / "relations.toml").read_bytes()
    assert {row.relation for row in Questions.read(tmp_path / "out", split="train")} == {"home"}


def test_a_corpus_of_a_form_that_cannot_be_written_is_said_to_be_lost(folder, tmp_path):
    FORMATS.add(
        "cards",
        Format(
            "cards",
            (".cards",),
            lambda source: source.text.startswith("%"),
            passages=lambda source, _: [Passage(2, source.lines()[1], "Ada Moss")],
        ),
    )
    try:
        (folder / "docs.cards").write_text("%\nAda Moss. Born in Oslo\n")
        done = repair(folder, tmp_path / "out")
    finally:
        FORMATS.remove("cards")
    assert (done.written, done.lost) == (("birth_train.tsv",), ("docs.cards",))


def test_facts_asked_again_are_kept_where_they_say_more(tmp_path):
    one, two = "Moss was born in Oslo .", "She came from Oslo ."
    records = [
        fact("Ada Moss", one),
        fact("Ada Moss", two),
        fact("Ada Moss", f" {two}\u2047", one, id=3),  # nothing new
        fact("Ada Moss", id=4),
        fact("Ada Moss", masked_sentences=["[MASK] is her home ."]),
        fact("Bo Lind", "He is from Rome ."),
    ]
    file = tmp_path / "facts.jsonl"
    file.write_text(written(records, file.name))
    done = repair(file, tmp_path / "out")
    assert read(tmp_path / "out" / "facts.jsonl") == [*records[:2], *records[4:]]
    assert [change.line for change in done.changes if change.kind == "duplicate"] == [3, 4]
    assert texts(tmp_path / "out" / "facts.jsonl")[:3] == [
        "Ada Moss. Moss was born in Oslo .",
        "Ada Moss. She came from Oslo .",
        "Ada Moss. Oslo is her home .",
    ]
    again = diagnose(tmp_path / "out" / "facts.jsonl")
    assert again.changes == ()
    told = [(found.line, found.severity, found.message) for found in again.findings if found.kind == "duplicate"]
    assert [(line, severity) for line, severity, _ in told] == [(2, "note"), (3, "note")]
    assert told[0][2] == "asked as on line 1, with another sentence: «Where was Ada Moss born?»"


def test_a_sentence_that_two_records_share_stays_and_is_not_said_to_be_removed(tmp_path):
    records = [fact("Ada Moss", " A home in Oslo . "), fact("Ada Moss", " A home in Oslo . ", predicate_id="P20")]
    file = tmp_path / "facts.jsonl"
    file.write_text(written(records, file.name))
    assert [found.line for found in diagnose(file).findings if found.kind == "duplicate"] == [2]
    assert repair(file, tmp_path / "out").changes == ()
    assert (tmp_path / "out" / "facts.jsonl").read_text() == file.read_text()


def question(n, **more):
    return json.dumps({"question": f"Where was A{n} born?", "answers": ["x"], **more})


BAD = question(2).replace('"x"', "x")
HALF = question(2).replace('"x"]', '"x]')  # its string ends in the next record
NESTED = question(2, said=[{"by": "a"}, {"by": "b"}]).replace('"x"', "x")


@pytest.mark.parametrize(
    ("text", "kept", "lines"),
    [
        (f"[{question(1)}\n{question(2)},\n{question(3)}]", [1, 2, 3], [(2, "a comma is missing before this record")]),
        (
            f"[{question(1)},\n{BAD},\n{question(3)},\n{question(4)}]",
            [1, 3, 4],
            [(2, "not valid JSON: Expecting value")],
        ),
        (f"[{BAD},\n{question(3)}]", [3], [(1, "not valid JSON: Expecting value")]),
        (f"[{question(1)},\n{HALF}, {question(3)}]", [1, 3], [(2, "not valid JSON: Expecting ',' delimiter")]),
        (f"[{question(1)},\n{NESTED},\n{question(3)}]", [1, 3], [(2, "not valid JSON: Expecting value")]),
        (
            f"[{question(1)},\n{BAD},\n\n{BAD}\n,{question(3)}]",
            [1, 3],
            [(2, "not valid JSON: Expecting value (lines 2 to 5 are not read)")],
        ),
        (f"[{question(1)}]\n[{question(2)}]", [1, 2], [(2, "text after the end of the list")]),
        (f"[{question(1)},\n{question(2)}\n", [1, 2], [(2, "the list breaks off: no ] at its end")]),
        (
            f"[{question(1)},\n{question(2)[:20]}",
            [1],
            [(2, 'not valid JSON: Unterminated string starting at «"Where »')],
        ),
        (f"[{question(1)},\n{'{' * 50_000}\n{question(2)}]", [1, 2], None),
        (f"[{question(1)},\n{question(2, deep=0)[:-2]}{'[' * 50_000}]", [1], [(2, "not valid JSON: cannot be read")]),
    ],
)
def test_a_broken_list_loses_only_what_cannot_be_read(tmp_path, text, kept, lines):
    file = tmp_path / "q_train.json"
    file.write_text(text)
    broken = [(found.line, found.message) for found in diagnose(file).findings if found.kind == "not-json"]
    assert lines is None or broken == lines
    repair(file, tmp_path / "out")
    assert read(tmp_path / "out" / file.name) == [json.loads(question(n)) for n in kept]
    assert diagnose(tmp_path / "out").changes == ()


PIECES = ["[", "[", "]", ",", ",", "\n", "\n", "{", "}", '"', "x", "\u2047", '{"title": "A", "text": "A. b\\nc"}']
PIECES += [
    '{"title": " A\u25a1", "text": "A\\n## b\\n\u2047 c. D \\u2028e"}',
    '{"title": "\u2047", "text": ""}',
    "\r\n",
]
PIECES += ['{"sub_label": "A", "obj_label": 3, "masked_sentences": [" x "]}', '{"sub_label": "A\u2047"}', question(1)]
PIECES += ['{"sub_label": "A", "obj_label": 3, "evidences": [{"considered_sentences": ["\u25a1s", "t "]}]}']


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(["c.json", "c.jsonl"]), st.booleans()
)
def test_repaired_records_need_no_repair(tmp_path_factory, text, name, asked):
    folder = tmp_path_factory.mktemp("records")
    (folder / name).write_text(text, encoding="utf-8", newline="")
    if asked:  # then the records are the corpus alone
        (folder / "x_train.tsv").write_text(ASKED)
    assume(asked or text.lstrip()[:1] in ("[", "{"))
    path = folder if asked else folder / name
    first = diagnose(path)
    own = [file for file in first.files if file.path.name == name and not file.guest]
    assume(own and own[0].clean is not None)
    (folder / name).write_text(own[0].clean, encoding="utf-8", newline="\n")
    again = diagnose(path)
    assume([file.form for file in again.files] == [file.form for file in first.files])
    assert again.changes == ()
    assert [file.clean for file in again.files if file.path.name == name and not file.guest] == [own[0].clean]
