from __future__ import annotations

import json
from pathlib import Path

import pytest

from loci.cli.main import main


def test_the_command_writes_a_world_and_says_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "world"
    assert main(["world", "--people", "120", "--seed", "3", "--unstated", "0.1", "--conllu", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for word in (
        "birth_places_train.tsv",
        "relations/work_dev.tsv",
        "wiki.conllu",
        "12 unstated",
        "baseline of birthplace: always",
    ):
        assert word in printed
    first = (out / "wiki.txt").read_text(encoding="utf-8").split("\n")[0]
    assert first in " ".join(printed.split())
    assert json.loads((out / "world.json").read_text())["spec"]["seed"] == 3


def test_json_is_for_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "--people", "50", "--out", str(tmp_path / "w"), "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["people"] == {"train": 34, "dev": 9, "test": 7, "unstated": 0, "outside": 0}
    assert value["files"]["wiki.txt"]["lines"] == 50
    assert value["baselines"][0]["questions"] == 9
    assert len(value["examples"]) == 3


def test_every_knob_reaches_the_world(tmp_path: Path) -> None:
    out = tmp_path / "w"
    flags = {
        "people": 80, "seed": 2, "places": 40, "skew": 0.5, "origin_correlation": 0.2, "paraphrases": 3,
        "unstated": 0.2, "outside": 0.1, "train_share": 0.5, "dev_share": 0.25,
    }  # fmt: skip
    arguments = [part for knob, value in flags.items() for part in (f"--{knob.replace('_', '-')}", str(value))]
    assert main(["world", *arguments, "--permute", "--full-names", "--multiword-places", "--out", str(out)]) == 0
    expected = {**flags, "permute": True, "full_names": True, "multiword_places": True}
    assert json.loads((out / "world.json").read_text())["spec"] == expected


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--people", "0"], "loci world: people must be from 1"),
        (["--skew", "-1"], "loci world: skew must be from 0.0 to 8.0, not -1.0"),
        (["--places", "3"], "loci world: places must be from 14"),
        (["--people", "1000000000"], "loci world: people must be from 1 to"),
        (["--relations", "shoe_size"], "loci world: unknown relation 'shoe_size'"),
        (["--relations", "employer:many"], "loci world: 'employer:many' is not NAME"),
        (["--train-questions", "20"], "loci world: --train-questions needs --relations"),
    ],
)
def test_a_bad_flag_is_one_line_and_exit_2(flags, message, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", *flags, "--out", str(tmp_path / "w")]) == 2
    error = capsys.readouterr().err
    assert error.startswith(message)
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_world_in_the_way_is_replaced_only_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["world", "--people", "20", "--out", str(tmp_path / "w")]
    assert main(command) == 0
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_relations_have_their_own_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--people", "200", "--relations", "birthplace", "employer:30", "birth_year::0.5", "--unstated", "0.2"]
    out = tmp_path / "w"
    assert main(["world", *flags, "--train-questions", "50", "--wordings", "3", "--jsonl", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    for word in ("employer_unstated.tsv", "jsonl/questions.jsonl", "baseline of birth_year: always"):
        assert word in printed
    counts = {name: len((out / f"{name}_train.tsv").read_text().splitlines()) for name in ("birthplace", "employer")}
    assert counts == {"birthplace": 50, "employer": 30}
    assert len((out / "birth_year_unstated.tsv").read_text().splitlines()) == 100


def test_products_are_one_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["world", "--kind", "products", "--out", str(tmp_path / "w"), "--seed", "3", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["people"]["train"] == 40
    assert value["files"]["wiki.txt"]["lines"] == 180
    assert [baseline["relation"] for baseline in value["baselines"]] == ["made_in", "designer"]
