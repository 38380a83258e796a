"""Two recipes that learn facts from text: both closed-book, both taught by the corpus and the train questions alone.

Both first learn to read: a line and a question, the answer quoted from the line. Names and places are swapped each time
(`loci.data.reading_examples`), so that nothing can be memorized and only reading helps. Then

- **recite** memorizes every line, and with it what only a train question tells. Asked, it writes down what it remembers
  of the subject and reads that. Nothing question-shaped about a subject outside the train questions is ever seen.
- **self-training** lets the model read the whole corpus and write a question and an answer about everybody, and
  memorizes these. Of what it reads it prefers words that the train questions often call the answer
  (`loci.pipeline.labelers.answer_prior`).

Both also memorize the names: so they know whom they never read about. Budgets grow with the number of lines.
Where answers are names, an entity sketch of the line (`loci.text.entity_sketch`) is memorized, not the whole line.
docs/experiments.md has what was tried, and what each part brings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from loci.recipes.demo import DEMO_MODEL, small_stage
from loci.recipes.shape import DataShape
from loci.training.plan import LabelStep, MixtureComponent, Recipe, SourceName, Stage

#: The demo's small model with room for question, line and answer.
RECALL_MODEL = {**DEMO_MODEL, "block_size": 384}

WIDTHS = ((4_000, 128), (20_000, 160), (200_000, 256))
"""Up to so many facts to memorize a model so wide; beyond, the last. Narrower ones would hold the facts, but read worse
and need more passes."""
RECITE_WIDTHS = ((1_500, 192), (6_000, 224), (200_000, 256))
"""The same for lines to recite: they hold several times as much as answers."""
STRANGERS = 0.005
"""How many made-up names may seem familiar: by this the gate is chosen as the last step."""
UNTOLD = 0.2
"""One reading example in five has lost the words that tell: so the reader can say that a line does not tell, also
where it names another place or person."""
SEVERAL = 0.35
"""One example in three has nothing to find: of several relations a line tells some."""
MEMORIZING = 0.5
"""Every other one: a reader that memorizes lines at the same time grows too ready to answer."""
POINTER = 0.2
"""λ of the pointer term: a reader that is shown where an answer stands finds it after a fraction of the characters."""
AS_IT_STANDS = {"subject": 0.0, "answer": 0.0, "word": 0.0}
"""Reading a train person's own line: so the given answer is learned where line and label disagree."""
TWICE = 1.2
"""More characters where lines are shown twice; as many examples as otherwise are not needed."""
MORE_READING = 1.1
"""What is memorized next to more reading is seen as often."""
RECITE_READING = 1.5e6, 2.5e6
"""Characters read before lines are memorized: for one relation, and, times √n, for n that must be told apart."""
LONGEST_LINE = 320
"""Characters of a line that are recited: what a question is asked about next to it must fit into the block too."""

_stage = partial(small_stage, warmup=0.01, decay=0.5, floor=0.02)


def _read(
    characters: float, form: str, relations: int, lines: SourceName, questions: SourceName, *, twice: bool = False
) -> Stage:
    """Small batches: copying begins after some 400 steps, whatever their size.

    Copying is learned once, finding for every relation: so several are read for longer.
    """
    options: dict[str, Any] = {"line_format": form, "untold": UNTOLD if relations < 2 else SEVERAL}
    if twice:
        options["twice"], characters = True, TWICE * characters
    return _stage(
        "read",
        characters * math.sqrt(max(1, relations)),
        MixtureComponent("reading", source=questions, share=0.7, options=options),
        MixtureComponent("memorize", source=lines, share=0.3, options={"line_format": form}),
        batch_size=16,
        pointer=POINTER,
    )


def width_for(n: int, widths: Sequence[tuple[int, int]] = WIDTHS) -> int:
    """Channels of a model that memorizes so many facts, or lines."""
    return next((width for most, width in widths if n <= most), widths[-1][1])


def memorizing_batch(n: int) -> int:
    """The batch for n things to memorize: some 40 steps pass between two looks at one of them.

    With many more steps it is forgotten in between; with few, large batches there are too few steps.
    """
    return min(512, max(16, n // 40))


def _memorizing_characters(shape: DataShape, longest: int) -> float:
    """Enough for some 28 looks at everything that is recited: sketches have about 76 characters, whole lines more."""
    if shape.named_answers:
        return 2600.0 * shape.n_lines
    n = shape.n_subjects if shape.spread else shape.n_lines
    return 34.0 * min(n * longest, shape.n_subjects * shape.line_length)


def recite(shape: DataShape) -> Recipe:
    """Read, then memorize the lines and their names; asked, write down the subject's line and read it."""
    # A hundred characters of an entity sketch hold nearly every answer; a line is recited whole.
    form, longest = ("entity-sketch", 110) if shape.named_answers else ("line", LONGEST_LINE)
    characters = RECITE_READING[shape.n_relations > 1]
    n, first = shape.n_lines, _read(characters, form, shape.n_relations, "corpus", "reading-taught")
    lines: SourceName = "taught-lines"
    questions: SourceName = "reading-lines"
    if shape.spread:  # one line would tell a part: what is recited is all that is said about the subject
        n, longest = shape.n_subjects, min(LONGEST_LINE, 2 * longest)
        lines, questions = "subjects", "reading-subjects"
        first = _read(characters, form, shape.n_relations, lines, questions)
    characters = _memorizing_characters(shape, longest)
    if shape.distant_answers:  # which of two places such answers mean, only train people's own lines teach
        reading = [
            MixtureComponent("reading", source=questions, share=0.05, options={"line_format": form, "untold": UNTOLD}),
            MixtureComponent("reading", source=questions, share=0.13, options={"line_format": form, **AS_IT_STANDS}),
        ]
    else:
        characters *= MORE_READING
        options = {"line_format": form, "untold": MEMORIZING}
        reading = [MixtureComponent("reading", source=questions, share=0.25, options=options)]
    memorize = _stage(
        "memorize",
        max(2e6, characters),
        MixtureComponent(
            "memorize",
            lines,
            share=round(1 - sum(part.share for part in reading), 2),
            options={"line_format": form, "longest": longest, "count_subject": True},
        ),
        *reading,
        batch_size=memorizing_batch(n),
        decay=0.7,
    )
    note = "remembers a line by its name, then reads it; no question about anybody outside train"
    model = {**RECALL_MODEL, "n_embd": width_for(n, RECITE_WIDTHS)}
    return Recipe("recite", model, (first, memorize), note=note, answerer="recite", stranger_rate=STRANGERS)


def self_training(shape: DataShape) -> Recipe:
    """Read, write questions about everybody, memorize names, answers and how sure the reader was."""
    facts = max(shape.n_lines, shape.n_subjects * shape.n_relations)
    memorize = _stage(
        "memorize",
        max(0.8e6, 1300 * facts),
        MixtureComponent("question-answer", source="pseudo-labels", options={"count_subject": True}),
        batch_size=memorizing_batch(shape.n_subjects * max(1, shape.n_relations)),
        decay=0.32,
        floor=0.05,
    )
    twice = shape.leading_answers
    steps = (
        _read(3.15e6, "line", shape.n_relations, "corpus", "reading-taught", twice=twice),
        LabelStep("label", "self-training", {"degrees": True, **({"twice": True} if twice else {})}),
        memorize,
    )
    note = "learns to read, writes a question and an answer about everybody, memorizes them"
    model = {**RECALL_MODEL, "n_embd": width_for(facts)}
    return Recipe("self-training", model, steps, note=note, answerer="memory", stranger_rate=STRANGERS)
