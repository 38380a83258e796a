"""What README.md and docs say about kept rows is what the rows give."""

import importlib.util
import json
from pathlib import Path

import pytest

from loci.evaluation.rows import HELD_OUT, NEVER_READ, Row, write_rows

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("headline", ROOT / "docs" / "headline.py")
headline = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(headline)

KEPT = sorted(file.name.removesuffix(".jsonl.gz") for file in headline.DATA.glob("*.jsonl.gz"))


@pytest.mark.parametrize("name", KEPT)
def test_every_line_that_links_to_kept_rows_states_their_figure(name):
    """One of the percentages of the line is the share of right answers about some kind of people, over all seeds."""
    true = {f"{100 * rate.value:.1f}" for rate, _ in headline.figures(name).values()}
    lines = [(document, said) for document, other, said in headline.stated() if other == name]
    for document, said in lines:
        assert said & true, f"{document}: {sorted(said)} for {name}, whose rows give {sorted(true)}"


def test_links_lead_to_rows():
    assert {name for _, name, _ in headline.stated()} <= set(KEPT)


def test_rows_are_kept_without_their_texts_and_give_their_figures_again(tmp_path, monkeypatch):
    monkeypatch.setattr(headline, "DATA", tmp_path / "data")
    rows = [
        Row("Where was Ada Moss born?", "Oslo", ("Oslo",), split=HELD_OUT, probability=0.91234),
        Row("Where was Bo Lee born?", "Rome", ("Lima",), split=HELD_OUT, probability=0.4),
        Row("Where was Cy Dow born?", "Rome", split=NEVER_READ, abstained=True),
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    files = {0: [tmp_path / "rows.jsonl"], 1: [tmp_path / "rows.jsonl"]}
    first = headline.keep("made", files).read_bytes()
    assert headline.keep("made", files).read_bytes() == first
    text = headline.gzip.decompress(first).decode()
    assert not any(word in text for word in ("Ada", "Oslo", "Rome", "Where"))
    assert json.loads(text.splitlines()[0])["probability"] == 0.9123
    held_out, each = headline.figures("made")[HELD_OUT]
    assert (held_out.successes, held_out.n, [rate.value for rate in each]) == (2, 4, [0.5, 0.5])
