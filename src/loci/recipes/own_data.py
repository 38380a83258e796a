"""A recipe for data nobody has seen: which one, how large, how long, by the data's shape, with the reasons in words.

Sizes follow what worked on worlds and on the course's files (docs/experiments.md): reading needs about as many
characters whatever the corpus, memorizing needs every question and answer some thirty times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from loci.recipes.recall import SEVERAL, TWICE, recite, self_training, width_for
from loci.recipes.shape import DataShape
from loci.training.plan import Recipe, Stage

PASSES = 32
"""How often each question and answer is seen while memorizing."""
READING = 3.0e6
"""Characters of reading for up to two relations: with less, a reader of few questions still takes one person or place
of a line for another. More relations are read for longer (`loci.recipes.recall`)."""
LEAST_MEMORIZING = 0.4e6
"""Characters of memorizing at least: few facts are seen often, so that there are enough steps."""
FEW_ANSWERS = {"answer": 0.8, "from_answers": 0.2}
"""Few train questions have few answers: most are swapped for words that are none, or the reader would know them by
heart and copy nothing else."""
FEW_LINES = {"sentences": 0.6}
"""Very few train questions have few lines: most of their sentences are swapped, or the reader would know each line and
where its answer stands."""
FEW, VERY_FEW = 1500, 500
"""Train questions below which reading is taught in smaller and more steps; of a relation, below which its answers tell
too little of which words are answers."""
LARGEST_BLOCK = 512
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
    width = max(recipe.model["n_embd"], width_for(facts))
    twice = name == "self-training" and shape.leading_answers
    longest, shown = (2 * shape.longest, ", shown twice,") if twice else (shape.longest, "")
    block = -(-(longest + ROOM) // 32) * 32
    block = min(LARGEST_BLOCK, max(160, block))
    parts = (
        "read in parts, some sentences at a time" if name == "self-training" else "memorized only in their beginning"
    )
    too_long = f"; longer lines are {parts}" if longest + ROOM > block else ""
    passes = PASSES * (asking if name == "self-training" else 1.3 * lines)
    # Which words often are the answer, few questions cannot tell: their own answers would be preferred to all others.
    few_of_each = shape.n_questions < VERY_FEW * max(1, shape.n_relations)
    changes = [
        f"model.n_embd={width}",
        f"model.block_size={block}",
        f"read.characters={READING * (TWICE if twice else 1) * math.sqrt(max(2, shape.n_relations) / 2):.3g}",
        f"memorize.characters={max(LEAST_MEMORIZING, passes):.3g}",
        *(["read.batch_size=8"] if shape.n_questions < FEW else []),
        *(["label.use_prior=false"] if name == "self-training" and few_of_each else []),
    ]
    recipe = recipe.override(changes)
    swaps = {**FEW_ANSWERS, **(FEW_LINES if shape.n_questions < VERY_FEW else {})}
    steps = tuple(_for_few(step, swaps) if isinstance(step, Stage) else step for step in recipe.steps)
    return replace(recipe, steps=steps, name=f"learn-{name}"), (
        why,
        f"{width} channels: {facts:,} facts ({shape.n_subjects:,} subjects × {shape.n_relations} relations)",
        f"a block of {block} characters: question and line{shown} take up to {longest}{too_long}",
    )


def _for_few(stage: Stage, swaps: Mapping[str, float]) -> Stage:
    """The stage, its reading with other swaps, at least one in three untold; what is read as it stands has none."""
    mixture = (
        replace(part, options={**part.options, **swaps, "untold": max(SEVERAL, part.options["untold"])})
        if part.objective == "reading" and "answer" not in part.options
        else part
        for part in stage.mixture
    )
    return replace(stage, mixture=tuple(mixture))
