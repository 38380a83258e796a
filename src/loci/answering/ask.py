"""Asking a run: its answerer's answers, with the lines of the corpus that speak for them.

`load` keeps model and evidence together, so that the second question is quick. Earlier questions only tell whom a later
one means; the model is asked each question by itself. The corpus is only shown: no answer depends on it. Knows nothing
of terminals.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loci.answering.answer import NEVER_READ, Answer, unreadable
from loci.answering.answerer import Answerer, make_answerer
from loci.answering.base import ModelAnswerer
from loci.answering.confidence import Confidence, confidence_of, read_calibration
from loci.answering.evidence import Evidence, EvidenceIndex
from loci.answering.subject import Reference, Resolver
from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.text.relations import relations_from
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.run import read_run, run_folder

ALTERNATIVES = 3
LINES = 3
SEARCHED = 512
"""For so many questions in one go the whole corpus is searched, milliseconds each. For more, only lines about the
subject are given."""


@dataclass(frozen=True)
class Asker:
    """A model ready to be asked, again and again, and the corpus that evidence comes from."""

    loaded: LoadedModel
    index: EvidenceIndex | None = None
    remarks: tuple[str, ...] = ()
    """What a reader of the answers should know: a corpus that is gone, a calibration of other weights."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the corpus, if it is there."""
        return tuple(self.index.corpus.by_subject) if self.index is not None else ()

    @property
    def confidence(self) -> Confidence:
        """The run's calibration and threshold."""
        return confidence_of(self.loaded)

    def ask(
        self,
        question: str,
        *,
        history: Sequence[str] = (),
        threshold: float | None = None,
        alternatives: int = ALTERNATIVES,
        lines: int = LINES,
        candidates: Sequence[str] | None = None,
    ) -> Answer:
        """Ask one question.

        Args:
            question: Of any template. "he", "she" or "they" means the last subject of `history`.
            history: Earlier questions and answers, the earliest first.
            threshold: Answers less probable than this are withheld; default: the run's own.
            alternatives: How many other answers to give at most.
            lines: How many lines of the corpus to give at most.
            candidates: Consider these answers only, each scored exactly.
        """
        return self.ask_all(
            [question],
            history=history,
            threshold=threshold,
            alternatives=alternatives,
            lines=lines,
            candidates=candidates,
        )[0]

    def ask_all(
        self,
        questions: Sequence[str] | Questions,
        *,
        history: Sequence[str] = (),
        threshold: float | None = None,
        alternatives: int = ALTERNATIVES,
        lines: int = LINES,
        candidates: Sequence[str] | None = None,
        through: Callable[[Answerer], Answerer] = lambda answerer: answerer,
    ) -> list[Answer]:
        """Ask several questions in one go; a pronoun in one means the last subject before it.

        `through` wraps the answerer, as `loci.answering.parts` does.
        """
        if alternatives < 0 or lines < 0:
            raise LociError(f"alternatives and lines must not be negative, they are {alternatives} and {lines}")
        given = questions if isinstance(questions, Questions) else _questions(questions)
        _require_texts(history, "question of the history")
        if candidates is not None:
            _require_texts(candidates, "candidate")
        references = self._references(given, history)
        answerer = through(make_answerer(self.loaded, threshold=threshold))
        rows = tuple(
            Question(reference.question, (), reference.subject, question.number, question.relation)
            for question, reference in zip(given, references, strict=True)
            if isinstance(reference, Reference)
        )
        found = answerer.answer(replace(given, rows=rows), n=alternatives + 1, candidates=candidates)
        if isinstance(answerer, ModelAnswerer):  # not where many questions are answered in parts: it takes a moment
            found = [_with_name(answer, answerer) for answer in found]
        answers, search = iter(found), len(given) <= SEARCHED and _can_search()
        return [
            reference if isinstance(reference, Answer) else self._with_evidence(next(answers), reference, lines, search)
            for reference in references
        ]

    def _references(self, questions: Questions, history: Sequence[str]) -> list[Reference | Answer]:
        """Whom each question means; silence where a pronoun means nobody."""
        resolver = Resolver(self.loaded.relations)
        said = list(history)
        found: list[Reference | Answer] = []
        for question in questions:
            try:
                reference = resolver.resolve(question.text, said, given=question.subject)
            except LociError as error:
                found.append(unreadable(question.text, f"{error.message}; {error.remedy}"))
                continue
            found.append(reference)
            said.append(reference.question)
        return found

    def _with_evidence(self, answer: Answer, reference: Reference, lines: int, search: bool) -> Answer:
        evidence, in_corpus = self._evidence(answer.question, answer.subject, answer.text, lines, search)
        return replace(answer, pronoun=reference.pronoun, evidence=evidence, in_corpus=in_corpus)

    def _evidence(
        self, question: str, subject: str | None, text: str, limit: int, search: bool
    ) -> tuple[tuple[Evidence, ...], bool | None]:
        if self.index is None:
            return (), None
        own = len(self.index.corpus.about(subject)) if subject is not None else 0
        # All lines of the subject are looked at: the one that holds the answer may be the last of them. Whoever has no
        # search library sees these lines at least.
        wanted = max(limit, own) if search else own
        found = self.index.find(question, subject=subject, answer=text, limit=wanted) if limit and wanted else []
        found.sort(key=lambda line: (line.found_by == "search", not line.supports))
        return tuple(found[:limit]), bool(own)


def load(run: str | Path, *, corpus: str | Path | Corpus | None = None, template: str | None = None) -> Asker:
    """Make a run ready to be asked.

    Args:
        run: The folder that `loci train` wrote, or one of its checkpoints.
        corpus: Where evidence is looked for; default: the corpus the run remembers, if it is still there.
        template: The question's form, such as "Where did {subject} die?"; default: the run's own.
    """
    loaded = load_model(run)
    if template is not None:
        relations = [relation.as_dict() for relation in (*relations_from([template]), *loaded.relations)]
        loaded = replace(loaded, config={**loaded.config, "relations": relations})
    home = run_folder(Path(run))
    remarks: list[str] = []
    text = corpus if isinstance(corpus, Corpus) else _corpus(home, corpus, remarks)
    if text is not None and loaded.corpus_hash is not None and text.hash != loaded.corpus_hash:
        remarks.append(f"{text.path or 'the corpus'} is not the text this model was trained on")
    if text is not None and not _can_search():
        remarks.append("bm25s is not installed: only lines about the subject itself are found (pip install bm25s)")
    calibration = read_calibration(home) if home is not None else None
    if calibration is not None and calibration.model != loaded.hash:
        remarks.append(f"{home}: the calibration belongs to other weights and is not used; fit it again")
    return Asker(loaded, EvidenceIndex(text) if text is not None else None, tuple(remarks))


def _can_search() -> bool:
    return importlib.util.find_spec("bm25s") is not None


def _corpus(home: Path | None, given: str | Path | None, remarks: list[str]) -> Corpus | None:
    if given is not None:
        return Corpus.read(given)
    info = read_run(home) if home is not None else None
    if info is None or info.data["corpus"] is None:
        remarks.append("the run does not say where its corpus lay: no evidence (give it with --corpus)")
        return None
    found = info.corpus()
    if found is None:
        where = info.data["corpus"]
        remarks.append(f"{where}: the run's corpus is gone or has changed: no evidence (give it with --corpus)")
    return found


def _with_name(answer: Answer, answerer: ModelAnswerer) -> Answer:
    """An answer about nobody it read about, with the name that may be meant."""
    if answer.silence != NEVER_READ or answer.subject is None:
        return answer
    return replace(answer, did_you_mean=answerer.did_you_mean(answer.question, answer.subject))


def _require_texts(texts: Sequence[str], what: str) -> None:
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise LociError(f"{what}s are several texts, not {texts!r:.40}", remedy="give a list of strings")
    for text in texts:
        if not isinstance(text, str):
            raise LociError(f"a {what} is text, not {text!r:.40}", remedy="give it as a string")


def _questions(texts: Sequence[str]) -> Questions:
    _require_texts(texts, "question")
    try:
        return Questions(None, tuple(Question(text.strip(), (), None, n) for n, text in enumerate(texts, start=1)))
    except LociError as error:
        raise LociError(error.message, remedy=error.remedy) from None  # arguments have no line numbers
