"""Pretrained weights judged on train questions alone: finetune on four fifths of them, ask about the last fifth.

The folds are written as files, so that every step can be repeated by hand with the course's own commands. Knows nothing
of flags.
"""

from __future__ import annotations

from pathlib import Path

from loci.errors import LociError
from loci.evaluation.metrics import Rate, exact_match
from loci.evaluation.rows import Row
from loci.files import sha256_file, sha256_text, write_text
from loci.interop.course_commands import Course, Hooks, evaluate, finetune
from loci.text.questions import Questions

FOLDS = 5


def write_folds(questions: Path, out: Path, folds: int) -> list[tuple[Path, Path]]:
    """For each fold the file to finetune on and the file to ask; every fifth line is asked.

    What is asked is not taught: where a question stands twice, or asks about the same person, the other is left out.
    """
    rows = Questions.read(questions).answered
    lines = [(f"{row.text}\t{row.answer}", {row.text, row.subject} - {None}) for row in rows]
    if len(lines) < FOLDS:
        raise LociError(f"{FOLDS} questions with answers or more are needed", path=questions, remedy="add some")
    if all(about & lines[0][1] for _, about in lines):
        raise LociError("all questions are about the same", path=questions, remedy="ask about several people")
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for fold in range(folds):
        pair = out / f"fold-{fold + 1}.train.tsv", out / f"fold-{fold + 1}.asked.tsv"
        asked = set().union(*(about for _, about in lines[fold::FOLDS]))
        parts = [line for line, about in lines if not about & asked], [line for line, _ in lines[fold::FOLDS]]
        for file, part in zip(pair, parts, strict=True):
            text = "".join(f"{line}\n" for line in part)
            if file.is_file() and file.stat().st_size and sha256_file(file) != sha256_text(text):
                raise LociError("is there already and is another fold", path=file, remedy="choose another --out")
            write_text(file, text)
        files.append(pair)
    return files


def ask_folds(
    course: Course,
    params: Path,
    questions: Path,
    out: Path,
    *,
    folds: int = 1,
    lr: float = 6e-4,
    max_epochs: int | None = None,
    hooks: Hooks = Hooks(),
) -> Rate | None:
    """Exact match over all questions asked; None if it was stopped before its end."""
    rows: list[Row] = []
    for fold, (train, asked) in enumerate(write_folds(questions, out, folds), start=1):
        tuned = out / f"{params.stem}.fold-{fold}.params"
        outcome = finetune(course, tuned, train, reading=params, lr=lr, max_epochs=max_epochs, hooks=hooks)
        if not outcome.finished:
            return None
        rows += evaluate(course, tuned, asked, outputs=tuned.with_suffix(".predictions"), hooks=hooks)
    return exact_match(rows)
