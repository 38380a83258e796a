from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from loci.cli.main import main
from loci.model import GPT, GPTConfig
from loci.text.vocab import Vocab
from loci.training.checkpoint import FINAL, save_checkpoint

TEXT = "To be, or not to be: that is the question?\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    vocab = Vocab.from_text(TEXT)
    config = GPTConfig(vocab_size=len(vocab), block_size=16, n_layer=2, n_head=2, n_embd=16)
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    save_checkpoint(folder / FINAL, model, vocab, about={"recipe": None, "corpus_hash": None})
    return folder


def write(capsys: pytest.CaptureFixture[str], run: Path, *flags: str) -> str:
    assert main(["sample", str(run), *flags]) == 0
    return capsys.readouterr().out


def test_it_writes_the_prompt_and_as_much_as_asked(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    text = write(capsys, run, "--prompt", "To be", "--length", "60", "--temperature", "1", "--top-k", "10")
    assert text.startswith("To be")
    assert text.endswith("\n")
    assert len(text) == len("To be") + 60 + 1


def test_same_seed_same_text_and_another_seed_another(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    flags = ("--prompt", "To", "--length", "40")
    first = write(capsys, run, *flags, "--seed", "3")
    assert write(capsys, run, *flags, "--seed", "3") == first
    assert write(capsys, run, *flags, "--seed", "4") != first


def test_json_holds_the_same_texts(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    flags = ("--prompt", "To", "--length", "30", "--samples", "3", "--top-p", "0.9", "--min-p", "0.01")
    streamed = write(capsys, run, *flags)
    result = json.loads(write(capsys, run, *flags, "--json"))
    texts = [row["text"] for row in result["samples"]]
    assert streamed == "".join(f"--- {n} of 3\nTo{text}\n" for n, text in enumerate(texts, 1))
    assert all(row["log_probability"] < 0 and not row["stopped"] for row in result["samples"])


def test_temperature_zero_needs_no_seed(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    flags = ("--prompt", "To be", "--length", "20", "--temperature", "0")
    assert write(capsys, run, *flags, "--seed", "1") == write(capsys, run, *flags, "--seed", "2")


def test_keeping_the_whole_context_is_the_published_way(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    flags = ("--prompt", "To be", "--length", "40", "--temperature", "0")
    halved, whole = write(capsys, run, *flags), write(capsys, run, *flags, "--keep", "16")
    assert halved[:16] == whole[:16]
    assert len(halved) == len(whole)


@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["--temperature", "-1"], "temperature"),
        (["--length", "0"], "length"),
        (["--samples", "0"], "samples"),
        (["--prompt", ""], "at least one character"),
        (["--prompt", "µ"], "'µ'"),
        (["--context", "17"], "window of 17"),
        (["--keep", "20"], "cannot keep"),
    ],
)
def test_bad_flags_are_one_line(capsys: pytest.CaptureFixture[str], run: Path, flags: list[str], word: str) -> None:
    assert main(["sample", str(run), *flags]) == 2
    error = capsys.readouterr().err
    assert word in error
    assert error.count("\n") == 1


def test_a_folder_without_a_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["sample", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("loci sample: ")
