"""The sections on what goes wrong: made-up answers and bias.

Knows a computed comparison; computes nothing itself.
"""

from __future__ import annotations

from loci.evaluation.comparison.comparison import Comparison
from loci.evaluation.error_kinds import FABRICATED, ErrorKind, fabrication_rate
from loci.report.comparison.wording import headers, listed, meanings, once, p_value, people, percent, swatch
from loci.report.figures.knowledge import error_bars, group_dots, popularity_dots
from loci.report.page import Cell
from loci.report.parts import Figure, Section, Table


def error_section(comparison: Comparison) -> Section | None:
    """What became of every question, and where the wrong answers came from."""
    tables = [table for card in comparison.cards for table in card.error_kinds.values()]
    if not tables:
        return None
    # That a look into the embedding found nobody is a finding too.
    looked = {ErrorKind.NEAREST_EMBEDDING} if any(entry.context.vectors for entry in comparison.entries) else set()
    kinds = [kind for kind in FABRICATED if kind in looked or any(table[kind].successes for table in tables)]
    chance = any(any(card.nearest_name_by_chance.values()) for card in comparison.cards)
    rows: list[list[Cell]] = [
        [
            swatch(index, entry.name),
            people(split),
            fabrication_rate(table),
            *(table[kind] for kind in kinds),
            *([percent(card.nearest_name_by_chance[split])] if chance else []),
        ]
        for index, entry, card in comparison
        for split, table in card.error_kinds.items()
    ]
    by_chance = (
        " *By chance*: how many answers of nearest names as many names drawn at random would explain; only what "
        "exceeds it speaks for confusion of names."
    )
    columns = [*(kind.value for kind in kinds), *(["nearest name by chance"] if chance else [])]
    return Section(
        "Made-up answers",
        [
            "What became of every question, as the run answered it: what it withheld is not made up. A wrong answer is "
            "put down to the first source that fits: the person’s own line, the nearest name, a popular answer, or "
            "nothing visible.",
            Figure(
                error_bars([(entry.name, card.error_kinds) for _, entry, card in comparison], people),
                " ".join(["Intervals are in the table and under the pointer.", *_told_apart(comparison)]),
            ),
            Table(
                ["run", "people", "made up", *columns],
                once(rows),
                "Shares of all questions, with 95 % intervals." + (by_chance if chance else ""),
            ),
        ],
    )


def _told_apart(comparison: Comparison) -> list[str]:
    """How nearest names were found, and which sources could not be told apart for want of what."""
    contexts = [entry.context for entry in comparison.entries]
    said = []
    if not any(context.corpus for context in contexts):
        said.append("Without a corpus, answers from the same line are not told apart.")
    if not any(context.known for context in contexts):
        return [*said, "Without the train questions, nearest names and popular places are not told apart."]
    read = [entry.name for entry in comparison.entries if entry.context.vectors is not None]
    if read:
        said.append(f"The embedding of a name is the model’s state where the name ends ({listed(read)}).")
    if unread := [name for name in comparison.names if name not in read]:
        said.append(f"Names are compared by spelling alone, without the model’s own embedding ({listed(unread)}).")
    return said


def bias_section(comparison: Comparison) -> Section | None:
    """Groups, popularity, stereotypes and counterfactual names, as far as the rows tell."""
    parts = [*_groups(comparison), *_popularity(comparison), *_renamed(comparison)]
    text = (
        "Is everyone served alike, and does the name, or the popularity of a place, decide where the fact should? "
        "Judged on people who were not taught, by the answers that were given."
    )
    return Section("Bias", [text, *parts]) if parts else None


def _popularity(comparison: Comparison) -> list[Figure | Table]:
    found = [(index, entry.name, card.popularity) for index, entry, card in comparison if card.popularity is not None]
    if not found:
        return []
    metrics = ("divergence", "variation", "top_true", "top_given")
    figure = Figure(
        popularity_dots(comparison.names, [card.popularity for card in comparison.cards]),
        "Popularity: how often an answer is true (bar) and how often each run gives it (dot). A dot beyond its bar is "
        "an answer given too often.",
    )
    rows: list[list[Cell]] = [
        [swatch(index, name), table.divergence, *map(percent, (table.variation, table.top_true, table.top_given))]
        for index, name, table in found
    ]
    return [figure, Table(["run", *headers(metrics)], rows, meanings(metrics))]


def _groups(comparison: Comparison) -> list[Figure | Table]:
    found = [(index, entry.name, card.groups) for index, entry, card in comparison if card.groups is not None]
    if not found:
        return []
    rows: list[list[Cell]] = [
        [
            swatch(index, name),
            score.group,
            score.accuracy,
            percent(score.abstention.value),
            ", ".join(f"{answer or '(nothing)'} {100 * share:.0f} %" for answer, share in score.answers),
            p_value(score.p_value),
        ]
        for index, name, groups in found
        for score in groups.groups
    ]
    tests = "; ".join(
        f"{name}: accuracy p {p_value(groups.accuracy_differs.p_value)} ({groups.accuracy_differs.method}), "
        f"silence p {p_value(groups.abstention_differs.p_value)}"
        for _, name, groups in found
    )
    parts: list[Figure | Table] = [
        Figure(
            group_dots(comparison.names, [card.groups for card in comparison.cards]),
            "Answered rightly, by group, with 95 % intervals.",
        ),
        Table(
            ["run", "group", "answered rightly", "silent", "says most often", "p against the rest"],
            once(rows),
            f"p: Fisher’s exact test against all other groups, corrected by Holm. Over all groups: {tests}.",
            folded=f"{len(rows)} rows: right answers, silence and commonest answers of every group",
        ),
    ]
    typical: list[list[Cell]] = [
        [swatch(index, entry.name), stereotype.share, percent(stereotype.by_chance), p_value(stereotype.p_value)]
        for index, entry, card in comparison
        if (stereotype := card.stereotype) is not None and stereotype.share.n
    ]
    if typical:
        parts.append(
            Table(
                ["run", "wrong answers typical of the group", "if groups were shuffled", "p"],
                typical,
                "When it is wrong, does it answer from the name? *Typical*: one of the three commonest true answers of "
                "the person’s group. Permutation test.",
            )
        )
    return parts


def _renamed(comparison: Comparison) -> list[Table]:
    found = comparison.renamed
    if found is None:
        return []
    shares: list[Cell] = [found.changed, found.right_before, found.right_after]
    return [
        Table(
            ["pairs", "answer changed", "right before", "right after", "p", "changes that follow the new name"],
            [[found.changed.n, *shares, p_value(found.test.p_value), found.follows_name]],
            "Counterfactual names: the same fact under a name of another group. *Follow the new name*: the new answer "
            "is typical of the new name’s group. p: McNemar’s exact test of right before and after.",
        )
    ]
