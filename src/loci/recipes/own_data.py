"""A recipe for data nobody has seen: which one, how large, how long, by the data's shape, with the reasons in words.

Sizes follow what worked on worlds and on the course's files (docs/experiments.md): reading needs about as many
characters whatever the corpus, memorizing needs every question and answer some thirty times.
"""

from __future__ import annotations

from dataclasses import replace

from loci.recipes.recall import recite, self_training
from loci.recipes.shape import DataShape
from loci.training.plan import Recipe

WIDTHS = ((2_000, 96), (20_000, 128), (200_000, 256))
"""Up to so many facts a model so wide; beyond, the last."""
PASSES = 32
"""How often each question and answer is seen while memorizing."""
READING, READING_EACH, MOST_READING = 1.0e6, 1.2e3, 3.2e6
"""Characters of reading, more for each train question, and at most."""
ROOM = 44
"""Characters of the block next to question and line: masks and answer."""


def own_data(shape: DataShape, name: str | None = None) -> tuple[Recipe, tuple[str, ...]]:
    """The recipe for data of this shape, and why; `name` chooses between recite and self-training."""
    facts = shape.n_subjects * max(1, shape.n_relations)
    asking, lines = facts * shape.question_length, shape.n_subjects * shape.line_length
    if name is None:
        name = "self-training" if asking <= 2 * lines else "recite"
        held = f"{facts:,} questions and answers of {shape.question_length:.0f} characters"
        why = f"{name}: {held}, where the lines have {shape.line_length:.0f} for each subject"
    else:
        why = f"{name}: as asked"
    recipe = (self_training if name == "self-training" else recite)(shape)
    width = next((width for most, width in WIDTHS if facts <= most), WIDTHS[-1][1])
    block = -(-(shape.longest + ROOM) // 32) * 32
    block = min(512, max(160, block))
    reading = min(MOST_READING, READING + READING_EACH * shape.n_questions)
    passes = PASSES * (asking if name == "self-training" else 1.3 * lines)
    small = shape.n_questions < 500  # few questions are read in more and smaller steps
    changes = [
        f"model.n_embd={width}",
        f"model.block_size={block}",
        f"read.characters={reading:.3g}",
        f"memorize.characters={max(0.2e6, passes):.3g}",
        *(["read.batch_size=8", "memorize.batch_size=32"] if small else []),
    ]
    return replace(recipe.override(changes), name=f"learn-{name}"), (
        why,
        f"{width} channels: {facts:,} facts ({shape.n_subjects:,} subjects × {shape.n_relations} relations)",
        f"a block of {block} characters: question and line take up to {shape.longest}",
    )
