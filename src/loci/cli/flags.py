"""From a function to flags: what every command's help looks like, said once.

Knows tyro and no command. A flag that may be left out shows its kind and not "None"; a switch is just --name;
positional arguments are called by their names; a default is shown where it says something.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import tyro

from loci.errors import LociError
from loci.training.plan import LARGEST_SEED

#: Defaults that tell a reader nothing: a flag left out, a switch not set, a list of nothing.
SILENT = ("None", "False", "")
LONGEST_NUMBER = 8

#: What flags of these names may be, in every command that has them: beyond, no machine could do it.
BOUNDS = {
    "seed": (0, LARGEST_SEED),
    "threads": (1, 1024),
    "samples": (1, 10_000),
    "draws": (1, 10_000),
    "alternatives": (0, 1_000),
    "save_every": (1, 10**12),
    "length": (1, 10**7),
    "order": (1, 100),
    "n": (1, 10_000),
    "batch": (1, 10**9),
    "lines": (0, 10_000),
    "limit": (0, 10**12),
    "least": (1, 10**12),
    "seeds": (1, 10_000),
    "window": (1, 10**9),
    "port": (0, 65535),
    "queue": (1, 10_000),
}
MOST_CHARACTERS = 10**7
"""Of all texts that a command writes: hours of writing."""

OPTIONS = (
    tyro.conf.FlagCreatePairsOff,  # nobody types --no-resume
    tyro.conf.DisallowNone,  # a flag is left out, never given as the word None
    tyro.conf.PositionalMetavarFromFieldName,
)


def call_with_flags(
    command: Callable[..., Any], args: Sequence[str], *, prog: str, description: str | None = None
) -> int:
    """Parse `args` by the function's signature and call it; returns the exit code."""
    result = tyro.cli(_readable(command), args=list(args), prog=prog, description=description, config=OPTIONS)
    return int(result or 0)


def _readable(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, its help put into words a newcomer reads."""

    def same(*args: Any, **kwargs: Any) -> Any:
        for name, (least, most) in BOUNDS.items():
            if isinstance(value := kwargs.get(name), int) and not least <= value <= most:
                raise LociError(f"--{name.replace('_', '-')} must be from {least} to {most:,}, it is {value}")
        if (characters := kwargs.get("samples", 1) * kwargs.get("length", 1)) > MOST_CHARACTERS:
            what = f"--samples times --length is {characters:,}, at most {MOST_CHARACTERS:,} characters are written"
            raise LociError(what, remedy="ask for fewer or shorter texts")
        return command(*args, **kwargs)

    hints = typing.get_type_hints(command, include_extras=True)
    hints = {name: Annotated[hint, tyro.conf.arg(help_behavior_hint=_hint)] for name, hint in hints.items()}
    signature = inspect.signature(command)
    parameters = [given.replace(annotation=hints[name]) for name, given in signature.parameters.items()]
    # No functools.wraps: tyro would look through it at the function as it was.
    same.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    same.__annotations__ = hints
    same.__name__ = command.__name__
    # tyro breaks the help where the docstring's own lines break; a continued line belongs to the one before it.
    same.__doc__ = re.sub(r"\n {8} *", " ", inspect.cleandoc(command.__doc__ or ""))
    return same


def _hint(default: str) -> str:
    """What is shown of a default; a share keeps four of its digits."""
    if default in SILENT:
        return ""
    try:
        shown = default if len(default) <= LONGEST_NUMBER else f"{float(default):.4g}"
    except ValueError:
        shown = default
    return f"(default: {shown})"
