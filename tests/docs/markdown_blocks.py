"""The code blocks of a page, and its commands made quick enough for a test."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

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
    """The commands of the `console` blocks, which show output and are not run: each behind a dollar sign."""
    for block in blocks(page):
        if block.info == "console":
            for line in re.findall(r"^\$ (.*)$", block.text.replace("\\\n", " "), flags=re.M):
                yield shlex.split(line, comments=True)


def quickly(arguments: list[str]) -> list[str]:
    """The same command with a moment instead of its minutes of training, or with hardly any reading."""
    pairs = zip(["", *arguments[:-1]], arguments, strict=True)
    quick = [QUICK_MINUTES if before == "--minutes" else word for before, word in pairs]
    if quick[0] == "learn":
        quick += [word for change in QUICK_LEARNING for word in ("--set", change)]
    return quick
