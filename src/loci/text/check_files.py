"""Which files a check looks at, and whether one that is named alone holds a corpus, questions or both.

Knows names and the first lines of files; finds nothing wrong with them. `CheckedFile` is what a check tells of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.text.corpus import parse_corpus
from loci.text.figures import CorpusFigures, QuestionFigures
from loci.text.formats import FORMATS, corpus_format, question_format
from loci.text.layout import Role, corpus_candidates, find_corpora, holds_questions, question_candidates, split_of
from loci.text.source import Source, load


@dataclass(frozen=True)
class CheckedFile:
    """One file with its figures. `clean` is its text as a repaired copy has it; None when nothing can be saved."""

    path: Path
    role: Role
    form: str
    clean: str | None
    corpus: CorpusFigures | None = None
    questions: QuestionFigures | None = None
    relations: tuple[tuple[str, tuple[str, ...], QuestionFigures], ...] = ()
    """Of each relation asked: its name, its templates and its own figures."""
    guest: bool = False  # not to be repaired: a corpus from elsewhere, or records repaired as questions
    savable: bool = True
    """Whether a repair would find anything to save, also where no clean copy was asked for."""


def files_to_check(path: Path, corpus: Path | None) -> tuple[tuple[Path, ...], list[tuple[Role, Path]]]:
    """The files of the corpus and the question files to check."""
    text = find_corpora(corpus) if corpus is not None else ()
    if path.is_dir():
        questions = question_candidates(path)
        if not text and corpus_candidates(path):
            text = find_corpora(path)
        if not text and not questions:
            remedy = "a folder has wiki.txt or other *.txt files, and *train*, *dev*, *test* .tsv files"
            raise LociError("no corpus and no questions in this folder", path=path, remedy=remedy)
        return text, list(questions)
    source = load(path)
    name, _ = corpus_format(source)
    if _has_questions(source):
        # Records may be both: their sentences are the corpus of their questions.
        own = (path,) if FORMATS[name].questions and parse_corpus(source).lines else ()
        return text or own, [(split_of(path), path)]
    if text:
        raise LociError("is a corpus itself", path=path, remedy="--corpus is what questions are held against")
    return (path,), []


def _has_questions(source: Source) -> bool:
    """Whether a single file is to be checked as questions, told by its name or by most of its first lines."""
    corpus, questions = corpus_format(source)[0], question_format(source)[0]
    if corpus != "text" and not FORMATS[corpus].questions:
        return False
    if questions != "tsv" or (source.path is not None and source.path.suffix.lower() == ".tsv"):
        return True
    return holds_questions(source)
