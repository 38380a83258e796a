"""Forms that somebody gives, by hand: what they may be, and where a relations.toml has them.

Knows text and what TOML made of it; reads no file.
"""

from __future__ import annotations

import re
from typing import Any

from loci.errors import LociError
from loci.text.template import SLOT, Template


def given_form(text: str) -> Template:
    """A template that somebody gives: with nothing but the subject every question would have its form."""
    if text.strip() == SLOT:
        remedy = f'write the words around it: "Where was {SLOT} born?"'
        raise LociError(f"a form is more than {SLOT} alone", remedy=remedy)
    return Template(text)


def forms_under(name: str, value: Any) -> list[str]:
    """The texts that a name of the file has."""
    if not name.strip():
        remedy = f'write one before the equals sign: author = "Who wrote {SLOT}?"'
        raise LociError("a relation has no name", remedy=remedy)
    if isinstance(value, dict):
        remedy = f'write name = "Where is {SLOT} made?" at the top of the file, without [{name}]'
        raise LociError("is a table, and relations.toml has none", remedy=remedy)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        remedy = f'write {name} = "Where is {SLOT} made?"'
        raise LociError("is neither a template nor a list of templates", remedy=remedy)
    return texts


def line_of(name: str, text: str) -> int | None:
    """The line on which a file gives a name; None where it is written in another way."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*[=\].]", text, flags=re.M)
    return text.count("\n", 0, found.start()) + 1 if found else None
