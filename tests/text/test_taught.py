"""Whom a run was taught about: in each relation, where there are several."""

import json

from loci.text.questions import Questions
from loci.text.taught import Taught, subject_hash

BORN = [("Where was Ann Lee born?", "Rome"), ("Where was Bo Ray born?", "Oslo")]
WROTE = [("Who wrote Ann Lee?", "Cy"), ("Who wrote Di Fox?", "Ed")]


def test_of_one_relation_the_names_are_enough():
    taught = Taught.of(Questions.from_pairs(BORN))
    assert taught.as_data() == sorted(map(subject_hash, ("Ann Lee", "Bo Ray")))
    assert Taught.from_data(tuple(taught.as_data())) == taught
    assert [taught.about(name, "birthplace") for name in ("Ann Lee", "Bo Ray", "Di Fox")] == [True, True, False]
    assert taught.about("Ann Lee", "anything")


def test_of_several_a_fact_is_taught_and_not_a_person():
    questions = Questions.from_pairs(BORN + WROTE)
    taught = Taught.of(questions)
    data = json.loads(json.dumps(taught.as_data()))
    born, wrote = (relation.name for relation in questions.relations)
    assert set(data) == {born, wrote}
    assert Taught.from_data(data) == taught
    assert [taught.about("Ann Lee", name) for name in (born, wrote, "other", None)] == [True, True, False, True]
    assert [taught.about("Bo Ray", name) for name in (born, wrote, "other", None)] == [True, False, False, True]
    assert not taught.about("Ed", None)


def test_nobody_is_taught_by_no_questions():
    assert Taught.of(Questions(None, ())).as_data() == []
    assert not Taught.from_data(()).about("Ann Lee")
