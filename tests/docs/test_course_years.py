import runpy
from pathlib import Path

import pytest

from loci.errors import LociError

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "course_years.py"))


@pytest.mark.parametrize(
    ("line", "year"),
    [
        ("Ada Moss. Ada Moss (born 3 May 1901 – 1980) was a painter born in Oslo .", "1901"),
        ("Ada Moss. Ada Moss (Norwegian: Åda) was a painter (1901–1980) .", "1901"),
        ("Ada Moss. Ada Moss was born in 1901 in Oslo .", None),
        ("Ada Moss. Ada Moss (no. 190133) was born in Oslo .", None),
    ],
)
def test_the_rule_takes_the_first_four_digits_of_the_first_bracket_that_has_some(line, year):
    assert SCRIPT["year_told"](line) == year


def test_the_questions_are_made_and_nothing_is_overwritten(tmp_path):
    course, out = tmp_path / "course", tmp_path / "years"
    course.mkdir()
    (course / "wiki.txt").write_text(
        "Ada Moss. Ada Moss (1901–1980) was born in Oslo .\nBo Lind. Bo Lind was born in Rome .\n"
        "Cy Berg. Cy Berg (born 1950) was born in Lund .\n"
    )
    (course / "birth_places_train.tsv").write_text("Where was Ada Moss born?\tOslo\nWhere was Ada Moss born?\tOslo\n")
    (course / "birth_dev.tsv").write_text("Where was Bo Lind born?\tRome\nWhere was Cy Berg born?\tLund\n")
    counts = SCRIPT["make"](course, out)
    assert counts == {"birth_year_train": 1, "birth_year_dev": 1, "birth_year_untold": 1}
    assert (out / "birth_year_dev.tsv").read_text() == "When was Cy Berg born?\t1950\n"
    assert (out / "wiki.txt").read_text() == (course / "wiki.txt").read_text()
    with pytest.raises(LociError, match="exists already"):
        SCRIPT["make"](course, out)
