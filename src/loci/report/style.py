"""The house style of figures: one palette, one Plotly template.

Ink, grid and background are not here: the page puts them on in the browser, so that a figure suits a light and a dark
screen alike. Knows nothing of what the figures show.
"""

from __future__ import annotations

from typing import Any

PALETTE = ("#3d7fc1", "#d97a2b", "#2f9b78", "#b4589b", "#b8962a", "#6f6ad1", "#c65353", "#5d8f3c")
"""Series colours, of middling lightness: each stands out on white and on near-black, and for colour-blind eyes."""
NEUTRAL = "#8b9099"
"""For baselines, reference lines and the rest."""
GOOD = "#2f9b78"
BAD = "#c65353"

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif'


def series_colour(index: int) -> str:
    """The colour of the index-th series; a ninth series starts again."""
    return PALETTE[index % len(PALETTE)]


def faded(colour: str, alpha: float) -> str:
    """A `#rrggbb` colour made transparent, for bands and intervals."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def template() -> dict[str, Any]:
    """The Plotly template every figure of a page wears, whatever it wore before."""
    axis = {"automargin": True, "ticks": "", "title": {"standoff": 12, "font": {"size": 13}}, "zeroline": False}
    return {
        "layout": {
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": FONT, "size": 13},
            "colorway": list(PALETTE),
            "margin": {"l": 8, "r": 24, "t": 8, "b": 8},
            "xaxis": axis,
            "yaxis": axis,
            # Above the plot a legend of any length finds room without covering an axis title.
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "title": {"text": ""}},
            "hoverlabel": {"font": {"family": FONT}, "align": "left"},
            "colorscale": {"sequential": "Blues", "diverging": "RdBu"},
            "bargap": 0.25,
        }
    }
