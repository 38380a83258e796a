"""The two recipes that break the record: both closed-book, both taught by the corpus and the train questions alone.

Both first learn to read: a line and a question, the answer quoted from the line. The passages are told again with other
names and places, so that nothing can be learned by heart and only reading pays. Then

- **recite** learns the gist of every line by heart, and, asked, writes down what it remembers of the subject and reads
  it. Nothing question-shaped about a person outside the train questions is ever seen.
- **self-training** reads the whole corpus, writes a question and an answer about everybody, and memorizes these. Of
  what it reads it prefers words that the train questions often call the answer (`loci.pipeline.labelers.answer_prior`).

The gist (`loci.text.entity_sketch`) holds an answer only where answers are names; for others whole lines are learned.
docs/experiments.md has what was tried, and what each part brings.
"""

from __future__ import annotations

from loci.recipes.demo import DEMO_MODEL
from loci.recipes.shape import DataShape
from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage

#: The demo's small model with room for question, line and answer.
RECALL_MODEL = {**DEMO_MODEL, "block_size": 384}


def _stage(name: str, minutes: float, *mixture: MixtureComponent, batch_size: int = 32, decay: float = 0.5) -> Stage:
    return Stage(
        name=name,
        mixture=mixture,
        minutes=minutes,
        time_share=minutes,
        batch_size=batch_size,
        pool=16,
        lr=3e-3,
        matrix_lr=0.02,
        optimiser="muon",
        schedule="wsd",
        warmup=0.01,
        decay=decay,
        floor=0.02,
    )


def _read(minutes: float, view: str, batch_size: int) -> Stage:
    return _stage(
        "read",
        minutes,
        MixtureComponent("reading", source="reading-examples", share=0.7, options={"view": view}),
        MixtureComponent("memorize", share=0.3, options={"view": view}),
        batch_size=batch_size,
    )


def recite(shape: DataShape) -> Recipe:
    """Read, then learn the lines by heart; asked, write down the subject's line and read it."""
    # A hundred characters of a gist hold nearly every answer; a line needs more.
    view, longest, batch_size = ("gist", 110, 48) if shape.named_answers else ("line", 160, 32)
    learned = {"view": view, "longest": longest}
    memorize = _stage(
        "memorize",
        10.0,
        # What train people's lines say is asked about in training anyway; the others need the time.
        MixtureComponent("memorize", source="unasked", share=0.65, options=learned),
        MixtureComponent("memorize", share=0.2, options=learned),
        MixtureComponent("reading", source="reading-examples", share=0.15, options={"view": view}),
        batch_size=batch_size,
        decay=0.7,
    )
    note = "remembers a line by its name, then reads it; no question about anybody outside train"
    return Recipe("recite", RECALL_MODEL, (_read(2.0, view, batch_size), memorize), note=note, answerer="recite")


def self_training(shape: DataShape) -> Recipe:
    """Read, write questions about everybody, memorize the answers."""
    memorize = _stage("memorize", 4.0, MixtureComponent("question-answer", source="pseudo-labels"), batch_size=64)
    steps = (_read(6.0, "line", 32), LabelStep("label", "self-training"), memorize)
    note = "learns to read, writes a question and an answer about everybody, memorizes them"
    return Recipe("self-training", RECALL_MODEL, steps, note=note)
