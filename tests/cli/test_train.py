import json
import signal
import subprocess
import sys
import time

import pytest

from loci.cli.main import main
from loci.evaluation.rows import read_rows
from loci.text.questions import Questions
from loci.training.run import read_run

TINY = ["--set", "model.n_layer=1", "--set", "model.n_embd=16", "--set", "model.n_head=2"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "world"
    assert main(["world", "--people", "30", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def run(world):
    out = world.parent / "run"
    steps = ["--set", "pretrain.steps=4", "--set", "finetune.steps=3"]
    assert main(["train", "--recipe", "course-2024", "--data", str(world), "--out", str(out), *TINY, *steps]) == 0
    return out


def test_a_run_can_be_trained_listed_and_asked(run, world, capsys):
    assert read_run(run).finished
    capsys.readouterr()
    assert main(["runs", str(run.parent), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["state"], row["steps"]) == ("finished", 7)
    dev = world / "birth_dev.tsv"
    assert main(["evaluate", str(run), "--questions", str(dev), "--json", "--text", str(run / "answers.txt")]) == 0
    result = json.loads(capsys.readouterr().out)
    rows = read_rows(result["predictions"])
    assert result["questions"] == result["scored"] == len(rows) == len(dev.read_text().splitlines())
    assert 0 <= result["low"] <= result["accuracy"] <= result["high"] <= 1
    said = ["I don't know" if row.abstained else row.prediction for row in rows]
    assert (run / "answers.txt").read_text().splitlines() == said
    assert main(["runs", str(run.parent)]) == 0
    assert "birth_dev" in capsys.readouterr().out
    assert main(["runs", str(run.parent), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["accuracy"] == {"birth_dev": pytest.approx(result["accuracy"], abs=1e-4)}
    assert row["differs"] == {}


def test_a_training_tells_of_itself_as_json_and_runs_say_what_differs(world, tmp_path, capsys):
    text = [*TINY, "--set", "model.block_size=32", "--corpus", str(world / "wiki.txt"), "--data", str(world)]
    for seed in ("0", "1"):
        flags = ["--json", "--seed", seed, "--set", "pretrain.steps=3", "--out", str(tmp_path / seed)]
        assert main(["train", "--recipe", "char", *text, *flags]) == 0
    out, err = capsys.readouterr()
    row, other = (json.loads(part) for part in out.replace("}\n{", "}\0{").split("\0"))
    assert (row["state"], row["finished"], row["steps"], other["run"]) == ("finished", True, 3, str(tmp_path / "1"))
    assert row["held_out_loss"] > 0
    assert "loci sample" in err
    assert "loci evaluate" not in err
    assert main(["runs", str(tmp_path), "--json"]) == 0
    assert [row["differs"] for row in json.loads(capsys.readouterr().out)] == [{"seed": 0}, {"seed": 1}]


def test_questions_without_answers_are_answered_not_scored(run, world, capsys):
    questions = world / "birth_test_inputs.tsv"
    assert main(["evaluate", str(run), "--questions", str(questions), "--out", str(run / "test.jsonl")]) == 0
    assert "no expected answers" in capsys.readouterr().out
    assert len(read_rows(run / "test.jsonl")) == len(questions.read_text().splitlines())


def test_other_systems_answers_are_scored(world, tmp_path, capsys):
    dev = world / "birth_dev.tsv"
    pairs = [line.split("\t") for line in dev.read_text().splitlines()]
    theirs = tmp_path / "theirs.tsv"
    theirs.write_text("".join(f"{q}\t{a if i else 'Nowhere'}\n" for i, (q, a) in enumerate(pairs)))
    assert main(["evaluate", "--predictions", str(theirs), "--questions", str(dev), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["correct"] == len(pairs) - 1


def test_variant_seed_and_minutes_reach_the_recipe(world, tmp_path):
    flags = ["--variant", "rope", "--seed", "9", "--minutes", "0.01", "--no-tensorboard"]
    assert (
        main(["train", "--recipe", "course-2024", "--data", str(world), "--out", str(tmp_path / "run"), *TINY, *flags])
        == 0
    )
    recipe = read_run(tmp_path / "run").recipe
    assert (recipe.model["positions"], recipe.seed) == ("rope", 9)
    assert sum(stage.minutes for stage in recipe.stages) == pytest.approx(0.01)


def test_a_recipe_with_a_labelling_step_is_carried_out(world, tmp_path):
    out = tmp_path / "run"
    small = [f"{stage}.{field}" for stage in ("read", "memorize") for field in ("steps=2", "batch_size=4")]
    flags = [flag for change in (*small, "label.use_prior=false") for flag in ("--set", change)]
    assert main(["train", "--recipe", "self-training", "--data", str(world), "--out", str(out), *TINY, *flags]) == 0
    assert len(Questions.read(out / "pseudo_labels.tsv")) > len(Questions.read(world / "birth_places_train.tsv"))
    assert main(["train", "--resume", "--out", str(out)]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "--recipe", "nope", "--data", "WORLD"], "course-2024"),
        (["train", "--recipe", "course-2024"], "--data"),
        (["train", "--data", "nowhere"], "nowhere"),
        (["train", "--data", "WORLD", "--variant", "gpt"], "vanilla"),
        (
            ["train", "--data", "WORLD", "--template", "Who wrote it?", "--out", "OUT"],
            "contains {subject} exactly once",
        ),
        (["train", "--resume", "--out", "RUN", "--template", "Who is {subject}?"], "--template would change it"),
        (["train", "--data", "WORLD", "--set", "pretrain.lr"], "stage.field=value"),
        (["train", "--data", "WORLD", "--set", "model.n_head=3", "--out", "OUT"], "n_head"),
        (["train", "--data", "WORLD", "--set", "model.n_embd=900000", "--out", "OUT"], "GB, and the machine has"),
        (["train", "--data", "WORLD", "--threads", "100000000", "--out", "OUT"], "--threads must be from 1 to 1,024"),
        (["train", "--data", "WORLD", "--seed", "99999999999999999999", "--out", "OUT"], "--seed must be from 0 to"),
        (["train", "--data", "WORLD/wiki.txt", "--out", "OUT"], "--data is a folder"),
        (["train", "--corpus", "WORLD/wiki.txt", "--out", "OUT"], "there are none"),
        (["train", "--data", "WORLD", "--save-every", "0", "--out", "OUT"], "--save-every must be from 1"),
        (["train", "--resume", "--out", "RUN", "--minutes", "5", "--seed", "4"], "--minutes, --seed would change it"),
        (["train", "--resume", "--out", "RUN", "--recipe", "recite"], "--recipe would change it"),
        (
            ["train", "--recipe", "self-training", "--data", "WORLD", "--out", "OUT", "--set", "label.x=1"],
            "labeler 'self-training'",
        ),
        (["train", "--data", "WORLD", "--out", "RUN"], "--resume"),
        (["train", "--resume", "--out", "WORLD"], "is no run"),
        (["evaluate", "nowhere", "--questions", "WORLD/birth_dev.tsv"], "no such run"),
        (["evaluate", "RUN", "--questions", "nowhere.tsv"], "nowhere.tsv"),
        (["evaluate", "--questions", "WORLD/birth_dev.tsv"], "--predictions"),
        (["runs", "nowhere"], "no such folder"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, run, world, tmp_path, capsys):
    places = {"WORLD": str(world), "RUN": str(run), "OUT": str(tmp_path / "out")}
    for word, path in places.items():
        arguments = [argument.replace(word, path) for argument in arguments]
    capsys.readouterr()
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()  # so that the same command, put right, finds its place free


def test_a_finished_run_is_not_said_to_be_trained_again(run, capsys):
    assert main(["train", "--resume", "--out", str(run)]) == 0
    assert "was finished already: 7 steps" in capsys.readouterr().out


def test_square_brackets_in_a_name_are_only_a_name(world, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = "r[/b][a]"
    steps = ["--set", "pretrain.steps=1", "--set", "finetune.steps=1", "--no-tensorboard"]
    assert main(["train", "--recipe", "course-2024", "--data", str(world), "--out", out, *TINY, *steps]) == 0
    assert out in capsys.readouterr().out
    assert main(["runs", "."]) == 0
    assert out in capsys.readouterr().out


def test_recipes_are_listed(capsys):
    assert main(["train", "--recipe", "list"]) == 0
    assert "course-2021" in capsys.readouterr().out


def test_ctrl_c_saves_and_says_how_to_go_on(world, tmp_path):
    out = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "loci",
        "train",
        "--recipe",
        "course-2024",
        "--data",
        str(world),
        "--out",
        str(out),
    ]
    process = subprocess.Popen(
        [*command, "--out", str(out), *TINY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (out / "metrics.jsonl").exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert f"loci train --resume --out {out}" in stdout.replace("\n", "")
    assert list((out / "checkpoints").glob("step-*"))
    assert "Traceback" not in stderr
