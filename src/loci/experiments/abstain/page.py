"""The page of the experiment on silence: a threshold against being taught to say "I don't know".

Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Rate
from loci.evaluation.rows import NEVER_READ, UNSTATED
from loci.experiments.abstain.result import AbstainResult, Confidence, Costs, System
from loci.report.comparison.wording import headers, meanings, people, percent
from loci.report.figures.knowledge import error_bars, risk_curves
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, by_seed, interval, seeds_of


def abstain_report(result: AbstainResult) -> Report:
    """Words, tables and figures."""
    shown = (result.systems[0], result.systems[1], result.systems[-1])
    return Report(
        title="Taught to say “I don’t know”",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, a world and two models each.",
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
        "people teach. One model learns these answers only, and a *threshold* on its probability decides when it keeps "
        f"silent; it is chosen on {people['validation']} held-out people and on {people['teach']} people nobody could "
        f"know. The other model is *taught silence*: for those same {people['teach']} people it learns to answer “I "
        f"don’t know”. Both are then asked about {people['test_stated']} other held-out people, "
        f"{people['test_unstated']} who are not told of and {people['test_outside']} never read about."
    )


def _answers_section(result: AbstainResult) -> Section:
    columns = ["taught: right", "held-out: right", "held-out: withheld", "right if answered"]
    return Section(
        "What they say",
        [
            _in_words(result.systems[1], result.systems[-1]),
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
                "false abstention: the text tells these birthplaces. The threshold’s number is the confidence target "
                "it was chosen for.",
            ),
            by_seed("system", [(system.name, system.by_seed) for system in result.systems]),
        ],
    )


def _in_words(threshold: System, silence: System) -> str:
    made_up = [percent(system.fabricated[NEVER_READ].value) for system in (threshold, silence)]
    right = [percent(system.accuracy.value) for system in (threshold, silence)]
    return (
        f"About people never read about, the model taught silence makes something up {made_up[1]} of the time, the "
        f"threshold {made_up[0]}{_overlap(threshold.fabricated[NEVER_READ], silence.fabricated[NEVER_READ])}. Of the "
        f"held-out people it gets {right[1]} right, the threshold {right[0]}"
        f"{_overlap(threshold.accuracy, silence.accuracy)}."
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
                ["t", "answers all", "threshold for this t", "taught silence", "difference", "thresholds"],
                [
                    [
                        f"{row.level:g}",
                        row.everything,
                        row.threshold,
                        row.silence,
                        row.difference,
                        ", ".join("never" if value > 1 else f"{value:.2f}" for value in row.thresholds),
                    ]
                    for row in costs
                ],
                "Mean points with 95 % intervals. *Difference*: taught silence minus threshold, question by question. "
                "*Thresholds*: as chosen for each seed.",
            ),
        ],
    )


def _confidence_section(models: Sequence[Confidence]) -> Section:
    metrics = ("aurc", "auroc_knowable")
    return Section(
        "What the probabilities know",
        [
            "Silence aside: if the answers were given in the order of the model’s probability, how soon would the "
            "mistakes come? Of a model taught silence, the probability is that of its most probable real answer.",
            Figure(risk_curves([m.name for m in models], [m.curve for m in models]), "Risk and coverage, all seeds."),
            Table(
                ["model", *headers(metrics)], [[m.name, m.aurc, m.auroc_knowable] for m in models], meanings(metrics)
            ),
        ],
    )
