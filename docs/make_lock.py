"""Write requirements.lock and docs/licences.md: what `make install` installs, to the version, the hash and the licence.

    make lock                              after a change of pyproject.toml or constraints.txt
    make lock UPGRADE=--upgrade            newer versions of what constraints.txt does not fix

The lock has every package of the extras below for every platform, with the hashes of all its files. torch is not in it:
each machine's package index offers its own build (CPU or CUDA), and pip takes hashes for all packages of a call or for
none, so `make install` installs torch after the lock, with its exact version. No address of an index is written down.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK, LICENCES = ROOT / "requirements.lock", ROOT / "docs" / "licences.md"
EXTRAS = ("all", "dev")
BUILD = ("hatchling", "editables")
"""What building the package itself needs; the lock holds it too, so that nothing is fetched unseen."""
ONLY_WITH_TORCH = re.compile(r"(torch|triton|nvidia-.*|cuda-.*)==")
LONGEST_LICENCE = 60


def resolve(*flags: str) -> str:
    """Every package with its exact version, marker and hashes."""
    with tempfile.NamedTemporaryFile("w", suffix=".in") as build:
        build.write("\n".join(BUILD))
        build.flush()
        extras = [part for extra in EXTRAS for part in ("--extra", extra)]
        command = ["uv", "pip", "compile", "pyproject.toml", build.name, *extras, "--constraint", "constraints.txt"]
        command += [
            "--universal",
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            "--no-emit-index-url",
            "--quiet",
        ]
        command += ["--output-file", str(LOCK), *flags]  # an older lock's versions stay unless they must change
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return LOCK.read_text(encoding="utf-8")


def without_torch(text: str) -> str:
    """The lock without torch and what comes with its CUDA build."""
    packages = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)
    return "".join(package for package in packages if not ONLY_WITH_TORCH.match(package))


def licences(lock: str) -> str:
    """A table of the packages in the lock, and torch: version, licence, as each package says itself."""
    rows = []
    for name, version in [*re.findall(r"^([\w.-]+)==([^\s;\\]+)", lock, re.MULTILINE), ("torch", "")]:
        try:
            about = metadata(name)
        except PackageNotFoundError:
            rows.append(f"| {name} | {version} | for other platforms; not installed here |")
        else:
            rows.append(f"| {name} | {version or about['Version'].partition('+')[0]} | {_licence(about)} |")
    head = (
        "# Licences of what `make install` installs\n\nMade by `make lock` from the packages' own metadata. Loci "
        "itself is under the licence in LICENSE;\nnone of these packages is part of it.\n\n"
        "| package | version | licence |\n|---|---|---|\n"
    )
    return head + "\n".join(sorted(set(rows), key=str.lower)) + "\n"


def _licence(about: PackageMetadata) -> str:
    """What a package says its licence is: the expression, else the classifiers, else the first line of the text."""
    classifiers = [
        one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if one.startswith("License ::")
    ]
    text = (about["License"] or "").strip().partition("\n")[0][:LONGEST_LICENCE]
    return about["License-Expression"] or ", ".join(classifiers) or text or "not stated in its metadata"


if __name__ == "__main__":
    whole = without_torch(resolve(*sys.argv[1:]))
    LOCK.write_text("# Made by `make lock`; docs/make_lock.py says how.\n" + whole, encoding="utf-8")
    LICENCES.write_text(licences(whole), encoding="utf-8")
    print(f"wrote {LOCK.name}: {whole.count('==')} versions, {whole.count('--hash')} hashes; {LICENCES.name}")
