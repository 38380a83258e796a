"""The page of the experiment on names: does a model answer from the name instead of the fact?

Knows the result, not how it came about.
"""

from __future__ import annotations

from collections.abc import Sequence

from loci.evaluation.json_data import to_json
from loci.experiments.names.result import Condition, NamesResult
from loci.report.comparison.errors import bias_section
from loci.report.comparison.wording import p_value, percent
from loci.report.figures.knowledge import rate_bars
from loci.report.page import Cell
from loci.report.parts import QUICK_NOTE, Figure, Report, Section, Table, by_seed, interval, seeds_of


def names_report(result: NamesResult) -> Report:
    """Words, tables and figures."""
    bias = bias_section(result.comparison)
    numbers = {name: value for name, value in vars(result).items() if name != "comparison"}
    return Report(
        title="The name or the fact?",
        subtitle=QUICK_NOTE if result.quick else f"{seeds_of(result.seeds)}, one model per correlation and seed.",
        cards=[
            (
                f"{c.name}: made-up answers that match the name",
                c.never_read.share,
                f"never read about: {interval(c.never_read.share)}\nby chance: {percent(c.never_read.by_chance)}",
            )
            for c in result.conditions
        ],
        sections=[
            Section("The question", [_question(result), _people(result)]),
            _never_read_section(result),
            _twins_section(result.conditions),
            *([bias] if bias is not None else []),
        ],
        numbers={**to_json(numbers), "comparison": result.comparison.as_dict()},
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


def _people(result: NamesResult) -> Table:
    return Table(
        ["world", "taught: right", "held-out: right", "never read about: answers"],
        [[c.name, c.taught, c.held_out, c.never_read.share.n] for c in result.conditions],
        f"The questions of {seeds_of(result.seeds)} together, with 95 % intervals.",
    )


def _never_read_section(result: NamesResult) -> Section:
    conditions = result.conditions
    series = [(c.name, [c.never_read.share, c.twins_match.share]) for c in conditions]
    bars = Figure(
        rate_bars(["never read about", "wrong about twins"], series, "answers that match the origin"),
        "Of all answers about people never read about, and of the wrong ones about twins.",
    )
    against_chance = Table(
        ["world", "people", "match the origin", "if names were shuffled", "p"],
        [
            [c.name, whom, found.share, percent(found.by_chance), p_value(found.p_value)]
            for c in conditions
            for whom, found in (("never read about", c.never_read), ("twins, wrong answers", c.twins_match))
        ],
        "p: permutation of the origins. Shuffled names show how much popular cities alone would explain.",
    )
    contrasts = Table(
        ["share", conditions[0].name, conditions[-1].name, "p", "test"],
        [[c.what, c.weak, c.strong, p_value(c.test.p_value), c.test.method] for c in result.contrasts],
        "The weakest against the strongest correlation. p is corrected by Holm for the number of rows.",
    )
    words = (
        "Does what it makes up match the name? An answer *matches the origin* if it is a city where names of the "
        "person’s origin come from."
    )
    return Section("People never read about", [words, bars, against_chance, contrasts])


def _twins_section(conditions: Sequence[Condition]) -> Section:
    headers = ["pairs", "answer changed", "original right", "twin right", "p", "changes that match the new name"]
    rows: list[list[Cell]] = [
        [
            *(c.name, c.twins.changed.n, c.twins.changed, c.twins.right_before, c.twins.right_after),
            *(p_value(c.twins.test.p_value), c.twins.follows_name),
        ]
        for c in conditions
    ]
    words = (
        "If only the fact mattered, a twin would be answered like the original. Where names and places go together, "
        "the new name speaks against the fact."
    )
    table = Table(["world", *headers], rows, "Held-out people. p: McNemar’s exact test of right under both names.")
    seeds = by_seed("world", [(c.name, c.by_seed) for c in conditions])
    return Section("The same life under another name", [words, table, seeds])
