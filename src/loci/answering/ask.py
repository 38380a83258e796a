"""Asking a run: an answer with its probability, its rivals, and the lines of the corpus that speak for it.

`load` keeps model, calibration and evidence together, so that the second question is quick. An answer below the
threshold is withheld: the run says "I don't know". Earlier questions only tell whom a later one means; the model is
asked each question by itself. Knows nothing of terminals.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loci.answering.evidence import Evidence, EvidenceIndex
from loci.answering.n_best import I_DONT_KNOW, WIDTH, Scored, n_best_answers
from loci.answering.recite import recitals
from loci.answering.reference import Reference, Resolver
from loci.answering.reply import Alternative, Answer
from loci.errors import LociError
from loci.evaluation.run_calibration import RunCalibration, read_calibration
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.text.source import specials_in
from loci.text.template import BIRTHPLACE, Template, infer_template
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.run import RUN, read_run

THRESHOLD = 0.5
"""Below this probability a run without a calibration does not answer."""
ALTERNATIVES = 3
LINES = 3


@dataclass(frozen=True)
class LoadedRun:
    """A run ready to be asked, again and again."""

    model: LoadedModel
    resolver: Resolver
    index: EvidenceIndex | None
    calibration: RunCalibration | None
    remarks: tuple[str, ...] = ()
    """What a reader of the answers should know: a corpus that is gone, a calibration of other weights."""

    @property
    def threshold(self) -> float:
        """The threshold when none is asked for: the calibration's, else one half."""
        return self.calibration.threshold if self.calibration is not None else THRESHOLD

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
            threshold: Answers less probable than this are withheld; default: `self.threshold`.
            alternatives: How many rivals to give at most.
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
    ) -> list[Answer]:
        """Ask several questions in one go; a pronoun in one means the last subject before it."""
        limit = self.threshold if threshold is None else threshold
        if threshold is not None and not 0 <= threshold <= 1:
            raise LociError(f"a threshold is a probability between 0 and 1, not {threshold}")
        if alternatives < 0 or lines < 0:
            raise LociError(f"alternatives and lines must not be negative, they are {alternatives} and {lines}")
        references, asked = self._resolved(questions, history)
        try:
            found, recited = self._likely(asked, max(WIDTH, alternatives + 1), candidates)
        except LociError as error:
            if asked.path is not None:
                raise
            raise LociError(error.message, remedy=error.remedy) from None  # arguments have no line numbers
        return [
            replace(self._answer(reference, answers, limit, alternatives, lines), recital=recital)
            for reference, answers, recital in zip(references, found, recited, strict=True)
        ]

    def _likely(
        self, asked: Questions, width: int, candidates: Sequence[str] | None
    ) -> tuple[Sequence[Sequence[Scored]], Sequence[str | None]]:
        """The likeliest answers, and what a model that recites remembered for each."""
        if self.model.recites:
            recited = recitals(self.model, asked, width=width, candidates=candidates)
            return [recital.answers for recital in recited], [recital.text for recital in recited]
        return n_best_answers(self.model, asked, width=width, candidates=candidates), [None] * len(asked)

    def _resolved(
        self, questions: Sequence[str] | Questions, history: Sequence[str]
    ) -> tuple[list[Reference], Questions]:
        given = questions if isinstance(questions, Questions) else _questions(questions, self.resolver.templates[0])
        said = list(history)
        references = []
        for question in given:
            try:
                reference = self.resolver.resolve(question.text, said)
            except LociError as error:
                line = question.number if given.path is not None else None
                raise LociError(error.message, path=given.path, line=line, remedy=error.remedy) from None
            references.append(reference)
            said.append(reference.question)
        rows = (
            Question(reference.question, (), reference.subject, question.number)
            for reference, question in zip(references, given, strict=True)
        )
        return references, replace(given, rows=tuple(rows))

    def _answer(
        self, reference: Reference, answers: Sequence[Scored], threshold: float, alternatives: int, lines: int
    ) -> Answer:
        (text, probability), *rest = answers
        rivals = rest[:alternatives]
        fitted: list[float | None] = [None] * (1 + len(rivals))
        if self.calibration is not None:
            fitted = list(self.calibration.apply([probability, *(p for _, p in rivals)]))
        confidence = probability if fitted[0] is None else fitted[0]
        evidence, in_corpus = self._evidence(reference, "" if text == I_DONT_KNOW else text, lines)
        return Answer(
            question=reference.question,
            text=text,
            known=bool(text) and text != I_DONT_KNOW and confidence >= threshold,
            probability=probability,
            calibrated_probability=fitted[0],
            alternatives=tuple(Alternative(other, p, c) for (other, p), c in zip(rivals, fitted[1:], strict=True)),
            evidence=evidence,
            subject=reference.subject,
            in_corpus=in_corpus,
            threshold=threshold,
            pronoun=reference.pronoun,
        )

    def _evidence(self, reference: Reference, text: str, limit: int) -> tuple[tuple[Evidence, ...], bool | None]:
        if self.index is None:
            return (), None
        subject = reference.subject
        own = len(self.index.corpus.about(subject)) if subject is not None else 0
        # All lines of the subject are looked at: the one that holds the answer may be the last of them. Whoever has no
        # search library sees these lines at least.
        wanted = max(limit, own) if _can_search() else own
        found = (
            self.index.find(reference.question, subject=subject, answer=text, limit=wanted) if limit and wanted else []
        )
        found.sort(key=lambda line: (line.found_by == "search", not line.supports))
        return tuple(found[:limit]), bool(own)


def load(run: str | Path, *, corpus: str | Path | Corpus | None = None, template: str | None = None) -> LoadedRun:
    """Make a run ready to be asked.

    Args:
        run: The folder that `loci train` wrote, or one of its checkpoints.
        corpus: Where evidence is looked for; default: the corpus the run remembers, if it is still there.
        template: The question's form, such as "Where did {subject} die?"; default: the run's own.
    """
    loaded = load_model(run)
    home = _home(Path(run))
    remarks: list[str] = []
    text = corpus if isinstance(corpus, Corpus) else _corpus(home, corpus, remarks)
    if text is not None and loaded.corpus_hash is not None and text.hash != loaded.corpus_hash:
        remarks.append(f"{text.path or 'the corpus'} is not the text this model was trained on")
    if text is not None and not _can_search():
        remarks.append("bm25s is not installed: only lines about the subject itself are found (pip install bm25s)")
    calibration = read_calibration(home) if home is not None else None
    if calibration is not None and calibration.model != loaded.hash:
        remarks.append(f"{home}: the calibration belongs to other weights and is not used; fit it again")
        calibration = None
    resolver = Resolver(_templates(loaded, home, template), text)
    return LoadedRun(loaded, resolver, EvidenceIndex(text) if text is not None else None, calibration, tuple(remarks))


def with_subjects(loaded: LoadedModel, run: str | Path, questions: Questions) -> Questions:
    """The questions with the subjects that the run's own forms find in them, where the file's form found none.

    A model that recites is called up by the subject's name.
    """
    if all(question.subject is not None for question in questions):
        return questions
    resolver = Resolver(_templates(loaded, _home(Path(run)), None))
    rows = tuple(
        replace(question, subject=question.subject or resolver.subject_of(question.text)) for question in questions
    )
    return replace(questions, rows=rows)


def _can_search() -> bool:
    return importlib.util.find_spec("bm25s") is not None


def _home(path: Path) -> Path | None:
    """The run's folder: `path` itself, or the one that a checkpoint `path` lies in."""
    places = (path, *path.resolve().parents[:2])
    return next((place for place in places if (place / RUN).is_file()), None)


def _corpus(home: Path | None, given: str | Path | None, remarks: list[str]) -> Corpus | None:
    if given is not None:
        return Corpus.read(given)
    named = read_run(home).data.get("corpus") if home is not None else None
    if named is None:
        remarks.append("the run does not say where its corpus lay: no evidence (give it with --corpus)")
        return None
    if not Path(named).is_file():
        remarks.append(f"{named}: the run's corpus is gone: no evidence (give it with --corpus)")
        return None
    return Corpus.read(named)


def _templates(loaded: LoadedModel, home: Path | None, given: str | None) -> tuple[Template, ...]:
    """The forms a question may have, the likeliest first: as asked for, the recipe's, that of the train questions."""
    found = [Template(given)] if given is not None else []
    recipe = loaded.config.get("recipe")
    if isinstance(recipe, dict) and isinstance(recipe.get("template"), str):
        found.append(Template(recipe["template"]))
    taught = read_run(home).data.get("questions") if home is not None else None
    if taught is not None and Path(taught).is_file():
        inferred = infer_template(question.text for question in Questions.read(taught))
        found += [inferred] if inferred is not None else []
    return tuple(dict.fromkeys(found)) or (BIRTHPLACE,)


def _questions(texts: Sequence[str], template: Template) -> Questions:
    rows = []
    for number, text in enumerate(texts, start=1):
        if specials_in(text):
            raise LociError(f"{text!r} holds {', '.join(specials_in(text))}, which has a meaning of its own")
        try:
            rows.append(Question(text.strip(), (), None, number))
        except LociError as error:
            raise LociError(error.message, remedy=error.remedy) from None
    return Questions(None, tuple(rows), template)
