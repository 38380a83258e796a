"""The lab's plain notation as HTML: `u_b` with a true subscript. Knows nothing else."""

from __future__ import annotations

import html
import re

from loci.report.page import Markup

_SUBSCRIPT = re.compile(r"(?<=[A-Za-zα-ωΑ-Ω])_(?:\{([^}]*)\}|(\w))")


def mathematics(text: str) -> Markup:
    """Escaped text in which `x_1` and `x_{12}` are subscripts."""
    return Markup(_SUBSCRIPT.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", html.escape(text)))
