"""The documentation site: every page is in it, it builds without warnings, and asks nothing of the network."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loci.model import VARIANTS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.py"))
OUTSIDE = re.compile(r"""(?:src|href)=["']?(https?:)?//(?!www\.w3\.org)""")


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"guide/index.md"}
    assert pages <= set(re.findall(r": (\S+\.md)", nav))


def test_the_site_builds_and_needs_no_network(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs is not here: pip install 'loci-lab[docs]', or make docs")
    pytest.importorskip("material", reason="mkdocs-material is not here: pip install 'loci-lab[docs]', or make docs")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    made = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, env=quiet)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "site" / "search" / "search_index.js").is_file(), "search works from file://"
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", page.read_text(encoding="utf-8"))
        assert not [tag for tag in loaded if OUTSIDE.search(tag)], page.name


def test_every_variant_has_its_picture_and_row():
    page = (DOCS / "guide" / "variants.md").read_text(encoding="utf-8")
    for name in VARIANTS:
        assert f"](variants/{name}.svg)" in page
        assert (DOCS / "guide" / "variants" / f"{name}.svg").is_file()


def test_every_figure_of_the_metrics_page_says_how_to_read_it():
    page = (DOCS / "guide" / "metrics.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", page, flags=re.M)[1:]
    assert len(sections) >= 8
    assert all("**How to read this figure.**" in section for section in sections)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_cells_without_output(file):
    text = file.read_text(encoding="utf-8")
    assert "format_name: percent" in text
    assert text.count("# %%") >= 6
    ast.parse(text)
    assert f"`{file.name}`" in (DOCS / "notebooks" / "index.md").read_text(encoding="utf-8")


def test_there_are_six_notebooks():
    assert len(NOTEBOOKS) == 6
