"""What every command prints in the same way: a table, or JSON. Knows nothing of what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def print_json(value: object) -> None:
    """Dataclasses, paths and arrays as plain data; a number that is not finite is null."""
    print(_json(value))


def print_json_list(value: Mapping[str, object], name: str, items: Iterable[object]) -> None:
    """The same as `print_json({**value, name: [*items]})`; the items are made and printed one after the other."""
    from textwrap import indent

    before, after = _json({**value, name: []}).rsplit("[]", 1)
    print(before, end="[")
    mark = ""
    for item in items:
        print(f"{mark}\n{indent(_json(item), 4 * ' ')}", end="")
        mark = ","
    print(("\n  ]" if mark else "]") + after)


def _json(value: object) -> str:
    import json

    from loci.evaluation.json_data import to_json

    return json.dumps(to_json(value), indent=2, ensure_ascii=False, allow_nan=False)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    note: str = "",
    right: bool = False,
    names: bool = False,
) -> None:
    """Columns of numbers to the right, everything else to the left; long cells go on below.

    `right`: all columns but the first are numbers, though they may be written with a unit or a share.
    `names`: the first column has names, such as those of files, which are not cut. So it is with `right`.
    """
    from rich.console import Console
    from rich.table import Table

    body = [list(row) for row in rows]
    table = Table(box=None, header_style="bold", pad_edge=False, title=title or None, caption=note or None)
    table.title_justify = table.caption_justify = "left"
    for index, column in enumerate(columns):
        number = bool(body) and all(isinstance(row[index], int | float) or row[index] is None for row in body)
        to_right = number or (right and index > 0)
        table.add_column(
            column, overflow="fold", justify="right" if to_right else "left", no_wrap=(right or names) and not index
        )
    for row in body:
        table.add_row(*(_cell(cell) for cell in row))
    Console(markup=False, highlight=False, emoji=False).print(table)


def _cell(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.6g}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
