"""How a `.params` file was made, and in which year's form the next one is: `P.course.json` next to P.

A params file holds tensors alone: not the year whose corruption and schedule trained it, nor whose characters its
symbols are, nor which form of the perceiver it is. The note has the file's hash, so it never speaks of another file of
the same name. Knows nothing of models.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec

from loci.errors import LociError
from loci.files import read_struct, sha256_file, write_json

NOTE = ".course.json"
YEARS = {"vanilla": 2021, "synthesizer": 2021, "perceiver": 2023, "rope": 2024}
"""The year that introduced a variant."""


class Note(TypedDict):
    """What `P.course.json` says at least."""

    variant: Literal["vanilla", "synthesizer", "perceiver", "rope"]
    corpus: str
    vocabulary: str
    sha256: str
    year: NotRequired[Annotated[int, msgspec.Meta(ge=2021, le=2025)]]
    """Unknown of weights that a run was exported to."""
    fix: NotRequired[list[str]]
    precision: NotRequired[Literal["bf16"]]
    """Of the products it was trained with, where that is not fp32."""
    perceiver_form: NotRequired[Literal["residual", "bare"]]
    """The tensors of both forms have the same names and shapes."""


class _Noted(msgspec.Struct):
    note: str


class _Begun(msgspec.Struct):
    """What is read of the run.json of a training that has not written its params yet."""

    recipe: _Noted


def note_how_made(params: Path, **how: Any) -> None:
    """Write down how a params file was made."""
    write_json(note_of(params), {**how, "sha256": sha256_file(params)})


def how_made(params: Path) -> dict[str, Any] | None:
    """What `P.course.json` says of P; None where there is none, or where it speaks of another file of that name."""
    made = read_note(params) if params.is_file() else None
    return {**made} if made is not None and made["sha256"] == sha256_file(params) else None


def read_note(params: Path) -> Note | None:
    """What `P.course.json` says, of whatever file; None where there is none."""
    note = note_of(params)
    return read_struct(note, Note, remedy="remove it: the file is then read without it") if note.is_file() else None


def choose_year(
    variant: str, given: int | None = None, *, reading: Path | None = None, writing: Path | None = None
) -> tuple[int, str]:
    """The year, and why: as given, that of the weights read, that of everything trained in this folder, the variant's.

    So that two variants trained in one folder can be compared. Weights of another year than the given one are refused.
    What was begun at `writing` comes before its neighbours: the same command stays the same training.
    """
    made = how_made(reading) if reading is not None else None
    if made is not None and "year" in made:
        if given not in (None, made["year"]):
            remedy = f"leave --year out, or train it again with --year {given}"
            raise LociError(f"was trained as in {made['year']}, not {given}", path=reading, remedy=remedy)
        return made["year"], f"as {reading.name if reading else ''} was trained"
    if given is not None:
        return given, "as told by --year"
    if writing is not None:
        if (begun := _year_begun(writing)) is not None:
            return begun, f"as {writing.name} was begun"
        notes = [note.with_name(note.name.removesuffix(NOTE)) for note in sorted(writing.parent.glob(f"*{NOTE}"))]
        made_by = {params: _how_made(params) for params in notes if params != writing}
        others = [(found["year"], params.name) for params, found in made_by.items() if "year" in found]
        if len({year for year, _ in others}) == 1:
            (year, name), own = others[0], YEARS[variant]
            return year, f"as {name} was trained" + (f"; {variant} came in {own}: --year {own}" if year < own else "")
    return YEARS[variant], f"the year that introduced {variant}; --year chooses another"


def begun_in(year: int) -> str:
    """How the note of a pretraining's recipe ends: the form of a run that has no weights to speak for it yet."""
    return f"as in {year}"


def _year_begun(params: Path) -> int | None:
    """The year of the weights there, or of the run that is to write them."""
    if "year" in (made := _how_made(params)):
        return int(made["year"])
    run = params.parent / f"{params.name}.run" / "run.json"
    with contextlib.suppress(LociError):
        note = read_struct(run, _Begun, remedy="").recipe.note
        return next((year for year in range(2021, 2026) if note.endswith(begun_in(year))), None)
    return None


def _how_made(params: Path) -> dict[str, Any]:
    """The same of a neighbour, whose damaged note is no fault of this command."""
    with contextlib.suppress(LociError):
        return how_made(params) or {}
    return {}


def note_of(params: Path) -> Path:
    """The note's path."""
    return params.parent / f"{params.name}{NOTE}"  # "." has no name of its own
