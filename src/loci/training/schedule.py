"""How the learning rate moves: a factor of the full rate, as a pure function of where a stage stands.

`progress` runs from 0 to 1 over the stage's budget, whatever that is counted in; the course's own schedule counts
tokens.
"""

from __future__ import annotations

import math

from loci.training.plan import Stage

COURSE_FLOOR = 0.1


def course(tokens: int, warmup_tokens: int, final_tokens: int) -> float:
    """The published rule: linear warm-up by tokens, then a cosine that nothing stops at its end.

    Past `final_tokens` the cosine climbs again. The 2021–23 recipe ends it after 200 of 650 epochs, so its rate is back
    at the full value near epoch 400; 2024 sets the end to the end of training.
    """
    if tokens < warmup_tokens:
        return tokens / max(1, warmup_tokens)
    progress = (tokens - warmup_tokens) / max(1, final_tokens - warmup_tokens)
    return max(COURSE_FLOOR, 0.5 * (1 + math.cos(math.pi * progress)))


def cosine(progress: float, warmup: float, floor: float) -> float:
    """Linear warm-up over a share of the budget, then half a cosine down to `floor`."""
    if progress < warmup:
        return progress / warmup
    rest = min(1.0, (progress - warmup) / max(1e-9, 1 - warmup))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * rest))


def warmup_stable_decay(progress: float, warmup: float, decay: float, floor: float) -> float:
    """Linear warm-up, a plateau at the full rate, and a straight line down to `floor` over the last share."""
    if progress < warmup:
        return progress / warmup
    if progress <= 1 - decay:
        return 1.0
    return floor + (1 - floor) * max(0.0, 1 - progress) / decay


def step_factor(stage: Stage, *, step: int, progress: float, before: int, after: int) -> float:
    """The factor that a step uses: `before` it and `after` it so many tokens are counted."""
    if not stage.rate_lag:
        return factor(stage, progress=progress, tokens=after)
    return factor(stage, progress=progress, tokens=before) if step else 1.0


def factor(stage: Stage, *, progress: float, tokens: int) -> float:
    """The factor of a stage's learning rate at this point."""
    if stage.schedule == "course":
        assert stage.final_tokens is not None
        return course(tokens, int(stage.warmup), stage.final_tokens)
    if stage.schedule == "cosine":
        return cosine(progress, stage.warmup, stage.floor)
    if stage.schedule == "wsd":
        return warmup_stable_decay(progress, stage.warmup, stage.decay, stage.floor)
    return 1.0
