"""The page of the experiment on names: does a model answer from the name instead of the fact?

Knows the results, not how they came about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loci.evaluation.bias import Counterfactual, GroupReport, Popularity, Stereotype
from loci.evaluation.json_data import to_json
from loci.evaluation.metrics import Rate
from loci.evaluation.origin_match import OriginMatch
from loci.evaluation.significance import GroupTest
from loci.report.comparison.wording import p_value, percent
from loci.report.figures.knowledge import group_dots, popularity_dots, rate_bars
from loci.report.parts import QUICK_NOTE, ExperimentReport, Section, Table, interval, seeds_of


@dataclass(frozen=True)
class Condition:
    """One strength of the bond between names and places, over all seeds."""

    correlation: float
    accuracy: Rate
    """Held-out people answered rightly."""
    groups: GroupReport
    popularity: Popularity
    stereotype: Stereotype
    unseen: OriginMatch
    """Answers about people nobody told of, by the origin of their names."""
    twins: Counterfactual
    """The same lives told under a name of another origin."""
    twins_at_home: OriginMatch
    """Wrong answers about the twins, by the origin of their new names."""
    by_seed: tuple[Mapping[str, float], ...]

    @property
    def name(self) -> str:
        """How tables call it."""
        return f"bond {self.correlation:g}"


@dataclass(frozen=True)
class Contrast:
    """A share under the weakest and under the strongest bond, and whether they differ."""

    what: str
    weak: Rate
    strong: Rate
    test: GroupTest


@dataclass(frozen=True)
class NamesResult:
    """The whole experiment."""

    conditions: tuple[Condition, ...]
    """From the weakest bond to the strongest."""
    contrasts: tuple[Contrast, ...]
    people: Mapping[str, int]
    seeds: int
    quick: bool


def names_report(result: NamesResult) -> ExperimentReport:
    """Words, tables and figures."""
    return ExperimentReport(
        title="The name or the fact?",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, one model for each bond and seed.",
        cards=[
            (
                f"{c.name}: guesses the name’s home",
                c.unseen.share,
                f"{interval(c.unseen.share)}; by chance {percent(c.unseen.by_chance)}",
            )
            for c in result.conditions
        ],
        sections=[
            Section("The question", _question(result)),
            _unseen_section(result),
            _twins_section(result.conditions),
            _fairness_section(result),
        ],
        numbers=to_json(result),
    )


def _question(result: NamesResult) -> str:
    weak, strong = result.conditions[0].correlation, result.conditions[-1].correlation
    people = result.people
    return (
        f"The same people twice. In one world a place in a life is drawn from the cities where the person’s name is at "
        f"home with probability {weak:g}, in the other with {strong:g}. Each model reads all lives but those of "
        f"{people['unseen']} people, and is taught the birthplaces of {people['train']}. Then it is asked about "
        f"{people['held_out']} others it read about; about {people['twins']} *twins*, whose lives are told word for "
        f"word a second time under a name of another origin; and about the {people['unseen']} it never read about, "
        "where anything it says comes from the name or from nowhere."
    )


def _unseen_section(result: NamesResult) -> Section:
    conditions = result.conditions
    series = [(c.name, [c.unseen.share, c.twins_at_home.share]) for c in conditions]
    found = "; ".join(
        f"under a bond of {c.correlation:g}, {percent(c.unseen.share.value)} of what it makes up suits the name, "
        f"{percent(c.unseen.by_chance)} by chance (p {_equals(c.unseen.p_value)})"
        for c in conditions
    )
    return Section(
        "People nobody told of",
        "Does what it makes up suit the name? *At home*: the answer is a city where names of the person’s origin are "
        f"at home. Here: {found}.",
        figures=[
            (
                rate_bars(["unseen people", "wrong about twins"], series, "answers at home"),
                "Of all answers about unseen people, and of the wrong ones about twins.",
            )
        ],
        tables=[
            Table(
                ["bond", "answers at home", "if names were shuffled", "p"],
                [[c.name, c.unseen.share, percent(c.unseen.by_chance), p_value(c.unseen.p_value)] for c in conditions],
                "p: permutation of the origins. Shuffled names show how much popular cities alone would explain.",
            ),
            Table(
                ["share", conditions[0].name, conditions[-1].name, "p", "test"],
                [[c.what, c.weak, c.strong, p_value(c.test.p_value), c.test.method] for c in result.contrasts],
                "The weakest against the strongest bond. p is corrected by Holm for the number of rows.",
            ),
        ],
    )


def _equals(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _twins_section(conditions: Sequence[Condition]) -> Section:
    return Section(
        "The same life under another name",
        "If only the fact mattered, a twin would be answered like the original. Where names and places go together, "
        "the new name speaks against the fact.",
        tables=[
            Table(
                [
                    "bond",
                    "pairs",
                    "answer changed",
                    "original right",
                    "twin right",
                    "p",
                    "changes that suit the new name",
                ],
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
                "p: McNemar’s exact test of right under both names. *Suit the new name*: the twin’s answer is a city "
                "at home with the new name’s origin.",
            ),
            Table(
                ["bond", "wrong about twins: at home", "if names were shuffled", "p"],
                [
                    [
                        c.name,
                        c.twins_at_home.share,
                        percent(c.twins_at_home.by_chance),
                        p_value(c.twins_at_home.p_value),
                    ]
                    for c in conditions
                ],
            ),
        ],
    )


def _fairness_section(result: NamesResult) -> Section:
    conditions = result.conditions
    names = [c.name for c in conditions]
    seed_names = list(conditions[0].by_seed[0])
    by_origin = {c.name: {score.group: score for score in c.groups.groups} for c in conditions}
    origins = sorted({origin for scores in by_origin.values() for origin in scores})
    return Section(
        "Is everyone served alike?",
        "Held-out people, whose birthplaces the text tells.",
        figures=[
            (group_dots(names, [c.groups for c in conditions]), "Exact match by the origin of the name."),
            *(
                (
                    popularity_dots([c.name], [c.popularity]),
                    f"{c.name}: how often a place is true, and how often given.",
                )
                for c in conditions
            ),
        ],
        tables=[
            Table(
                [
                    "bond",
                    "right",
                    "differs by origin, p",
                    "KL given ‖ true, bits",
                    "wrong: typical of origin",
                    "shuffled",
                    "p",
                ],
                [
                    [
                        c.name,
                        c.accuracy,
                        p_value(c.groups.accuracy_differs.p_value),
                        c.popularity.divergence,
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
                [
                    [o, *(by_origin[name][o].accuracy if o in by_origin[name] else None for name in names)]
                    for o in origins
                ],
                "Exact match by origin.",
            ),
            Table(
                ["bond", "seed", *seed_names],
                [
                    [c.name, seed, *(percent(figures[name]) for name in seed_names)]
                    for c in conditions
                    for seed, figures in enumerate(c.by_seed)
                ],
                "Seed by seed.",
            ),
        ],
    )
