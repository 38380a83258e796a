"""A plain table in the terminal. Knows nothing of what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns of numbers to the right, everything else to the left; long cells go on below."""
    from rich.console import Console
    from rich.table import Table

    body = [list(row) for row in rows]
    table = Table(box=None, header_style="bold", pad_edge=False)
    for index, column in enumerate(columns):
        number = bool(body) and all(isinstance(row[index], int | float) or row[index] is None for row in body)
        table.add_column(column, overflow="fold", justify="right" if number else "left")
    for row in body:
        table.add_row(*(_cell(cell) for cell in row))
    Console(markup=False, highlight=False, emoji=False).print(table)


def _cell(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.6g}".replace("-", "−")
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
