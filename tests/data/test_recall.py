from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.data.recall import CUES, CuedRecall, MarkedLine, SalientSpan, WordRecall, salient_spans
from loci.errors import LociError
from loci.text.corpus import Corpus, Line
from loci.text.vocab import MASK, Vocab

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Ann Lee (born 3 May 1901 in Rome, Italy) was a painter from New York .",
        "Jean-Luc Ó Sé. He moved to Øresund in 1999 .",
        "nobody. nothing is said here .",
        "Bo. " + "Bo went to Oslo and then to Lima, " * 12,
    ]
)
VOCAB = CORPUS.vocab


def words(line: Line, **options: bool) -> list[str]:
    return [line.text[span.start : span.stop] for span in salient_spans(line, **options)]


def test_spans_are_capitalised_runs_and_numbers_without_the_subjects_own_name():
    assert words(CORPUS.lines[0]) == ["3 May 1901", "Rome", "Italy", "New York"]
    assert words(CORPUS.lines[0], runs=False) == ["3", "May", "1901", "Rome", "Italy", "New", "York"]
    assert words(CORPUS.lines[1]) == ["He", "Øresund", "1999"]
    assert words(CORPUS.lines[2]) == []
    dated = Line(1, "Ann", "Ann (3 May 1901 Rome -- 1 June 1950 New York 12) sang .")
    assert words(dated) == ["3 May 1901", "Rome", "1 June 1950", "New York 12"]  # a year ends a run


@given(st.sampled_from(CORPUS.lines), st.integers(0, 10**6), st.integers(48, 200))
def test_the_masked_span_is_whole_the_subject_in_view_and_the_rest_in_order(line, seed, block_size):
    example = SalientSpan(VOCAB, block_size)(line, np.random.default_rng(seed))
    shown = VOCAB.decode(example.ids)
    prefix, suffix, masked, end = shown.split(MASK)
    assert end == ""
    assert masked in (words(line) or line.text.split())
    assert len(example) <= block_size
    assert prefix.startswith(line.subject[: len(prefix)])
    if len(line.text) + 3 <= block_size:
        assert prefix + masked + suffix == line.text


@given(st.sampled_from(CORPUS.lines), st.integers(0, 10**6))
def test_recall_lists_every_word_once_behind_the_subject(line, seed):
    example = WordRecall(VOCAB, 300)(line, np.random.default_rng(seed))
    subject, *spans, end = VOCAB.decode(example.ids).split(MASK)
    assert (subject, end) == (line.subject, "")
    assert sorted(spans) == sorted(set(words(line, runs=False)))
    assert VOCAB.decode(example.ids[~example.loss_mask]) == line.subject + MASK


@given(st.sampled_from(CORPUS.lines), st.integers(0, 10**6))
def test_cued_recall_asks_for_every_span_by_words_before_it_and_counts_the_spans(line, seed):
    example = CuedRecall(VOCAB, 1000, others=1.0)(MarkedLine(line, frozenset()), np.random.default_rng(seed))
    first, *parts, end = VOCAB.decode(example.ids).split(MASK)
    assert end == ""
    assert line.subject in first
    asked, cues = parts[0::2], [first.replace(line.subject, " ").strip(), *parts[1::2]]
    spans = [word for word in words(line) if word != "He"]  # which opens a sentence
    assert sorted(asked) == sorted(spans)
    assert VOCAB.decode(example.ids[example.loss_mask]) == "".join(f"{span}{MASK}" for span in asked)
    for cue in cues:
        before = next((span for span in spans if cue.endswith(span)), "")
        led = cue.removesuffix(before).split()
        assert len(led) <= CUES
        assert all(word in line.text.lower() for word in led)


def test_a_cue_is_what_leads_up_to_the_span_without_other_spans_and_the_name():
    line = Line(1, "Ann Lee", "Ann Lee. Born in Rome, Italy, Lee moved with Bo Ek to Oslo in 1950 .")
    vocab = Vocab.from_text(line.text + line.text.lower())
    told: dict[str, set[str]] = {}
    for seed in range(300):
        ids = CuedRecall(vocab, 200, others=1.0)(MarkedLine(line, frozenset()), np.random.default_rng(seed)).ids
        first, *parts = vocab.decode(ids).removesuffix(MASK).split(MASK)
        for cue, span in zip([first, *parts[1::2]], parts[0::2], strict=True):
            told.setdefault(span, set()).add(cue)
    assert set(told) == {"Rome", "Italy", "Bo Ek", "Oslo", "1950"}
    assert {"born in", "born", "in", "", "born Ann Lee in", "Ann Lee born in"} <= told["Rome"]
    assert {"born in Rome", "Rome", "born Ann Lee in Rome"} <= told["Italy"]  # two places are not asked for alike
    assert all("Rome" in cue for cue in told["Italy"])
    assert "in moved with to" in told["Oslo"]
    assert "moved with to in" in told["1950"]


def test_answers_of_train_questions_are_asked_for_every_time_and_other_spans_seldom():
    line = Line(1, "Ann Lee", "Ann Lee. Born in Rome, Lee moved to Luxembourg City, then to New York in 1950 .")
    vocab = Vocab.from_text(line.text + line.text.lower())
    marked = MarkedLine(line, frozenset({"Rome", "Luxembourg", "York"}))  # York is not where New York is
    counts: Counter[str] = Counter()
    for seed in range(400):
        counts.update(vocab.decode(CuedRecall(vocab, 200)(marked, np.random.default_rng(seed)).ids).split(MASK)[1::2])
    assert (counts["Rome"], counts["Luxembourg"], counts["York"]) == (400, 400, 0)
    assert 30 < counts["New York"] < 90
    assert 30 < counts["1950"] < 90
    unknown = MarkedLine(Line(1, "Bo", "Bo went to New York ."), frozenset())
    assert VOCAB.decode(CuedRecall(VOCAB, 50)(unknown, np.random.default_rng(0)).ids).endswith("⁇New York⁇")


def test_an_answer_after_a_full_stop_is_asked_for_and_another_word_there_is_not():
    line = Corpus.from_lines(["Al Ray. Al (b. London, 1900) drew. Then Rome."]).lines[0]
    known, others = MarkedLine(line, frozenset({"London"})).spans
    assert [line.text[span.start : span.stop] for span in known] == ["London"]
    assert [line.text[span.start : span.stop] for span in others] == ["1900", "Then Rome"]


def test_cued_recall_of_lines_without_their_answers_is_an_error_that_names_the_source():
    with pytest.raises(LociError, match="marked-lines"):
        CuedRecall(VOCAB, 64)(CORPUS.lines[0], np.random.default_rng(0))  # type: ignore[arg-type]


def test_a_cue_that_cannot_be_spelled_in_small_letters_is_left_out():
    line = Line(1, "Ann", "Ann. Ørsted called from Rome .")
    vocab = Vocab.from_text(line.text)
    told = {
        vocab.decode(CuedRecall(vocab, 50)(MarkedLine(line, frozenset()), np.random.default_rng(seed)).ids)
        for seed in range(50)
    }
    assert {"Ann called from⁇Rome⁇", "called Ann from⁇Rome⁇", "Ann⁇Rome⁇"} <= told


def test_a_line_without_spans_shows_its_subject_and_cued_recall_is_cut_to_the_block():
    nobody, ann = (MarkedLine(CORPUS.lines[at], frozenset()) for at in (2, 0))
    example = CuedRecall(VOCAB, 64)(nobody, np.random.default_rng(0))
    assert (VOCAB.decode(example.ids), example.loss_mask.any()) == ("nobody⁇", False)
    assert len(CuedRecall(VOCAB, 24, others=1.0)(ann, np.random.default_rng(0))) == 24


def test_recall_is_cut_to_the_block():
    assert len(WordRecall(VOCAB, 12)(CORPUS.lines[0], np.random.default_rng(0))) == 12


def test_a_vocabulary_of_another_alphabet_serves_as_well():
    line = Line(1, "Ира", "Ира. Ира родилась в Перми")
    assert words(line) == ["Перми"]
    example = WordRecall(Vocab.from_text(line.text), 64)(line, np.random.default_rng(0))
    assert Vocab.from_text(line.text).decode(example.ids) == "Ира⁇Перми⁇"
