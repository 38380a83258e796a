"""Whole experiments: a folder each with run.py, result.py and page.py, and one line here.

The module run.py of an experiment has a docstring for its help, a class `Options` (its flags: `Settings` or derived
from it) and a function `run(out, options, hooks) -> Report`; result.py has what is kept on disk and how it is
computed from rows; page.py draws it. A plugin adds one of its own with `EXPERIMENTS.add`. Imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from loci.registry import Registry


@dataclass(frozen=True)
class Experiment:
    """What an experiment asks, and the module that carries it out."""

    asks: str
    module: str

    def load(self) -> ModuleType:
        """Its module, which has `Options` and `run`."""
        return import_module(self.module)


EXPERIMENTS: Registry[Experiment] = Registry("experiment")
for _name, _asks in (
    (
        "abstain",
        "which way of saying I don't know earns most: a threshold, taught silence, R-Tuning, a probe, the run's own?",
    ),
    (
        "course",
        "which of the course's variants knows how much, and where are its answers lost? (needs --data or --quick)",
    ),
    ("demo", "what does pretraining know that the train questions do not tell? (the same as loci demo)"),
    ("growth", "what does a larger corpus cost: characters and FLOPs until 90 % are known, bits per parameter?"),
    ("names", "does a model answer from the name instead of the fact when names and places go together?"),
    ("recall", "what does each part of the recall recipes bring, and which attention stores facts? (needs --data)"),
    ("shaping", "does asking attention to be sharp, or near, help language, parses or recall?"),
    ("strangers", "whom does a run know, whom does it answer about, and in which wordings? (needs --run or --quick)"),
):
    EXPERIMENTS.add(_name, Experiment(_asks, f"loci.experiments.{_name}.run"))
