"""Write docs/cli.md from the commands' own help. Run by `make docs`; checked by a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from loci.cli.commands import COMMANDS
from loci.cli.course import SUBCOMMANDS

TARGET = Path(__file__).with_name("cli.md")


def help_of(*command: str) -> str:
    """What `loci … --help` prints, on a terminal of a fixed width without colours."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    run = [sys.executable, "-m", "loci", *command, "--help"]
    result = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
    return "\n".join(line.rstrip() for line in result.stdout.strip().splitlines())


def reference() -> str:
    """The whole page."""
    parts = ["# Commands\n\nMade by `make docs` from the commands' own help.\n", f"```\n{help_of()}\n```\n"]
    parts += [f"## loci {name}\n\n```\n{help_of(name)}\n```\n" for name in COMMANDS]
    parts += [f"### loci course {name}\n\n```\n{help_of('course', name)}\n```\n" for name in SUBCOMMANDS]
    return "\n".join(parts)


if __name__ == "__main__":
    page = reference()
    if "--print" in sys.argv:
        sys.stdout.write(page)
    else:
        TARGET.write_text(page, encoding="utf-8")
        print(f"wrote {TARGET.name}")
