"""Whole experiments, each a module of this room with a function `run`; the table names them for `loci experiment`.

Knows each by its name and one line. A module is imported when its experiment is carried out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.experiments.trials import Hooks, Settings
    from loci.report.parts import ExperimentReport

EXPERIMENTS: dict[str, str] = {
    # name: what it asks
    "abstain": "can a model be taught to say I don't know, and is that better than a threshold?",
    "shaping": "does asking attention to be sharp, or near, help language, parses or recall?",
    "names": "does a model answer from the name instead of the fact when names and places go together?",
}


def find_experiment(name: str) -> Callable[[Path, Settings, Hooks], ExperimentReport]:
    """The function that carries out an experiment; an unknown name lists the known ones."""
    if name not in EXPERIMENTS:
        raise LociError(f"unknown experiment {name!r}", remedy=f"one of: {', '.join(EXPERIMENTS)}")
    function: Callable[[Path, Settings, Hooks], ExperimentReport] = importlib.import_module(
        f"loci.experiments.{name}.run"
    ).run
    return function
