"""Write a synthetic world in the course's layout: invented people, lines about them, questions, the whole truth.

examples:
  loci world --people 1000 --seed 0 --out world
  loci world --people 5000 --paraphrases 5 --permute --unstated 0.1 --outside 0.05 --conllu --out world5
"""

from __future__ import annotations

from pathlib import Path

from loci.text.world import WorldSpec, WorldSummary, write_world
from loci.text.world.spec import COURSE_DEV, COURSE_TRAIN

PROGRESS_FROM = 5000  # people; below, the work is over before a bar is read


def world(
    *,
    out: Path,
    people: int = 1000,
    seed: int = 0,
    places: int = 300,
    skew: float = 1.0,
    origin_correlation: float = 0.7,
    paraphrases: int = 1,
    permute: bool = False,
    full_names: bool = False,
    unstated: float = 0.0,
    outside: float = 0.0,
    multiword_places: bool = False,
    train_share: float = COURSE_TRAIN,
    dev_share: float = COURSE_DEV,
    conllu: bool = False,
    force: bool = False,
    json: bool = False,
) -> None:
    """Write a synthetic world.

    Args:
        out: The folder to write; it must be new or empty.
        people: How many people exist, in the corpus or outside it.
        seed: Which world; the same flags and seed give the same bytes on every machine.
        places: How many cities exist, the most popular first.
        skew: Exponent of the Zipf law over places; 0 makes all equally likely.
        origin_correlation: Chance that a place in a life lies where the person's name is at home.
        paraphrases: Lines about each person, telling the same facts in other words.
        permute: Tell the facts of each line in an order of its own, not in the order of a life.
        full_names: Repeat the whole name instead of pronouns and surnames.
        unstated: Share of people whose lines never say where they were born.
        outside: Share of people about whom the corpus has no line.
        multiword_places: Admit places of several words, such as New York.
        train_share: Share of the people with a stated birthplace in the train questions.
        dev_share: Share of them in the dev questions; the rest are the test questions.
        conllu: Also write the gold parse of every sentence to wiki.conllu.
        force: Replace an older world in the folder.
        json: Print the summary as JSON.
    """
    spec = WorldSpec(
        people=people,
        seed=seed,
        places=places,
        skew=skew,
        origin_correlation=origin_correlation,
        paraphrases=paraphrases,
        permute=permute,
        full_names=full_names,
        unstated=unstated,
        outside=outside,
        multiword_places=multiword_places,
        train_share=train_share,
        dev_share=dev_share,
    )
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("people"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = json or people < PROGRESS_FROM
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task("people", total=people)
        summary = write_world(
            spec, out, conllu=conllu, force=force, progress=lambda done: bar.update(task, completed=done)
        )
    if json:
        _print_json(summary)
    else:
        _print_table(summary)


def _print_json(summary: WorldSummary) -> None:
    from json import dumps

    value = {
        "folder": str(summary.folder),
        "people": summary.spec.counts._asdict(),
        "files": {
            file.name: {"lines": file.lines, "bytes": file.bytes, "sha256": file.sha256} for file in summary.files
        },
        "baseline": {
            "place": summary.commonest_place,
            "right": summary.commonest_right,
            "questions": summary.dev_questions,
        },
        "examples": list(summary.examples),
    }
    print(dumps(value, indent=2, ensure_ascii=False))


def _print_table(summary: WorldSummary) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    table = Table("file", "lines", "kB", title=escape(str(summary.folder)), title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for file in summary.files:
        table.add_row(escape(file.name), f"{file.lines:,}", f"{file.bytes / 1000:,.1f}")
    console.print(table)
    counts = ", ".join(f"{count:,} {part}" for part, count in summary.spec.counts._asdict().items() if count)
    console.print(f"people: {counts}")
    if summary.dev_questions:
        share = summary.commonest_right / summary.dev_questions
        console.print(
            f"baseline: always {escape(summary.commonest_place)} is right for "
            f"{summary.commonest_right} of {summary.dev_questions} dev questions ({share:.1%})"
        )
    for line in summary.examples:
        console.print(escape(line), style="dim", highlight=False)
