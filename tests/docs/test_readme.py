"""The README's commands are run as they stand there, but for the minutes of training."""

import re
import shlex
from pathlib import Path

import pytest
from markdown_blocks import quickly, shell_commands

from loci.cli.commands import COMMANDS
from loci.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND_LINES = shell_commands(README)


def test_the_tour_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tour = [command[1:] for command in COMMAND_LINES if command[0] == "loci"]
    assert len(tour) >= 8
    for arguments in tour:
        assert main(quickly(arguments)) == 0, f"loci {shlex.join(arguments)}: {capsys.readouterr().err}"


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [command[1] for command in COMMAND_LINES if command[0] == "make"]
    assert {"demo", "test"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.M)


def test_ci_calls_the_readmes_test_command():
    assert ["make", "test"] in COMMAND_LINES
    assert "make test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_links_lead_somewhere():
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_stands_in_the_readme(name):
    assert f"loci {name}" in README or f"`{name}`" in README
