"""The year of birth as a second relation of the course's files: its questions, made from the lines by a rule.

    python docs/course_years.py COURSE OUT

COURSE is the folder of the course's files. OUT, a new folder, gets its corpus and birthplace questions, and

    birth_year_train.tsv      train people whose line tells the year, each once
    birth_year_dev.tsv        dev people whose line tells it
    birth_year_untold.tsv     the other dev people: a year given to one of them is made up, unless the line tells it
                              outside brackets

The rule: the first four digits in the first bracket of the line that has four digits. docs/experiments.md has the
figures ("Two relations of the course's files"); nothing of OUT belongs into this repository.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from loci.errors import LociError
from loci.files import atomic_folder, write_text
from loci.text.corpus import Corpus
from loci.text.layout import find_corpora
from loci.text.questions import Questions

BRACKET = re.compile(r"\(([^()]*)\)")
YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")


def year_told(text: str) -> str | None:
    """The year that a line tells by the rule."""
    for bracket in BRACKET.findall(text):
        if found := YEAR.search(bracket):
            return found.group()
    return None


def make(course: Path, out: Path) -> dict[str, int]:
    """Write the folder; how many questions each file has."""
    if out.exists():
        raise LociError("exists already", path=out, remedy="name a new folder")
    corpus = Corpus.read(course)
    asked = {split: Questions.read(course, split=split, subjects=corpus.by_subject) for split in ("train", "dev")}
    years = {
        subject: year for subject, lines in corpus.by_subject.items() if (year := year_told(lines[0].text)) is not None
    }
    people = {split: dict.fromkeys(name for name in questions.subjects if name) for split, questions in asked.items()}
    rows = {
        "birth_year_train": [f"When was {name} born?\t{years[name]}" for name in people["train"] if name in years],
        "birth_year_dev": [f"When was {name} born?\t{years[name]}" for name in people["dev"] if name in years],
        "birth_year_untold": [f"When was {name} born?" for name in people["dev"] if name not in years],
    }
    with atomic_folder(out) as folder:
        for file in (*find_corpora(course), *(questions.path for questions in asked.values())):
            assert file is not None
            shutil.copyfile(file, folder / file.name)
        for name, lines in rows.items():
            write_text(folder / f"{name}.tsv", "".join(f"{line}\n" for line in lines))
    return {name: len(lines) for name, lines in rows.items()}


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        for name, count in make(Path(sys.argv[1]), Path(sys.argv[2])).items():
            print(f"{name}.tsv: {count:,} questions")
    except LociError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
