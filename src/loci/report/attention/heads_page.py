"""The page about heads as parsers."""

from __future__ import annotations

from collections.abc import Sequence

from loci.attention_lab.head_reading import HeadsReport, Readable
from loci.attention_lab.heads import ALL, DIRECTIONS, Direction, RelationScore
from loci.evaluation.metrics import Rate, wilson
from loci.report.figures.attention import relation_figure
from loci.report.page import Page

TITLES: dict[Direction, str] = {
    "either": "Any arc: the later word looks at the earlier",
    "dependent": "A word looks back at its head",
    "head": "A head looks back at its dependent",
}


def heads_page(
    name: str, treebank: str, sentences: Readable, report: HeadsReport, twins: Sequence[HeadsReport]
) -> Page:
    """Relations and trees of one model, next to fixed distances and untrained models."""
    page = Page(f"Heads as parsers: {name}", f"Where its attention heads look, against the parses of {treebank}.")
    trees = report.trees
    page.add_cards(
        [
            ("arcs found, best head", _score(report, ALL, "either").rate, "of all arcs, the later word looking"),
            ("best fixed distance", _score(report, ALL, "either").baseline, "same arcs"),
            (
                "best undirected tree",
                trees.undirected,
                f"one head's attention; chain {100 * trees.chain_undirected.value:.1f} %",
            ),
            (
                "best directed tree",
                trees.directed,
                f"two heads, root given; chain {100 * trees.chain_directed.value:.1f} %",
            ),
        ]
    )
    page.add_text(
        f"{len(sentences.parses):,} sentences were read; {sentences.unknown:,} contain characters the model does not "
        f"know and {sentences.too_long:,} are longer than its block. "
        + (f"{sentences.masked:,} unknown characters were replaced by the mask symbol. " if sentences.masked else "")
        + "A causal model sees only what came before, so of an arc's two words the later looks at the earlier. "
        "Attention between words is summed over the characters of the word attended to and averaged over those of "
        "the word attending. Heads and distances are chosen on one half of the sentences and scored on the other, so "
        f"that the best of many does not win by luck. Untrained: {len(twins)} models of the same shape, pooled."
    )
    chance = pooled_rates(twins)
    for direction in ("either", "dependent", "head"):
        rows = [score for score in report.relations if score.direction == direction]
        page.add_section(TITLES[direction])
        page.add_figure(
            relation_figure(rows, chance, direction), "Share of arcs found; in brackets how many there are. Bars: 95 %."
        )
        page.add_table(
            ["relation", "arcs", "best head", "layer.head", "best distance", "words back", "untrained"],
            [
                (
                    score.relation,
                    score.rate.n,
                    score.rate,
                    f"{score.head[0] + 1}.{score.head[1] + 1}",
                    score.baseline,
                    score.distance,
                    chance[score.relation, direction],
                )
                for score in rows
            ],
        )
    page.add_section(
        "Whole trees",
        "Undirected: the maximum spanning tree of one head's attention between words. Directed: the best tree (Chu, "
        "Liu and Edmonds) over two heads, the one that best looks at heads and the one that best looks at "
        "dependents; the root is given, since attention has no column for it. The chain attaches every word to its "
        "neighbour.",
    )
    page.add_table(
        ["", "undirected", "directed"],
        [
            ("this model", trees.undirected, trees.directed),
            *((f"untrained {i + 1}", twin.trees.undirected, twin.trees.directed) for i, twin in enumerate(twins)),
            ("chain", trees.chain_undirected, trees.chain_directed),
        ],
    )
    return page


def pooled_rates(reports: Sequence[HeadsReport]) -> dict[tuple[str, str], Rate]:
    """The rate of every relation and direction over all reports together.

    They are about the same arcs, so the interval is as wide as that of one report.
    """
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for report in reports:
        for score in report.relations:
            found, n = counts.get((score.relation, score.direction), (0, 0))
            counts[score.relation, score.direction] = (found + score.rate.successes, n + score.rate.n)
    return {key: wilson(found, n, independent=n / len(reports)) for key, (found, n) in counts.items()}


def _score(report: HeadsReport, relation: str, direction: Direction) -> RelationScore:
    assert direction in DIRECTIONS
    return next(row for row in report.relations if (row.relation, row.direction) == (relation, direction))
