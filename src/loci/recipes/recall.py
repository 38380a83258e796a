"""Two recipes that learn facts from text: both closed-book, both taught by the corpus and the train questions alone.

Both first learn to read: a line and a question, the answer quoted from the line. Names and places are swapped each time
(`loci.data.reading_examples`), so that nothing can be memorized and only reading helps. Then

- **recite** memorizes every line. Asked, it writes down what it remembers of the subject and reads that. Nothing
  question-shaped about a subject outside the train questions is ever seen.
- **self-training** lets the model read the whole corpus and write a question and an answer about everybody, and
  memorizes these. Of what it reads it prefers words that the train questions often call the answer
  (`loci.pipeline.labelers.answer_prior`).

Where answers are names, an entity sketch of the line (`loci.text.entity_sketch`) is memorized, not the whole line.
docs/experiments.md has what was tried, and what each part brings.
"""

from __future__ import annotations

from loci.recipes.demo import DEMO_MODEL
from loci.recipes.shape import DataShape
from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage

#: The demo's small model with room for question, line and answer.
RECALL_MODEL = {**DEMO_MODEL, "block_size": 384}


def _stage(name: str, characters: float, *mixture: MixtureComponent, batch_size: int = 32, decay: float = 0.5) -> Stage:
    return Stage(
        name=name,
        mixture=mixture,
        characters=characters,
        time_share=characters,
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


def _read(characters: float, form: str, batch_size: int) -> Stage:
    return _stage(
        "read",
        characters,
        MixtureComponent("reading", source="reading-examples", share=0.7, options={"line_format": form}),
        MixtureComponent("memorize", share=0.3, options={"line_format": form}),
        batch_size=batch_size,
    )


def recite(shape: DataShape) -> Recipe:
    """Read, then memorize the lines; asked, write down the subject's line and read it."""
    # A hundred characters of an entity sketch hold nearly every answer; a line needs more.
    form, longest, batch_size = ("entity-sketch", 110, 48) if shape.named_answers else ("line", 160, 32)
    memorize = _stage(
        "memorize",
        15.5e6,
        MixtureComponent("memorize", share=0.88, options={"line_format": form, "longest": longest}),
        MixtureComponent("reading", source="reading-examples", share=0.12, options={"line_format": form}),
        batch_size=batch_size,
        decay=0.7,
    )
    note = "remembers a line by its name, then reads it; no question about anybody outside train"
    return Recipe("recite", RECALL_MODEL, (_read(1.4e6, form, batch_size), memorize), note=note, answerer="recite")


def self_training(shape: DataShape) -> Recipe:
    """Read, write questions about everybody, memorize the answers."""
    memorize = _stage("memorize", 5.5e6, MixtureComponent("question-answer", source="pseudo-labels"), batch_size=64)
    steps = (_read(7.7e6, "line", 32), LabelStep("label", "self-training"), memorize)
    note = "learns to read, writes a question and an answer about everybody, memorizes them"
    return Recipe("self-training", RECALL_MODEL, steps, note=note)
