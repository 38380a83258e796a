"""Many questions in parts: spread over the processes of torchrun, shown on a bar, kept so that a stopped one goes on.

The parts are the same for any number of processes, and each is answered by itself, so the answers are the same too.
Knows nothing of how questions are answered, or of metrics.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from loci.answering.answer import Answer
from loci.answering.answerer import Answerer
from loci.errors import LociError
from loci.files import parse_json, remove_leftovers, write_text
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel
from loci.training.distributed import Group

PART = 512
"""Questions of a part: many enough for full batches, few enough to lose little when stopped."""
_PART = re.compile(r"[0-9a-f]{16}-\d{6,}\.jsonl")


class InParts:
    """Another answerer's answers, part by part. Every process of the group asks for all and gets all of them."""

    def __init__(
        self,
        answerer: Answerer,
        loaded: LoadedModel,
        *,
        group: Group = Group(),
        folder: Path | None = None,
        told: Callable[[int, int], None] = lambda done, total: None,
    ):
        """`folder` is where several parts are kept until the block ends without an error; `told` hears of each."""
        self.answerer, self.loaded, self.group, self.told = answerer, loaded, group, told
        self.folder = folder

    def __enter__(self) -> InParts:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self.folder is not None:
            self.group.wait()  # nobody reads from it any more
            if self.group.first and self.folder.is_dir():
                _remove(self.folder)

    def answer(self, questions: Questions, *, n: int = 1, candidates: Sequence[str] | None = None) -> list[Answer]:
        """An answer to every question, in their order."""
        parts = [questions[start : start + PART] for start in range(0, len(questions), PART)]
        name = self._name(questions, n, candidates) if len(parts) > 1 else ""
        own: dict[int, list[Answer]] = {}
        for number in range(self.group.rank, len(parts), self.group.world):
            file = self.folder / f"{name}-{number:06d}.jsonl" if self.folder is not None and name else None
            found = _kept(file, len(parts[number])) if file is not None else None
            if found is None:
                found = self.answerer.answer(parts[number], n=n, candidates=candidates)
                if file is not None:
                    write_text(file, "".join(_as_text(answer) for answer in found))
            own[number] = found
            if name:
                self.told(min(len(questions), PART * self.group.world * len(own)), len(questions))
        gathered = self.group.gathered(own)
        return [answer for number in range(len(parts)) for answer in gathered[number % self.group.world][number]]

    def _name(self, questions: Questions, n: int, candidates: Sequence[str] | None) -> str:
        """A short name of these weights, how they answer, and what is asked: parts of another are not gone on with."""
        asked = [[row.text, row.subject, row.relation] for row in questions]
        confidence = getattr(self.answerer, "confidence", None)
        how = [self.loaded.hash, type(self.answerer).__qualname__, repr(confidence)]
        told = json.dumps([how, n, None if candidates is None else list(candidates), asked])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def _remove(folder: Path) -> None:
    """Take parts away, and the folder with them unless somebody keeps something else in it."""
    remove_leftovers(folder)
    for file in folder.iterdir():
        if _PART.fullmatch(file.name):
            file.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _as_text(answer: Answer) -> str:
    return json.dumps({**answer.as_dict(), "declined": answer.declined}, ensure_ascii=False) + "\n"


def _kept(file: Path, wanted: int) -> list[Answer] | None:
    """The answers of a part that was finished before."""
    if not file.is_file():
        return None
    try:
        found = [Answer.from_dict(parse_json(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    except (LociError, UnicodeDecodeError):
        return None
    return found if len(found) == wanted else None
