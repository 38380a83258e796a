"""docs/cli.md, docs/api.md and docs/http.md are what their scripts make of the commands' help and the docstrings."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", ["cli", "api", "http"])
def test_a_reference_is_current(name):
    """`make docs` writes it anew."""
    script = runpy.run_path(str(DOCS / f"make_{name}_reference.py"))
    assert script["TARGET"].read_text(encoding="utf-8") == script["reference"]()
