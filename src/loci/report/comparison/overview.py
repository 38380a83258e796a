"""The first sections of a comparison: accuracy, duels, the ceiling, the loss curves.

Knows a computed study; computes nothing itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from loci.evaluation.comparison.comparison import Duel, Study
from loci.evaluation.metrics import Estimate
from loci.report.comparison.wording import listed, p_value, points, swatch
from loci.report.figures.knowledge import ceiling_bars, loss_curves, rate_bars
from loci.report.page import Cell, Page
from loci.report.style import NEUTRAL, series_colour

SIGNIFICANT = 0.05


def add_headline(page: Page, study: Study) -> None:
    """Cards: the headline accuracy of every run, and the baseline's."""
    cards = []
    for entry, card in zip(study.entries, study.cards, strict=True):
        rate = card.accuracy.get(study.split)
        note = (
            f"{100 * rate.low:.1f}–{100 * rate.high:.1f} %, n\u00a0=\u00a0{rate.n:,}"
            if rate
            else f"not asked: {study.split}"
        )
        cards.append((entry.name, rate, note))
    if study.baseline and (rate := study.baseline[1].get(study.split)):
        cards.append((f"always “{study.baseline[0]}”", rate, "the commonest known answer"))
    page.add_cards(cards)


def add_accuracy(page: Page, study: Study) -> None:
    """Accuracy by split with intervals, and every two runs on the same questions."""
    names = [entry.name for entry in study.entries]
    splits = list(dict.fromkeys(split for card in study.cards for split in card.accuracy))
    page.add_section("Accuracy", _verdict(study))
    series = [(name, [card.accuracy.get(s) for s in splits]) for name, card in zip(names, study.cards, strict=True)]
    colours = [series_colour(index) for index in range(len(names))]
    if study.baseline:
        series.append((f"always “{study.baseline[0]}”", [study.baseline[1].get(s) for s in splits]))
        colours.append(NEUTRAL)
    page.add_figure(
        rate_bars(splits, series, "exact match", colours),
        "Exact match, to the letter, with 95 % Wilson intervals. An “I don’t know” is not a right answer.",
    )
    silence = any(rate.successes for card in study.cards for rate in card.abstention.values())
    headers = ["run", *splits, *(["withheld"] if silence else [])]
    rows = []
    for index, (name, card) in enumerate(zip(names, study.cards, strict=True)):
        held = [card.abstention.get(study.split)] if silence else []
        rows.append([swatch(index, name), *(card.accuracy.get(split) for split in splits), *held])
    page.add_table(headers, rows)
    if study.duels:
        page.add_table(
            ["run", "against", "questions", "difference, points", "only it right", "only the other right", "p"],
            [_duel(duel, {entry.name: i for i, entry in enumerate(study.entries)}) for duel in study.duels],
            f"The questions about {study.people} that both were asked. The interval resamples questions; p is "
            "McNemar’s exact test, corrected by Holm for the number of comparisons.",
        )


def _duel(duel: Duel, index: Mapping[str, int]) -> list[Cell]:
    """The better run first."""
    better, worse, only_better, only_worse = duel.second, duel.first, duel.test.only_second, duel.test.only_first
    difference = duel.difference
    if difference.value < 0:
        better, worse, only_better, only_worse = worse, better, only_worse, only_better
        difference = Estimate(-difference.value, -difference.high, -difference.low, difference.n)
    return [
        swatch(index[better], better),
        swatch(index[worse], worse),
        duel.test.n,
        points(difference),
        only_better,
        only_worse,
        p_value(duel.p_value),
    ]


def _verdict(study: Study) -> str:
    """The comparison in a sentence or two, for who reads nothing else."""
    scored = [
        (rate.value, entry.name)
        for entry, card in zip(study.entries, study.cards, strict=True)
        if (rate := card.accuracy.get(study.split)) is not None
    ]
    if not scored:
        return ""
    best, name = max(scored)
    text = f"**{name}** answers {100 * best:.1f} % of the {study.split} questions"
    if len(scored) == 1:
        return text + "."
    against = [duel for duel in study.duels if name in (duel.first, duel.second)]
    beaten = [
        duel.second if duel.first == name else duel.first
        for duel in against
        if duel.p_value < SIGNIFICANT and (duel.difference.value > 0) == (duel.second == name)
    ]
    others = [other for _, other in scored if other != name]
    rivals = f"**{others[0]}**" if len(others) == 1 else "every other run"
    if sum(value == best for value, _ in scored) > 1:
        return f"{text}, and no run more."
    if len(beaten) == len(others):
        return f"{text}, more than {rivals}, and the difference is beyond chance."
    if beaten:
        return f"{text}, more than {rivals}; beyond chance only against {listed([f'**{b}**' for b in beaten])}."
    if not against:
        return f"{text}, more than {rivals}; with no question in common, it may be chance."
    return f"{text}, more than {rivals}, but the difference may be chance."


def add_ceiling(page: Page, study: Study) -> None:
    """Where the questions go on the way to a right answer."""
    found = [
        (entry.name, card.ceiling)
        for entry, card in zip(study.entries, study.cards, strict=True)
        if card.ceiling is not None
    ]
    if not found:
        return
    page.add_section(
        "Ceiling",
        "Where questions are lost on the way to a right answer. Each step keeps the questions that passed all steps "
        "above it: first the text sets the bound, whatever the model, then the model does.",
    )
    luck = [
        f"{name} {ceiling.right_unwritten.successes}" for name, ceiling in found if ceiling.right_unwritten.successes
    ]
    note = f" Right answers that stand in no line, guesses that came true: {', '.join(luck)}." if luck else ""
    page.add_figure(
        ceiling_bars([entry.name for entry in study.entries], [card.ceiling for card in study.cards]),
        "Of all questions about people not asked about in training and not beyond knowing." + note,
    )
    steps = found[0][1].steps
    page.add_table(
        ["step", "left", "lost before it, because"],
        [
            [step.name, step.kept.successes, f"{before.kept.successes - step.kept.successes:,}: {step.lost_because}"]
            for before, step in itertools.pairwise(steps)
        ],
        f"The steps of {found[0][0]}, in questions.",
    )


def add_training(page: Page, study: Study) -> None:
    """Loss curves, where runs brought them."""
    curves = [(entry.name, entry.metrics) for entry in study.entries]
    if any(rows for _, rows in curves):
        page.add_section("Learning", "The loss while training, smoothed; it jumps where a new stage begins.")
        page.add_figure(loss_curves([name for name, _ in curves], [rows for _, rows in curves]), "One seed a run.")
