"""The documentation site, opened from the disk in Chromium at two widths: pictures, search, nothing from outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    reason = "mkdocs-material is not here: pip install 'loci-lab[docs]', or make docs"
    pytest.importorskip("material", reason=reason)
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return folder


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_every_page_fits_and_asks_nothing_of_the_network(site, browser, width, height):
    page = browser.new_page(viewport={"width": width, "height": height})
    outside, errors = [], []
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or outside.append(asked.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    files = sorted(file for file in site.rglob("*.html") if file.name != "404.html")
    assert len(files) > 20
    for file in files:
        page.goto(file.as_uri())
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        broken = page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)")
        assert (wide, broken) == (0, []), file.name
    page.close()
    assert (outside, errors) == ([], [])


def test_search_works_from_the_disk(site, browser):
    page = browser.new_page()
    page.goto((site / "guide" / "variants.html").as_uri())
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially("checkpoint")
    page.locator(".md-search-result__item a", has_text="Architecture").first.click()
    page.wait_for_url("**/architecture.html*")
    page.close()
