"""The Python door: what a notebook needs, as functions and a `Run`.

    import loci

    folder = loci.make_world("world", people=200)
    run = loci.train("demo", "world", "run")
    run.ask("Where was Kiyoshi Nakagawa born?")

`import loci` offers these names and imports nothing heavy until one of them is used. Everything here is another
module's work under a short name; the commands do the same things. Knows nothing of terminals.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from loci.answering import ask
from loci.answering.answer import Answer
from loci.answering.answerer import Answerer, make_answerer
from loci.answering.asked_file import read_asked
from loci.errors import LociError
from loci.evaluation.asking import rows_of
from loci.evaluation.metrics import Rate, exact_match, wilson
from loci.evaluation.rows import Row, write_rows
from loci.evaluation.selective import ProbabilityScores, probability_scores
from loci.generation import Sampler, generate, score_candidates
from loci.generation.context import trained_window
from loci.generation.likelihood import log_probability, nats_per_character
from loci.model import GPT
from loci.model.activations import patched, run_with_activations
from loci.model.tap import Patch
from loci.pipeline import carry_out
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec, write_world
from loci.training.plan import Recipe
from loci.training.reports import Observer
from loci.training.run import describe, read_run, run_folder
from loci.training.sources import TrainingData

AskedQuestions = Questions | str | Path | Sequence[tuple[str, str | None]]
"""Questions, a file of them, or pairs of question and answer (None where it is unknown)."""


@dataclass(frozen=True, repr=False)
class Run(ask.Asker):
    """A trained model, ready to be asked, judged, sampled from and looked into. Made by `loci.load` or `loci.train`."""

    @property
    def model(self) -> GPT:
        """The model itself."""
        return self.loaded.model

    @property
    def vocab(self) -> Vocab:
        """Its characters."""
        return self.loaded.vocab

    @property
    def path(self) -> Path:
        """The run's folder, or the checkpoint where there is no run around it."""
        return run_folder(self.loaded.path) or self.loaded.path

    def evaluate(
        self,
        questions: AskedQuestions,
        *,
        alternatives: int = 0,
        split: str | None = None,
        answerer: Answerer | None = None,
    ) -> Evaluation:
        """Ask many questions and score the answers.

        Args:
            questions: Questions, a file of them, or (question, answer) pairs.
            alternatives: Keep so many other answers of each question with their probabilities.
            split: A name for the people asked about, such as "held-out"; it goes into the rows.
            answerer: Ask through this one instead of the run's own.
        """
        if isinstance(questions, str | Path):
            questions = read_asked(questions)
        elif not isinstance(questions, Questions):
            questions = Questions.from_pairs(questions)
        answers = (answerer or make_answerer(self.loaded)).answer(questions, n=alternatives + 1)
        rows = rows_of(answers, questions, split=split, model=self.loaded.hash, data=self.loaded.corpus_hash)
        return Evaluation(tuple(rows), tuple(answers))

    def generate(
        self,
        prompt: str = "\n",
        *,
        length: int = 200,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 0,
        until_mask: bool = False,
    ) -> str:
        """What the model writes after a prompt, without the prompt.

        Args:
            prompt: What the text begins with.
            length: Characters to write at most.
            temperature: Below 1 keeps to the likelier characters; 0 always takes the likeliest.
            top_k: Draw from this many likeliest characters only.
            top_p: Draw from the fewest likeliest characters that together reach this probability.
            seed: Same seed, same text.
            until_mask: End where the model writes the mask ⁇, as answers end.
        """
        (written,) = generate(
            self.model,
            [self.vocab.encode(prompt)],
            max_new=length,
            stop_id=MASK_ID if until_mask else None,
            sampler=Sampler(temperature, top_k, top_p),
            generator=torch.Generator().manual_seed(seed),
            window=trained_window(self.model),
        )
        return self.vocab.decode(written.ids)

    def score(self, prompt: str, continuations: Sequence[str]) -> dict[str, float]:
        """log p of each continuation of the prompt, the mask ⁇ that ends it included (an imported model has none)."""
        ids = [self.vocab.encode(text) for text in continuations]
        if self.vocab.layout != "loci":
            start = self.vocab.encode(prompt)
            return {text: log_probability(self.model, start, own) for text, own in zip(continuations, ids, strict=True)}
        found = score_candidates(self.model, [self.vocab.encode(prompt)], ids, stop_id=MASK_ID)[0]
        return dict(zip(continuations, found.tolist(), strict=True))

    def loss(self, text: str) -> float:
        """Nats per character on a text, read in windows of the length the model was trained on."""
        return nats_per_character(self.model, self.vocab.encode(text))

    def activations(
        self,
        text: str,
        names: Sequence[str] | None = None,
        *,
        patch: Mapping[str, Patch] | None = None,
        ablate: Iterable[tuple[int, int]] = (),
    ) -> Activations:
        """Everything computed inside the model while it reads a text, by name (see `loci.model.activations`).

        Args:
            text: What is read; write ⁇ for the mask.
            names: Names or patterns such as `blocks.*.attn.pattern`; None is all.
            patch: By name, what to continue with instead: a tensor that broadcasts, or a function of the value.
            ablate: (block, head) pairs that contribute nothing.
        """
        ids = torch.from_numpy(self.vocab.encode(text))[None].to(self.model.tok_emb.weight.device)
        logits, found = run_with_activations(self.model, ids, names, patch=patch, ablate=ablate)
        return Activations(text, logits, found)

    def patch(self, patch: Mapping[str, Patch]) -> Run:
        """A run on the same weights whose activations are replaced in every pass: ask and evaluate it as any run.

        A patch has to fit every length: a function of the value, or a tensor that broadcasts.
        """
        return replace(self, loaded=replace(self.loaded, model=patched(self.model, patch=patch)))

    def ablate(self, heads: Iterable[tuple[int, int]]) -> Run:
        """A run on the same weights in which these (block, head) pairs contribute nothing."""
        return replace(self, loaded=replace(self.loaded, model=patched(self.model, ablate=heads)))

    def summary(self) -> dict[str, Any]:
        """What is known about the run: recipe, state, steps, last loss, size, how it answers."""
        home = run_folder(self.loaded.path)
        about = describe(read_run(home)) if home is not None else {"run": str(self.loaded.path)}
        return {
            **about,
            "parameters": self.model.n_parameters(),
            "symbols": len(self.vocab),
            "answerer": self.loaded.answerer,
            "threshold": self.confidence.threshold,
        }

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}: {self.model.n_parameters():,} parameters, answers by {self.loaded.answerer!r})"

    def _repr_html_(self) -> str:
        return _table(self.summary())


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The rows of many answers, and what they are worth."""

    rows: tuple[Row, ...]
    answers: tuple[Answer, ...] = ()
    """The answers behind the rows, if a run gave them."""

    @property
    def accuracy(self) -> Rate:
        """Exact match with its 95 % interval."""
        return exact_match(self.rows)

    @property
    def answered(self) -> Rate | None:
        """The share of the questions that the run answers at its own threshold."""
        return wilson(sum(answer.known for answer in self.answers), len(self.answers)) if self.answers else None

    @property
    def accuracy_if_answered(self) -> Rate | None:
        """Exact match among the answers that the run gives at its own threshold."""
        if not self.answers:
            return None
        return exact_match(row for row, answer in zip(self.rows, self.answers, strict=True) if answer.known)

    @property
    def probabilities(self) -> ProbabilityScores | None:
        """Brier score, ECE, AUROC and AURC; None where truths or probabilities are missing."""
        return probability_scores(self.rows)

    def write(self, path: str | Path) -> None:
        """Keep the rows as JSON lines; `loci report` and `loci evaluate --predictions` read them."""
        write_rows(path, self.rows)

    def __repr__(self) -> str:
        return f"Evaluation({len(self.rows)} answers: exact match {self.accuracy})"

    def _repr_html_(self) -> str:
        scores = self.probabilities
        worth = {} if scores is None else {"Brier": scores.brier, "ECE": f"{scores.ece:.3f}", "AUROC": scores.auroc}
        given = (
            {"answered": self.answered, "exact match if answered": self.accuracy_if_answered} if self.answers else {}
        )
        return _table({"questions": len(self.rows), "exact match": self.accuracy, **given, **worth})


class Activations(dict[str, Tensor]):
    """Activations by name, first dimension batch; `logits` and `text` besides."""

    def __init__(self, text: str, logits: Tensor, found: Mapping[str, Tensor]):
        super().__init__(found)
        self.text = text
        self.logits = logits

    def __repr__(self) -> str:
        return f"Activations({len(self)} by name, of {self.text[:40]!r})"

    def _repr_html_(self) -> str:
        return _table({name: tuple(value.shape) for name, value in self.items()})


def load(run: str | Path, *, corpus: str | Path | Corpus | None = None, template: str | None = None) -> Run:
    """Make a run ready to be asked.

    Args:
        run: The folder that `loci train` wrote, or one of its checkpoints.
        corpus: Where evidence is looked for; default: the corpus the run remembers, if it is still there.
        template: The question's form, such as "Where did {subject} die?"; default: the run's own.
    """
    found = ask.load(run, corpus=corpus, template=template)
    return Run(found.loaded, found.index, found.remarks)


def recipe(name: str, data: str | Path | TrainingData) -> Recipe:
    """The recipe of that name for some data. Derive another with `recipe.override(["model.n_embd=64", …])`."""
    found = _data(data)
    return make_recipe(name, DataShape.of(found.corpus, found.questions))


def train(
    recipe: str | Recipe,
    data: str | Path | TrainingData,
    out: str | Path,
    *,
    resume: bool | None = False,
    observers: Callable[[Path], Sequence[Observer]] = lambda run: (),
    should_stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Carry out a recipe and load the run.

    Args:
        recipe: A recipe, or the name of one.
        data: A folder with a corpus and train questions, or the data itself.
        out: The run's folder.
        resume: False starts a new run, True goes on with one that was stopped, None does what fits.
        observers: Made from the run's folder; they hear of every step.
        should_stop: Asked after every step; a stopped run can be resumed.
    """
    found = _data(data)
    chosen = make_recipe(recipe, DataShape.of(found.corpus, found.questions)) if isinstance(recipe, str) else recipe
    carry_out(chosen, found, out, resume=resume, observers=observers, should_stop=should_stop)
    return load(out, corpus=found.corpus)


def evaluate(run: str | Path | Run, questions: AskedQuestions, **options: Any) -> Evaluation:
    """Ask a run many questions and score the answers: `Run.evaluate`, also for a run on disk."""
    return (run if isinstance(run, Run) else load(run)).evaluate(questions, **options)


def make_world(out: str | Path, **spec: Any) -> Path:
    """Write a synthetic world into a new folder and return the folder. The fields are those of `WorldSpec`."""
    try:
        world = WorldSpec(**spec)
    except TypeError as error:
        raise LociError(str(error), remedy="the fields are those of loci.text.world.WorldSpec") from None
    write_world(world, out)
    return Path(out)


def _data(data: str | Path | TrainingData) -> TrainingData:
    return data if isinstance(data, TrainingData) else TrainingData.read(data)


def _table(rows: Mapping[str, object]) -> str:
    """An HTML table of names and values."""
    cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items())
    return f"<table>{''.join(cells)}</table>"
