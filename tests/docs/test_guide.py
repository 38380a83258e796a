"""The guide's commands and programs are run as they stand there, but for the minutes of training.

`index.md` makes the world and the run that the other pages use. The commands of `console` blocks, which show output,
must exist with their flags; the slow tests run them too, and the longest pages.
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
from markdown_blocks import carry_out, shell_commands, shown_commands

from loci.answering.answerer import ANSWERERS
from loci.cli.commands import COMMANDS
from loci.cli.main import main
from loci.data.objectives import OBJECTIVES
from loci.model.attention import ATTENTIONS
from loci.recipes import RECIPES

ROOT = Path(__file__).resolve().parents[2]
GUIDE = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "guide").glob("*.md"))}
SHOWN = {**GUIDE, "quick start": (ROOT / "docs" / "index.md").read_text(encoding="utf-8")}
WRITERS = {"Roses": "Ana Lima", "Rivers": "Bo Lee", "Stones": "Cy Dow", "Clouds": "Ida Berg"}
PAGES = (
    *("own-data", "course", "research", "engineers", "python", "lab"),
    *("exchange", "recipes", "variants", "metrics", "footguns"),
)
LONG = {"course", "research", "exchange"}
"""Pages whose commands take the longest; the README runs most of them too."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader of the guide works: with the world and the run of its first page."""
    folder = tmp_path_factory.mktemp("guide")
    with contextlib.chdir(folder):
        carry_out(GUIDE["index"], "index.md")
    return folder


@pytest.fixture
def registries() -> Iterator[None]:
    """What a page registers is taken out again."""
    before = [(table, set(table)) for table in (ATTENTIONS, OBJECTIVES, RECIPES, ANSWERERS)]
    yield
    for table, names in before:
        for name in set(table) - names:
            table.remove(name)


@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("page", [pytest.param(page, marks=[pytest.mark.slow] * (page in LONG)) for page in PAGES])
def test_a_page_runs(page, folder):
    with contextlib.chdir(folder):
        carry_out(GUIDE[page], f"{page}.md")
    if page == "research":
        _check_contract("mean")


@pytest.fixture(scope="module")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for a reader who also types what is only shown. `course` stands for the course's own files."""
    folder = tmp_path_factory.mktemp("whole-guide")
    with contextlib.chdir(folder):
        assert main(["world", "--people", "60", "--out", "course"]) == 0
        _write_books(Path("own", "mydata"))
        lines = len(Path("course/birth_dev.tsv").read_text(encoding="utf-8").splitlines())
        for student in "ab":
            file = Path("course", "handed-in", f"{student}.predictions")
            file.parent.mkdir(exist_ok=True)
            file.write_text("London\n" * lines, encoding="utf-8")
        Path("start").mkdir()
        carry_out(GUIDE["index"], "index.md", shown=True)
    return folder


def _write_books(folder: Path) -> None:
    """Data of one's own, with questions of the forms that the page gives."""
    folder.mkdir(parents=True)
    books = [(f"{colour} {thing}", writer) for colour in ("Red", "Old", "Wild") for thing, writer in WRITERS.items()]
    lines = [f"{book}. {book} was written by {writer} in {1900 + n}." for n, (book, writer) in enumerate(books)]
    asked = [
        f"Who wrote {book}?\t{writer}\nWhen was {book} written?\t{1900 + n}" for n, (book, writer) in enumerate(books)
    ]
    (folder / "wiki.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "books_train.tsv").write_text("\n".join(asked) + "\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("registries")
@pytest.mark.parametrize("page", SHOWN)
def test_what_a_page_shows_runs(page, whole_folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # a prompt without a question is over at once
    text = SHOWN[page]
    if page == "course":  # its commands are typed in the folder of the files
        text = re.sub(r"^```sh$", "```", text, flags=re.M)
    if page != "index":
        with contextlib.chdir(
            whole_folder / {"course": "course", "own-data": "own", "quick start": "start"}.get(page, "")
        ):
            carry_out(text, f"{page}.md", shown=True)


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


def test_the_recipes_page_lists_the_recipes():
    rows = re.findall(r"^\| (`[^|]+) \|", GUIDE["recipes"], flags=re.M)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == set(RECIPES)


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
