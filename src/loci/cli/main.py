"""The entry point: finds the command, imports it, and turns a `LociError` into one line and exit code 2.

Knows no command by name and imports neither torch nor tyro until a command runs.
"""

from __future__ import annotations

import importlib
import keyword
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from loci import __version__
from loci.cli.commands import COMMANDS
from loci.errors import LociError
from loci.registry import import_file, load_plugins

USAGE_ERROR = 2
NARROWEST = 40
"""Columns below which no help text can be laid out."""


def overview() -> str:
    """The text of `loci --help`: every command in its group, with one line each."""
    width = max(map(len, COMMANDS))
    groups: dict[str, list[str]] = {}
    for name, command in COMMANDS.items():
        groups.setdefault(command.group, []).append(f"  {name:<{width}}  {command.line}")
    body = "\n".join(f"{group}:\n" + "\n".join(rows) for group, rows in groups.items())
    return (
        f"loci {__version__}: a laboratory for attention and pretrained knowledge in small transformers\n\n"
        f"usage: loci [--import FILE.py] COMMAND [flags]      loci COMMAND --help      loci --version\n\n{body}\n\n"
        "examples:\n"
        "  loci demo                                          the whole experiment on the embedded world\n"
        "  loci world --people 1000 --seed 0 --out world      a world of your own\n"
        "  loci train --recipe demo --data world --out run    train on it\n"
        "  loci evaluate run --questions world/birth_dev.tsv  ask about people it was never asked about"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    _usable_terminal()
    try:
        args = _with_plugins(args)
        if not args or args[0] in ("-h", "--help", "help"):
            print(overview())
            return 0
        if args[0] in ("-V", "--version"):
            print(f"loci {__version__}")
            return 0
        return _run(args[0], args[1:])
    except LociError as error:
        return _failed(args, str(error))
    except KeyboardInterrupt:
        return _failed(args, "stopped", code=130)
    except BrokenPipeError:
        # The reader of our output (head, a closed pager) went away: not an error. Keep the interpreter's own flush
        # quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder without rights: the system says what it is, in one line
        where = f"{error.filename}: " if error.filename else ""
        return _failed(args, f"{where}{error.strerror or error}")


def _failed(args: Sequence[str], message: str, code: int = USAGE_ERROR) -> int:
    """One line on standard error, control characters of the input made visible; the exit code."""
    name = f" {args[0]}" if args and args[0] in COMMANDS else ""
    print(f"loci{name}: {visible(message)}", file=sys.stderr)
    return code


def visible(text: str) -> str:
    """`text` with its control characters spelled out: a corpus must not move a terminal's cursor."""
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text)


def _with_plugins(args: list[str]) -> list[str]:
    """Load the installed plugins and the files given by `--import`; what is left are the command and its flags."""
    load_plugins()
    while args and (args[0] == "--import" or args[0].startswith("--import=")):
        _, equals, file = args[0].partition("=")
        if not equals:
            if len(args) < 2:
                raise LociError("--import needs a file", remedy="loci --import my.py COMMAND …")
            file, args = args[1], args[1:]
        import_file(file)
        args = args[1:]
    return args


def _usable_terminal() -> None:
    """Output that cannot fail: a terminal too narrow for any help counts as wider, letters it lacks are escaped."""
    if os.environ.get("COLUMNS", "").isdigit() and int(os.environ["COLUMNS"]) < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and (stream.encoding or "").lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="backslashreplace")


def _run(name: str, args: list[str]) -> int:
    found = COMMANDS[name]
    function_name = name.replace("-", "_") + "_" * keyword.iskeyword(name)  # `import` cannot be a function
    module = importlib.import_module(found.module or f"loci.cli.{function_name}")
    command = getattr(module, function_name)
    if getattr(command, "raw_arguments", False):  # a command with subcommands of its own parses them itself
        return int(command(args) or 0)
    from loci.cli.flags import call_with_flags

    return call_with_flags(command, args, prog=f"loci {name}", description=module.__doc__)


if __name__ == "__main__":
    sys.exit(main())
