"""The guide's commands and programs are run as they stand there, but for the minutes of training.

`index.md` makes the world and the run that the other pages use. `console` blocks show output and are not run; their
commands and flags must exist.
"""

import contextlib
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from markdown_blocks import blocks, command_lines, quickly, shell_commands, shown_commands

from loci.answering.answerer import ANSWERERS
from loci.cli.commands import COMMANDS
from loci.cli.main import main
from loci.data.objectives import OBJECTIVES
from loci.model.attention import ATTENTIONS
from loci.recipes import RECIPES

ROOT = Path(__file__).resolve().parents[2]
GUIDE = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "guide").glob("*.md"))}
SHOWN = {**GUIDE, "quick start": (ROOT / "docs" / "index.md").read_text(encoding="utf-8")}
PAGES = (
    *("own-data", "course", "research", "engineers", "python", "lab"),
    *("exchange", "recipes", "variants", "metrics", "footguns"),
)


def carry_out(page: str) -> None:
    """Run a page's `sh` blocks and its `python run` blocks, in order; the programs of a page share their names."""
    names: dict[str, object] = {"__name__": "guide"}
    for block in blocks(GUIDE[page]):
        if block.info == "sh":
            for words in command_lines(block.text):
                if words[0] == "loci":
                    told = io.StringIO()
                    with contextlib.redirect_stderr(told):
                        code = main(quickly(words[1:]))
                    assert code == 0, f"{page}.md: {shlex.join(words)}: {told.getvalue()}"
        elif block.info == "python run":
            exec(compile(block.text, f"{page}.md", "exec"), names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a reader of the guide works: with the world and the run of its first page."""
    folder = tmp_path_factory.mktemp("guide")
    with contextlib.chdir(folder):
        carry_out("index")
        yield folder


@pytest.fixture
def registries() -> Iterator[None]:
    """What a page registers is taken out again."""
    before = [(table, set(table)) for table in (ATTENTIONS, OBJECTIVES, RECIPES, ANSWERERS)]
    yield
    for table, names in before:
        for name in set(table) - names:
            table.remove(name)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs(page, folder):
    carry_out(page)
    if page == "research":
        _check_contract("mean")


def test_every_page_is_run_and_linked_from_the_first():
    assert set(GUIDE) == {"index", "web", "silence", *PAGES}  # a server does not end by itself: its page is only shown
    assert "(web.md)" in GUIDE["index"]
    for page in PAGES:
        assert f"({page}.md)" in GUIDE["index"]
        assert any(words[0] == "loci" for words in shell_commands(GUIDE[page]))


def test_only_the_first_page_trains_for_minutes():
    training = [words for page in GUIDE for words in shell_commands(GUIDE[page]) if "--minutes" in words]
    assert len(training) == 1


@pytest.mark.parametrize("page", SHOWN)
def test_commands_that_are_only_shown_exist_with_their_flags(page):
    for words in shown_commands(SHOWN[page]):
        if words[0] == "loci":
            command = tuple(words[1:3] if words[1] == "course" else words[1:2])
            known = _flags(command)
            for word in words:
                if word.startswith("--"):
                    assert word in known, f"{page}.md: {shlex.join(words)}: no flag {word}"


def test_every_command_is_shown_somewhere():
    used = {words[1] for page in GUIDE.values() for words in (*shell_commands(page), *shown_commands(page))}
    assert set(COMMANDS) - {"doctor", "bench"} <= used  # the machine's own are no part of anybody's work


@cache
def _flags(command: tuple[str, ...]) -> frozenset[str]:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return frozenset(re.findall(r"--[\w-]+", told.getvalue()))


def _check_contract(attention: str) -> None:
    """The attention class of the guide honours what every class does."""
    spec = importlib.util.spec_from_file_location("guide_contract", ROOT / "tests" / "contracts" / "contract.py")
    assert spec is not None
    assert spec.loader is not None
    contract = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(contract)
    for check in contract.CHECKS:
        check(contract.build(contract.TINY.replace(attention=attention)))
