"""Carry out one of the written exercises on attention: print the result and write a page with its figures.

examples:
  loci lab                                                    what there is
  loci lab noisy-keys                                         writes lab/noisy-keys.html
  loci lab solve --inputs "d+b, a, c+b" --outputs "2=b, 1=b-c"
  loci lab parse --conllu treebank.conllu --sentence 3
  loci lab folding --run run --questions world/birth_dev.tsv  spectra of a run's heads, and recall at lower ranks
"""

from __future__ import annotations

from pathlib import Path

from loci.cli.output import print_json, print_table
from loci.errors import LociError


def lab(
    name: str | None = None,
    /,
    *,
    out: Path | None = None,
    seed: int = 0,
    inputs: str | None = None,
    outputs: str | None = None,
    conllu: Path | None = None,
    sentence: int = 1,
    run: Path | None = None,
    questions: Path | None = None,
    train: bool = False,
    json: bool = False,
) -> None:
    """Carry out an exercise.

    Args:
        name: Which one; without it they are listed.
        out: Folder for the page NAME.html with the figures (default: lab; none with --json).
        seed: Where chance starts.
        inputs: For solve: the inputs as sums of symbols, with commas between.
        outputs: For solve: the outputs wanted, as position=sum.
        conllu: For parse: a CoNLL-U file instead of the exercise's sentence.
        sentence: For parse: which sentence of the file, from 1.
        run: For folding: a trained run whose heads are looked at.
        questions: For folding with a run: questions that are asked again at lower ranks.
        train: For temperature: also train short runs, three seeds each.
        json: Print JSON instead of a table.
    """
    from loci.attention_lab.catalogue import EXERCISES
    from loci.attention_lab.exercises.result import LabSettings

    if name is None:
        rows = [(key, exercise.statement) for key, exercise in EXERCISES.items()]
        if json:
            print_json([{"name": key, "statement": line} for key, line in rows])
        else:
            print_table(("exercise", "statement"), rows)
            print("loci lab NAME carries one out and writes its figures to lab/NAME.html")
        return
    for flag, value, owner in (
        ("--inputs", inputs, "solve"),
        ("--outputs", outputs, "solve"),
        ("--conllu", conllu, "parse"),
        ("--run", run, "folding"),
        ("--questions", questions, "folding"),
        ("--train", train or None, "temperature"),
    ):
        if value is not None and name != owner:
            raise LociError(f"{flag} belongs to loci lab {owner}", remedy=f"leave it out for {name}")
    if questions is not None and run is None:
        raise LociError("--questions are asked of a run", remedy="give --run RUN")
    exercise = EXERCISES[name]
    result = exercise.run(LabSettings(seed, inputs, outputs, conllu, sentence, run, questions, train))
    if out is None and not json:  # a person gets the figure, a script only what it asks for
        out = Path("lab")
    page = out / f"{name}.html" if out is not None else None
    if page is not None:
        from loci.report.attention.lab_page import lab_page

        written = lab_page(name, exercise, result).write(page)
    if json:
        print_json({"name": name, **exercise.to_dict(), **vars(result), "page": page})
        return
    print(f"{name}: {exercise.statement}\n")
    if result.rows:
        print_table(result.columns, result.rows)
    print(*result.findings, sep="\n")
    if page is not None:
        print(written)
