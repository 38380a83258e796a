"""The course's recipe as its published code carries it out: span corruption for 650 epochs, then the train questions.

Two years of it: `course-2021` (2021–23) ends its cosine after 200 epochs and trains on for 650, so that the learning
rate climbs back to its full value near epoch 400; `course-2024` ends it with training. Where the published code does
something else than its comments say, the code is followed; `FIXES` names each such place and what a fix does instead.
`course-short` is no published recipe: of the same form, with a smaller model, other objectives and another optimiser.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from loci.recipes.demo import DEMO_MODEL, small_stage
from loci.recipes.recall import memorizing_batch
from loci.recipes.shape import DataShape
from loci.training.plan import MixtureComponent, Recipe, Stage

#: The published configuration; the vocabulary's size comes from the corpus.
COURSE_MODEL = {"n_layer": 4, "n_head": 8, "n_embd": 256, "block_size": 128}

PRETRAIN_EPOCHS = 650
WARMUP_TOKENS = 512 * 20
DEFECTIVE_END = 200
"""The epochs after which the 2021–23 schedule believes to be done."""
FINETUNE_EPOCHS = {"after pretraining": 10, "from scratch": 75}
PARTS = 8
"""A batch in file order has lines of all lengths, half of it padding; in parts of like length it has little."""

FIXES = {
    "decay": "only the weights of matrix products decay, not embeddings, positions and norms",
    "rate": "a step uses its own learning rate, not the one computed after the step before",
    "ascii": "train questions keep the characters that are not ASCII",
    "newline": "questions without an answer are asked without the newline of their line",
    "lines": "an answer that contains a newline is written on one line",
}
"""What the published code does and probably does not mean to do, by the name of its fix. The last two are asking."""


def pretrain_stage(
    shape: DataShape, *, year: int, lr: float = 6e-3, epochs: int = PRETRAIN_EPOCHS, fix: Collection[str] = ()
) -> Stage:
    """Span corruption over the corpus, in file order."""
    mixture = MixtureComponent("corruption-2021" if year < 2024 else "corruption-2024")
    end = DEFECTIVE_END if year < 2024 else epochs
    return _stage("pretrain", mixture, shape, epochs=epochs, time_share=9, batch_size=128, lr=lr, end=end, fix=fix)


def finetune_stage(
    shape: DataShape,
    *,
    lr: float = 6e-4,
    epochs: int = FINETUNE_EPOCHS["after pretraining"],
    fix: Collection[str] = (),
) -> Stage:
    """The train questions, in file order; the schedule ends after 200 epochs of the corpus, as published."""
    options = {} if "ascii" in fix else {"ascii_only": True}
    mixture = MixtureComponent("question-answer", source="questions", options=options)
    end = DEFECTIVE_END
    return _stage("finetune", mixture, shape, epochs=epochs, time_share=1, batch_size=256, lr=lr, end=end, fix=fix)


def _stage(
    name: str,
    mixture: MixtureComponent,
    shape: DataShape,
    *,
    epochs: int,
    time_share: int,
    batch_size: int,
    lr: float,
    end: int,
    fix: Collection[str],
) -> Stage:
    return Stage(
        name=name,
        mixture=(mixture,),
        epochs=epochs,
        time_share=time_share,
        batch_size=batch_size,
        accumulate=PARTS,
        shuffle=False,
        lr=lr,
        decay_groups="matrices" if "decay" in fix else "all-but-biases",
        schedule="course",
        warmup=WARMUP_TOKENS,
        final_tokens=end * shape.n_lines * COURSE_MODEL["block_size"],
        rate_lag=0 if "rate" in fix else 1,
    )


def course_2021(shape: DataShape) -> Recipe:
    """The recipe of 2021–23, with its schedule's defect."""
    stages = (pretrain_stage(shape, year=2021), finetune_stage(shape))
    return Recipe("course-2021", COURSE_MODEL, stages, note="the course's recipe of 2021–23, schedule defect included")


def course_2024(shape: DataShape) -> Recipe:
    """The recipe of 2024–25: the cosine ends with training."""
    stages = (pretrain_stage(shape, year=2024), finetune_stage(shape))
    return Recipe("course-2024", COURSE_MODEL, stages, note="the course's recipe of 2024–25")


def course_scratch(shape: DataShape) -> Recipe:
    """No pretraining: 75 epochs of the train questions, the course's first row."""
    stages = (finetune_stage(shape, epochs=FINETUNE_EPOCHS["from scratch"]),)
    return Recipe("course-scratch", COURSE_MODEL, stages, note="the course's model without pretraining")


#: The demo's model, wider, with the course's learned positions.
SHORT_MODEL = {**DEMO_MODEL, "n_embd": 160, "positions": "learned"}
CHARACTERS_A_LINE = 3400.0
"""Of pretraining: some 50 looks at a line. What it tells is stored late: a third by 27 looks, seven tenths by 50."""
PRETRAIN_DECAY = 0.45
SALIENT_SHARE = 0.1
"""Of the rows that read the corpus: those with one span masked in the whole line; the others keep the name and the
words that lead up to a span."""
QUESTION_EPOCHS, QUESTION_SHARE = 2, 0.25
"""Questions are memorized after an epoch or two of them; they are a quarter of a batch."""
FINETUNE_RATE = 0.3
"""Of the rate of pretraining: at the full one, what was stored is lost again."""


def course_short(shape: DataShape, *, salient: float = SALIENT_SHARE) -> Recipe:
    """The published form in a laptop's time: masked corpus lines, then the train questions with the lines going on.

    `salient` is 0 for a model that is blind where the masks of long lines stand.
    """
    batch_size = memorizing_batch(shape.n_lines)
    lines = _lines(salient)
    characters = CHARACTERS_A_LINE * shape.n_lines
    pretrain = small_stage("pretrain", characters, *lines, batch_size=batch_size, decay=PRETRAIN_DECAY, floor=0.05)
    asked = MixtureComponent("question-answer", source="questions", share=QUESTION_SHARE)
    beside = [replace(part, share=part.share * (1 - QUESTION_SHARE)) for part in lines]
    finetune = replace(
        pretrain,
        name="finetune",
        mixture=(asked, *beside),
        time_share=characters / 15,  # about what two epochs of the course's questions take
        decay=0.3,
        lr=FINETUNE_RATE * pretrain.lr,
        matrix_lr=FINETUNE_RATE * pretrain.matrix_lr,
    ).with_budget(epochs=QUESTION_EPOCHS)  # of the first part: how often a question is seen decides, not its length
    note = "the course's form on a laptop: masked lines, then questions with the lines going on"
    return Recipe("course-short", SHORT_MODEL, (pretrain, finetune), note=note, answerer="greedy")


def _lines(salient: float) -> tuple[MixtureComponent, ...]:
    """Corpus lines with a span masked; most masks take all of a line but its subject and a few words."""
    cued = MixtureComponent("cued-recall", source="marked-lines", share=1 - salient)
    return (MixtureComponent("salient-span", share=salient), cued) if salient else (cued,)
