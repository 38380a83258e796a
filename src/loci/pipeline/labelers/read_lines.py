"""Reading every line of a corpus for every relation: many prompts at a time, in parts that are kept.

All pairs of line and relation are sorted by the length of the line, so that the prompts of a batch have nearly the
same, and stay together, so that a line is read once for all its relations. After each part its labels go to a file; a
labelling that was stopped or killed reads them and goes on. Knows nothing of what is made of the labels.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import msgspec

from loci.answering.span_scoring import ROOM_FOR_ANSWER, score_spans
from loci.data.prompts import reading_prompt
from loci.data.reading import in_parts
from loci.files import write_text, writing
from loci.pipeline.labelers.answer_prior import AnswerPrior
from loci.pipeline.labelers.confidence import Label
from loci.pipeline.labelers.labeler import Progress, Stopped
from loci.text.corpus import Line
from loci.text.relations import Relation
from loci.text.spans import fragments, word_spans
from loci.training.checkpoint import LoadedModel

PART = 128
"""Prompts between two looks at the clock, the file and the wish to stop: a second or two."""
RIVALS = 16
"""The likeliest answers of a line that the answer prior may choose from."""

Asked = tuple[str, str]
"""The name of a relation, and a subject."""


@dataclass(frozen=True)
class Reader:
    """How one relation is read: its form, what its answers are like, and which words often are one."""

    relation: Relation
    longest: int
    """Words of its longest answer."""
    prior: AnswerPrior
    joiners: frozenset[str] = frozenset()
    """What stands between the words of some of its answers, besides a space."""

    def asked(self, subject: str) -> Asked:
        """The relation and the subject, which is in lower case where train questions have it so."""
        return self.relation.name, subject if self.relation.names else subject.lower()


@dataclass(frozen=True)
class _Job:
    line: Line
    reader: Reader
    question: str
    text: str
    twice: bool

    @property
    def asked(self) -> Asked:
        return self.reader.asked(self.line.subject)


def read_lines(
    loaded: LoadedModel,
    lines: Sequence[Line],
    readers: Sequence[Reader],
    known: set[Asked],
    progress: Progress,
    *,
    twice: bool = False,
) -> dict[Asked, Label]:
    """What the lines answer about every subject for every relation, but those `known`: the best label of all lines.

    With `twice` the reader is shown every line two times, as it was taught.
    """
    found_jobs, group = _jobs(loaded, lines, readers, known, twice=twice), progress.group
    jobs = sorted(found_jobs, key=lambda job: -len(job.text))
    numbers = range((len(jobs) + PART - 1) // PART)
    own = [job for number in numbers[group.rank :: group.world] for job in jobs[number * PART : (number + 1) * PART]]
    read = _read_own(loaded, own, progress)
    if group.anyone(read is None):
        raise Stopped
    progress.told(len(jobs), len(jobs))
    queues = [iter(one or ()) for one in group.gathered(read)]
    found = [label for number in numbers for label in itertools.islice(queues[number % group.world], PART)]
    best: dict[Asked, Label] = {}
    for job, label in sorted(zip(jobs, found, strict=True), key=lambda pair: pair[0].line.number):
        if job.asked not in best or label.weight > best[job.asked].weight:
            best[job.asked] = label
    return best


def _read_own(loaded: LoadedModel, jobs: Sequence[_Job], progress: Progress) -> list[Label] | None:
    """This process's labels; None when it was stopped."""
    found: list[Label] = []
    try:
        with _Parts(progress.parts, _fingerprint(loaded, jobs)) as parts:
            found += parts.labels[: len(jobs)]
            while len(found) < len(jobs):
                progress(len(found) * progress.group.world, len(jobs) * progress.group.world)
                read = list(_read(loaded, jobs[len(found) : len(found) + PART]))
                parts.add(read)
                found += read
    except Stopped:
        return None
    return found


def _jobs(
    loaded: LoadedModel, lines: Sequence[Line], readers: Sequence[Reader], known: set[Asked], *, twice: bool
) -> Iterator[_Job]:
    """Every line with every relation that can be asked about it, in parts where it does not fit, alike for all of them.

    A sentence without a full stop is taken for a subject: a question about it would fill the block.
    """
    for line in lines:
        if not line.subject or "\t" in line.subject or not word_spans(line.body, 1):
            continue
        room = loaded.model.config.block_size - ROOM_FOR_ANSWER
        asked = [(reader, reader.relation.ask(reader.asked(line.subject)[1])) for reader in readers]
        asked = [(reader, text) for reader, text in asked if len(text) < room and not loaded.vocab.missing(text)]
        longest = max((len(text) for _, text in asked), default=0)
        left = room - longest
        for text in in_parts(line.subject, line.body, (left - 1) // 2 if twice else left):
            for reader, question in asked:
                if reader.asked(line.subject) not in known:
                    yield _Job(line, reader, question, text, twice)


def _read(loaded: LoadedModel, jobs: Sequence[_Job]) -> Iterator[Label]:
    prompts = [reading_prompt(loaded.vocab, job.question, job.text, twice=job.twice) for job in jobs]
    about = [job.text.removeprefix(job.line.subject) for job in jobs]
    longest, joiners = [job.reader.longest for job in jobs], [job.reader.joiners for job in jobs]
    read = score_spans(
        loaded.model, loaded.vocab, prompts, about, width=RIVALS, longest=longest, joiners=joiners, silence=True
    )
    for job, about_it, spans in zip(jobs, about, read, strict=True):
        not_told, prior = dict(spans).get("", 0.0), job.reader.prior
        parts = fragments(about_it, job.reader.longest)
        offered = [Label(span, p, prior.of(span, fragment=span in parts), not_told) for span, p in spans if span]
        yield max(offered, key=lambda one: one.weight, default=Label("", 0.0, 0.0, not_told))


def _fingerprint(loaded: LoadedModel, jobs: Sequence[_Job]) -> str:
    """A short name of this model and these jobs: labels of others are not gone on with."""
    found = hashlib.sha256()
    for parameter in loaded.model.state_dict().values():
        found.update(parameter.detach().cpu().contiguous().numpy().tobytes())
    for job in jobs:
        found.update(
            f"{job.question}\t{job.text}\t{job.reader.longest}\t{sorted(job.reader.joiners)}\t{job.twice}\n".encode()
        )
    return found.hexdigest()[:16]


class _Parts:
    """Labels in a file, one a line after a line that says of what; removed once all are there."""

    def __init__(self, path: Path | None, of: str):
        self.path, self.of = path, of
        self.labels: list[Label] = []

    def __enter__(self) -> _Parts:
        if self.path is not None:
            self.labels = list(_kept(self.path, self.of))
            lines = [json.dumps(self.of), *map(_as_text, self.labels)]
            write_text(self.path, "".join(f"{line}\n" for line in lines))
        return self

    def add(self, labels: Sequence[Label]) -> None:
        if self.path is not None:
            with writing(self.path), open(self.path, "a", encoding="utf-8") as handle:
                handle.write("".join(f"{_as_text(label)}\n" for label in labels))
                handle.flush()
                os.fsync(handle.fileno())

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.path is not None:
            self.path.unlink()


def _as_text(label: Label) -> str:
    return json.dumps(astuple(label), ensure_ascii=False)


_decode = msgspec.json.Decoder(tuple[str, float, float, float]).decode


def _kept(path: Path, of: str) -> Iterator[Label]:
    """The labels that were read before, up to the first line that is none: a kill may cut one short."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    if not lines or lines[0] != json.dumps(of).encode():
        return
    for line in lines[1:]:
        try:
            yield Label(*_decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return
