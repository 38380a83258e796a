"""What a newcomer reads: every command's help, and how flags are taken."""

import contextlib
import re
from pathlib import Path
from typing import Annotated

import pytest
import tyro

from loci.cli.commands import COMMANDS
from loci.cli.course import SUBCOMMANDS
from loci.cli.flags import call_with_flags
from loci.cli.main import main

HELPS = [(name,) for name in COMMANDS] + [("course", name) for name in SUBCOMMANDS]


def example(
    run: Annotated[Path | None, tyro.conf.Positional] = None,
    *,
    share: float = 2 / 3,
    limit: int | None = None,
    quick: bool = False,
) -> int:
    """Do nothing.

    Args:
        run: A run.
        share: How much of it, in words that go on
            in the next line.
        limit: At most.
        quick: Soon.
    """
    return len(str(run)) + (limit or 0) + quick


def help_of(capsys, *command: str) -> str:
    with contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return capsys.readouterr().out


@pytest.mark.parametrize("command", HELPS, ids=" ".join)
def test_every_help_has_an_example_and_no_python(command, capsys):
    text = help_of(capsys, *command)
    assert f"loci {' '.join(command)}" in text.split("usage:")[-1].split("\n", 1)[1]  # next to the usage line
    assert not re.search(r"default: (None|False|\))|\{None\}|\[\[", text)


def test_a_flag_left_out_shows_its_kind_and_a_default_its_value(capsys):
    with pytest.raises(SystemExit):
        call_with_flags(example, ["--help"], prog="example")
    text = re.sub(r"[\s│]+", " ", capsys.readouterr().out)
    assert "[RUN]" in text
    assert "--limit INT" in text
    assert "--no-quick" not in text
    assert "in words that go on in the next line. (default: 0.6667)" in text


def test_flags_reach_the_function():
    assert call_with_flags(example, ["four", "--limit", "3", "--quick"], prog="example") == 8
    assert call_with_flags(example, [], prog="example") == len("None")


def test_the_word_none_is_no_number(capsys):
    with pytest.raises(SystemExit):
        call_with_flags(example, ["--limit", "None"], prog="example")
    assert "--limit" in capsys.readouterr().err
