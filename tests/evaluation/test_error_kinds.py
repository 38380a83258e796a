import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.evaluation.error_kinds import (
    ErrorClassifier,
    ErrorKind,
    fabrication_rate,
    kinds_by_split,
    nearest_by_spelling,
    nearest_by_vector,
    nearest_name_by_chance,
)
from loci.evaluation.rows import Row
from loci.text.corpus import Corpus

KNOWN = {"Ann Lee": "Oslo", "Bob Ray": "Rome", "Cid Fox": "Rome", "Dan Poe": "Bern", "Eve Kay": "Lyon"}
CORPUS = Corpus.from_lines(["Ann Leo. Ann Leo was born in Cork and died in Lyon ."])


def asked(subject, prediction, answer="Cork", **more):
    answers = (answer,) if answer else ()
    return Row(f"Where was {subject} born?", prediction, answers=answers, subject=subject, **more)


def kinds(rows, **more):
    return [one.kind for one in ErrorClassifier(KNOWN, **more).classify(rows)]


def test_every_kind():
    rows = [
        asked("Ann Leo", "Cork"),
        asked("Ann Leo", "Rome", abstained=True),
        asked("Ann Leo", "Lyon"),
        asked("Ann Leo", "Oslo"),
        asked("Ann Leo", "Rome"),
        asked("Ann Leo", "Bern"),
        asked("Ann Leo", "banana"),
        asked("Ann Leo", ""),
    ]
    assert kinds(rows, corpus=CORPUS, popular=1) == [
        ErrorKind.RIGHT,
        ErrorKind.WITHHELD,
        ErrorKind.SAME_LINE,
        ErrorKind.NEAREST_SPELLING,
        ErrorKind.POPULAR,
        ErrorKind.UNLINKED,
        ErrorKind.NOT_A_PLACE,
        ErrorKind.NOT_A_PLACE,
    ]


def test_a_place_that_nobody_is_known_to_come_from_is_a_place_all_the_same():
    studied = Corpus.from_lines(["Ann Leo. Ann Leo of Cork went to school in Kiel ."])
    rows = [asked("Ann Leo", "Kiel"), asked("Ann Leo", "Graz"), asked("Ann Leo", "school")]
    assert kinds(rows, corpus=studied) == [ErrorKind.NOT_A_PLACE] * 3
    found = kinds(rows, corpus=studied, places={"Kiel", "Graz"})
    assert found == [ErrorKind.SAME_LINE, ErrorKind.UNLINKED, ErrorKind.NOT_A_PLACE]


def test_the_neighbour_in_the_embedding():
    vectors = {"Ann Leo": np.array([1.0, 0.0]), "Dan Poe": np.array([2.0, 0.1]), "Eve Kay": np.array([0.0, 1.0])}
    one = ErrorClassifier(KNOWN, vectors=vectors, popular=1).classify([asked("Ann Leo", "Bern")])[0]
    assert (one.kind, one.neighbour) == (ErrorKind.NEAREST_EMBEDDING, "Dan Poe")
    assert kinds([asked("Ann Leo", "Lyon")], vectors=vectors, popular=1) == [ErrorKind.UNLINKED]


def test_without_corpus_or_known_people_the_kinds_that_need_them_are_not_given():
    assert kinds([asked("Ann Leo", "Lyon")], popular=1) == [ErrorKind.UNLINKED]
    classified = ErrorClassifier({}).classify([asked("X", "Cork"), asked("Y", "Cork", "Oslo"), asked("Z", "Zug")])
    assert [one.kind for one in classified] == [ErrorKind.RIGHT, ErrorKind.UNLINKED, ErrorKind.NOT_A_PLACE]


def test_unknown_truth_is_left_out_but_unseen_people_are_not():
    rows = [asked("X", "Rome", None), asked("X", "Rome", None, split="never-read")]
    classified = ErrorClassifier(KNOWN, popular=1).classify(rows)
    assert [one.row for one in classified] == rows[1:]
    assert classified[0].kind in (ErrorKind.POPULAR, ErrorKind.NEAREST_SPELLING)


def test_rates_by_split_sum_to_one():
    rng = np.random.default_rng(0)
    places = [*set(KNOWN.values()), "Cork", "banana"]
    rows = [
        asked(f"N{i}", str(rng.choice(places)), split=str(rng.choice(["taught", "held-out", "never-read"])))
        for i in range(300)
    ]
    classified = ErrorClassifier(KNOWN, popular=1).classify(rows)
    table = kinds_by_split(classified)
    assert list(table) == ["taught", "held-out", "never-read"]
    for rates in table.values():
        assert sum(rate.value for rate in rates.values()) == pytest.approx(1)
    right = sum(one.kind is ErrorKind.RIGHT for one in classified)
    assert sum(fabrication_rate(rates).successes for rates in table.values()) == 300 - right


def test_look_alike_chance_is_what_shuffled_answers_give():
    rng = np.random.default_rng(1)
    names = ["".join(rng.choice(list("abcdef"), 6)) for _ in range(60)]
    places = [f"P{i}" for i in range(6)]
    rows = [
        asked(n, str(rng.choice(places)), "nowhere")
        for n in ("".join(rng.choice(list("abcdef"), 6)) for _ in range(200))
    ]
    hits, chances = [], []
    for _ in range(20):
        known = dict(zip(names, rng.choice(places, len(names)).tolist(), strict=True))
        classified = ErrorClassifier(known).classify(rows)
        hits.append(np.mean([v.kind is ErrorKind.NEAREST_SPELLING for v in classified]))
        chances.append(nearest_name_by_chance(classified)["all"])
    assert np.mean(hits) == pytest.approx(np.mean(chances), abs=0.02)
    assert nearest_name_by_chance([]) == {}


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


@given(st.text("abé", max_size=6), st.lists(st.text("abé", min_size=1, max_size=6), min_size=1, max_size=8))
def test_nearest_by_spelling_agrees_with_the_definition(query, names):
    others = [name for name in dict.fromkeys(names) if name != query]
    least = min((edit_distance(query, name) for name in others), default=None)
    assert set(nearest_by_spelling([query], names)[query]) == {n for n in others if edit_distance(query, n) == least}


def test_many_queries_are_the_same_as_one_at_a_time():
    names = [f"{first} {last}" for first in ("Ann", "Bo", "Cy") for last in ("Lee", "Ray", "Fox")]
    queries = [*names, "Anne Lee", "Bob Roy", "Q"] * 2
    together = nearest_by_spelling(queries, names)
    assert together == {query: nearest_by_spelling([query], names)[query] for query in queries}
    assert all(query not in nearest for query, nearest in together.items())
    assert nearest_by_spelling(["a", "b"], ["a"]) == {"a": (), "b": ("a",)}
    assert nearest_by_spelling(["a"], []) == {"a": ()}


def test_nearest_by_vector_leaves_out_itself_and_the_vectorless():
    vectors = {"a": np.array([1.0, 0]), "b": np.array([1.0, 0.1]), "c": np.array([0, 1.0]), "z": np.zeros(2)}
    assert nearest_by_vector(["a", "x"], ["a", "b", "c", "y"], vectors) == {"a": ("b",)}
    assert nearest_by_vector(["a"], ["a"], vectors) == {}
    assert nearest_by_vector(["a"], [], vectors) == {}
