"""Many questions are the same as few: as columns, or kept in arrays next to their files and made anew if need be."""

import dataclasses
import json

import numpy as np
import pytest

from loci.errors import LociError
from loci.manifest import hashes_of, write_manifest
from loci.text import question_store, questions
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.question import PackedQuestions
from loci.text.questions import Questions

BORN = "".join(
    f"Where was Añna {name} born?\t{place}\n" for name, place in zip("BCDEFG", ["Faro", "Évora"] * 3, strict=True)
)
MADE = "".join(f"Where is the {name} Desk made?\tLund\n" for name in ("Alba", "Brio", "Cato"))
HEADED = 'question\tsubject\tanswers\nWho is Bo?\tBo\t["a", "b"]\nWho is Ida?\tIda\t["c"]\n'


@pytest.fixture
def packing(monkeypatch):
    monkeypatch.setattr(questions, "PACKED_FROM", 1)


@pytest.fixture
def keeping(packing, monkeypatch):
    monkeypatch.setattr(question_store, "LARGE", 1)


def both(path, monkeypatch, **options):
    """Read as objects, and as columns."""
    with monkeypatch.context() as patch:
        patch.setattr(questions, "PACKED_FROM", 1 << 30)
        patch.setattr(question_store, "LARGE", 1 << 30)
        plain = Questions.read(path, **options)
    return plain, Questions.read(path, **options)


def assert_same(plain, packed):
    assert isinstance(plain.rows, tuple)
    assert isinstance(packed.rows, PackedQuestions)
    assert [*packed] == [*plain]
    assert [row.path for row in packed] == [row.path for row in plain]
    assert [packed[at] for at in range(-len(plain), len(plain))] == [plain[at] for at in range(-len(plain), len(plain))]
    for part in (slice(1, 3), slice(None, -1), slice(3, 1), slice(None, None, 2), slice(1, None, 3)):
        assert [*packed[part]] == [*plain[part]]
        assert packed[part].hash == plain[part].hash
    names = ("path", "relations", "findings", "hash", "subjects", "answers", "characters")
    for name in names:
        assert getattr(packed, name) == getattr(plain, name), name
    assert [*packed.answered] == [*plain.answered]
    assert {name: [*own] for name, own in packed.by_relation().items()} == {
        name: [*own] for name, own in plain.by_relation().items()
    }
    assert [*packed.by_relation()] == [*plain.by_relation()]
    for block in range(20, 45):
        assert questions.misfits(packed, None, block) == questions.misfits(plain, None, block)
    with pytest.raises(IndexError):
        packed.rows[len(packed)]


@pytest.mark.parametrize(
    "text", [BORN, BORN + MADE, HEADED, "Where was Bo born?\nWhere was Ida born?\n", BORN + "Odd one?\tyes\n"]
)
def test_columns_are_the_same_questions(text, tmp_path, packing, monkeypatch):
    file = tmp_path / "train.tsv"
    file.write_text(text, encoding="utf-8")
    assert_same(*both(file, monkeypatch))


def test_kept_files_are_the_same_questions(tmp_path, keeping, monkeypatch):
    (tmp_path / "born_train.tsv").write_text(BORN, encoding="utf-8")
    (tmp_path / "made_train.tsv").write_text(MADE, encoding="utf-8")
    for _ in range(2):
        assert_same(*both(tmp_path, monkeypatch, split="train"))
    made = tmp_path / "born_train.tsv.compiled" / "manifest.json"
    before = made.stat().st_mtime_ns
    Questions.read(tmp_path, split="train")
    assert made.stat().st_mtime_ns == before, "read once"
    (tmp_path / "made_train.tsv").write_text(MADE.replace("Lund", "Oslo"), encoding="utf-8")
    assert "Oslo" in Questions.read(tmp_path, split="train").answers, "another file"


def test_the_corpus_that_forms_are_found_by_counts(tmp_path, keeping):
    file = tmp_path / "asked.tsv"
    file.write_text("What of Bo Li now?\tx\nWhat of Ida Bo Li now?\ty\n", encoding="utf-8")
    for names in (("Bo Li", "Ida Bo Li"), ("Bo", "Ida Bo")):
        corpus = Corpus.from_lines([f"{name}. {name} is here ." for name in names])
        assert Questions.read(file, subjects=corpus.by_subject).subjects == names
    (tmp_path / "relations.toml").write_text('of = "What of {subject} now?"\n', encoding="utf-8")
    assert Questions.read(file).subjects == ("Bo Li", "Ida Bo Li")


def test_a_file_with_findings_is_not_kept_and_one_with_errors_refused(tmp_path, keeping):
    file = tmp_path / "train.tsv"
    file.write_text(BORN + "\n" + BORN.splitlines()[0] + "\n", encoding="utf-8")
    for _ in range(2):
        assert {found.kind for found in Questions.read(file).findings} == {"empty-line", "duplicate"}
    assert not (tmp_path / "train.tsv.compiled").exists()
    file.write_text(BORN + "Where was Bo born?\n", encoding="utf-8")
    with pytest.raises(LociError, match="no tab and answer"):
        Questions.read(file)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("told_offsets", np.array([0, 5, 400], dtype=np.int64)),
        ("told_offsets", np.zeros((2, 2), dtype=np.int64)),
        ("columns", np.full((3, 6), 7, dtype=np.int32)),
        ("columns", np.zeros((3, 5), dtype=np.int32)),
        ("columns", np.zeros(3, dtype=np.int32)),
        ("told", np.zeros(300, dtype=np.uint8)),
        ("subjects", np.zeros(30, dtype=np.float32)),
    ],
)
def test_arrays_that_do_not_fit_together_are_made_anew(name, array, tmp_path, keeping):
    file = tmp_path / "train.tsv"
    file.write_text(BORN, encoding="utf-8")
    expected = [*Questions.read(file)]
    folder = tmp_path / "train.tsv.compiled"
    np.save(folder / f"{name}.npy", array)
    write_manifest(folder, question_store.KIND, question_store.FORMAT, hashes_of(folder))
    assert [*Questions.read(file)] == expected
    (folder / "questions.json").write_text("{}", encoding="utf-8")
    assert [*Questions.read(file)] == expected


def test_a_diagnosis_of_many_questions_is_that_of_few(tmp_path, monkeypatch):
    lines = "".join(
        f"Añna {name}. Añna {name} was born in {place} .\n"
        for name, place in zip("BCDX", ("Faro", "Rom", "Faro", "Rom"), strict=True)
    )
    (tmp_path / "wiki.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "train.tsv").write_text(
        BORN + MADE + BORN.splitlines()[0] + "\nWhere was Añna B born?\tRom\n", encoding="utf-8"
    )
    (tmp_path / "dev.tsv").write_text(BORN[:80].rsplit("\n", 1)[0] + "\nWhere was Faro born?\tFaro\n", encoding="utf-8")
    plain = diagnose(tmp_path, clean=False).as_dict()
    kinds = {found["kind"] for found in plain["findings"]}
    assert kinds >= {"duplicate", "contradiction", "leak", "unseen-subject", "unasked-subject", "two-roles"}
    monkeypatch.setattr(questions, "PACKED_FROM", 1)
    assert json.dumps(diagnose(tmp_path, clean=False).as_dict()) == json.dumps(plain)
    whole = diagnose(tmp_path)
    assert [dataclasses.replace(file, clean=None) for file in whole.files] == [
        dataclasses.replace(file, clean=None) for file in diagnose(tmp_path, clean=False).files
    ]
