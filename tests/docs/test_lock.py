"""requirements.lock is what pyproject.toml and constraints.txt ask for, by version and hash, without addresses."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]
LOCK = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
VERSIONS = dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", LOCK, re.MULTILINE))


def asked():
    """What `make install` wants of pyproject.toml."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["all"], *extras["dev"]]
    for name in [own for line in extras["all"] for own in re.findall(r"\[([\w,]+)\]", line)]:
        wanted += [one for extra in name.split(",") for one in extras[extra]]
    found = [Requirement(line) for line in wanted]
    return [one for one in found if one.name not in ("torch", "loci-lab")]


def test_every_dependency_is_locked_within_its_range():
    for requirement in asked():
        version = VERSIONS.get(requirement.name.lower())
        assert version is not None, f"{requirement.name} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(version), f"{requirement.name}: make lock"


def test_the_lock_has_the_exact_versions_of_the_constraints():
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    other = {name: VERSIONS[name] for name in exact if name in VERSIONS and VERSIONS[name] != exact[name]}
    assert not other, "make lock"


def test_every_package_has_hashes_and_no_address():
    packages = [part for part in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE) if "==" in part]
    assert len(packages) > 50
    assert all("--hash=sha256:" in package for package in packages)
    assert not re.search(r"https?://|--index|--find-links", LOCK)
