import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.evaluation.rows import HELD_OUT, TAUGHT, Row, read_rows, row_from_json, with_splits, write_rows
from loci.text.taught import Taught, subject_hash

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
shares = st.floats(0, 1)
rows = st.builds(
    Row,
    question=texts,
    prediction=texts,
    answers=st.lists(texts, max_size=3).map(tuple),
    subject=st.none() | texts,
    probability=st.none() | shares,
    alternatives=st.lists(st.tuples(texts, shares), max_size=3).map(tuple),
    abstained=st.booleans(),
    silence=st.none() | texts,
    reasons=st.lists(st.tuples(texts, shares), max_size=3).map(tuple),
    group=st.none() | texts,
    split=st.none() | texts,
    model=st.none() | texts,
    data=st.none() | texts,
)


@given(st.lists(rows, min_size=1, max_size=5))
def test_rows_come_back_as_they_went(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("rows") / "p.jsonl"
    write_rows(path, written)
    assert read_rows(path) == written


def test_correct():
    assert Row("q", "a", answers=("b", "a")).correct is True
    assert Row("q", "A", answers=("a",)).correct is False
    assert Row("q", "a").correct is None


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), float("inf")])
def test_probability_outside_the_unit_interval(p):
    with pytest.raises(LociError, match="not between 0 and 1"):
        Row("q", "a", probability=p)
    with pytest.raises(LociError, match="not between 0 and 1"):
        Row("q", "a", alternatives=(("b", p),))
    with pytest.raises(LociError, match="not between 0 and 1"):
        Row("q", "a", reasons=(("unsure", p),))


GOOD = {"question": "q", "prediction": "a"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": None}, "'question' is a text, not null"),
        ({"prediction": 3}, "'prediction' is a text, not 3"),
        ({"answers": "Oslo"}, "'answers' is a list of texts"),
        ({"answers": [1]}, "'answers' is a list of texts"),
        ({"probability": "0.5"}, "'probability' is a number"),
        ({"probability": True}, "'probability' is a number"),
        ({"probability": 1.5}, "1.5 is not between 0 and 1"),
        ({"alternatives": [["a"]]}, "'alternatives' is a list of"),
        ({"alternatives": [["a", 2]]}, "2 is not between 0 and 1"),
        ({"reasons": {"unsure": 1}}, "'reasons' is a list of"),
        ({"abstained": 1}, "'abstained' is true or false"),
        ({"split": 1}, "'split' is a text or null"),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path, changes, message):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(GOOD) + "\n\n" + json.dumps(GOOD | changes) + "\n", encoding="utf-8")
    with pytest.raises(LociError, match=message) as caught:
        read_rows(path)
    assert (caught.value.path, caught.value.line) == (path, 3)


def test_missing_field_and_other_trouble(tmp_path):
    path = tmp_path / "p.jsonl"
    for text, message in (
        ('{"question": "q"}', "'prediction' is missing"),
        ("[1]", "is a JSON object"),
        ('{"question": ', "not valid JSON"),
        ("\n", "no prediction rows"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(LociError, match=message):
            read_rows(path)
    with pytest.raises(LociError, match="no such file"):
        read_rows(tmp_path / "absent.jsonl")


def test_fields_of_other_systems_are_passed_over():
    assert row_from_json('{"question": "q", "prediction": "a", "beam": 3}') == Row("q", "a")


def test_rows_of_an_earlier_version_are_read_as_they_were():
    """They tell where the model itself was silent, but nothing of its threshold, and no probabilities of reasons."""
    old = '{"question": "q", "prediction": "a", "probability": 0.1, "abstained": false, "silence": null}'
    assert row_from_json(old) == Row("q", "a", probability=0.1)
    assert not row_from_json(old).silent
    assert row_from_json(old.replace("false", "true")).silent
    withheld = Row("q", "a", silence="unsure", reasons=(("never read about", 0.2), ("unsure", 0.7)))
    assert (withheld.silent, withheld.abstained) == (True, False)


def test_rows_as_parquet(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not here: pip install 'loci-lab[parquet]'")
    rows = [
        Row("q?", "Oslo", answers=("Oslo", "Kristiania"), probability=0.5, alternatives=(("Cork", 0.25),)),
        Row("r?", "", abstained=True, silence="unsure", reasons=(("unsure", 0.9),), split="held-out"),
    ]
    write_rows(tmp_path / "rows.parquet", rows)
    assert read_rows(tmp_path / "rows.parquet") == rows
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(LociError, match="cannot be read as Parquet"):
        read_rows(tmp_path / "bad.parquet")


def test_a_rows_own_split_stays_and_train_questions_of_another_training_are_held_out():
    taught = Taught(frozenset({subject_hash("Ann")}))
    asked = [Row("q", "a", subject=name, split=split) for name in ("Ann", "Bo") for split in (None, HELD_OUT, TAUGHT)]
    splits = [row.split for row in with_splits(asked, "told", taught)]
    assert splits == [TAUGHT, HELD_OUT, TAUGHT, "told", HELD_OUT, HELD_OUT]
