"""Clean copies of what was checked, and the list of what was changed.

Writes what the diagnosis already worked out; decides nothing itself. Never touches the input. Rows that contradict each
other are all kept: which one is right cannot be told from the files.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.files import atomic_folder, write_text
from loci.text.diagnosis import Diagnosis
from loci.text.findings import Finding, visible
from loci.text.layout import REPAIRS_NAME
from loci.text.relations import relations_file

_COLUMNS = ("file", "line", "kind", "before", "after")


@dataclass(frozen=True)
class Repaired:
    """What a repair wrote: the names of the clean copies, of files that could not be saved, and of those copied as they
    stand; and the changes."""

    folder: Path
    written: tuple[str, ...]
    lost: tuple[str, ...]
    changes: tuple[Finding, ...]
    copied: tuple[str, ...] = ()


def write_repaired(diagnosis: Diagnosis, out: str | Path) -> Repaired:
    """Write the clean copies and repairs.tsv into `out`, which must not exist or be an empty folder."""
    out = Path(out)
    own = [file for file in diagnosis.files if not file.guest]
    names = {file.path: diagnosis.name_of(file.path) for file in own}
    copies = {names[file.path]: file.clean for file in own if file.clean is not None}
    lost = tuple(names[file.path] for file in own if file.clean is None)
    if not copies:
        remedy = "start from another copy of the file"
        raise LociError("nothing in it can be saved", path=diagnosis.path, remedy=remedy)
    changes = tuple(found for found in diagnosis.changes if found.path is not None and names[found.path] in copies)
    relations = relations_file(diagnosis.path)
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise LociError("exists and is not empty", path=out, remedy="choose a new folder for the clean copy")
    with atomic_folder(out) as folder:
        for name, text in copies.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_text(folder / name, text)
        write_text(folder / REPAIRS_NAME, changes_table(changes, names))
        if relations is not None:  # the questions were read with its forms
            shutil.copyfile(relations, folder / relations.name)
    return Repaired(out, tuple(copies), lost, changes, (relations.name,) if relations is not None else ())


def changes_table(changes: tuple[Finding, ...], names: Mapping[Path, str]) -> str:
    """The changes as a table: file, line, kind, before, after. `names` are those of the clean copies."""
    lines = ["\t".join(_COLUMNS)]
    for change in changes:
        name = names[change.path] if change.path else ""
        after = "(removed)" if change.after is None else change.after
        cells = (name, str(change.line or ""), change.kind, change.before or "", after)
        lines.append("\t".join(map(visible, cells)))
    return "".join(f"{line}\n" for line in lines)
