"""The exercises of `loci lab`, by name."""

from __future__ import annotations

from loci.attention_lab.exercises import designed, noise, parsed, scaling, single_query
from loci.attention_lab.exercises.result import Exercise, LabResult, LabSettings
from loci.errors import LociError

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for exercise in (
        Exercise("distribution", single_query.DISTRIBUTION, single_query.distribution),
        Exercise("copying", single_query.COPYING, single_query.copying),
        Exercise("averaging", single_query.AVERAGING, single_query.averaging),
        Exercise("projection", single_query.PROJECTION, single_query.projection),
        Exercise("noisy-keys", noise.NOISY_KEYS, noise.noisy_keys),
        Exercise("heads", noise.HEADS, noise.heads),
        Exercise("design", designed.DESIGN, designed.design),
        Exercise("solve", designed.SOLVE, designed.solved),
        Exercise("temperature", scaling.TEMPERATURE, scaling.scaled),
        Exercise("folding", scaling.FOLDING, scaling.folded),
        Exercise("parse", parsed.PARSE, parsed.parse),
    )
}


def carry_out(name: str, settings: LabSettings) -> LabResult:
    """Run one exercise; an unknown name is a `LociError` that lists them."""
    if name not in EXERCISES:
        raise LociError(f"no exercise {name!r}", remedy=f"one of: {', '.join(EXERCISES)}")
    return EXERCISES[name].run(settings)
