"""Mathematics on a page: LaTeX as MathML, which browsers draw by themselves, and the lab's plain notation as HTML."""

from __future__ import annotations

import html
import re

from loci.report.page import Markup

_SUBSCRIPT = re.compile(r"(?<=[A-Za-zα-ωΑ-Ω])_(?:\{([^}]*)\}|(\w))")
_SUPERSCRIPT = re.compile(r"\^(?:\{([^}]*)\}|(−?\w+[²]?))")


def mathematics(text: str) -> Markup:
    """Escaped text in which `x_1` and `x_{12}` are subscripts, `e^β` and `e^{−β²}` superscripts."""
    lowered = _SUBSCRIPT.sub(lambda found: f"<sub>{found[1] or found[2]}</sub>", html.escape(text))
    return Markup(_SUPERSCRIPT.sub(lambda found: f"<sup>{found[1] or found[2]}</sup>", lowered))


def formula(latex: str, *, display: bool = False) -> Markup:
    """LaTeX as MathML, in the line or set apart."""
    from latex2mathml.converter import convert

    return Markup(convert(latex, display="block" if display else "inline"))
