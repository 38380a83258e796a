from __future__ import annotations

from pathlib import Path

import pytest

from loci.errors import LociError
from loci.evaluation.json_data import to_json
from loci.interop.course_grade import grade

PLACES = ["York", "Leeds", "Oslo", "Rome"]
PEOPLE = [(f"Ann{chr(97 + index)} Lee", PLACES[index % 4]) for index in range(20)]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Twenty people; their lines also name Bern, where none of them was born."""
    file = tmp_path / "birth_dev.tsv"
    file.write_text("".join(f"Where was {name} born?\t{place}\n" for name, place in PEOPLE), encoding="utf-8")
    lines = [f"{name}. {name} was born in {place} and worked in Bern .\n" for name, place in PEOPLE]
    (tmp_path / "wiki.txt").write_text("".join(lines), encoding="utf-8")
    taught = [*((f"Bo{chr(97 + index)} Ray", "Paris") for index in range(5)), ("Cy Fox", "Bern")]
    (tmp_path / "birth_places_train.tsv").write_text(
        "".join(f"Where was {name} born?\t{place}\n" for name, place in taught), encoding="utf-8"
    )
    return file


def handed_in(folder: Path, name: str, answers: list[str]) -> Path:
    file = folder / name
    file.write_text("".join(f"{answer}\n" for answer in answers), encoding="utf-8")
    return file


def test_the_published_line_the_interval_and_the_kinds(gold: Path, tmp_path: Path) -> None:
    truth = [place for _, place in PEOPLE]
    file = handed_in(tmp_path, "a.txt", [*truth[:5], "Leeds ", *["Bern"] * 6, *["Paris"] * 5, *["Xyz"] * 3])
    graded = grade([file], gold)
    (found,) = graded.files
    assert found.line == "Correct: 5.0 out of 20.0: 25.0%"  # "Leeds " is not "Leeds"
    assert found.right is not None
    assert found.right.low < 0.25 < found.right.high
    assert found.kinds["right"] == 5
    assert found.kinds["another place of the same line"] == 6
    assert found.kinds["not a place"] == 4
    assert sum(found.kinds.values()) == 20
    assert graded.pairs == ()
    assert graded.lines(10)[:2] == [found.line, "  95 % interval 11.2–46.9 %"]


def test_copied_mistakes_are_pointed_out_and_shared_knowledge_is_not(gold: Path, tmp_path: Path) -> None:
    truth = [place for _, place in PEOPLE]
    honest = [*truth[:10], *["Paris", "Bern", "Kyiv", "Lima", "Bonn", "Nice", "Turin", "Cork", "Lund", "Graz"]]
    other = [*truth[:10], *reversed(honest[10:])]
    files = [handed_in(tmp_path, name, answers) for name, answers in (("a", honest), ("b", other), ("c", honest))]
    graded = grade(files, gold)
    assert [pair.suspicious for pair in graded.pairs] == [True, False, False]
    assert graded.pairs[0].files == (str(files[0]), str(files[2]))
    assert (graded.pairs[0].same, graded.pairs[0].by_chance) == (20, pytest.approx(0.1))
    said = f"look at {files[0]} and {files[2]}: identical; 20 answers the same; of 10 that both"
    assert graded.lines(1)[-2].startswith(said)
    assert to_json(graded)["pairs"][0]["same_wrong"]["successes"] == 10
    # Saying London to everybody is a mistake that many make alone.
    london = [handed_in(tmp_path, name, ["London"] * 20) for name in "de"]
    assert not grade(london, gold).pairs[0].suspicious


def test_identical_files_are_named_and_come_first_whatever_they_say(gold: Path, tmp_path: Path) -> None:
    truth = [place for _, place in PEOPLE]
    answers = {"a": truth, "b": truth, "c": ["London"] * 20, "d": ["London"] * 20, "e": [*["London"] * 19, "Rome"]}
    files = {name: handed_in(tmp_path, name, said) for name, said in answers.items()}
    found = grade(list(files.values()), gold)
    together = {tuple(Path(file).name for file in pair.files) for pair in found.pairs if pair.identical}
    assert together == {("a", "b"), ("c", "d")}
    *_, first, second, more = found.lines(2)
    assert all(": identical; 20 answers the same" in line for line in (first, second))
    assert more == "… and 8 more pairs, less alike (--json has all)"
    assert ": identical;" not in found.lines(10)[-1]


def test_many_identical_files_are_one_line_and_do_not_push_out_other_pairs(gold: Path, tmp_path: Path) -> None:
    wrong = ["Paris", "Bern", "Kyiv", "Lima", "Bonn", "Nice", "Turin", "Cork", "Lund", "Graz"] * 2
    answers = dict.fromkeys("abcde", wrong) | {"p": [*wrong[::-1]], "q": ["Xyz", *(f"{x} " for x in wrong[-2::-1])]}
    files = [handed_in(tmp_path, name, said) for name, said in answers.items()]
    lines = grade(files, gold).lines(1)
    assert f"look at {', '.join(map(str, files[:5]))}: identical" in lines
    assert any(line.startswith(f"look at {files[5]} and {files[6]}: 19 answers the same") for line in lines)
    assert lines[-1] == "… and 2 more pairs, less alike (--json has all)"


def test_a_damaged_file_is_named_with_its_line(gold: Path, tmp_path: Path) -> None:
    file = tmp_path / "damaged"
    file.write_bytes(b"York\n" * 3 + b"Yo\0rk\n" + b"York\n" * 16)
    (found,) = (graded := grade([file], gold)).files
    assert found.right is None
    assert "line 4: " in found.line
    assert graded.lines(10) == [f"{file}: {found.line}"]


def test_a_bad_file_is_named_and_the_others_are_graded(gold: Path, tmp_path: Path) -> None:
    good = handed_in(tmp_path, "good", ["York"] * 20)
    short = handed_in(tmp_path, "short", ["York"] * 19)
    graded = grade([short, tmp_path / "missing", good], gold)
    assert [found.line for found in graded.files] == [
        "19 lines for 20 questions (one answer a line, for these questions)",
        "no such file (check the name)",
        "Correct: 5.0 out of 20.0: 25.0%",
    ]
    assert [found.right is None for found in graded.files] == [True, True, False]
    questions = tmp_path / "test.tsv"
    questions.write_text("Where was Anna Lee born?\n", encoding="utf-8")
    with pytest.raises(LociError, match="has no answers to grade by"):
        grade([good], questions)
