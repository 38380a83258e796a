"""The entry point: finds the command, imports it, and turns a `LociError` into one line and exit code 2.

Knows no command by name and imports neither torch nor tyro until a command runs.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from loci import __version__
from loci.cli.commands import COMMANDS
from loci.errors import LociError

USAGE_ERROR = 2


def overview() -> str:
    """The text of `loci --help`: every command in its group, with one line each."""
    width = max(map(len, COMMANDS))
    groups: dict[str, list[str]] = {}
    for name, (group, line) in COMMANDS.items():
        groups.setdefault(group, []).append(f"  {name:<{width}}  {line}")
    body = "\n".join(f"{group}:\n" + "\n".join(rows) for group, rows in groups.items())
    return (
        f"loci {__version__}: a laboratory for attention and pretrained knowledge in small transformers\n\n"
        f"usage: loci COMMAND [flags]      loci COMMAND --help      loci --version\n\n{body}\n\n"
        "examples:\n"
        "  loci demo                                          the whole experiment on the embedded world\n"
        "  loci world --people 1000 --seed 0 --out world      a world of your own\n"
        "  loci train --recipe demo --data world --out run    train on it\n"
        "  loci evaluate run --questions world/birth_dev.tsv  ask about people it was never asked about"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if args[0] in ("-V", "--version"):
        print(f"loci {__version__}")
        return 0
    name, rest = args[0], args[1:]
    if name not in COMMANDS:
        print(f"loci: no command {name!r} (one of: {', '.join(COMMANDS)})", file=sys.stderr)
        return USAGE_ERROR
    try:
        return _run(name, rest)
    except LociError as error:
        print(f"loci {name}: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print(f"loci {name}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output (head, a closed pager) went away: not an error. Keep the interpreter's own flush
        # quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder without rights: the system says what it is, in one line
        where = f"{error.filename}: " if error.filename else ""
        print(f"loci {name}: {where}{error.strerror or error}", file=sys.stderr)
        return USAGE_ERROR


def _run(name: str, args: list[str]) -> int:
    function_name = name.replace("-", "_")
    module = importlib.import_module(f"loci.cli.{function_name}")
    command = getattr(module, function_name)
    if getattr(command, "raw_arguments", False):  # a command with subcommands of its own parses them itself
        return int(command(args) or 0)
    from loci.cli.flags import call_with_flags

    return call_with_flags(command, args, prog=f"loci {name}", description=module.__doc__)


if __name__ == "__main__":
    sys.exit(main())
