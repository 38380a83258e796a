"""The entry point: finds the command, imports it, and turns a `LociError` into one line and exit code 2.

Knows no command by name and imports neither torch nor tyro until a command runs.
"""

from __future__ import annotations

import contextlib
import importlib
import keyword
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TextIO, cast

from loci import __version__
from loci.cli.commands import COMMANDS
from loci.cli.terminal import HarmlessOutput
from loci.errors import LociError
from loci.files import said_by_system
from loci.registry import import_file, load_plugins

USAGE_ERROR, STOPPED = 2, 130
NARROWEST, WIDEST = 40, 10_000
"""Columns that a help text can be laid out in."""


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
    with contextlib.redirect_stdout(cast(TextIO, HarmlessOutput(sys.stdout))):
        code = _guarded(args)
        try:
            sys.stdout.flush()  # here, where a full disk is still one line, and not at the interpreter's end
        except BrokenPipeError:
            _give_up_output()
        except OSError as error:
            _give_up_output()
            return _failed(args, str(said_by_system(error, "standard output"))) if code == 0 else code
    return code


def _guarded(args: list[str]) -> int:
    """Run the command; whatever goes wrong that is not our own mistake is one line and an exit code."""
    try:
        return _called(args)
    except LociError as error:
        return _failed(args, str(error))
    except SystemExit as error:  # the parsers of flags end so, after the help or what is wrong with a flag
        if isinstance(error.__context__, BrokenPipeError):  # and the library that draws tables, when nobody reads them
            return 0
        return error.code if isinstance(error.code, int) else USAGE_ERROR if error.code else 0
    except KeyboardInterrupt:
        return _failed(args, "stopped", code=STOPPED)
    except BrokenPipeError:  # the reader of our output (head, a closed pager) went away: not an error
        _give_up_output()
        return 0
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "can't allocate memory" not in str(error):  # torch's own words
            raise
        return _failed(args, "this machine's memory is not enough (ask for less, or use a larger machine)")
    except OSError as error:  # a full disk, a folder without rights: the system says what it is, in one line
        if error.filename is None:
            _give_up_output()
        return _failed(args, str(said_by_system(error, None if error.filename else "standard output")))


def _called(args: list[str]) -> int:
    args[:] = _with_plugins(args)
    if not args or args[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if args[0] in ("-V", "--version"):
        print(f"loci {__version__}")
        return 0
    return _run(args[0], args[1:])


def _give_up_output() -> None:
    """Send what is still to be printed nowhere, so that the interpreter's own last flush stays quiet."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(args: Sequence[str], message: str, code: int = USAGE_ERROR) -> int:
    """One line on standard error, control characters of the input made visible; the exit code."""
    name = f" {args[0]}" if args and args[0] in COMMANDS else ""
    with contextlib.suppress(OSError):  # nobody listens: the code still tells
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
    """Output that cannot fail: a terminal too narrow for any help counts as wider, letters it lacks are escaped.

    So are the bytes of a file's name that is no UTF-8, which Python keeps as halves of characters.
    """
    if (columns := os.environ.pop("COLUMNS", "")).isdecimal():
        os.environ["COLUMNS"] = str(min(max(int(columns[:9]), NARROWEST), WIDEST))
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller; its number must not go to the next file that is opened
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
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
