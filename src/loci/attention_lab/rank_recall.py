"""What a model still answers when its heads are cut to a lower rank. Knows nothing of how they are cut."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import Rate, exact_match
from loci.model import GPT
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel


def recall_by_rank(
    loaded: LoadedModel, questions: Path, ranks: Sequence[int], cut: Callable[[GPT, int], GPT]
) -> list[Rate]:
    """Exact match on a file of questions for each rank."""
    asked = Questions.read(questions)
    rates = []
    for rank in ranks:
        changed = dataclasses.replace(loaded, model=cut(loaded.model, rank))
        rates.append(exact_match(ask_rows(changed, asked)))
    return rates
