import io
import json
import readline
import shutil
from types import SimpleNamespace

import pytest
from rich.console import Console

from loci.answering.answer import NEVER_READ, decide
from loci.answering.confidence import NEVER, Confidence, RunCalibration, Temperature, write_calibration
from loci.cli.ask import _show, questions_about
from loci.cli.main import main
from loci.cli.prompt import completions
from loci.evaluation.rows import read_rows
from loci.text.relations import relations_from
from loci.training.checkpoint import load_model

NAMES = ("Ann Lee", "Bo Ray", "Cy Fox", "Di Wu", "Ed Poe", "Flo Kim")
PLACES = ("Oslo", "Rome", "Lima", "Kyiv", "Bern", "Oslo")


def question(name):
    return f"Where was {name} born?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that memorized six answers, and a slice in which two of the expected answers differ from them."""
    folder = tmp_path_factory.mktemp("ask")
    pairs = list(zip(NAMES, PLACES, strict=True))
    told = [*pairs, ("The Who", "Rome")]
    (folder / "wiki.txt").write_text("".join(f"{name}. {name} was born in {place} .\n" for name, place in told))
    (folder / "train.tsv").write_text("".join(f"{question(name)}\t{place}\n" for name, place in pairs))
    sliced = [(name, place if i < 4 else "Lima") for i, (name, place) in enumerate(pairs)]
    (folder / "slice.tsv").write_text("".join(f"{question(name)}\t{place}\n" for name, place in sliced))
    tiny = {"model.n_layer": 1, "model.n_embd": 32, "model.n_head": 2, "finetune.batch_size": 6, "finetune.pool": 1}
    settings = {**tiny, "finetune.steps": 60, "finetune.lr": 0.01, "finetune.optimiser": "adamw"}
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    where = ["--data", str(folder), "--out", str(folder / "run")]
    assert main(["train", "--recipe", "demo-scratch", *where, *flags]) == 0
    return folder


def test_an_answer_with_its_evidence(folder, capsys):
    assert main(["ask", str(folder / "run"), question("Ann Lee"), "Where was she born?"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Where was Ann Lee born?") == 2
    assert "(she: Ann Lee)" in shown
    assert "1: Ann Lee. Ann Lee was born in «Oslo» ." in shown
    assert not any(line != line.rstrip() for line in shown.splitlines())


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"familiar": 0.99, "not_told": 0.03}, "never read about 1 %, not told 3 %, unsure 66 %"),
        ({}, None),
        ({"familiar": 0.99, "ranked": [("Oslo", 0.9)]}, None),
    ],
)
def test_each_reason_for_silence_has_its_probability(told, shown, capsys):
    """One line more where there is more than one reason, and none for an answer that is given."""
    ranked = told.pop("ranked", [("Oslo", 0.3)])
    _show(Console(highlight=False), decide("Where?", ranked, Confidence(0.5), silences={}, **told))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == ([shown] if shown else [])


def test_json_for_scripts_and_files_of_questions(folder, tmp_path, capsys):
    (tmp_path / "more.tsv").write_text("Where was he born?\nWhere was Bo Lee born?\n")
    (tmp_path / "before.txt").write_text("Where was Bo Ray born?\nRome\n")
    run = str(folder / "run")
    flags = ["--file", str(tmp_path / "more.tsv"), "--history", str(tmp_path / "before.txt"), "--json"]
    assert main(["ask", run, *flags, "--threshold", "0"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["run"], whole["calibrated"], whole["remarks"]) == (run, False, [])
    first, second = whole["answers"]
    assert (first["question"], first["answer"], first["in_corpus"]) == (question("Bo Ray"), "Rome", True)
    assert (second["subject"], second["in_corpus"]) == ("Bo Lee", False)


def test_candidates_and_a_threshold(folder, tmp_path, capsys):
    (tmp_path / "places.txt").write_text("Lima\n\nBern\n")
    flags = ["--candidates", str(tmp_path / "places.txt"), "--json"]
    assert main(["ask", str(folder / "run"), question("Ann Lee"), *flags]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert answer["text"] in ("Lima", "Bern")
    assert answer["answer"] == "I don't know"
    assert [other["text"] for other in answer["alternatives"]] == [{"Lima": "Bern", "Bern": "Lima"}[answer["text"]]]


def test_a_calibration_is_fitted_kept_and_used(folder, capsys):
    run, sliced = folder / "run", folder / "slice.tsv"
    assert main(["evaluate", str(run), "--questions", str(sliced), "--calibrate", "--json"]) == 0
    fitted = json.loads(capsys.readouterr().out)["calibration"]
    assert fitted == json.loads((run / "calibration.json").read_text())
    assert (fitted["n"], fitted["right"], fitted["questions"], fitted["level"]) == (6, 4, "slice.tsv", 0.5)
    assert len(read_rows(run / "predictions" / "slice.jsonl")) == 6
    assert main(["ask", str(run), question("Ann Lee"), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["calibrated"]
    (answer,) = whole["answers"]
    # Right only four times in six, it may no longer be as sure as it was.
    assert answer["probability"] < answer["raw_probability"]
    assert answer["threshold"] == fitted["threshold"]
    assert main(["evaluate", str(run), "--questions", str(sliced), "--calibrate", "--confidence-target", "0.9"]) == 0
    assert "confidence target 0.9" in capsys.readouterr().out
    (run / "calibration.json").unlink()


def test_best_answers_stand_next_to_answers_given(folder, capsys):
    """The run knows its six answers; by its calibration none is worth giving."""
    run, train = folder / "run", folder / "train.tsv"
    fit, numbers = Temperature(1.0), (6, 6, 0.2, 0.2)
    write_calibration(run, RunCalibration(fit, fit, None, 0.5, NEVER, load_model(run).hash, "x.tsv", "x", *numbers))
    assert main(["evaluate", str(run), "--questions", str(train), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows, told = read_rows(found["predictions"]), found["outcomes"]
    assert {(row.abstained, row.silence) for row in rows} == {(False, "unsure")}
    assert (told["right"]["successes"], told["answered_rightly"]["successes"], found["correct"]) == (6, 0, 6)
    mean = sum(dict(row.reasons)["unsure"] for row in rows) / 6
    assert told["silences"]["unsure"]["probability"]["value"] == pytest.approx(mean)
    assert main(["evaluate", str(run), "--questions", str(train)]) == 0
    first, best, given, silent, *_ = capsys.readouterr().out.splitlines()
    assert first == "exact match: 6 of 6 = 100.0 % (61.0–100.0, n = 6)"
    assert best == "best answer right, given or not: 6 of 6 = 100.0 % (61.0–100.0, n = 6)"
    assert given.startswith("answered at its threshold of inf: 0 of 6; rightly 0.0 % (0.0–39.0, n = 6), wrongly 0.0 %")
    assert silent == "silent: 6 of 6, unsure 6"
    (run / "calibration.json").unlink()


def test_questions_come_from_a_pipe(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{question('Ann Lee')}\n\n{question('Bo Ray')}\n"))
    assert main(["ask", str(folder / "run"), "--json"]) == 0
    assert [answer["text"] for answer in json.loads(capsys.readouterr().out)["answers"]] == ["Oslo", "Rome"]


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Somebody at a terminal who types these lines; their history goes to a folder of the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))

    def types(*lines):
        left = iter(lines)

        def read(shown):
            if line := next(left):
                readline.add_history(line)
            return line

        monkeypatch.setattr("builtins.input", read)

    return types


def test_a_prompt_answers_until_an_empty_line(folder, capsys, typed):
    typed("Where was she born?", question("Ann Lee"), "Where was she born?", "")
    assert main(["ask", str(folder / "run")]) == 0
    said = capsys.readouterr().out
    assert "nobody was named before" in said
    assert said.count("Where was Ann Lee born?") == 2


def test_a_prompt_says_what_to_know_and_keeps_its_history(folder, capsys, typed, tmp_path):
    (tmp_path / "other.txt").write_text("Ann Lee. Ann Lee sings .\n", encoding="utf-8")
    history = tmp_path / "state" / "loci" / "history"
    for name in ("Bo Ray", "Cy Fox"):
        typed(name, "")
        assert main(["ask", str(folder / "run"), "--corpus", str(tmp_path / "other.txt")]) == 0
        said = capsys.readouterr()
        assert question(name) in said.out
        assert "is not the text this model was trained on" in said.err
    assert [line for line in history.read_text().splitlines() if line in NAMES] == ["Bo Ray", "Cy Fox"]
    assert history.stat().st_mode & 0o77 == 0
    history.unlink()
    history.mkdir()  # what cannot be written is passed over
    typed("Bo Ray", "")
    assert main(["ask", str(folder / "run")]) == 0


@pytest.mark.parametrize("bare", ["Ann Lee", "the who"])
def test_what_a_bare_name_asks_does_not_depend_on_the_data(bare, folder, tmp_path, capsys):
    def answers():
        assert main(["ask", str(folder / "run"), bare, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["answers"]
        evidence = [(one.pop("evidence"), one.pop("in_corpus")) for one in found]
        return found, evidence

    there, shown = answers()
    (folder / "wiki.txt").rename(tmp_path / "wiki.txt")
    (folder / "train.tsv").rename(tmp_path / "train.tsv")
    try:
        gone, hidden = answers()
    finally:
        (tmp_path / "wiki.txt").rename(folder / "wiki.txt")
        (tmp_path / "train.tsv").rename(folder / "train.tsv")
    assert there == gone
    assert shown != hidden == [([], None)]


def test_a_question_of_any_length_is_a_question(folder, capsys):
    assert main(["ask", str(folder / "run"), "A" * 5000, "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["answers"]
    assert "of the model's 160 characters" in answer["note"]


def test_the_models_own_symbols_silence_their_row_alone(folder, tmp_path, capsys):
    (tmp_path / "odd.tsv").write_text(f"{question('Ann ⁇ Lee')}\n□\n{question('Bo Ray')}\n", encoding="utf-8")
    assert main(["ask", str(folder / "run"), "--file", str(tmp_path / "odd.tsv"), "--json"]) == 0
    mask, pad, known = json.loads(capsys.readouterr().out)["answers"]
    assert (mask["question"], mask["silence"]) == (question("Ann ⁇ Lee"), "unreadable")
    assert ("⁇" in mask["note"], "□" in pad["note"], known["text"]) == (True, True, "Rome")


@pytest.mark.parametrize("command", ["train", "learn"])
def test_the_models_own_symbols_are_never_taught(command, folder, tmp_path, capsys):
    shutil.copy(folder / "wiki.txt", tmp_path)
    (tmp_path / "train.tsv").write_text(
        f"{question('Ann ⁇ Lee')}\tOslo\n{question('Bo Ray')}\tRome\n", encoding="utf-8"
    )
    where = ["--data", str(tmp_path)] if command == "train" else [str(tmp_path)]
    assert main([command, *where, "--out", str(tmp_path / "run")]) == 2
    assert "contains ⁇" in capsys.readouterr().err


FORMS = relations_from(["Where is the {subject} made?", "Who designed the {subject}?"])


@pytest.mark.parametrize("bare", ["Delta Desk", "the Delta Desk", "The Delta Desk?", " delta desk "])
def test_a_bare_subject_is_asked_in_every_relation(bare):
    assert questions_about(bare, FORMS) == ["Where is the Delta Desk made?", "Who designed the Delta Desk?"]
    assert questions_about(bare, ()) == [bare]


@pytest.mark.parametrize(
    "text", ["Where is the Delta Desk made?", "How old is the Delta Desk?", "Where is it made?", "where"]
)
def test_anything_else_is_asked_as_it_stands(text):
    assert questions_about(text, FORMS) == [text]


def test_a_subject_of_a_script_without_capitals_is_one_too():
    forms = relations_from(["{subject}是谁写的？", "{subject}是哪一年写的？"])
    assert questions_about("红楼梦", forms) == ["红楼梦是谁写的？", "红楼梦是哪一年写的？"]


def test_the_relation_stands_with_the_answer(capsys):
    answer = decide("Who wrote it?", [("Ann", 0.9)], Confidence(0.5), silences={}, relation="author")
    _show(Console(highlight=False), answer, relation=True)
    assert capsys.readouterr().out.splitlines()[0] == "Who wrote it?  author"


def test_no_reason_is_surer_than_sure():
    told_twice = decide("Where?", [("", 0.8), ("Oslo", 0.1)], Confidence(0.5), silences={"": NEVER_READ}, familiar=0.5)
    assert told_twice.reason_probabilities[NEVER_READ] == 1


def test_the_tab_key_completes_names():
    names = ("Ann Lee", "Ann Moss", "Bo Ray")
    assert completions("Where was ann", names) == ["Where was Ann Lee", "Where was Ann Moss"]
    assert completions("Where was Ann L", names) == ["Where was Ann Lee"]
    assert completions("Bo", names) == ["Bo Ray"]
    assert completions("Where was Zed", names) == []
    assert completions("Where is the nova s", ["The Nova Sofa"]) == ["Where is the Nova Sofa"]
    assert completions("Nova", ["The Nova Sofa"]) == ["Nova Sofa"]


def test_the_help_says_not_to_report_on_the_slice(capsys):
    assert main(["evaluate", "--help"]) == 0
    assert "never the questions you report on" in " ".join(capsys.readouterr().out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "RUN"], "--file"),
        (["ask", "RUN", "TRAIN"], "is a file, not a question (loci ask"),
        (["ask", "nowhere", "Where?"], "no such run"),
        (["ask", "RUN", "Where was Ann Lee born?", "--threshold", "7"], "between 0 and 1"),
        (["ask", "RUN", "Where was Ann Lee born?", "--history", "nowhere.txt"], "nowhere.txt"),
        (["ask", "RUN", "Where was Ann Lee born?", "--corpus", "nowhere.txt"], "nowhere.txt"),
        (["ask", "RUN", "Where was Ann Lee born?", "--template", "Where?"], "template"),
        (["evaluate", "RUN", "--questions", "TRAIN", "--calibrate", "--confidence-target", "1"], "confidence target"),
        (["evaluate", "--predictions", "TRAIN", "--questions", "TRAIN", "--calibrate"], "only a run"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, said, folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    places = {"RUN": str(folder / "run"), "TRAIN": str(folder / "train.tsv")}
    capsys.readouterr()
    assert main([places.get(word, word) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.fixture(scope="module")
def server(folder):
    """The run behind a server in a thread, with a token."""
    import socket
    import threading
    import time

    import uvicorn

    from loci.web.app import create_app

    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app([folder / "run"], out=folder / "web", token="secret")
    made = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not made.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    made.should_exit = True
    thread.join(10)


def test_a_server_says_what_the_run_itself_says(folder, server, monkeypatch, tmp_path, capsys):
    (tmp_path / "more.tsv").write_text("Where was Bo Lee born?\tRome\nWhere was 中 born?\tRome\n")
    asked = [question("Ann Lee"), "Where was she born?", "--file", str(tmp_path / "more.tsv"), "--alternatives", "2"]
    assert main(["ask", str(folder / "run"), *asked]) == 0
    own = capsys.readouterr().out
    monkeypatch.setenv("LOCI_TOKEN", "secret")
    assert main(["ask", "run", *asked, "--server", server]) == 0
    assert capsys.readouterr().out == own
    assert main(["ask", "run", *asked, "--server", server, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert (whole["server"], len(whole["answers"])) == (server, 4)


def test_what_is_wrong_with_a_server_is_said_in_one_line(server, capsys):
    def said(*flags):
        assert main(["ask", "run", question("Ann Lee"), *flags]) != 0
        message = capsys.readouterr().err.strip()
        assert "Traceback" not in message
        return " ".join(message.split())

    assert "does not answer" in said("--server", "http://127.0.0.1:9")
    assert "no web address" in said("--server", "nowhere")
    assert "token" in said("--server", server)
    assert "token" in said("--server", server, "--token", "wrong")
    assert "cannot be used with --server" in said("--server", server, "--template", "{subject}?")
