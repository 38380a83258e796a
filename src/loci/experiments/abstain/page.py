"""The page of the experiment on silence: ways to say "I don't know", side by side.

Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Rate
from loci.evaluation.rows import NEVER_READ, UNSTATED
from loci.experiments.abstain.result import (
    EVERYTHING,
    R_TUNING,
    RUN,
    SILENCE,
    AbstainResult,
    Confidence,
    Costs,
    System,
)
from loci.report.comparison.wording import headers, meanings, people, percent
from loci.report.figures.knowledge import error_bars, risk_curves
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, by_seed, interval, seeds_of


def abstain_report(result: AbstainResult) -> Report:
    """Words, tables and figures."""
    shown = [system for system in result.systems if system.name in (EVERYTHING, SILENCE, R_TUNING, RUN)]
    return Report(
        title="Ways to say “I don’t know”",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, a world and three memories each.",
        cards=[
            (
                f"{s.name}: made up",
                s.fabricated[NEVER_READ],
                f"never read about: {interval(s.fabricated[NEVER_READ])}\nheld-out, right: "
                f"{percent(s.accuracy.value)}\ntaught, right: {percent(s.taught.value)}",
            )
            for s in shown
        ],
        sections=[
            Section("The question", [_question(result.people)]),
            _answers_section(result),
            _costs_section(result.costs),
            _confidence_section(result.confidence),
        ],
        numbers=to_json(result),
    )


def _question(people: Mapping[str, int]) -> str:
    return (
        f"A world in which {people['stated']} people’s birthplaces are told in the text, {people['unstated']} people "
        f"have lines that leave it out, and {people['outside']} have no line at all. Questions about {people['train']} "
        "people teach. A model learns to read and labels everybody in the text; three models memorize these labels. "
        "*The run as it is* also memorizes names and how sure the reader was, and is silent by both. *Taught silence* "
        f"learns answers that mean silence about {people['teach']} people nobody could know. *R-Tuning* learns “sure” "
        "after what the reader knew and “unsure” after the rest and about those same people. On the run’s own weights, "
        "a *threshold* on the answer’s probability and a *familiarity probe* on the activations at the name’s last "
        f"character are chosen on {people['validation']} held-out people and those {people['teach']}. All are then "
        f"asked about {people['test_stated']} other held-out people, {people['test_unstated']} who are not told of and "
        f"{people['test_outside']} never read about."
    )


def _answers_section(result: AbstainResult) -> Section:
    columns = ["taught: right", "held-out: right", "held-out: withheld", "right if answered"]
    return Section(
        "What they say",
        [
            _in_words(result.systems),
            Figure(
                error_bars([(system.name, system.kinds) for system in result.systems], people),
                "What became of every question.",
            ),
            Table(
                ["system", *columns, "never read about: made up", "not told: made up"],
                [
                    [
                        *(s.name, s.taught, s.accuracy, s.withheld, s.right_if_said),
                        *(s.fabricated[NEVER_READ], s.fabricated[UNSTATED]),
                    ]
                    for s in result.systems
                ],
                f"Shares with 95 % Wilson intervals, the questions of {seeds_of(result.seeds)} together. *Withheld* is "
                "false abstention: the text tells these birthplaces. A number after a name is the confidence target "
                "that the threshold was chosen for.",
            ),
            by_seed("system", [(system.name, system.by_seed) for system in result.systems]),
        ],
    )


def _in_words(systems: Sequence[System]) -> str:
    run, made_up = systems[-1], [system.fabricated[NEVER_READ] for system in systems]
    others = "; ".join(
        f"{system.name} {percent(rate.value)}{_overlap(rate, made_up[-1])}"
        for system, rate in zip(systems[:-1], made_up[:-1], strict=True)
    )
    return (
        f"About people never read about, the run makes something up {percent(made_up[-1].value)} of the time; it gets "
        f"{percent(run.accuracy.value)} of the held-out people right. The others make something up: {others}."
    )


def _overlap(first: Rate, second: Rate) -> str:
    return " (the intervals overlap)" if first.low <= second.high and second.low <= first.high else ""


def _costs_section(costs: Sequence[Costs]) -> Section:
    return Section(
        "What silence is worth",
        [
            "A right answer earns 1, silence 0, a wrong one costs t/(1−t): 1, 3 and 9 points at the three confidence "
            "targets. Below 0, silence about everything would have been better. All but the taught people count.",
            Table(
                ["system", *(f"t = {row.level:g}" for row in costs)],
                [[name, *(row.scores[name] for row in costs)] for name in costs[0].scores],
                "Mean points with 95 % intervals; thresholds are those chosen for each t.",
            ),
            Table(
                ["the run minus", *(f"t = {row.level:g}" for row in costs)],
                [[name, *(row.differences[name] for row in costs)] for name in costs[0].differences],
                "The difference question by question, with 95 % intervals: above 0 the run earns more.",
            ),
            Table(
                ["threshold of", *(f"t = {row.level:g}" for row in costs)],
                [
                    [name, *(", ".join(map(_threshold, row.thresholds[name])) for row in costs)]
                    for name in costs[0].thresholds
                ],
                "As chosen for each seed.",
            ),
        ],
    )


def _threshold(value: float) -> str:
    return "never" if value > 1 else f"{value:.2f}"


def _confidence_section(models: Sequence[Confidence]) -> Section:
    metrics = ("aurc", "auroc_knowable")
    return Section(
        "What the probabilities know",
        [
            "Silence aside: if the answers were given in the order of the system’s probability, how soon would the "
            "mistakes come? *Threshold* is the answer’s own probability, of a model taught silence that of its most "
            "probable real answer; R-Tuning’s is that of “sure”, the probe’s that the name was read.",
            Figure(risk_curves([m.name for m in models], [m.curve for m in models]), "Risk and coverage, all seeds."),
            Table(
                ["system", *headers(metrics)], [[m.name, m.aurc, m.auroc_knowable] for m in models], meanings(metrics)
            ),
        ],
    )
