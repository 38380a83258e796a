"""Carry out an experiment: its worlds, its trainings, its tables and a page. Stopped, it goes on where it was.

examples:
  loci experiment                                      list them
  loci experiment abstain --help                       the flags of one
  loci experiment abstain --out abstain --seeds 5      every seed a world of its own
  loci experiment names --quick                        all steps within a minute; proves nothing
"""

from __future__ import annotations

import ast
import dataclasses
import html
import inspect
import re
import textwrap
import typing
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from loci.experiments.trials import Hooks
    from loci.report.parts import Report
    from loci.report.parts import Table as ResultTable

#: Wider than any table.
WIDEST = 10_000


def experiment(args: list[str]) -> int:
    """Carry out the experiment that `args` names with the flags it has, or list them all."""
    from loci.cli.flags import call_with_flags

    if not args or args[0].startswith("-"):
        return call_with_flags(_list, args, prog="loci experiment", description=__doc__)
    name, *rest = args
    return _carried_out(name, rest, f"loci experiment {name}", (f"experiment-{name}", f"experiment-{name}-quick"))


def demo(args: list[str]) -> int:
    """The experiment `demo`, in a folder of its own name."""
    return _carried_out("demo", args, "loci demo", ("demo", "demo"))


experiment.raw_arguments = demo.raw_arguments = True  # type: ignore[attr-defined]


def _carried_out(name: str, args: list[str], prog: str, folders: tuple[str, str]) -> int:
    """With the flags in `args`; without --out in the first of the folders, with --quick in the second."""
    from loci.cli.flags import call_with_flags
    from loci.experiments import EXPERIMENTS

    module = EXPERIMENTS[name].load()

    def carry_out(*, out: Path | None = None, json: bool = False, **flags: Any) -> int:
        options = module.Options(**flags)
        folder = out if out is not None else Path(folders[options.quick])
        return watched(lambda hooks: module.run(folder, options, hooks), folder / "report.html", json=json)

    with_flags_of(module.Options, carry_out)
    return call_with_flags(carry_out, args, prog=prog, description=module.__doc__)


FLAGS = {
    "out": "Where worlds, runs, results.json and report.html go (default: a folder named after the experiment). What "
    "an earlier call finished there is not done again, and nothing is ever replaced.",
    "json": "Print JSON instead of tables.",
}


def with_flags_of(options: type, command: Callable[..., int]) -> None:
    """Give `command` the fields of a dataclass as flags, before its own; what stands below a field is its help."""
    own = [p for p in inspect.signature(command).parameters.values() if p.kind is p.KEYWORD_ONLY]
    fields = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for field in dataclasses.fields(options)
    ]
    hints = {**typing.get_type_hints(options, include_extras=True), **typing.get_type_hints(command)}
    texts = {**field_texts(options), **FLAGS}
    command.__signature__ = inspect.Signature([*fields, *own])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: hints[parameter.name] for parameter in (*fields, *own)}
    command.__doc__ = "Carry it out.\n\nArgs:\n" + "\n".join(f"    {name}: {text}" for name, text in texts.items())


def field_texts(options: type) -> dict[str, str]:
    """The text that stands below each field of a dataclass."""
    found = {}
    for one in reversed(options.__mro__[:-1]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(body, ast.ClassDef)
        for field, text in pairwise(body.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                found[field.target.id] = " ".join(ast.literal_eval(text.value).split())
    return found


def watched(carry_out: Callable[[Hooks], Report], page: Path, *, json: bool) -> int:
    """Carry an experiment out with a bar for each training; then print its tables, or its numbers as JSON."""
    from rich.console import Console

    from loci import machine
    from loci.cli.output import print_json
    from loci.cli.progress import ProgressBar
    from loci.cli.work import InterruptFlag, choose_threads
    from loci.experiments.trials import Hooks, Stopped

    console = Console(stderr=json)
    running = choose_threads()

    bars: list[ProgressBar] = []

    def observers(label: str) -> list[ProgressBar]:
        running.announce()
        bars.append(ProgressBar(label))
        return bars[-1:]

    def labelling(done: int, total: int) -> None:
        bars[-1].labelling(done, total)

    with InterruptFlag() as interrupted, machine.threads(running.count):
        try:
            report = carry_out(Hooks(observers, console.print, lambda: interrupted.raised, labelling))
        except Stopped:
            console.print("stopped; the same command goes on from here")
            return 130
    if json:
        print_json(report.numbers)
        return 0
    _show(console, report)
    console.print(f"page: {page}", highlight=False, markup=False)
    return 0


def _list(*, json: bool = False) -> int:
    """List the experiments.

    Args:
        json: Print JSON instead of a table.
    """
    from loci.cli.output import print_json, print_table
    from loci.experiments import EXPERIMENTS

    if json:
        print_json([{"experiment": name, "asks": found.asks} for name, found in EXPERIMENTS.items()])
    else:
        print_table(("experiment", "what it asks"), [(name, found.asks) for name, found in EXPERIMENTS.items()])
        print("loci experiment NAME --help shows its flags")
    return 0


def _show(console: Console, report: Report) -> None:
    from rich.text import Text

    console.print(Text(report.title, style="bold"), Text(report.subtitle), sep="\n")
    for section in report.sections:
        for index, part in enumerate(section.tables):
            title = section.title if index == 0 else None
            table = _table(part, title)
            if console.measure(table, options=console.options.update_width(WIDEST)).maximum > console.width:
                table = _table(part, title, stacked=True)
            console.print(table)


def _table(part: ResultTable, title: str | None, stacked: bool = False) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    shown = [index for index, header in enumerate(part.headers) if header not in part.page_only]
    for index in shown:
        table.add_column(part.headers[index], overflow="fold")
    for row in part.rows:
        table.add_row(*(Text(_cell(row[index], stacked)) for index in shown))
    return table


def _cell(cell: object, stacked: bool) -> str:
    """A cell; `stacked` sets an interval below its number, so that a narrow terminal cuts nothing in two."""
    from loci.evaluation.metrics import Estimate, Rate, decimal
    from loci.report.page import Markup

    if isinstance(cell, Markup):
        return html.unescape(re.sub("<[^<>]*>", "", cell))
    if stacked and isinstance(cell, Rate | Estimate):
        return str(cell).replace(" (", "\n").replace(", ", "\n").rstrip(")")
    return "–" if cell is None else decimal(cell) if isinstance(cell, float) else str(cell)
