"""Attacks by hand, each as a fixed case: files that take the square of the time, places that are somebody's, sizes that
no machine has, and control characters."""

import contextlib
import dataclasses
import errno
import io
import json
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from loci.attention_lab.design import parse_sum
from loci.cli.main import main
from loci.cli.terminal import HarmlessOutput
from loci.data.recall import CuedRecall, MarkedLine, salient_spans
from loci.data.untold import without_answer
from loci.errors import LociError
from loci.evaluation.external_predictions import read_external
from loci.evaluation.rows import Row, read_rows, write_rows
from loci.files import atomic_folder, remove_leftovers, sha256_file, write_text
from loci.generation import generate
from loci.interop.course_overwriting import require_replaceable
from loci.interop.params_file import read_params, write_params
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.pipeline import runner as pipeline
from loci.report.page import Page, _plain
from loci.text import source
from loci.text.compiled import read_large
from loci.text.compiling import compile_corpus
from loci.text.corpus import Corpus, Line
from loci.text.questions import Questions
from loci.text.spans import fragments
from loci.text.strangers import _bare
from loci.text.vocab import Vocab
from loci.text.wordings import find_subject
from loci.training import checkpoint, parallel
from loci.training.checkpoint import load_model, save_checkpoint
from loci.training.distributed import Group
from loci.training.run import read_run, start_run
from run_files import record
from square_time import grows_with_the_square
from tiny_training import tiny_data, tiny_recipe

__all__ = ["tiny_data", "tiny_recipe"]


def stops(number: int) -> str:
    return f"{number:b}".translate({ord("0"): "?", ord("1"): "!"})


ROMAN, ROME = CuedRecall(Vocab.from_text("Bo in Rome"), 128), frozenset({"Rome"})
ASKED = "Where was Ana born?\tPorto\n"
#: A reader and the file of a given size that once took it the square of the time.
FILES: dict[str, tuple[Callable[[Path], object], Callable[[int], str]]] = {
    "carriage returns": (Corpus.read, lambda n: "Ana Lima. She was born in Porto.\n" + "\r" * 5 * n + "x"),
    "spaces in a question": (Questions.read, lambda n: ASKED + f"a{' ' * 10 * n}b\tc\n" * 2),
    "stops in a question": (Questions.read, lambda n: ASKED + f"a{'?' * 10 * n}b\tc\n" * 2),
    "spaces in a heading": (Corpus.read, lambda n: f"# a{' ' * n}b\nA line.\n"),
    "a heading of many words": (Corpus.read, lambda n: f"# {'A ' * n}B\n{'A ' * n}\n"),
    "one question, many answers": (
        Questions.read,
        lambda n: "".join(f"Where was Ana born?\tPorto {i}\n" for i in range(2 * n)),
    ),
    "many forms": (
        Questions.read,
        lambda n: "".join(f"Ana{stops(i)}\tPorto\nBo{stops(i)}\tOslo\n" for i in range(n // 4)),
    ),
    "one answer, many times": (
        lambda file: read_external(file, Questions.from_pairs([("Where?", "x")] * len(file.read_bytes().splitlines()))),
        lambda n: "Where?\tx\n" * 2 * n,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_no_reader_takes_the_square_of_the_time(name, tmp_path):
    read, text = FILES[name]

    def work(size):
        file = tmp_path / "file.txt"
        file.write_bytes(text(size).encode())
        with contextlib.suppress(LociError):  # refused is as good as read, if it is soon
            read(file)

    assert not grows_with_the_square(work, 5_000)


@pytest.mark.parametrize(
    "work",
    [
        lambda n: _bare("Ana" + " " * 5 * n + "Lima"),
        lambda n: _plain("<" * 5 * n),
        lambda n: find_subject("Who is " + "Ana " * 5 * n + "?", ()),
        lambda n: without_answer("Ana (" + " " * n + "x Porto", "Porto", np.random.default_rng(0)),
        lambda n: without_answer("Ana Lima " * n + "in Porto it is", "Porto", np.random.default_rng(1)),
        lambda n: parse_sum("a" + " " * n + "+ 2 b"),
        lambda n: fragments("A" * n),
        lambda n: salient_spans(Line(1, "Bo", "Bo. " + "An " * n)),
        lambda n: ROMAN(MarkedLine(Line(1, "Bo", "Bo. " + "in Rome " * n), ROME), np.random.default_rng(0)),
    ],
)
def test_no_rule_takes_the_square_of_the_time(work):
    assert not grows_with_the_square(work, 5_000)


def test_control_characters_are_spelled_out_for_every_command():
    for terminal in (False, True):
        told = io.StringIO()
        told.isatty = lambda: terminal  # type: ignore[method-assign]  # noqa: B023
        with redirect_stdout(HarmlessOutput(told)):
            print("a\x1b]0;title\x07\x9b2J\u202eb\tc\r", "\x1b[1;31mred\x1b[0m", "\x1b[8mhidden", flush=True)
        red = "\x1b[1;31mred\x1b[0m" if terminal else "\\u001b[1;31mred\\u001b[0m"
        shown = f"a\\u001b]0;title\\u0007\\u009b2J\\u202eb\tc\\u000d {red} \\u001b[8mhidden\n"
        assert told.getvalue() == shown
    json_text = json.dumps("\x9b", ensure_ascii=False)
    told = io.StringIO()
    HarmlessOutput(told).write(json_text)
    assert json.loads(told.getvalue()) == "\x9b"


def test_only_a_page_of_loci_is_replaced_by_a_page(tmp_path, capsys):
    write_rows(tmp_path / "rows.jsonl", [Row("Where?", "Porto", ("Porto",))])
    (tmp_path / "mine.html").write_text("<!doctype html><p>mine</p>")
    page = ["report", str(tmp_path / "rows.jsonl"), "--out"]
    for own in ("mine.html", "rows.jsonl"):
        before = (tmp_path / own).read_bytes()
        assert main([*page, str(tmp_path / own)]) == 2
        assert "is there already, and is no page of Loci" in capsys.readouterr().err
        assert (tmp_path / own).read_bytes() == before
    assert main([*page, str(tmp_path / "new.html")]) == 0
    assert "(replaced)" not in capsys.readouterr().out
    assert Page("Again").write(tmp_path / "new.html").endswith("new.html (replaced)")


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LociError, match="is no regular file"):
        write_text(tmp_path / "pipe", "text")
    with pytest.raises(LociError, match="is no folder"), atomic_folder(tmp_path / "pipe"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]
    assert not (tmp_path / "pipe").is_file()


def test_a_params_file_replaces_only_another_one(tmp_path):
    (tmp_path / "wiki.txt").write_text("Ana Lima. She was born in Porto.")
    with pytest.raises(LociError, match=r"is no \.params file"):
        require_replaceable(tmp_path / "wiki.txt")
    torch.save({}, tmp_path / "old.params")
    require_replaceable(tmp_path / "old.params")


@pytest.mark.parametrize("name", ["manifest.json", "metrics.jsonl", "final", "predictions"])
def test_a_run_is_not_begun_among_the_files_of_others(name, tiny_recipe, tiny_data, tmp_path):
    (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).write_text("{}")
    with pytest.raises(LociError, match=f"holds {name} already, and no run"):
        carry_out(tiny_recipe, tiny_data, tmp_path)


def test_only_temporaries_of_loci_are_swept(tmp_path):
    for name in (".mine.tmp", ".run.json.0123abcd.tmp", ".step-00000001.old.tmp"):
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [".mine.tmp"]


REFUSED = {
    "model.vocab_size=50": "comes from the data",
    "model.n_layer=20000": "n_layer must be at most 1,000",
    "model.temperature=1e300": "temperature must be positive and at most",
    "model.up_scale=1e300": "up_scale must be at most",
    "pretrain.pool=10000 pretrain.batch_size=1000": "cannot be sorted at once",
    "pretrain.pool=1 pretrain.batch_size=1000000 model.n_embd=64": "a step of this training takes at least",
}


@pytest.mark.parametrize("change", REFUSED)
def test_sizes_that_no_machine_has_are_refused_before_anything_is_written(change, tiny_recipe, tiny_data, tmp_path):
    with pytest.raises(LociError, match=REFUSED[change]):
        carry_out(tiny_recipe.override(change.split()), tiny_data, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_step_that_fits_is_not_refused(tiny_recipe, tiny_data, monkeypatch):
    config = pipeline.model_config(tiny_recipe, tiny_data)
    kept = pipeline._kept_bytes(tiny_recipe, tiny_data, config, 1)
    monkeypatch.setattr(parallel, "memory_gb", lambda: (2 * kept / 1e9, 0.0))
    parallel.require_memory(1, "auto", Group(), torch.device("cpu"), kept)
    with pytest.raises(LociError, match="choose a smaller batch"):
        parallel.require_memory(1, "auto", Group(), torch.device("cpu"), 3 * kept)


def test_texts_that_no_memory_holds_are_not_begun():
    model = GPT(GPTConfig(vocab_size=5, block_size=8, n_layer=1, n_head=1, n_embd=512, positions="rope"))
    with pytest.raises(LociError, match=r"remembering 64 texts of .* characters takes .* GB"):
        generate(model, [[1]] * 64, max_new=10**7 // 64 * 10)


def test_a_line_without_an_end_on_standard_input_is_refused(tiny_recipe, tiny_data, tmp_path, monkeypatch, capsys):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run")

    class Endless:
        isatty = staticmethod(lambda: False)

        @staticmethod
        def readline(size: int = -1) -> str:
            assert 0 < size < 10**8, "it would be read whole"
            return "x" * size

    monkeypatch.setattr("sys.stdin", Endless())
    assert main(["ask", str(tmp_path / "run")]) == 2
    assert "a line has no end" in capsys.readouterr().err


def test_a_strangers_run_compiles_no_file_of_ours(tiny_recipe, tmp_path, monkeypatch):
    monkeypatch.setattr("loci.text.compiled.LARGE", 100)
    secret = tmp_path / "secret.txt"
    secret.write_text("Ana Lima. Ana Lima was born in Porto.\n" * 10)
    start_run(tmp_path / "run", tiny_recipe, {"corpus": str(secret), "corpus_hash": "0" * 16})
    assert read_run(tmp_path / "run").corpus() is None
    assert [file.name for file in tmp_path.glob("secret*")] == ["secret.txt"]
    start_run(tmp_path / "known", tiny_recipe, {"corpus": str(secret), "corpus_hash": sha256_file(secret)[:16]})
    assert read_run(tmp_path / "known").corpus() is not None


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("ids", np.array([999] * 100, dtype=np.uint16)),
        ("offsets", np.array([0, 10**12])),
        ("offsets", np.array(["a", "b"])),
        ("by_key", np.array([-1, -1])),
        ("subject_offsets", np.array([0, 5, 3])),
    ],
)
def test_a_compiled_corpus_that_points_elsewhere_is_compiled_anew(name, array, tmp_path):
    text = tmp_path / "wiki.txt"
    text.write_text("Ana Lima. Ana Lima was born in Porto.\nBo Berg. Bo Berg was born in Oslo.\n")
    folder = tmp_path / "wiki.txt.compiled"
    assert compile_corpus(text, folder, sha256_file(text))
    np.save(folder / f"{name}.npy", array)
    record(folder / f"{name}.npy")
    corpus = read_large(text)
    assert corpus is not None
    assert [line.text for line in corpus] == text.read_text().splitlines()
    assert corpus.about("Bo Berg")[0].number == 2


def test_weights_that_are_no_numbers_are_neither_written_nor_read(tmp_path):
    model = GPT(GPTConfig(vocab_size=5, block_size=8, n_layer=1, n_head=1, n_embd=4))
    vocab = Vocab.from_text("abc")
    save_checkpoint(tmp_path / "good", model, vocab, about={})
    with torch.no_grad():
        model.head.weight[0, 0] = float("nan")
    with pytest.raises(LociError, match=r"head.weight holds values that are not numbers"):
        save_checkpoint(tmp_path / "bad", model, vocab, about={})
    weights = tmp_path / "good" / "model.safetensors"
    save_file({**load_file(weights), "head.weight": model.head.weight.detach()}, weights)
    record(weights)
    with pytest.raises(LociError, match=r"head.weight holds values that are not numbers"):
        load_model(tmp_path / "good")
    write_params(tmp_path / "x.params", {"head.weight": model.head.weight.detach()})
    with pytest.raises(LociError, match=r"x.params: head.weight holds values that are not numbers"):
        read_params(tmp_path / "x.params")


@pytest.mark.parametrize(
    "said", ["I/O error: No space left (os error 28)", "IoError(Os { code: 28, kind: StorageFull })"]
)
def test_a_full_disk_under_weights_says_so(said, tmp_path, monkeypatch):
    def full(*arguments):
        raise SafetensorError(f"Error while serializing: {said}")

    with pytest.raises(FileNotFoundError):  # as the library itself says it
        checkpoint.save_tensors({"a": torch.zeros(10)}, tmp_path / "nowhere" / "file")
    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(OSError, match="file") as caught:
        checkpoint.save_tensors({}, tmp_path / "file")
    assert caught.value.errno == errno.ENOSPC


TEXTS = ["", "a", "a\nb\n", "é\n\nb", "\ufeffa\nb", "a\r\nb\r\n", "a\rb\nc", "a\n" * 5 + "b\r\n", "é\nö\r\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_lines_one_at_a_time_are_the_lines_of_the_whole(text, tmp_path):
    file = tmp_path / "text.txt"
    file.write_bytes(text.encode())
    whole = source.load(file).lines() if text else []
    assert list(source.numbered_lines(file)) == list(enumerate(whole, start=1))


def test_what_is_wrong_with_a_line_is_said_where_it_stands(tmp_path, monkeypatch):
    file = tmp_path / "rows.jsonl"
    row = json.dumps(dataclasses.asdict(Row("Where?", "Porto")))
    file.write_bytes(f"{row}\n".encode() * 3 + b"\xff\n")
    with pytest.raises(LociError, match=r"rows.jsonl:4: byte 0xff"):
        read_rows(file)
    monkeypatch.setattr(source, "LONGEST_LINE", 500)
    file.write_text(f"{row}\n" * 2 + "x" * 1000)
    with pytest.raises(LociError, match=r"rows.jsonl:3: the line is longer than"):
        read_rows(file)
    monkeypatch.setattr(source, "LARGEST", 100)
    file.write_text(f"{row}\n" * 20)
    assert len(read_rows(file)) == 20  # rows of any number are read one by one
