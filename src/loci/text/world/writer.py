"""A world on disk in the course's layout, or in memory: corpus, questions, the whole truth, gold parses.

Knows nothing of how people or sentences are made. People stream through: nothing is kept but counts and open files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, NamedTuple

from loci.errors import LociError
from loci.files import atomic_folder, sha256_file, write_json
from loci.text.world.parse import conllu_block
from loci.text.world.population import DEV, OUTSIDE, TEST, TRAIN, UNSTATED, Person, people
from loci.text.world.spec import WorldSpec
from loci.text.world.story import Line, lines_about

WORLD_VERSION = 1  # raised when the same spec gives other bytes

CORPUS = "wiki.txt"
PARSES = "wiki.conllu"
TRUTH = "people.jsonl"
MANIFEST = "world.json"
RELATIONS = "relations"
BIRTH_FILES = {
    TRAIN: "birth_places_train.tsv",
    DEV: "birth_dev.tsv",
    TEST: "birth_test_inputs.tsv",
    UNSTATED: "birth_unstated.tsv",
    OUTSIDE: "birth_outside.tsv",
}
SPLITS = (TRAIN, DEV, TEST)
# Everything a world folder may hold; a folder with anything else in it is never replaced.
OWN_ENTRIES = {CORPUS, PARSES, TRUTH, MANIFEST, RELATIONS, *BIRTH_FILES.values()}

EXAMPLES = 3
PROGRESS_EVERY = 500


class Row(NamedTuple):
    """One question of one file; the course's test file has no answers."""

    file: str
    question: str
    answer: str | None


class WrittenFile(NamedTuple):
    """A file of a world: its path inside the folder, how many lines and bytes it has, and their hash."""

    name: str
    lines: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class WorldSummary:
    """What was written, some lines of it, and what always answering the commonest train place scores on dev."""

    folder: Path
    spec: WorldSpec
    files: tuple[WrittenFile, ...]
    examples: tuple[str, ...]
    commonest_place: str
    commonest_right: int
    dev_questions: int


@dataclass(frozen=True)
class WorldText:
    """A world in memory: the corpus lines, and the questions of each file with their answers."""

    lines: tuple[str, ...]
    questions: dict[str, tuple[tuple[str, str | None], ...]]


def tellings(spec: WorldSpec) -> Iterator[tuple[Person, list[Line]]]:
    """Everybody in file order, with the lines about them."""
    for person in people(spec):
        yield person, lines_about(person, spec)


def question_rows(person: Person) -> Iterator[Row]:
    """The questions that the files of a world ask about the person."""
    where = f"Where was {person.name} born?"
    yield Row(BIRTH_FILES[person.split], where, None if person.split == TEST else person.birth_place.name)
    if person.split in (TRAIN, DEV):
        if "death" in person.told and person.death_place is not None:
            yield Row(f"{RELATIONS}/death_{person.split}.tsv", f"Where did {person.name} die?", person.death_place.name)
        if "job" in person.told:
            yield Row(f"{RELATIONS}/work_{person.split}.tsv", f"What did {person.name} do?", person.occupation.name)


class Alphabet:
    """The characters that a world's lines and questions use.

    The course's vocabulary is made of the corpus alone, so the corpus must hold every character of its questions. In a
    small world, or with people outside the corpus, a letter may be missing: a last line about nobody then holds it.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._asked: set[str] = set()

    def add(self, lines: list[Line], rows: list[Row]) -> None:
        """Take note of a person's lines and questions."""
        for line in lines:
            self._told.update(line.text)
        for row in rows:
            self._asked.update(row.question, row.answer or "")

    def last_line(self) -> str | None:
        """The line that supplies the missing characters, or None when there are none."""
        missing = sorted(self._asked - self._told)
        return f"Alphabet. {' '.join(missing)} ." if missing else None


def world_text(spec: WorldSpec) -> WorldText:
    """The world without a disk: small worlds for tests and demonstrations."""
    lines: list[str] = []
    questions: dict[str, list[tuple[str, str | None]]] = {}
    alphabet = Alphabet()
    for person, told in tellings(spec):
        rows = list(question_rows(person))
        alphabet.add(told, rows)
        lines.extend(line.text for line in told)
        for row in rows:
            questions.setdefault(row.file, []).append((row.question, row.answer))
    last = alphabet.last_line()
    lines.extend([last] if last else [])
    return WorldText(tuple(lines), {file: tuple(pairs) for file, pairs in questions.items()})


def write_world(
    spec: WorldSpec,
    out: str | Path,
    *,
    conllu: bool = False,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> WorldSummary:
    """Write the world into the folder `out`, which appears only when it is complete.

    `out` must be absent or empty; `force` replaces an older world there. `progress` is told the number of people done.
    """
    target = Path(out).resolve()
    _check_target(target, force)
    try:
        with atomic_folder(target) as folder:
            return _fill(spec, folder, target, conllu, progress)
    except OSError as error:
        raise LociError(f"cannot write the world: {error.strerror or error}", path=out) from None


def _check_target(target: Path, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise LociError("is a file, a folder was to be written here", path=target, remedy="choose another name")
    entries = sorted(entry.name for entry in target.iterdir()) if target.exists() else []
    if not entries:
        return
    if MANIFEST not in entries:
        raise LociError("the folder is not empty and holds no world", path=target, remedy="choose a new folder")
    if not force:
        raise LociError(
            "a world is already here", path=target, remedy="choose a new folder, or replace it with --force"
        )
    foreign = [name for name in entries if name not in OWN_ENTRIES]
    if foreign:
        raise LociError(
            f"the world's folder also holds {', '.join(foreign[:3])}, which would be lost",
            path=target,
            remedy="move it elsewhere first",
        )


class _Files:
    """The open files of a world; each is made when its first line comes."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._handles: dict[str, IO[str]] = {}
        self.lines: Counter[str] = Counter()

    def open(self, name: str) -> IO[str]:
        if name not in self._handles:
            path = self._folder / name
            path.parent.mkdir(exist_ok=True)
            handle = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115 - the stack closes it
            self._handles[name] = self._stack.enter_context(handle)
        return self._handles[name]

    def add(self, name: str, text: str) -> None:
        """Append `text`, whole lines without the last newline."""
        self.open(name).write(text + "\n")
        self.lines[name] += text.count("\n") + 1

    @property
    def names(self) -> list[str]:
        return list(self._handles)


def _fill(
    spec: WorldSpec, folder: Path, target: Path, conllu: bool, progress: Callable[[int], None] | None
) -> WorldSummary:
    examples: list[str] = []
    answers: dict[str, Counter[str]] = {TRAIN: Counter(), DEV: Counter()}
    alphabet = Alphabet()
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with ExitStack() as stack:
        files = _Files(folder, stack)
        asked = [BIRTH_FILES[split] for split, n in zip(SPLITS, spec.counts, strict=False) if n]
        for name in (CORPUS, *asked, TRUTH):  # in this order in the manifest; a split of nobody has no file
            files.open(name)
        for person, lines in tellings(spec):
            first = files.lines[CORPUS] + 1
            for number, line in enumerate(lines, start=first):
                files.add(CORPUS, line.text)
                if conllu:
                    for place, sentence in enumerate(line.sentences, start=1):
                        sent_id = f"world-{number}-{place}"
                        block = conllu_block(sentence.tokens, sent_id=sent_id, line=number, offset=sentence.offset)
                        files.add(PARSES, block[:-1])
            rows = list(question_rows(person))
            alphabet.add(lines, rows)
            for row in rows:
                files.add(row.file, row.question if row.answer is None else f"{row.question}\t{row.answer}")
            numbers = tuple(range(first, first + len(lines)))
            files.add(TRUTH, encode(person.record(numbers)))
            if person.split in answers:
                answers[person.split][person.birth_place.name] += 1
            if len(examples) < EXAMPLES and lines:
                examples.append(lines[0].text)
            if progress is not None and (person.id + 1) % PROGRESS_EVERY == 0:
                progress(person.id + 1)
        last = alphabet.last_line()
        if last is not None:
            files.add(CORPUS, last)
    written = tuple(_written(folder, name, files.lines[name]) for name in sorted(files.names))
    write_json(folder / MANIFEST, _manifest(spec, written))
    # Ties go to the name that sorts first, not to the one met first.
    commonest = min(answers[TRAIN], key=lambda place: (-answers[TRAIN][place], place))
    if progress is not None:
        progress(spec.people)
    return WorldSummary(
        folder=target,
        spec=spec,
        files=written,
        examples=tuple(examples),
        commonest_place=commonest,
        commonest_right=answers[DEV][commonest],
        dev_questions=answers[DEV].total(),
    )


def _written(folder: Path, name: str, lines: int) -> WrittenFile:
    path = folder / name
    return WrittenFile(name, lines, path.stat().st_size, sha256_file(path))


def _manifest(spec: WorldSpec, written: tuple[WrittenFile, ...]) -> dict[str, object]:
    return {
        "world_version": WORLD_VERSION,
        "spec": asdict(spec),
        "people": spec.counts._asdict(),
        "files": {file.name: {"lines": file.lines, "bytes": file.bytes, "sha256": file.sha256} for file in written},
    }
