"""A world on disk, or in memory: corpus, questions, the whole truth, gold parses.

Knows nothing of how people or sentences are made. People stream through: nothing is kept but counts and open files.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypedDict

from loci.errors import LociError
from loci.files import atomic_folder, read_struct, sha256_file, write_json
from loci.text.world.parse import conllu_block
from loci.text.world.population import DEV, TRAIN, people
from loci.text.world.products import products
from loci.text.world.sentences import Subject, answer_of
from loci.text.world.spec import WorldSpec
from loci.text.world.story import Alphabet, Asker, Line, Row, lines_about
from loci.text.world.tables import PEOPLE, relations

WORLD_VERSION = 1  # raised when the same spec gives other bytes

CORPUS = "wiki.txt"
PARSES = "wiki.conllu"
MANIFEST = "world.json"
CORPUS_JSONL = "jsonl/corpus.jsonl"
QUESTIONS_JSONL = "jsonl/questions.jsonl"

EXAMPLES = 3
PROGRESS_EVERY = 500
# Bytes of one line, of its parse, of what is written about each person, and of a question.
LINE_BYTES, PARSE_BYTES, PERSON_BYTES, QUESTION_BYTES = 125, 900, 540, 60

_encode = json.JSONEncoder(ensure_ascii=False).encode


class WrittenFile(NamedTuple):
    """A file of a world: its path inside the folder, how many lines and bytes it has, and their hash."""

    name: str
    lines: int
    bytes: int
    sha256: str


class Baseline(NamedTuple):
    """What always giving the commonest train answer of a relation scores on its dev questions."""

    relation: str
    answer: str
    right: int
    questions: int


class _Manifest(TypedDict):
    """What is read of world.json."""

    files: dict[str, Any]


@dataclass(frozen=True)
class WorldSummary:
    """What was written, some lines of it, and the baseline of each relation."""

    folder: Path
    spec: WorldSpec
    files: tuple[WrittenFile, ...]
    examples: tuple[str, ...]
    baselines: tuple[Baseline, ...]


@dataclass(frozen=True)
class WorldText:
    """A world in memory: the corpus lines, and the questions of each file with their answers."""

    lines: tuple[str, ...]
    questions: dict[str, tuple[tuple[str, str | None], ...]]


def tellings(spec: WorldSpec) -> Iterator[tuple[Subject, list[Line]]]:
    """Everybody (or every product) in file order, with the lines about them."""
    for subject in people(spec) if spec.kind == PEOPLE else products(spec):
        yield subject, lines_about(subject, spec)


def world_text(spec: WorldSpec) -> WorldText:
    """The world without a disk: small worlds for tests and demonstrations."""
    lines: list[str] = []
    questions: dict[str, list[tuple[str, str | None]]] = {}
    alphabet, asker = Alphabet(), Asker(spec)
    for subject, told in tellings(spec):
        rows = asker.rows(subject)
        alphabet.add(told, rows)
        lines.extend(line.text for line in told)
        for row in rows:
            if row.file is not None:
                questions.setdefault(row.file, []).append((row.question, row.answer if row.shown else None))
    asker.check()
    last = alphabet.last_line()
    lines.extend([last] if last else [])
    return WorldText(tuple(lines), {file: tuple(pairs) for file, pairs in questions.items()})


def write_world(
    spec: WorldSpec,
    out: str | Path,
    *,
    conllu: bool = False,
    jsonl: bool = False,
    force: bool = False,
    progress: Callable[[int], None] | None = None,
) -> WorldSummary:
    """Write the world into the folder `out`, which appears only when it is complete.

    `out` must be absent or empty; `force` replaces an older world there. `conllu` adds the gold parses, `jsonl` the
    corpus and all questions as JSON lines. `progress` is told the number of people done.
    """
    target = Path(out).resolve()
    own = _check_target(target, force)
    _check_space(target, spec, conllu, jsonl)
    with atomic_folder(target, own=own) as folder:
        return _fill(spec, folder, target, conllu, jsonl, progress)


def _check_target(target: Path, force: bool) -> set[str]:
    """Refuse what is not to be replaced; the names in the folder that are."""
    if target.exists() and not target.is_dir():
        raise LociError("is a file, a folder was to be written here", path=target, remedy="choose another name")
    entries = sorted(entry.name for entry in target.iterdir()) if target.exists() else []
    if not entries:
        return set()
    if MANIFEST not in entries:
        raise LociError("the folder is not empty and holds no world", path=target, remedy="choose a new folder")
    if not force:
        remedy = "choose a new folder, or replace it with --force"
        raise LociError("a world is already here", path=target, remedy=remedy)
    written = read_struct(target / MANIFEST, _Manifest, remedy="choose a new folder")["files"]
    found = sorted(file.relative_to(target).as_posix() for file in target.rglob("*") if not file.is_dir())
    others = [name for name in found if name not in {MANIFEST, *written}]
    if others:
        message = f"the world's folder also holds {', '.join(others[:3])}, which would be lost"
        raise LociError(message, path=target, remedy="move it elsewhere first")
    return {*entries}


def _check_space(target: Path, spec: WorldSpec, conllu: bool, jsonl: bool) -> None:
    lines = spec.paraphrases * LINE_BYTES * (1 + jsonl) + spec.paraphrases * PARSE_BYTES * conllu
    questions = QUESTION_BYTES * (1 + len(spec.relations)) * (1 + 3 * jsonl)
    needed = spec.people * (lines + questions + PERSON_BYTES)
    free = shutil.disk_usage(next(folder for folder in (target, *target.parents) if folder.exists())).free
    if needed > free:
        message = f"the world would take about {needed / 1e6:,.1f} MB, and {free / 1e6:,.1f} MB are free"
        remedy = "ask for fewer people or paraphrases, or choose another disk"
        raise LociError(message, path=target, remedy=remedy)


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

    def add(self, name: str, text: str, lines: int = 1) -> None:
        """Append `text`, so many whole lines without the last newline."""
        self.open(name).write(text + "\n")
        self.lines[name] += lines

    def written(self) -> tuple[WrittenFile, ...]:
        """The files, once they are closed."""
        paths = {name: self._folder / name for name in sorted(self._handles)}
        return tuple(
            WrittenFile(name, self.lines[name], path.stat().st_size, sha256_file(path)) for name, path in paths.items()
        )


def _fill(
    spec: WorldSpec, folder: Path, target: Path, conllu: bool, jsonl: bool, progress: Callable[[int], None] | None
) -> WorldSummary:
    examples: list[str] = []
    answers: dict[tuple[str, str], Counter[str]] = {}
    alphabet, asker = Alphabet(), Asker(spec)
    with ExitStack() as stack:
        files = _Files(folder, stack)
        files.open(CORPUS)
        for subject, lines in tellings(spec):
            first = files.lines[CORPUS] + 1
            for number, line in enumerate(lines, start=first):
                files.add(CORPUS, line.text)
                if jsonl:
                    files.add(CORPUS_JSONL, _encode({"line": number, "subject": subject.name, "text": line.text}))
                if conllu:
                    for position, sentence in enumerate(line.sentences, start=1):
                        sent_id = f"world-{number}-{position}"
                        block = conllu_block(sentence.tokens, sent_id=sent_id, line=number, offset=sentence.offset)
                        files.add(PARSES, block[:-1], lines=block.count("\n"))
            rows = asker.rows(subject)
            alphabet.add(lines, rows)
            for row in rows:
                if row.file is not None:
                    files.add(row.file, row.line)
                if jsonl:
                    files.add(QUESTIONS_JSONL, _encode(_question_record(row)))
                if row.split in (TRAIN, DEV) and row.answer is not None:
                    answers.setdefault((row.relation, row.split), Counter())[row.answer] += 1
            numbers = tuple(range(first, first + len(lines)))
            files.add(f"{spec.kind}.jsonl", _encode(subject.record(numbers) | _relations_record(subject, spec)))
            if len(examples) < EXAMPLES and lines:
                examples.append(lines[0].text)
            if progress is not None and (subject.id + 1) % PROGRESS_EVERY == 0:
                progress(subject.id + 1)
        asker.check()
        if (last := alphabet.last_line()) is not None:
            files.add(CORPUS, last)
    written = files.written()
    write_json(folder / MANIFEST, _manifest(spec, written))
    if progress is not None:
        progress(spec.people)
    names = [relation.name for relation in spec.relations] or [*relations(PEOPLE)]
    baselines = tuple(
        _baseline(name, answers[name, TRAIN], answers.get((name, DEV), Counter()))
        for name in names
        if (name, TRAIN) in answers
    )
    return WorldSummary(target, spec, written, tuple(examples), baselines)


def _question_record(row: Row) -> dict[str, object]:
    return {
        "question": row.question,
        "answers": [row.answer] if row.told else [],
        "subject": row.subject,
        "relation": row.relation,
        "split": row.split,
        "told": row.told,
    }


def _relations_record(subject: Subject, spec: WorldSpec) -> dict[str, object]:
    """What each relation of the spec is for the subject, and whether a line tells it."""
    known = [relations(spec.kind)[relation.name] for relation in spec.relations]
    told = {one.name: {"answer": answer_of(one, subject), "told": one.fact in subject.told} for one in known}
    return {"relations": told} if told else {}


def _baseline(relation: str, train: Counter[str], dev: Counter[str]) -> Baseline:
    # Ties go to the answer that sorts first, not to the one met first.
    commonest = min(train, key=lambda answer: (-train[answer], answer))
    return Baseline(relation, commonest, dev[commonest], dev.total())


def _manifest(spec: WorldSpec, written: tuple[WrittenFile, ...]) -> dict[str, object]:
    return {
        "world_version": WORLD_VERSION,
        "spec": spec.as_data(),
        "people": spec.counts._asdict(),
        "files": {file.name: {"lines": file.lines, "bytes": file.bytes, "sha256": file.sha256} for file in written},
    }
