"""Hooks of the documentation site: the language of code blocks, and a search that needs nothing from outside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SHIM = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')


def on_config(config: Any) -> Any:
    """Pages of the navigation that a checkout does not have are left out."""
    docs = Path(config["docs_dir"])
    config["nav"] = [_present(entry, docs) for entry in config["nav"]]
    return config


def _present(entry: dict[str, Any], docs: Path) -> dict[str, Any]:
    ((title, target),) = entry.items()
    if isinstance(target, str):
        return entry
    return {title: [part for part in target if all((docs / page).is_file() for page in part.values())]}


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """```python run → ```python: the further words tell the tests what to do with a block."""
    return re.sub(r"^```(\w+) [^\n]+$", r"```\1", markdown, flags=re.M)


def on_post_page(output: str, page: Any, **kwargs: Any) -> str:
    """The script that lets the search work from the disk is ours."""
    return SHIM.sub(f'<script src="{"../" * page.url.count("/")}worker.js"></script>', output)


def on_post_template(output_content: str, **kwargs: Any) -> str:
    """The page for addresses that do not exist has no search to begin with."""
    return SHIM.sub("", output_content)
