"""The code blocks of a page, its commands made quick enough for a test, and a page carried out."""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

from loci.cli.main import main

QUICK_MINUTES = "0.03"
QUICK_LEARNING = ("model.n_layer=1", "model.n_embd=16", "read.characters=4000", "memorize.characters=4000")


class Block(NamedTuple):
    """A fenced block: the words after its fence, and what stands in it."""

    info: str
    text: str


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page, in order."""
    return [Block(*found) for found in re.findall(r"^```([^\n]*)\n(.*?)^```$", page, flags=re.S | re.M)]


def command_lines(text: str) -> list[list[str]]:
    """The commands of a shell block as words; comments go, continued lines are joined."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def shell_commands(page: str) -> list[list[str]]:
    """The commands of all `sh` blocks."""
    return [words for block in blocks(page) if block.info == "sh" for words in command_lines(block.text)]


def shown_commands(page: str) -> Iterator[list[str]]:
    """The commands of the `console` blocks, which show their output: each behind a dollar sign."""
    for block in blocks(page):
        if block.info == "console":
            for words, _ in _shown(block.text):
                yield words


def _shown(text: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a `console` block, each with what it is shown to print."""
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        yield shlex.split(line, comments=True), output


def quickly(arguments: list[str]) -> list[str]:
    """The same command with a moment instead of its training: other minutes, characters, epochs or seeds."""
    small = {"--minutes": QUICK_MINUTES, "--copy_every": "1", "--seeds": "1"}
    pairs = zip(["", *arguments[:-1]], arguments, strict=True)
    quick = [small.get(before, word) for before, word in pairs]
    command, *rest = quick
    if command == "learn":
        kept = "model." if "--from" in rest else "\0"  # the old run's model stays as it is
        quick += [word for change in QUICK_LEARNING if not change.startswith(kept) for word in ("--set", change)]
    if command in ("demo", "experiment") and rest and "--quick" not in rest:
        quick.append("--quick")
    if command == "train" and "--data" in rest and not {"--minutes", "--characters"} & set(rest):
        quick += ["--characters", "20000"]
    if command == "course" and rest[0] in ("pretrain", "finetune") and "--max_epochs" not in rest:
        quick += ["--max_epochs", "2" if "--copy_every" in rest else "1"]
    return quick


#: What no test of a page can run, and what runs it.
ELSEWHERE = {
    "pip": "packaging/build_and_try.sh",
    "make": "the Makefile's own target",
    "torchrun": "tests/training/test_distributed.py",
    "loci web": "tests/web",
    "loci consolidate": "tests/training/test_distributed.py",
    "loci experiment course": "tests/experiments/test_course_table.py",  # every variant: minutes even with --quick
    "--server": "tests/web",
    "--calibrate": "tests/evaluation/test_run_calibration.py",  # a run of a moment has nothing right to calibrate with
}


def carry_out(page: str, name: str, *, shown: bool = False) -> None:
    """Run a page's `sh` blocks and its `python run` blocks in order; the programs of a page share their names.

    `python run LIBRARY` is left out where the library is not installed. `shown` runs the commands of `console` blocks
    too; their output is not compared, but a refusal that is shown must come, and no other.
    """
    names: dict[str, object] = {"__name__": "guide"}
    for block in blocks(page):
        if block.info == "sh":
            for words in command_lines(block.text):
                _run(words, name)
        elif block.info.startswith("python run"):
            if all(importlib.util.find_spec(library) for library in block.info.split()[2:]):
                exec(compile(block.text, name, "exec", dont_inherit=True), names)
        elif shown and block.info == "console":
            for words, output in _shown(block.text):
                line = shlex.join(words)
                prompt = words[1:2] == ["ask"] and len(words) == 3  # wants a terminal
                if not prompt and not any(line.startswith(other) or other in words for other in ELSEWHERE):
                    _run(words, name, refused=bool(re.match(r"loci (?!course)\S+: .*\)$", output, flags=re.M)))


def _run(words: list[str], name: str, *, refused: bool = False) -> None:
    if words[0] != "loci":
        return
    spread = [one for word in words[1:] for one in (sorted(glob.glob(word)) if "*" in word else [word])]
    if "onnx" in spread:  # a process of its own: tests check shapes, which are symbols while a graph is made
        if importlib.util.find_spec("onnxscript"):
            subprocess.run([sys.executable, "-m", "loci", *spread], check=True, capture_output=True)
        return
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        code = main(quickly(spread))
    assert code == (2 if refused else 0), f"{name}: {shlex.join(words)}: {told.getvalue()}"
