"""The sections on what goes wrong: fabrication and bias.

Knows a computed study; computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from loci.evaluation.comparison.comparison import Study
from loci.evaluation.error_kinds import FABRICATED, Kind
from loci.evaluation.metrics import Rate, wilson
from loci.report.comparison.wording import listed, once, p_value, percent, swatch
from loci.report.figures.knowledge import fabrication_bars, group_dots, popularity_dots
from loci.report.page import Cell, Page


def add_fabrication(page: Page, study: Study) -> None:
    """What became of every question, and where the wrong answers came from."""
    if not any(card.fabrication for card in study.cards):
        return
    page.add_section(
        "Fabrication",
        "What became of every question. A wrong answer is put down to the first origin that fits: the person’s own "
        "line, a look-alike name, popularity, or nothing visible.",
    )
    page.add_figure(
        fabrication_bars([entry.name for entry in study.entries], [card.fabrication for card in study.cards]),
        " ".join(["Intervals are in the table and under the pointer.", *_told_apart(study)]),
    )
    # That a look into the embedding found nobody is a finding too.
    looked = {Kind.LOOK_ALIKE_VECTOR} if any(context.vectors for context in study.contexts) else set()
    kinds = [
        kind
        for kind in FABRICATED
        if kind in looked or any(table[kind].successes for card in study.cards for table in card.fabrication.values())
    ]
    chance = any(card.look_alike_by_chance.values() for card in study.cards)
    rows: list[list[Cell]] = []
    for index, (entry, card) in enumerate(zip(study.entries, study.cards, strict=True)):
        for split, table in card.fabrication.items():
            rows.append(
                [
                    swatch(index, entry.name),
                    split,
                    made_up(table),
                    *(table[kind] for kind in kinds),
                    *([percent(card.look_alike_by_chance[split])] if chance else []),
                ]
            )
    page.add_table(
        ["run", "people", "made up", *(kind.value for kind in kinds), *(["look-alike by chance"] if chance else [])],
        once(rows),
        "Shares of all questions, with 95 % intervals. *By chance*: how many look-alike answers as many names drawn "
        "blindly would explain; only what exceeds it speaks for confusion of names."
        if chance
        else "Shares of all questions, with 95 % intervals.",
    )


def _told_apart(study: Study) -> list[str]:
    """How look-alikes were found, and which origins could not be told apart for want of what."""
    said = []
    if not any(context.corpus for context in study.contexts):
        said.append("Without a corpus, answers from the same line are not told apart.")
    if not any(context.known for context in study.contexts):
        return [*said, "Without the train questions, look-alike names and popular places are not told apart."]
    names = [entry.name for entry in study.entries]
    read = [name for name, context in zip(names, study.contexts, strict=True) if context.vectors is not None]
    if read:
        said.append(f"A name’s embedding is the model’s state where the name ends ({listed(read)}).")
    if unread := [name for name in names if name not in read]:
        said.append(f"Look-alikes are told by spelling alone, without the model’s own embedding ({listed(unread)}).")
    return said


def made_up(table: Mapping[Kind, Rate]) -> Rate:
    """All fabricated kinds together."""
    n = next(iter(table.values())).n
    return wilson(sum(table[kind].successes for kind in FABRICATED), n)


def add_bias(page: Page, study: Study) -> None:
    """Groups, popularity, stereotypes and counterfactual names, as far as the rows tell."""
    popular = [
        (index, entry.name, card.popularity)
        for index, (entry, card) in enumerate(zip(study.entries, study.cards, strict=True))
        if card.popularity is not None
    ]
    grouped = any(card.groups for card in study.cards)
    if not popular and not grouped and study.renamed is None:
        return
    page.add_section(
        "Bias",
        "Is everyone served alike, and does the name, or the fame of a place, decide where the fact should?",
    )
    if grouped:
        _add_groups(page, study)
    if popular:
        page.add_figure(
            popularity_dots([entry.name for entry in study.entries], [card.popularity for card in study.cards]),
            "Popularity: how often an answer is true (bar) and how often each run gives it (dot). A dot beyond its "
            "bar is an answer given too often.",
        )
        page.add_table(
            ["run", "KL given ‖ true, bits", "would have to move", "ten commonest, true", "ten commonest, given"],
            [
                [
                    swatch(index, name),
                    table.divergence,
                    *map(percent, (table.variation, table.top_true, table.top_given)),
                ]
                for index, name, table in popular
            ],
            "Half a count is added to every answer before the KL divergence. *Would have to move*: the share of "
            "answers that would have to change for given and true shares to agree (total variation).",
        )
    _add_renamed(page, study)


def _add_groups(page: Page, study: Study) -> None:
    found = [
        (index, entry.name, card)
        for index, (entry, card) in enumerate(zip(study.entries, study.cards, strict=True))
        if card.groups
    ]
    names, reports = [entry.name for entry in study.entries], [card.groups for card in study.cards]
    page.add_figure(group_dots(names, reports), "Exact match by group, with 95 % intervals.")
    rows: list[list[Cell]] = []
    for index, name, card in found:
        assert card.groups is not None
        for score in card.groups.groups:
            said = ", ".join(f"{answer or '(nothing)'} {100 * share:.0f} %" for answer, share in score.answers)
            rows.append(
                [
                    swatch(index, name),
                    score.group,
                    score.accuracy,
                    percent(score.abstention.value),
                    said,
                    p_value(score.p_value),
                ]
            )
    tests = "; ".join(
        f"{name}: accuracy p {p_value(card.groups.accuracy_differs.p_value)} ({card.groups.accuracy_differs.method}), "
        f"silence p {p_value(card.groups.abstention_differs.p_value)}"
        for _, name, card in found
        if card.groups is not None
    )
    page.add_table(
        ["run", "group", "exact match", "withheld", "says most often", "p against the rest"],
        once(rows),
        f"p: Fisher’s exact test against all other groups, corrected by Holm. Over all groups: {tests}.",
        folded=f"{len(rows)} rows: exact match, silence and commonest answers of every group",
    )
    typed: list[list[Cell]] = [
        [
            swatch(index, name),
            card.stereotype.typical,
            percent(card.stereotype.by_chance),
            p_value(card.stereotype.p_value),
        ]
        for index, name, card in found
        if card.stereotype is not None and card.stereotype.typical.n
    ]
    if typed:
        page.add_table(
            ["run", "wrong answers typical of the group", "if groups were shuffled", "p"],
            typed,
            "When it is wrong, does it answer from the name? *Typical*: one of the three commonest true answers of the "
            "person’s group. Permutation test.",
        )


def _add_renamed(page: Page, study: Study) -> None:
    found = study.renamed
    if found is None:
        return
    page.add_table(
        ["pairs", "answer changed", "right before", "right after", "p", "changes that follow the new name"],
        [
            [
                found.changed.n,
                found.changed,
                found.right_before,
                found.right_after,
                p_value(found.test.p_value),
                found.follows_name,
            ]
        ],
        "Counterfactual names: the same fact under a name of another group. *Follow the new name*: the new answer is "
        "typical of the new name’s group. p: McNemar’s exact test of right before and after.",
    )
