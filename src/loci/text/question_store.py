"""Large question files, read once and then mapped into memory: start-up does not grow with them.

    birth_places_train.tsv.compiled/  told.npy, told_offsets.npy          question, tab, answers; line after line, UTF-8
                                      subjects.npy, subject_offsets.npy   whom each is about
                                      columns.npy                         number, relation and file of each
                                      questions.json                      the relations; hash of what was read
                                      manifest.json                       hashes of all these files

What was found wrong is not kept: a file with findings is read anew each time. Knows nothing of how files are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from loci.errors import LociError
from loci.files import atomic_folder, sha256_file, sha256_text
from loci.text.mapped import finish_folder, folder_for, opened_or_made, read_arrays
from loci.text.packed import Texts
from loci.text.question import PackedQuestions
from loci.text.questions import Questions
from loci.text.relations import Relation

LARGE = 8 << 20
"""Bytes of question files from which on they are kept; fewer are read in a few seconds."""
KIND, FORMAT, ABOUT = "compiled questions", 3, "questions.json"
_ARRAYS = ("told", "told_offsets", "subjects", "subject_offsets", "columns")


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What questions.json says."""

    sha256: str
    """Of the files, and of what else their forms were found by."""
    names: tuple[str, ...]
    """The relations of the rows, "" among them where some have none."""
    relations: tuple[dict[str, Any], ...]


def are_large(files: Sequence[Path]) -> bool:
    """Whether question files are large enough to be kept."""
    return sum(file.stat().st_size for file in files if file.is_file()) >= LARGE


def read_kept(
    path: Path,
    files: Sequence[Path],
    given: Sequence[Relation],
    subjects: Collection[str],
    read: Callable[[], Questions],
) -> Questions:
    """The questions of some files as mapped arrays; what `read` gives where they were not kept yet or cannot be."""
    of_corpus = getattr(subjects, "hash", None) or sha256_text("\n".join(subjects))
    read_from = [[file.name, sha256_file(file)] for file in files], [one.as_dict() for one in given], of_corpus
    digest, folder = sha256_text(json.dumps(read_from)), folder_for(files[0])
    made: list[Questions] = []

    def make() -> bool:
        made.append(read())
        rows = made[0].rows
        if made[0].findings or not isinstance(rows, PackedQuestions):
            return False
        texts = {"told": rows.told.data, "told_offsets": rows.told.offsets}
        texts |= {"subjects": rows.subjects.data, "subject_offsets": rows.subjects.offsets}
        with atomic_folder(folder) as temporary:
            for name, array in {**texts, "columns": rows.columns}.items():
                np.save(temporary / f"{name}.npy", array)
            relations = tuple(relation.as_dict() for relation in made[0].relations)
            finish_folder(temporary, KIND, FORMAT, About(digest, rows.relations, relations), ABOUT)
        return True

    found = opened_or_made(folder, lambda: _opened(folder, path, files, digest), make)
    return found or (made[0] if made else read())


def _opened(folder: Path, path: Path, files: Sequence[Path], digest: str) -> Questions | None:
    found = read_arrays(folder, KIND, FORMAT, About, ABOUT, _ARRAYS)
    if found is None or found[0].sha256 != digest:
        return None
    about, arrays = found
    try:
        told, subjects = (
            Texts(arrays[data], arrays[offsets])
            for data, offsets in (("told", "told_offsets"), ("subjects", "subject_offsets"))
        )
        rows = PackedQuestions(told, subjects, arrays["columns"], about.names, tuple(files))
        if not rows.is_sound():
            return None
        return Questions(path, rows, tuple(map(Relation.from_dict, about.relations)))
    except (LociError, ValueError, IndexError, TypeError):
        return None
