"""Do a run's attention heads follow the syntax of a treebank, better than a fixed distance does?

examples:
  loci heads run --conllu treebank.conllu --limit 300
  loci heads run --conllu world/wiki.conllu --out heads.html
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from loci.cli.output import print_json, print_table
from loci.errors import LociError


def heads(
    run: Path,
    /,
    *,
    conllu: Path,
    limit: int = 500,
    unknown: Literal["skip", "mask"] = "skip",
    least: int = 30,
    seeds: int = 3,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Score every head as a parser.

    Args:
        run: The run whose heads are looked at.
        conllu: Parsed sentences in CoNLL-U.
        limit: How many sentences at most; 0 reads all.
        unknown: Sentences with characters the model does not know: skip them, or mask those characters.
        least: Relations with fewer arcs are left out.
        seeds: How many untrained models of the same shape to compare with.
        out: Where the page goes (default: none).
        json: Print JSON instead of a table.
    """
    from loci.attention_lab.head_reading import parse_with_heads, random_model, readable
    from loci.attention_lab.parses import read_conllu
    from loci.report.attention.lab_page import heads_page, pooled_rates
    from loci.training.checkpoint import load_model

    bank = read_conllu(conllu, limit=limit or None)
    loaded = load_model(run)
    sentences = readable(bank.parses, loaded.vocab, loaded.model.config.block_size, unknown)
    report = parse_with_heads(loaded.model, loaded.vocab, sentences, least=least)
    if not report.relations:
        raise LociError(f"no relation has {least} arcs in the sentences read", remedy="lower --least or raise --limit")
    twins = [
        parse_with_heads(random_model(loaded.model, seed), loaded.vocab, sentences, least=least)
        for seed in range(seeds)
    ]
    if out is not None:
        written = heads_page(run.name, conllu.name, sentences, report, twins).write(out)
    chance = pooled_rates(twins)
    if json:
        counts = {"read": len(sentences.parses), "unknown": sentences.unknown, "too_long": sentences.too_long}
        relations = [{**vars(one), "untrained": chance[one.relation, one.direction]} for one in report.relations]
        result = {
            "sentences": {**counts, "masked_characters": sentences.masked, "respelt": bank.respelt},
            "relations": relations,
            "trees": report.trees,
            "untrained_trees": [twin.trees for twin in twins],
            "page": out,
        }
        print_json(result)
        return
    names = ("relation", "direction", "arcs", "best head, %", "layer.head", "best distance, %", "back", "untrained, %")
    rows = []
    for one in report.relations:
        untrained = chance[one.relation, one.direction]
        best, distance, random = (round(100 * rate.value, 1) for rate in (one.rate, one.baseline, untrained))
        head = f"{one.head[0] + 1}.{one.head[1] + 1}"
        rows.append((one.relation, one.direction, one.rate.n, best, head, distance, one.distance, random))
    print_table(names, rows)
    trees = report.trees
    print(f"\nundirected tree {trees.undirected}; chain {100 * trees.chain_undirected.value:.1f} %")
    print(f"directed tree, root given {trees.directed}; chain {100 * trees.chain_directed.value:.1f} %")
    print(
        f"{len(sentences.parses)} sentences read; left out: {sentences.unknown} with unknown characters, "
        f"{sentences.too_long} too long, {bank.respelt} with words spelt differently from their text"
        + (f"; {sentences.masked} characters masked" if sentences.masked else "")
    )
    print(
        "dependent: a word looks back at its head; head: a head at its dependent; either: any arc, the later word looks"
    )
    if out is not None:
        print(written)
