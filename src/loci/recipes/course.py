"""The course's recipe, as published: span corruption for 650 epochs, then the train questions.

Two years of it: `course-2021` (2021–23) ends its cosine after 200 epochs and trains on for 650, so that the learning
rate climbs back to its full value near epoch 400; `course-2024` ends it with training. Figures are the published ones.
"""

from __future__ import annotations

from loci.recipes.shape import DataShape
from loci.training.plan import MixtureComponent, Recipe, Stage

#: The published configuration; the vocabulary's size comes from the corpus.
COURSE_MODEL = {"n_layer": 4, "n_head": 8, "n_embd": 256, "block_size": 128}

PRETRAIN_EPOCHS = 650
WARMUP_TOKENS = 512 * 20
DEFECTIVE_END = 200
"""The epochs after which the 2021–23 schedule believes to be done."""
FINETUNE_EPOCHS = {"after pretraining": 10, "from scratch": 75}


def pretrain_stage(shape: DataShape, *, year: int, lr: float = 6e-3, epochs: int = PRETRAIN_EPOCHS) -> Stage:
    """Span corruption over the corpus, in file order."""
    block = COURSE_MODEL["block_size"]
    end = DEFECTIVE_END if year < 2024 else epochs
    return Stage(
        name="pretrain",
        mixture=(MixtureComponent("corruption-2021" if year < 2024 else "corruption-2024"),),
        epochs=epochs,
        time_share=9,
        batch_size=128,
        shuffle=False,
        lr=lr,
        schedule="course",
        warmup=WARMUP_TOKENS,
        final_tokens=end * shape.n_lines * block,
    )


def finetune_stage(shape: DataShape, *, lr: float = 6e-4, epochs: int = FINETUNE_EPOCHS["after pretraining"]) -> Stage:
    """The train questions, in file order; the schedule ends after 200 epochs of the corpus, as published."""
    return Stage(
        name="finetune",
        mixture=(MixtureComponent("question-answer", source="questions"),),
        epochs=epochs,
        time_share=1,
        batch_size=256,
        shuffle=False,
        lr=lr,
        schedule="course",
        warmup=WARMUP_TOKENS,
        final_tokens=DEFECTIVE_END * shape.n_lines * COURSE_MODEL["block_size"],
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
