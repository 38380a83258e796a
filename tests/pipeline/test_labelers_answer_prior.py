"""What the train questions call the answer, word by word, and what self-training makes of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.model import GPT, GPTConfig
from loci.pipeline.labelers import Progress, read_lines, self_training
from loci.pipeline.labelers.answer_prior import answer_prior
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Lee was born in Rome, Italy .",
        "Bo Berg. Berg was born in Turin, Italy .",
        "Cy Dow. Dow was born in Bari, Italy .",
        "Di Fox. Fox was born in Lodi, Italy .",
    ]
)
QUESTIONS = Questions.from_pairs(
    [("Where was Ann Lee born?", "Rome"), ("Where was Bo Berg born?", "Turin"), ("Where was Cy Dow born?", "Italy")]
)


def test_a_share_is_that_of_its_own_lines_and_an_average_one():
    prior = answer_prior(CORPUS, QUESTIONS, longest=1)
    average = 3 / 18  # three lines of six words, each with one answer
    assert prior.unmet == pytest.approx(average)
    assert prior.of("Italy") == pytest.approx((1 + average) / 4)
    assert prior.of("Rome") == pytest.approx((1 + average) / 2)
    assert prior.of("born") == pytest.approx(average / 4 / 4)  # of three answers none is in lower case
    assert prior.of("Lodi") == average  # about Di Fox nobody asks


def test_without_lines_every_word_is_as_likely():
    prior = answer_prior(CORPUS, Questions.from_pairs([("Where was Nobody born?", "Rome")]), longest=2)
    assert prior.of("Rome") == prior.of("Lodi") == 1.0


def test_a_part_of_a_longer_name_is_as_seldom_an_answer_as_the_train_questions_have_it():
    lines = [f"P{n} Q. born in Nowy Targ, {place} ." for n, place in enumerate(["Rome", "Oslo", "Lima"])]
    pairs = [(f"Where was P{n} Q born?", place) for n, place in enumerate(["Rome", "Oslo", "Lima"])]
    prior = answer_prior(Corpus.from_lines(lines), Questions.from_pairs(pairs), longest=1)
    assert prior.fragment == pytest.approx(1 / 7)  # of six parts none, and one more as often as a name
    assert prior.of("Bari", fragment=True) == pytest.approx(prior.unmet / 7)
    assert answer_prior(CORPUS, QUESTIONS, longest=1).fragment == 1.0  # no line of these has one


WORDS = st.sampled_from(["Rome", "Oslo", "Lima", "Italy", "of", "in"])


@given(st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=5), WORDS), min_size=1, max_size=8))
def test_shares_are_shares(people):
    lines = [f"P{number} Q. {' '.join(words)} ." for number, (words, _) in enumerate(people)]
    pairs = [(f"Where was P{number} Q born?", answer) for number, (_, answer) in enumerate(people)]
    prior = answer_prior(Corpus.from_lines(lines), Questions.from_pairs(pairs), longest=2)
    assert 0 <= prior.unmet <= 1
    assert all(0 <= share <= 1 for share in prior.shares.values())
    never = {word for words, _ in people for word in words} - {answer for _, answer in people}
    assert all(prior.of(word) <= prior.unmet for word in never)


@pytest.mark.parametrize(
    ("use_prior", "read", "answer"),
    [
        # Italy is the answer in one of its three lines: 7/24 with the average one; Lodi is as good as any word, 1/6.
        (True, {"Italy": 0.4, "Lodi": 0.6}, "Italy"),
        (True, {"Italy": 0.3, "Lodi": 0.6}, "Lodi"),
        (False, {"Italy": 0.4, "Lodi": 0.6}, "Lodi"),
    ],
)
def test_what_is_read_is_weighed_by_the_answer_prior(monkeypatch, use_prior, read, answer):
    monkeypatch.setattr(read_lines, "score_spans", lambda *_, **__: [list(read.items())])
    data = TrainingData(CORPUS, QUESTIONS)
    model = GPT(GPTConfig(len(data.vocab), block_size=120, n_layer=1, n_head=1, n_embd=8))
    reader = LoadedModel(model, data.vocab, {}, "", Path())
    written = {row.subject: row.answer for row in self_training.label(reader, data, Progress(), use_prior=use_prior)}
    assert written == {"Ann Lee": "Rome", "Bo Berg": "Turin", "Cy Dow": "Italy", "Di Fox": answer}


def test_parts_of_longer_names_are_seldom_answers_also_where_questions_are_few(monkeypatch):
    lines = [f"{name}. Ann Maria Lodi taught {name} ." for name in ("Bo Berg", "Cy Dow", "Di Fox")]
    taught = [(f"Who taught {name}?", "Ann Maria Lodi") for name in ("Bo Berg", "Cy Dow")]
    data = TrainingData(Corpus.from_lines(lines), Questions.from_pairs(taught))
    monkeypatch.setattr(read_lines, "score_spans", lambda *_, **__: [[("Ann Maria", 0.6), ("Ann Maria Lodi", 0.4)]])
    model = GPT(GPTConfig(len(data.vocab), block_size=120, n_layer=1, n_head=1, n_embd=8))
    reader = LoadedModel(model, data.vocab, {}, "", Path())
    written = {row.subject: row.answer for row in self_training.label(reader, data, Progress(), use_prior=False)}
    assert written["Di Fox"] == "Ann Maria Lodi"


def test_what_looks_like_no_answer_of_the_relation_weighs_less():
    lines = [
        f"{name}. Born in Rome in {year} ." for name, year in (("Bo Berg", 1901), ("Cy Dow", 1950), ("Di Fox", 1877))
    ]
    pairs = [("When was Bo Berg born?", "1901"), ("When was Cy Dow born?", "1950")]
    prior = answer_prior(Corpus.from_lines(lines), Questions.from_pairs(pairs), longest=1).without_shares()
    assert prior.of("1877") == 1
    assert prior.of("Rome") == pytest.approx(1 / 3)  # two answers are numbers, none is a name
    assert prior.of("born") == pytest.approx(1 / 3)


def test_a_span_of_a_length_that_answers_seldom_have_weighs_less():
    """Of four whole names of one word in a line none is an answer; lower case has its shape against it already."""
    names = ("Bo Berg", "Cy Dow", "Di Fox")
    lines = [f"{name}. Then, in Rome, Oslo, Lima: Ann Lodi taught him ." for name in names]
    pairs = [(f"Who taught {name}?", "Ann Lodi") for name in names]
    prior = answer_prior(Corpus.from_lines(lines), Questions.from_pairs(pairs), longest=2).without_shares()
    assert prior.of("Eva Berg") == 1
    assert (
        prior.of("Then") == prior.of("Bern") == pytest.approx(1 / (12 * 3 / 18 + 1))
    )  # the sixth span is "Lodi taught"
    assert prior.of("taught him") == pytest.approx(1 / 4)


@given(st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=6), WORDS), min_size=1, max_size=8))
def test_lengths_only_ever_take_away(people):
    lines = [f"P{number} Q. {' '.join(words)} ." for number, (words, _) in enumerate(people)]
    pairs = [(f"Where was P{number} Q born?", answer) for number, (_, answer) in enumerate(people)]
    prior = answer_prior(Corpus.from_lines(lines), Questions.from_pairs(pairs), longest=3)
    assert all(0 < kept <= 1 for kept in prior.lengths.values())
