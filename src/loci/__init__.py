"""Loci: a laboratory for attention and pretrained knowledge in small transformers.

    import loci

    run = loci.load("run")
    run.ask("Where was Alfred Mele born?")

Names are imported when they are first used: `import loci` itself needs neither torch nor numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loci.answering.answer import Answer
    from loci.api import Activations, Evaluation, Run, evaluate, load, make_world, recipe, train
    from loci.errors import LociError
    from loci.model import GPT, GPTConfig
    from loci.recipes import RECIPES
    from loci.text.corpus import Corpus
    from loci.text.questions import Questions
    from loci.training.plan import LabelStep, MixtureComponent, Recipe, Stage
    from loci.training.sources import TrainingData

__version__ = "0.2.0"

_EXPORTS = {
    "loci.api": ("load", "train", "evaluate", "make_world", "recipe", "Run", "Evaluation", "Activations"),
    "loci.answering.answer": ("Answer",),
    "loci.text.corpus": ("Corpus",),
    "loci.text.questions": ("Questions",),
    "loci.training.sources": ("TrainingData",),
    "loci.recipes": ("RECIPES",),
    "loci.training.plan": ("Recipe", "Stage", "LabelStep", "MixtureComponent"),
    "loci.model": ("GPT", "GPTConfig"),
    "loci.errors": ("LociError",),
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "RECIPES",
    "Activations",
    "Answer",
    "Corpus",
    "Evaluation",
    "GPT",
    "GPTConfig",
    "LabelStep",
    "LociError",
    "MixtureComponent",
    "Questions",
    "Recipe",
    "Run",
    "Stage",
    "TrainingData",
    "__version__",
    "evaluate",
    "load",
    "make_world",
    "recipe",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'loci' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
