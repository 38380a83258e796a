"""Compare runs, or any prediction files, on one HTML page: accuracy, calibration, errors, bias, evidence.

examples:
  loci report run --out report.html
  loci report vanilla rope theirs.jsonl --corpus world --out report.html
  loci report run --corpus wiki.txt --train birth_places_train.tsv --json
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from loci.errors import LociError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loci.evaluation.comparison.entries import Entry
    from loci.evaluation.metrics import Rate
    from loci.evaluation.scorecard import Scorecard


def report(
    runs: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="RUN ...")],
    /,
    *,
    out: Path = Path("report.html"),
    corpus: Path | None = None,
    train: Path | None = None,
    groups: Path | None = None,
    places: Path | None = None,
    pairs: Annotated[tuple[Path, Path] | None, tyro.conf.arg(metavar="PATH PATH")] = None,
    window: int | None = None,
    title: str | None = None,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Compare runs on one page.

    Args:
        runs: Run folders with predictions (loci evaluate writes them), or files of prediction rows (JSONL). A
            run's calibration and its model's own embedding of names are used where they are found.
        out: Where the page goes.
        corpus: The corpus, or the folder it lies in with its train questions, for evidence and the sources of
            errors (default: what each run says it was trained on).
        train: The train questions, for nearest names and popular places (default: as for the corpus).
        groups: Who belongs to which group: subject, tab, group on each line, or a world's people.jsonl (default: the
            one next to the corpus).
        places: Places that count as real in addition to the known answers, one a line (default: those of the world).
        pairs: Two prediction files, line by line the same facts under other names.
        window: How many characters of a line the model was ever shown, as a step of the error funnel.
        title: The page's title (default: What it knows, or What they know).
        seed: Seed of the resampling.
        json: Print all numbers as JSON and write no page.
    """
    import numpy as np

    from loci.cli.output import print_json, print_table
    from loci.evaluation.comparison.artifacts import Sources, load_entries
    from loci.evaluation.comparison.comparison import compare
    from loci.evaluation.rows import read_rows
    from loci.report.comparison.page import comparison_report
    from loci.report.comparison.wording import OUTCOMES, headers

    entries = load_entries(runs, Sources(corpus, train, groups, places, window))
    renamed = (read_rows(pairs[0]), read_rows(pairs[1])) if pairs is not None else None
    try:
        found = compare(entries, np.random.default_rng(seed), renamed=renamed)
    except LociError as error:
        path = pairs[1] if pairs is not None and error.line is not None else None
        raise LociError(error.message, path=path, line=error.line, remedy=error.remedy) from None
    if json:
        print_json(found.as_dict())
        return
    written = comparison_report(found, title=title, seed=seed).page().write(out)
    rows = [
        ("" if number else entry.name, *row)
        for _, entry, card in found
        for number, row in enumerate(_outcomes(entry, card))
    ]
    columns = ("run", "people, questions", *headers(OUTCOMES))
    print_table(["\n".join(column.rsplit(" ", 1)) for column in columns], rows)
    for remark in found.remarks:
        print(f"loci report: {remark}", file=sys.stderr)
    for entry in found.entries:
        if (calibration := entry.context.calibration) is not None:
            print(f"{entry.name}: with its calibration, fitted on {calibration.questions}")
    print(written)


def _outcomes(entry: Entry, card: Scorecard) -> Iterator[tuple[str | None, ...]]:
    """A row for each kind of people, and below it one for each relation where several were asked."""
    from loci.report.comparison.wording import OUTCOMES

    for split, own in card.people.items():
        told = [(f"{split}, n = {own.silent.n:,}\n{entry.files[split]}", own)]
        told += [(f"  {name}, n = {one.silent.n:,}", one) for name, one in card.relations.get(split, {}).items()]
        for name, one in told:
            yield name, *(_cell(getattr(one, outcome)) for outcome in OUTCOMES)


def _cell(rate: Rate) -> str | None:
    """The interval stands below its share: all columns fit a terminal."""
    return f"{100 * rate.value:.1f} %\n{100 * rate.low:.1f}–{100 * rate.high:.1f}" if rate.n else None
