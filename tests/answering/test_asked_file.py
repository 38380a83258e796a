"""Questions that are only asked may hold what no question that teaches may."""

import json

import pytest

from loci.answering.asked_file import read_asked
from loci.errors import LociError
from loci.text.questions import Questions

ALAN = "Where was Alan born?"
ODD = "Where was A⁇a born?"
RECORDS = [{"question": ODD, "answer": "London"}, {"question": ALAN, "answer": "Paris"}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.tsv", f"{ODD}\tLondon\n{ALAN}\tParis\n"),
        ("q.tsv", f"question\tanswer\n{ODD}\tLondon\n{ALAN}\tParis\n"),
        ("q.jsonl", "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in RECORDS)),
        ("q.json", json.dumps(RECORDS)),  # as an escape
    ],
)
def test_what_is_only_asked_may_hold_the_models_own_symbols(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    asked = read_asked(file)
    assert [(row.text, row.answers) for row in asked] == [(ODD, ("London",)), (ALAN, ("Paris",))]
    assert asked.subjects == ("A⁇a", "Alan")
    assert [found.kind for found in asked.findings].count("special-symbol") == 1, "said, so that no mapped copy is kept"
    if "⁇" in text:
        with pytest.raises(LociError, match="contains ⁇"):
            Questions.read(file)
        file.write_text(text.replace("Paris", "Pari□"), encoding="utf-8")
        with pytest.raises(LociError, match="contains"):
            read_asked(file)
