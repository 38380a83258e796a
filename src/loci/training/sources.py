"""What teaches: a corpus and train questions, and the batches a stage makes of them. Knows nothing of models.

A stage may learn from pseudo-labels: questions and answers that a labelling step wrote before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

from loci.data.batches import BatchStream, Source
from loci.data.objectives import Objective, make_objective
from loci.data.prompts import NOT_TOLD, line_of
from loci.data.reading_examples import ReadingExample, find_reading_examples
from loci.data.recall import MarkedLine
from loci.data.running_text import pieces
from loci.data.warmup import Warmup
from loci.errors import LociError
from loci.text.corpus import Corpus, Line
from loci.text.crosschecks import require_told
from loci.text.entity_sketch import LEADING
from loci.text.layout import find_split, find_taught
from loci.text.match import position_of
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.taught import Taught
from loci.text.template import Template
from loci.text.vocab import Vocab
from loci.training.plan import MixtureComponent, Recipe, Stage

AFTER_SUBJECT = line_of("X").removeprefix("X")
"""What stands between a subject and its text: a script may have a full stop of its own."""
TEXTS = {"corpus", "marked-lines", "taught-lines", "subjects", "text"}
"""The sources that hold no questions of their own: what is cut short of them still says something."""
EVENED = 0.3
"""Relations are read in proportion to this power of their train questions."""
SCARCE = 4
"""A relation with less than a quarter of another's questions teaches reading with all of them."""
CALIBRATING_EVERY, FEWEST_CALIBRATING, MOST_CALIBRATING = 6, 20, 300
"""One train question in six is kept for calibration: none where that would be fewer than 20, not many more than 300."""


@dataclass(frozen=True)
class TrainingData:
    """What may teach: a corpus, and questions with answers where a stage asks for them."""

    corpus: Corpus
    questions: Questions | None = None
    pseudo_labels: Questions | None = None
    """Train questions, and those a labelling step wrote about everybody else."""

    @classmethod
    def read(
        cls,
        folder: str | Path | None = None,
        *,
        corpus: str | Path | None = None,
        questions: str | Path | None = None,
        relations: Sequence[Relation] = (),
    ) -> Self:
        """The corpus and the train questions of a folder, or the files named instead; questions may be missing.

        Where no file is named for training, the questions of the only split there is teach, or those of no split.
        `relations` are the forms of the questions where they cannot be found from the files.
        """
        text, asked = corpus if corpus is not None else folder, questions if questions is not None else folder
        if text is None:
            raise LociError("nothing to learn from", remedy="name a folder, or a corpus file")
        lines = Corpus.read(text)
        if asked is None or (Path(asked).is_dir() and not find_taught(asked)):
            return cls(lines)
        taught = Questions.read(asked, split="train", relations=relations, subjects=lines.by_subject)
        if Path(asked).is_dir() and not taught.answered and not find_split(asked, "train"):
            return cls(lines)  # questions to be asked, not to be learned
        return cls(lines.knowing(taught.subjects), taught)

    @cached_property
    def vocab(self) -> Vocab:
        """The characters of the corpus and of what is asked and said: statements may lack the question mark."""
        if self.questions is None:
            return self.corpus.vocab
        return self.corpus.vocab.with_characters(NOT_TOLD + AFTER_SUBJECT + self.questions.characters)

    @cached_property
    def reading_examples(self) -> list[ReadingExample]:
        """The train questions with the lines that answer them."""
        assert self.questions is not None
        require_told(self.questions, self.corpus)
        found = find_reading_examples(self.corpus, self.questions)
        if not found:
            raise LociError(
                "no train question has its answer in a line about its subject: there is nothing to learn reading from",
                path=self.questions.path,
                remedy="lines must begin with the subject the questions ask about: `Subject. text`",
            )
        return found

    @cached_property
    def calibrating(self) -> tuple[Question, ...]:
        """Train questions that reading is not taught with, so that a reader's confidence can be checked on them."""
        assert self.questions is not None
        counts = Counter(question.relation for question in self.questions.answered)
        spare = max(counts.values(), default=0) / SCARCE  # a relation with few questions needs them all
        answered = [question for question in self.questions.answered if counts[question.relation] >= spare]
        if len(answered) < CALIBRATING_EVERY * FEWEST_CALIBRATING:
            return ()
        apart = max(CALIBRATING_EVERY, len(answered) // MOST_CALIBRATING)
        chosen = {question.text for question in answered[apart - 1 :: apart]}
        rows = tuple(question for question in answered if question.text in chosen)
        return tuple(replace(self.questions, rows=rows).merged())  # either of two true answers is right

    @property
    def lines(self) -> Sequence[Line]:
        """The lines of the corpus that say anything."""
        return self.corpus.filled

    @cached_property
    def supplemented(self) -> TrainingData:
        """The same; what a train question tells about a subject and no line does stands before its first line.

        It stands there in the words that most often lead up to the relation's answers ("born in Rome."): so it is read
        like any other line. Not what is kept for calibration: these lines must tell no more than others'.
        """
        if self.questions is None:
            return self
        known = {example.question.text for example in self.reading_examples}
        known |= {question.text for question in self.calibrating}
        carriers = carrier_phrases(self.reading_examples)  # a relation without one is left as it is
        notes: dict[str, str] = {}
        for question in self.questions.answered:
            lead = carriers.get(question.relation)
            if lead is None or question.text in known or question.subject is None:
                continue
            if own := self.corpus.about(question.subject):
                subject = own[0].subject
                notes[subject] = f"{notes.get(subject, '')}{lead} {question.answers[0]}. "
        if not notes:
            return self
        lines = []
        for line in self.corpus:
            note = notes.pop(line.subject, "")
            lines.append(Line(line.number, line.subject, line_of(line.subject, note + line.body)) if note else line)
        whole = self.corpus
        return replace(self, corpus=Corpus(whole.path, tuple(lines), whole.raw, whole.findings))

    @cached_property
    def by_subject(self) -> TrainingData:
        """The same with one line for each subject: all that is said about it, one line after the other."""
        lines = [
            Line(own[0].number, subject, line_of(subject, " ".join(line.body for line in own)))
            for subject, own in self.corpus.by_subject.items()
        ]
        whole = self.corpus  # perhaps in mapped arrays: these lines are in memory
        return replace(self, corpus=Corpus(whole.path, tuple(lines), whole.raw, whole.findings))

    @cached_property
    def subjects(self) -> list[str]:
        """Whom the lines are about, each once."""
        return list(self.corpus.by_subject)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """What the train questions ask, and in which forms, the commonest first: a model keeps it to find subjects."""
        if self.questions is None:
            return ()
        asked = self.questions.by_relation()
        found = sorted(self.questions.relations, key=lambda relation: -len(asked.get(relation.name, ())))
        return tuple(one.quoting(asked[one.name].answers) if one.name in asked else one for one in found)

    @property
    def template(self) -> Template:
        """What most train questions look like; without one, none can be written about others."""
        if not self.relations:
            raise LociError(
                "the train questions share no form, so none can be written about others",
                path=self.questions.path if self.questions is not None else None,
                remedy='give questions of one form, or the form: --template "Where was {subject} born?"',
            )
        return self.relations[0].templates[0]

    def records(self, source: str, block_size: int) -> Sequence[Any]:
        """The records of a named source: lines, running text in pieces, questions, or lines to read them in."""
        if source == "corpus":
            return self.lines
        if source == "subjects":
            return self.supplemented.by_subject.lines
        if source == "text":
            return pieces(self.corpus.raw, block_size)
        if self.questions is None:
            raise LociError(
                "the recipe asks for train questions and there are none",
                remedy="give --questions FILE, or a --data folder with a *train*.tsv",
            )
        if source == "marked-lines":
            answers = self.questions.answers
            return [MarkedLine(line, answers) for line in self.lines]
        if source == "taught-lines":
            return self.supplemented.lines
        if source == "reading-examples":
            return self.reading_examples
        if source == "reading-lines":
            return self.supplemented.records("reading-taught", block_size)
        if source == "reading-subjects":
            return self.supplemented.by_subject.records("reading-taught", block_size)
        if source == "reading-taught":
            kept = {question.text for question in self.calibrating}
            return evened([example for example in self.reading_examples if example.question.text not in kept])
        if source == "pseudo-labels":
            assert self.pseudo_labels is not None, "a labelling step comes before"
            return self.pseudo_labels.answered
        return self.questions.answered

    def describe(self) -> dict[str, Any]:
        """For run.json: where it lay and what exactly it was."""
        questions = self.questions
        return {
            "corpus": str(self.corpus.path.resolve()) if self.corpus.path else None,
            "corpus_hash": self.corpus.hash,
            "questions": str(questions.path.resolve()) if questions is not None and questions.path else None,
            "questions_hash": questions.hash if questions is not None else None,
            "relations": [relation.as_dict() for relation in self.relations],
            "taught": Taught.of(questions).as_data() if questions is not None else [],
        }


def carrier_phrases(examples: Sequence[ReadingExample]) -> dict[str, str]:
    """For each relation the words that most often stand before an answer in its lines.

    They stand there more than once, and say nothing of their own subject: no part of its name, no number.
    """
    found: dict[str, Counter[str]] = {}
    for example in examples:
        body = example.line.body
        before = body[: max(0, position_of(body, example.answer))].split()[-LEADING:]
        phrase = " ".join(before)
        if before and not any(map(str.isdigit, phrase)) and not set(before) & set(example.line.subject.split()):
            found.setdefault(example.question.relation, Counter())[phrase] += 1
    commonest = {relation: counts.most_common(1)[0] for relation, counts in found.items()}
    return {relation: phrase for relation, (phrase, times) in commonest.items() if times > 1}


def evened(examples: Sequence[ReadingExample]) -> list[ReadingExample]:
    """The examples, those of a relation with fewer of them several times: as languages with little text are drawn more
    often when many are taught together."""
    counts = Counter(example.question.relation for example in examples)
    most = max(counts.values(), default=0)
    copies = {name: int((most / n) ** (1 - EVENED)) for name, n in counts.items()}
    return [example for example in examples for _ in range(copies[example.question.relation])]


def make_stream(
    stage: Stage,
    index: int,
    recipe: Recipe,
    data: TrainingData,
    block_size: int,
    *,
    rank: int = 0,
    world: int = 1,
    held_out: bool = False,
) -> BatchStream:
    """The batches of a stage; those of one process of several, when told which, or of what it holds out."""
    vocab = data.vocab
    if data.questions is not None and not stage.sources <= TEXTS:
        data.questions.require(vocab, block_size)
    return BatchStream(
        [_source(part, stage.held_out, held_out, data, vocab, block_size) for part in stage.mixture],
        batch_size=stage.batch_size,
        seed=(recipe.seed, index),
        shuffle=stage.shuffle,
        pool=stage.pool,
        rank=rank,
        world=world,
        block_size=block_size,
        batch_warmup=Warmup(stage.batch_warmup, stage.batch_start),
        length_warmup=Warmup(stage.length_warmup, stage.length_start),
    )


def _source(
    part: MixtureComponent, share: float, held_out: bool, data: TrainingData, vocab: Vocab, block_size: int
) -> Source:
    def at_length(length: int) -> Objective[Any]:
        return make_objective(part.objective, vocab, length, part.options)

    # Half a question has no answer.
    shortened = cache(at_length) if part.source in TEXTS else None
    records = data.records(part.source, block_size)
    if share:
        cut = min(len(records) - 1, round(len(records) * (1 - share)))
        records = records[cut:] if held_out else records[:cut]
    return Source(records, at_length(block_size), part.share, at_length=shortened)
