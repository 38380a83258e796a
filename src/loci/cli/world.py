"""Write a synthetic world: invented people (or products), lines about them, questions, the whole truth.

examples:
  loci world --people 1000 --seed 0 --out world             birthplaces in the course's files
  loci world --people 5000 --paraphrases 5 --permute --unstated 0.1 --outside 0.05 --conllu --out world5
  loci world --relations birthplace birth_year employer:30 --train-questions 200 --unstated 0.2 --out three
  loci world --kind products --out products                 60 products, three lines each, two relations
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from loci.cli.output import print_json, print_table
from loci.errors import LociError
from loci.text.world import RelationSpec, WorldSpec, WorldSummary, example_products, write_world

PROGRESS_FROM = 5000  # people; below, the work is over before a bar is read


def world(
    *,
    out: Path,
    kind: Literal["people", "products"] = "people",
    people: int | None = None,
    seed: int = 0,
    relations: tuple[str, ...] = (),
    train_questions: int | None = None,
    wordings: int = 1,
    places: int = 300,
    skew: float = 1.0,
    origin_correlation: float = 0.7,
    paraphrases: int | None = None,
    permute: bool = False,
    spread: bool = False,
    full_names: bool = False,
    unstated: float = 0.0,
    outside: float = 0.0,
    multiword_places: bool = False,
    train_share: float | None = None,
    dev_share: float | None = None,
    conllu: bool = False,
    jsonl: bool = False,
    force: bool = False,
    json: bool = False,
) -> None:
    """Write a synthetic world.

    Args:
        out: The folder to write; it must be new or empty.
        kind: What the world is about.
        people: How many people or products exist, in the corpus or outside it (default: 1000, products: 60).
        seed: Which world; the same flags and seed give the same bytes on every machine.
        relations: What is asked for, each with files of its own: birthplace, birth_year, occupation, employer,
            death_place, study_place; of products made_in, designer. NAME:QUESTIONS and NAME:QUESTIONS:UNSTATED set
            the two numbers of one relation (default: birthplaces in the course's files).
        train_questions: Train questions of each relation (default: all train people whose lines tell it).
        wordings: In how many wordings a relation is asked for; of the three, one has the subject at its start, one in
            the middle, one at its end.
        places: How many cities exist, the most popular first.
        skew: Exponent of the Zipf law over places; 0 makes all equally likely.
        origin_correlation: Chance that a place in a life is a city of the origin of the person's name.
        paraphrases: Lines about each person, telling the same facts in other words (default: 1, products: 3).
        permute: Tell the facts of each line in an order of its own, not in the order of a life.
        spread: Spread the facts over the lines about a person, instead of telling all in each.
        full_names: Repeat the whole name instead of pronouns and surnames.
        unstated: Share of people whose lines never say where they were born; of each relation, if there are some.
        outside: Share of people about whom the corpus has no line.
        multiword_places: Admit places of several words, such as New York.
        train_share: Share of the people that can be asked about in the train questions (default: 0.68, products: 0.67).
        dev_share: Share of them in the dev questions; the rest are the test questions (default: 0.17, products: 0.33).
        conllu: Also write the gold parse of every sentence to wiki.conllu.
        jsonl: Also write the corpus and all questions as JSON lines, one object each, to the folder jsonl.
        force: Replace an older world in the folder.
        json: Print the summary as JSON.
    """
    base = WorldSpec() if kind == "people" else example_products()
    if relations or base.relations:
        named = relations or tuple(relation.name for relation in base.relations)
        asked = tuple(RelationSpec.parse(name, train_questions, unstated) for name in named)
    elif train_questions is not None:
        raise LociError("--train-questions needs --relations", remedy="such as --relations birthplace")
    else:
        asked = ()
    own = {"people": people, "paraphrases": paraphrases, "train_share": train_share, "dev_share": dev_share}
    chosen: dict[str, Any] = {knob: value for knob, value in own.items() if value is not None}
    spec = replace(
        base,
        **chosen,
        seed=seed,
        relations=asked,
        wordings=wordings,
        places=places,
        skew=skew,
        origin_correlation=origin_correlation,
        permute=permute or base.permute,
        spread=spread or base.spread,
        full_names=full_names,
        unstated=0.0 if asked else unstated,
        outside=outside,
        multiword_places=multiword_places,
    )
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(kind), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = json or spec.people < PROGRESS_FROM
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task(kind, total=spec.people)
        summary = write_world(
            spec, out, conllu=conllu, jsonl=jsonl, force=force, progress=lambda done: bar.update(task, completed=done)
        )
    files = summary.files
    if json:
        value = {
            "folder": summary.folder,
            "people": summary.spec.counts._asdict(),
            "files": {file.name: {"lines": file.lines, "bytes": file.bytes, "sha256": file.sha256} for file in files},
            "baselines": [baseline._asdict() for baseline in summary.baselines],
            "examples": summary.examples,
        }
        print_json(value)
    else:
        rows = [(file.name, file.lines, f"{file.bytes / 1000:,.1f}") for file in files]
        print_table(("file", "lines", "kB"), rows, title=str(summary.folder), right=True)
        print(*_sentences(summary), *summary.examples, sep="\n")


def _sentences(summary: WorldSummary) -> Iterator[str]:
    counts = summary.spec.counts._asdict()
    yield f"{summary.spec.kind}: " + ", ".join(f"{count:,} {part}" for part, count in counts.items() if count)
    for relation, answer, right, questions in summary.baselines:
        if questions:
            share = f"{right} of {questions} dev questions ({right / questions:.1%})"
            yield f"baseline of {relation}: always {answer} is right for {share}"
