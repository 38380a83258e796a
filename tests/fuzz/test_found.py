"""What the fuzzer found, each as a fixed case: the file or command line, and the one line that answers it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from loci.answering import remote
from loci.answering.answerer import make_answerer
from loci.attention_lab.parses import read_conllu, tree_fault
from loci.cli.main import main
from loci.errors import LociError
from loci.evaluation.comparison.artifacts import read_groups, read_places
from loci.experiments.recall.result import read_result
from loci.files import read_struct
from loci.model import GPT, GPTConfig
from loci.text import source
from loci.text.questions import Questions
from loci.text.relations import read_relations
from loci.text.vocab import Vocab
from loci.text.world import WorldSpec, write_world
from loci.training.checkpoint import load_model, save_checkpoint
from loci.training.run import read_metrics


@pytest.fixture
def questions(tmp_path):
    """A file that `loci check` has something to say about, without loading torch."""
    (tmp_path / "asked.tsv").write_text("Where was Ana born?\tPorto\n")
    return tmp_path / "asked.tsv"


def loci(*arguments, **streams):
    command = [sys.executable, "-m", "loci", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **streams)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [("--version",), ("cost", "--help"), ("check", "QUESTIONS", "--json")])
def test_a_full_disk_behind_standard_output_is_one_line(arguments, questions):
    arguments = [str(questions) if word == "QUESTIONS" else word for word in arguments]
    with open("/dev/full", "w") as full:
        result = loci(*arguments, stdout=full)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "standard output: No space left on device (free some space" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
@pytest.mark.parametrize(("redirection", "code"), [(">&-", 0), ("2>&- >&-", 0), ("| true", 0)])
def test_output_that_nobody_takes_is_no_error(redirection, code, questions):
    command = f"{sys.executable} -m loci check {questions} {redirection}"
    result = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (code, "")


def test_letters_that_the_terminal_lacks_are_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    result = loci("check", "n\u00f6where", stdout=subprocess.PIPE, env=environment)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_a_write_into_a_folder_without_rights_names_it(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["world", "--people", "20", "--out", str(tmp_path / "file" / "world")]) == 2
    assert f"{tmp_path / 'file'}" in capsys.readouterr().err


def test_a_long_chain_and_a_long_cycle_are_judged_at_once():
    n = 50_000
    assert tree_fault([-1, *range(n)]) is None
    fault = tree_fault([*range(1, n), 0])
    assert fault is not None
    assert len(fault.reason) < 200


def test_a_world_is_not_replaced_with_files_of_others_in_its_folders(tmp_path):
    write_world(WorldSpec(people=20), tmp_path / "world", jsonl=True)
    (tmp_path / "world" / "jsonl" / "mine.txt").write_text("mine")
    with pytest.raises(LociError, match=r"also holds jsonl/mine.txt"):
        write_world(WorldSpec(people=20), tmp_path / "world", force=True)


def test_a_line_and_a_file_too_large_for_memory_are_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 21)
    file = tmp_path / "long.txt"
    file.write_bytes(b"short\n" * 10 + b"x" * (3 << 20))
    with pytest.raises(LociError, match=r"long.txt:11: the line is longer than 2 MB"):
        source.load(file)
    monkeypatch.setattr(source, "LARGEST", 1 << 20)
    with pytest.raises(LociError, match=r"at most 1 MB are read \(split it"):
        source.load(file)


@pytest.mark.parametrize(
    "flags", [("--length", "99999999999"), ("--order", "1000"), ("--samples", "9999", "--length", "9999")]
)
def test_absurd_sizes_are_refused(flags, tmp_path, capsys):
    (tmp_path / "text.txt").write_text("Ana was born in Porto.\n" * 20)
    assert main(["repetition", "--text", str(tmp_path / "text.txt"), *flags]) == 2
    assert "at most" in (said := capsys.readouterr().err) or "must be from" in said


def test_a_server_that_answers_without_end_or_with_nonsense_is_left(monkeypatch):
    import io

    answers = iter([b"[" * 100_000, b"x" * (remote.LONGEST + 2), b"{}"])

    class Opener:
        def open(self, request, timeout):
            return io.BytesIO(next(answers))

    monkeypatch.setattr(remote, "build_opener", lambda *handlers: Opener())
    for said in ("did not answer with JSON", "answers with over", "this is no answer"):
        with pytest.raises(LociError, match=said):
            remote.Server("http://127.0.0.1:1").ask_all("run", ["Where?"])


FILES: dict[str, Any] = {
    "places.jsonl": (read_places, '{"a":' * 5000, "not valid JSON"),
    "groups.tsv": (read_groups, '{"name":' * 5000, "tells no subject and group"),
    "relations.toml": (read_relations, "a = " + "[" * 5000, "cannot be read"),
    "bank.conllu": (read_conllu, "1\tAna\n", "this line has 2"),
    "result.json": (lambda file: read_result(file.parent), json.dumps({"part": 1}), "part: Expected str"),
    "large.json": (lambda file: read_struct(file, dict, remedy="mend it"), "[]", "Expected object"),
    "empty.tsv": (Questions.read, "", "no question"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_with_a_remedy(name, tmp_path):
    read, text, said = FILES[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(LociError, match=said) as caught:
        read(tmp_path / name)
    assert caught.value.path == tmp_path / name
    assert caught.value.remedy


def test_a_row_of_metrics_nested_without_end_is_passed_over(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": ' + "[" * 100_000 + "\n")
    assert read_metrics(tmp_path) == []


@pytest.mark.parametrize(
    "command",
    [
        ["course", "evaluate", "rope", ".", "--reading_params_path", ".", "--eval_corpus_path", "."],
        ["course", "finetune", "rope", "wiki.txt", "--writing_params_path", ".", "--finetune_corpus_path", "."],
        ["course", "grade", ".", "--gold", "."],
        ["check", "wiki.txt", "--repair", "."],
        ["export", ".", "."],
    ],
)
def test_a_dot_where_a_file_is_wanted_is_refused(command, tmp_path, monkeypatch, capsys):
    (tmp_path / "wiki.txt").write_text("Ana Lima. Ana Lima was born in Porto.\n")
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    assert capsys.readouterr().err.strip()


def test_the_folder_one_stands_in_is_not_replaced(tmp_path, monkeypatch, capsys):
    (tmp_path / "wiki.txt").write_text("Ana Lima. Ana Lima was born in Porto.\r\n")
    (tmp_path / "clean").mkdir()
    monkeypatch.chdir(tmp_path / "clean")
    assert main(["check", "../wiki.txt", "--repair", "."]) == 2
    assert "is the folder you are in" in capsys.readouterr().err


def test_a_checkpoint_that_names_no_answerer_of_ours_is_named(tmp_path):
    model, vocab = GPT(GPTConfig(vocab_size=5, block_size=8, n_layer=1, n_head=1, n_embd=4)), Vocab.from_text("abc")
    save_checkpoint(tmp_path / "model", model, vocab, about={"recipe": {"answerer": "direcv"}})
    loaded = load_model(tmp_path / "model")
    with pytest.raises(LociError, match="unknown answerer 'direcv'") as caught:
        make_answerer(loaded)
    assert caught.value.path == tmp_path / "model" / "config.json"
    with pytest.raises(LociError, match="unknown answerer 'mine'") as caught:
        make_answerer(loaded, name="mine")
    assert caught.value.path is None
