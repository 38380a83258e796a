"""Write docs/cli.md from the commands' own help. Run by `make docs`; checked by a test."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from unittest.mock import patch

from loci.cli.commands import COMMANDS
from loci.cli.course import SUBCOMMANDS
from loci.cli.main import main

TARGET = Path(__file__).with_name("cli.md")


def help_of(*command: str) -> str:
    """What `loci … --help` prints, on a terminal of a fixed width without colours."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # tyro asks the stream what it can show
    terminal = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with patch.dict(os.environ, terminal), contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    told.seek(0)
    return "\n".join(line.rstrip() for line in told.read().strip().splitlines())


def reference() -> str:
    """The whole page."""
    parts = ["# Commands\n\nMade by `make docs` from the commands' own help.\n", f"```\n{help_of()}\n```\n"]
    parts += [f"## loci {name}\n\n```\n{help_of(name)}\n```\n" for name in COMMANDS]
    parts += [f"### loci course {name}\n\n```\n{help_of('course', name)}\n```\n" for name in SUBCOMMANDS]
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
