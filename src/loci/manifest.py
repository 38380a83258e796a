"""Manifests: which files of a folder Loci wrote, with their hashes and the version of their format.

A folder with a manifest can be handed on: what is read from it is what was written, bit for bit, or it is refused.
Knows nothing of what the files mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from loci.errors import LociError
from loci.files import read_struct, sha256_file, write_json

MANIFEST = "manifest.json"


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What manifest.json says."""

    kind: str
    """What the folder holds: "run", "checkpoint", …"""
    format: int
    """The version of the files' format; another one is refused."""
    sha256: dict[str, str]
    """Hash of each file, by its name in the folder."""


def write_manifest(folder: Path, kind: str, format: int, hashes: dict[str, str]) -> Manifest:
    """Write a folder's manifest."""
    made = Manifest(kind, format, hashes)
    write_json(folder / MANIFEST, msgspec.to_builtins(made))
    return made


def read_manifest(folder: Path, kind: str, format: int, *, remedy: str) -> Manifest:
    """A folder's manifest; a missing or damaged one, or one of another format, is a `LociError`."""
    if not (folder / MANIFEST).is_file():
        raise LociError(f"has no {MANIFEST}: an older Loci wrote it, or the file is lost", path=folder, remedy=remedy)
    found = read_struct(folder / MANIFEST, Manifest, remedy=remedy)
    if found.kind != kind:
        raise LociError(f"holds a {found.kind}, a {kind} is wanted here", path=folder, remedy=remedy)
    if found.format != format:
        remedy = remedy if found.format < format else "upgrade Loci"
        raise LociError(f"{kind} format {found.format}, this Loci reads {format}", path=folder, remedy=remedy)
    return found


def require_files(folder: Path, manifest: Manifest, names: Iterable[str], *, remedy: str) -> None:
    """Refuse a folder in which one of these files is not as it was written."""
    for name in names:
        file = folder / name
        if name not in manifest.sha256 or not file.is_file() or sha256_file(file) != manifest.sha256[name]:
            raise LociError(f"{name} is missing or does not match its recorded hash", path=folder, remedy=remedy)


def hashes_of(folder: Path) -> dict[str, str]:
    """The hashes of all files of a folder but its manifest."""
    return {file.name: sha256_file(file) for file in sorted(folder.iterdir()) if file.name != MANIFEST}
