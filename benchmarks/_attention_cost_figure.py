"""The figure of `attention_cost.py`: every measure on log–log axes, points measured, dotted lines the formula."""

from __future__ import annotations

from pathlib import Path

from loci.errors import LociError
from loci.files import write_text


def write_figure(
    out: Path,
    lengths: list[int],
    results: dict[tuple[str, str], list[dict[str, float]]],
    formulas: dict[tuple[str, str], list[dict[str, float]]],
) -> None:
    """Points measured; dotted the formula, moved to meet the last point."""
    try:
        import plotly.colors
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots
    except ImportError:
        raise LociError("the figure needs plotly", remedy="pip install 'loci-lab[report]'") from None
    parts = list(dict.fromkeys(part for _, part in results))
    measures = list(next(iter(results.values()))[0])
    titles = [f"{name} · {part}" for part in parts for name in measures]
    figure = make_subplots(
        rows=len(parts), cols=len(measures), subplot_titles=titles, horizontal_spacing=0.05, vertical_spacing=0.12
    )
    colours = dict(zip(dict.fromkeys(row for row, _ in results), plotly.colors.qualitative.Safe, strict=False))
    for (row, part), points in results.items():
        for column, name in enumerate(measures, start=1):
            place = {"row": parts.index(part) + 1, "col": column}
            got = [point[name] for point in points]
            said = [point[name] / formulas[row, part][-1][name] * got[-1] for point in formulas[row, part]]
            line = {"color": colours[row]}
            first = part == parts[0] and column == 1
            figure.add_scatter(
                x=lengths, y=got, name=row, legendgroup=row, showlegend=first, mode="markers+lines", line=line, **place
            )
            dashed = go.Scatter(
                x=lengths, y=said, mode="lines", legendgroup=row, showlegend=False, line={**line, "dash": "dot"}
            )
            figure.add_trace(dashed, **place)
    figure.update_xaxes(type="log", tickvals=lengths, title="characters")
    figure.update_yaxes(type="log", exponentformat="power")
    figure.update_layout(
        title="Growth with length: measured, and the formula (dotted)", height=800, template="plotly_white"
    )
    write_text(out, figure.to_html(include_plotlyjs=True))
