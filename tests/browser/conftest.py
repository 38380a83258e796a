"""The browser that all of these tests drive, started once a module; they skip where there is none."""

from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE = 600_000
"""Milliseconds. On a busy machine a page takes minutes; a test is to fail by what it sees, not by the clock."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS, timeout=PATIENCE)
        opened = browser.new_page

        def new_page(**options):
            page = opened(**options)
            page.set_default_timeout(PATIENCE)
            return page

        browser.new_page = new_page
        yield browser
        browser.close()
