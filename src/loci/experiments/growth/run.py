"""What does a larger corpus cost? Characters and FLOPs until 90 % of the people are known, and bits per parameter.

Worlds of 250, 1,000, 4,000 and 16,000 people, models to match. A question and an answer about everybody are memorized
at a constant rate until nine people in ten are known, by weights averaged over the last passes: so no horizon has to be
chosen for a decay. Reading is left out, it costs about the same whatever the corpus. What lies beyond is read off the
fit.

examples:
  loci experiment growth --out growth --seeds 1 --largest 4000
  loci experiment growth --quick                     all steps within a minute; proves nothing
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loci.evaluation.json_data import to_json
from loci.experiments.growth.memorizing import grow
from loci.experiments.growth.page import growth_report
from loci.experiments.growth.result import Grown, GrowthResult
from loci.experiments.trials import AGAIN, Hooks, Settings, keep_report, open_folder
from loci.files import read_struct, write_json
from loci.report.parts import Report

SIZES = ((250, 64, 8), (1000, 96, 24), (4000, 128, 100), (16000, 160, 400))
"""People, the width of the model that memorizes them, and its batch: some 40 steps between two looks at a person."""
QUICK_SIZES = ((12, 16, 8), (24, 16, 8))
PASSES, QUICK_PASSES = 100, 6
"""How often everybody is seen at most."""


@dataclass(frozen=True)
class Options(Settings):
    """How far it goes."""

    largest: int = 16000
    """The largest world that is trained on; what lies beyond is on paper."""


def run(out: Path, options: Options = Options(), hooks: Hooks = Hooks()) -> Report:
    """Carry out the experiment; what an earlier call finished is not done again."""
    open_folder(out, "growth", options, may_change=("seeds", "largest"))
    sizes = QUICK_SIZES if options.quick else [size for size in SIZES if size[0] <= options.largest]
    grown = []
    for count, width, batch in sizes:
        for seed in options.every_seed:
            file = out / f"people-{count}-seed-{seed}.json"
            if not file.is_file():
                hooks.say(f"memorizing {count:,} people, seed {seed}")
                passes = round((QUICK_PASSES if options.quick else PASSES) * options.budget)
                state = file.with_suffix(".safetensors")
                write_json(file, to_json(grow(count, width, batch, seed, passes, state, hooks)))
                state.unlink(missing_ok=True)
            grown.append(read_struct(file, Grown, remedy=AGAIN))
    return keep_report(out, growth_report(GrowthResult(tuple(grown), len(options.every_seed), options.quick)))
