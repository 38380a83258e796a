"""The page of the experiment on names: does a model answer from the name instead of the fact?

Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Sequence

from loci.evaluation.json_data import to_json
from loci.experiments.names.result import Condition, NamesResult
from loci.report.comparison.wording import p_value, percent
from loci.report.figures.knowledge import group_dots, popularity_dots, rate_bars
from loci.report.parts import QUICK_NOTE, ExperimentReport, Section, Table, by_seed, interval, seeds_of


def names_report(result: NamesResult) -> ExperimentReport:
    """Words, tables and figures."""
    return ExperimentReport(
        title="The name or the fact?",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, one model per correlation and seed.",
        cards=[
            (
                f"{c.name}: made-up answers that match the name",
                c.never_read.share,
                f"people never read about: {interval(c.never_read.share)}; by chance {percent(c.never_read.by_chance)}",
            )
            for c in result.conditions
        ],
        sections=[
            Section("The question", _question(result)),
            _never_read_section(result),
            _twins_section(result.conditions),
            _fairness_section(result),
        ],
        numbers=to_json(result),
    )


def _question(result: NamesResult) -> str:
    weak, strong = result.conditions[0].correlation, result.conditions[-1].correlation
    people = result.people
    return (
        "The same people twice. In one world a place in a life is drawn from the cities where the person’s name comes "
        f"from with probability {weak:g}, in the other with {strong:g}. Each model reads all lives but those of "
        f"{people['never_read']} people, and is taught the birthplaces of {people['train']}. Then it is asked about "
        f"{people['held_out']} others it read about; about {people['twins']} *twins*, whose lives are told word for "
        f"word a second time under a name of another origin; and about the {people['never_read']} it never read about, "
        "where anything it says comes from the name or from nowhere."
    )


def _never_read_section(result: NamesResult) -> Section:
    conditions = result.conditions
    series = [(c.name, [c.never_read.share, c.twins_match.share]) for c in conditions]
    found = "; ".join(
        f"with {c.name}, {percent(c.never_read.share.value)} of what it makes up match the name, "
        f"{percent(c.never_read.by_chance)} by chance (p {_equals(c.never_read.p_value)})"
        for c in conditions
    )
    return Section(
        "People never read about",
        "Does what it makes up match the name? An answer *matches the origin* if it is a city where names of the "
        f"person’s origin come from. Here: {found}.",
        figures=[
            (
                rate_bars(["never read about", "wrong about twins"], series, "answers that match the origin"),
                "Of all answers about people never read about, and of the wrong ones about twins.",
            )
        ],
        tables=[
            Table(
                ["world", "match the origin", "if names were shuffled", "p"],
                [
                    [c.name, c.never_read.share, percent(c.never_read.by_chance), p_value(c.never_read.p_value)]
                    for c in conditions
                ],
                "p: permutation of the origins. Shuffled names show how much popular cities alone would explain.",
            ),
            Table(
                ["share", conditions[0].name, conditions[-1].name, "p", "test"],
                [[c.what, c.weak, c.strong, p_value(c.test.p_value), c.test.method] for c in result.contrasts],
                "The weakest against the strongest correlation. p is corrected by Holm for the number of rows.",
            ),
        ],
    )


def _equals(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _twins_section(conditions: Sequence[Condition]) -> Section:
    headers = ["pairs", "answer changed", "original right", "twin right", "p", "changes that match the new name"]
    return Section(
        "The same life under another name",
        "If only the fact mattered, a twin would be answered like the original. Where names and places go together, "
        "the new name speaks against the fact.",
        tables=[
            Table(
                ["world", *headers],
                [
                    [
                        c.name,
                        c.twins.changed.n,
                        c.twins.changed,
                        c.twins.right_before,
                        c.twins.right_after,
                        p_value(c.twins.test.p_value),
                        c.twins.follows_name,
                    ]
                    for c in conditions
                ],
                "Held-out people. p: McNemar’s exact test of right under both names.",
            ),
            Table(
                ["world", "wrong about twins: match the origin", "if names were shuffled", "p"],
                [
                    [c.name, c.twins_match.share, percent(c.twins_match.by_chance), p_value(c.twins_match.p_value)]
                    for c in conditions
                ],
            ),
        ],
    )


def _fairness_section(result: NamesResult) -> Section:
    conditions = result.conditions
    names = [c.name for c in conditions]
    by_origin = {c.name: {score.group: score.accuracy for score in c.groups.groups} for c in conditions}
    origins = sorted({origin for scores in by_origin.values() for origin in scores})
    headers = ["taught: right", "held-out: right", "differs by origin, p", "KL given ‖ true, bits"]
    return Section(
        "Is everyone served alike?",
        "Held-out people, whose birthplaces the text tells; people of the train questions in a column of their own.",
        figures=[
            (group_dots(names, [c.groups for c in conditions]), "Exact match by the origin of the name."),
            *(
                (
                    popularity_dots([c.name], [c.popularity]),
                    f"{c.name}: how often a place is true, and how often it is given.",
                )
                for c in conditions
                if c.popularity is not None
            ),
        ],
        tables=[
            Table(
                ["world", *headers, "wrong: typical of origin", "shuffled", "p"],
                [
                    [
                        c.name,
                        c.taught,
                        c.accuracy,
                        p_value(c.groups.accuracy_differs.p_value),
                        c.popularity.divergence if c.popularity is not None else None,
                        c.stereotype.typical,
                        percent(c.stereotype.by_chance),
                        p_value(c.stereotype.p_value),
                    ]
                    for c in conditions
                ],
                f"The questions of {seeds_of(result.seeds)} together, with 95 % Wilson intervals. *Typical*: one of "
                "the three commonest true birthplaces of the origin.",
            ),
            Table(
                ["origin", *names],
                [[origin, *(by_origin[name].get(origin) for name in names)] for origin in origins],
                "Exact match by origin.",
            ),
            by_seed("world", [(c.name, c.by_seed) for c in conditions]),
        ],
    )
