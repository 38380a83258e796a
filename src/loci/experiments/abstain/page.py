"""The page of the experiment on silence: a threshold against being taught to say "I don't know".

Knows the results, not how they came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loci.evaluation.abstention import RiskCoverage
from loci.evaluation.error_kinds import ErrorKind
from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Estimate, Rate
from loci.evaluation.rows import NEVER_READ, UNSTATED
from loci.report.figures.knowledge import error_bars, risk_curves
from loci.report.parts import QUICK_NOTE, ExperimentReport, Section, Table, interval, seeds_of


@dataclass(frozen=True)
class System:
    """One way of answering, over all seeds."""

    name: str
    accuracy: Rate
    """Held-out people answered rightly; withheld ones count as not."""
    withheld: Rate
    """Held-out people, whose birthplace the text tells, met with "I don't know": false abstention."""
    right_if_said: Rate
    fabricated: Mapping[str, Rate]
    """Unseen and unstated people → how often something was made up."""
    kinds: Mapping[str, Mapping[ErrorKind, Rate]]
    by_seed: tuple[Mapping[str, float], ...]


@dataclass(frozen=True)
class Priced:
    """Scores at one trust level: a wrong answer costs t/(1−t), silence nothing."""

    level: float
    everything: Estimate
    threshold: Estimate
    taught: Estimate
    difference: Estimate
    """Taught minus threshold, question by question."""
    thresholds: tuple[float, ...]
    """As chosen for each seed; infinite where no answer paid."""


@dataclass(frozen=True)
class Confidence:
    """What a model's probabilities are worth, whatever it says or withholds."""

    name: str
    area: Estimate
    curve: RiskCoverage
    recognises: Estimate
    """AUROC of held-out people against those nobody could know."""


@dataclass(frozen=True)
class AbstainResult:
    """The whole experiment."""

    systems: tuple[System, ...]
    """The last one is the taught model."""
    priced: tuple[Priced, ...]
    confidence: tuple[Confidence, ...]
    people: Mapping[str, int]
    """How many people of a seed's world play which part."""
    seeds: int
    quick: bool


def abstain_report(result: AbstainResult) -> ExperimentReport:
    """Words, tables and figures."""
    shown = (result.systems[0], result.systems[1], result.systems[-1])
    return ExperimentReport(
        title="Taught to say “I don’t know”",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, a world and two models each.",
        cards=[
            (
                f"{s.name}: makes it up",
                s.fabricated[NEVER_READ],
                f"{interval(s.fabricated[NEVER_READ])}, people of whom no line tells",
            )
            for s in shown
        ],
        sections=[
            Section("The question", _question(result.people)),
            _answers_section(result),
            _price_section(result.priced),
            _confidence_section(result.confidence),
        ],
        numbers=to_json(result),
    )


def _question(people: Mapping[str, int]) -> str:
    return (
        f"A world in which {people['stated']} people’s birthplaces are told in the text, {people['unstated']} people "
        f"are told of without their birthplace, and {people['outside']} are not told of at all. Questions about "
        f"{people['train']} people teach. One model learns these answers only, and a *threshold* on its probability "
        f"decides when it keeps silent; it is chosen on {people['validation']} told people and on {people['teach']} "
        f"people nobody could know. The other model is *taught*: for those same {people['teach']} people it learns to "
        f"answer “I don’t know”. Both are then asked about {people['test_stated']} other told people, and about "
        f"{people['test_unstated']} untold and {people['test_outside']} unseen people of other names."
    )


def _answers_section(result: AbstainResult) -> Section:
    headers = ["system", "held-out: right", "held-out: withheld", "right of what is said"]
    return Section(
        "What they say",
        _verdict(result.systems[1], result.systems[-1]),
        figures=[
            (
                error_bars([(system.name, system.kinds) for system in result.systems]),
                "What became of every question about people of the test.",
            )
        ],
        tables=[
            Table(
                [*headers, "unseen: made up", "unstated: made up"],
                [
                    [s.name, s.accuracy, s.withheld, s.right_if_said, s.fabricated[NEVER_READ], s.fabricated[UNSTATED]]
                    for s in result.systems
                ],
                f"Shares with 95 % Wilson intervals, the questions of {seeds_of(result.seeds)} together. *Withheld* is "
                "false abstention: the text tells these birthplaces. The threshold’s number is the trust "
                "level it was chosen for.",
            ),
            _by_seed(result.systems),
        ],
    )


def _verdict(threshold: System, taught: System) -> str:
    made_up = [100 * system.fabricated[NEVER_READ].value for system in (threshold, taught)]
    right = [100 * system.accuracy.value for system in (threshold, taught)]
    apart = not _overlap(threshold.fabricated[NEVER_READ], taught.fabricated[NEVER_READ])
    return (
        f"About unseen people the taught model makes something up {made_up[1]:.1f} % of the time, the threshold "
        f"{made_up[0]:.1f} %" + ("" if apart else " (the intervals overlap)") + ". "
        f"Of the held-out people it gets {right[1]:.1f} % right, the threshold {right[0]:.1f} %"
        + ("" if not _overlap(threshold.accuracy, taught.accuracy) else " (the intervals overlap)")
        + "."
    )


def _overlap(first: Rate, second: Rate) -> bool:
    return first.low <= second.high and second.low <= first.high


def _by_seed(systems: Sequence[System]) -> Table:
    names = list(systems[0].by_seed[0])
    return Table(
        ["system", "seed", *names],
        [
            [system.name, seed, *(f"{100 * figures[name]:.1f} %" for name in names)]
            for system in systems
            for seed, figures in enumerate(system.by_seed)
        ],
        "The same seed by seed.",
    )


def _price_section(priced: Sequence[Priced]) -> Section:
    return Section(
        "What silence is worth",
        "A right answer earns 1, silence 0, a wrong one costs t/(1−t): 1, 3 and 9 points at the three trust levels. "
        "Below 0, silence about everything would have been better. All people of the test count.",
        tables=[
            Table(
                ["t", "answers all", "threshold for this t", "taught", "taught − threshold", "thresholds"],
                [
                    [
                        f"{row.level:g}",
                        row.everything,
                        row.threshold,
                        row.taught,
                        row.difference,
                        ", ".join("never" if value > 1 else f"{value:.2f}" for value in row.thresholds),
                    ]
                    for row in priced
                ],
                "Mean points with 95 % intervals. The difference is taken question by question. *Thresholds*: as "
                "chosen for each seed.",
            )
        ],
    )


def _confidence_section(models: Sequence[Confidence]) -> Section:
    return Section(
        "What the probabilities know",
        "Silence aside: if the answers were given in the order of the model’s probability, how soon would the mistakes "
        "come? The taught model’s probability is that of its likeliest real answer.",
        figures=[(risk_curves([m.name for m in models], [m.curve for m in models]), "Risk and coverage, all seeds.")],
        tables=[
            Table(
                ["model", "area under the curve", "knowable or not, AUROC"],
                [[m.name, m.area, m.recognises] for m in models],
                "The area is the mean risk over all coverages: lower is better. The AUROC asks whether held-out people "
                "get a higher probability than people nobody could know: 0.5 is blind.",
            )
        ],
    )
