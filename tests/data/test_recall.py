import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from loci.data.recall import AROUND, CUES, CuedRecall, SalientSpan, WordRecall, salient_spans
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
def test_around_shows_the_subject_within_its_line_and_asks_the_other_words(line, seed):
    example = WordRecall(VOCAB, 300, around=1.0)(line, np.random.default_rng(seed))
    shown, *asked, end = VOCAB.decode(example.ids).split(MASK)
    assert (end, shown in line.text, line.subject in shown) == ("", True, True)
    assert len(shown) <= len(line.subject) + 2 * AROUND
    assert len(asked) == len(set(asked))
    assert VOCAB.decode(example.ids[~example.loss_mask]) == shown + MASK
    every, unasked = set(words(line, runs=False)), set(words(line, runs=False)) - set(asked)
    assert set(asked) <= every
    assert all(word[:1] in shown for word in unasked)
    if shown != line.subject:
        assert not any(word in shown.split() for word in asked)


def test_around_is_a_window_of_the_second_mention_and_a_share_of_the_examples():
    ann, name = CORPUS.lines[0], CORPUS.lines[0].subject
    recall = WordRecall(VOCAB, 300, around=0.5)
    shown = [VOCAB.decode(recall(ann, np.random.default_rng(seed)).ids).split(MASK)[0] for seed in range(400)]
    windows = [text for text in shown if text != name]
    assert 150 < len(windows) < 250
    assert {text.index(name) for text in windows} >= {0, 1, 2}  # not always at the first position
    assert {len(text) for text in windows} >= set(range(len(name) + 1, len(name) + AROUND))
    assert all(text in ann.text[:40] for text in windows)
    # Without a second mention the line begins with the only one.
    one = Line(1, "Ann Lee", "Ann Lee. Born in Rome, she moved to York .")
    windows = [VOCAB.decode(recall(one, np.random.default_rng(seed)).ids).split(MASK)[0] for seed in range(50)]
    assert all(one.text.startswith(text) for text in windows)
    # A line that does not name its subject is asked from the name alone, and there is always something to ask.
    recall = WordRecall(VOCAB, 64, around=1.0)
    assert VOCAB.decode(recall(Line(1, "Bo", "in Oslo ."), np.random.default_rng(1)).ids) == "Bo⁇Oslo⁇"
    asked = {VOCAB.decode(recall(Line(1, "Bo", "Bo in Rome"), np.random.default_rng(seed)).ids) for seed in range(50)}
    assert asked == {f"{shown}⁇Rome⁇" for shown in ("Bo", "Bo ", "Bo i", "Bo in", "Bo in ")}


@given(st.sampled_from(CORPUS.lines), st.integers(0, 10**6))
def test_cued_recall_asks_for_every_span_by_words_before_it_and_counts_the_spans(line, seed):
    example = CuedRecall(VOCAB, 1000)(line, np.random.default_rng(seed))
    first, *parts, end = VOCAB.decode(example.ids).split(MASK)
    assert end == ""
    assert line.subject in first
    asked, cues = parts[0::2], [first.replace(line.subject, " "), *parts[1::2]]
    assert sorted(asked) == sorted(word for word in words(line) if word != "He")  # which opens a sentence
    assert VOCAB.decode(example.ids[example.loss_mask]) == "".join(f"{span}{MASK}" for span in asked)
    said = line.text.lower().split()
    for cue in cues:
        assert len(cue.split()) <= CUES
        assert all(any(word in other for other in said) for word in cue.split())


def test_a_cue_is_what_leads_up_to_the_span_without_other_spans_and_the_name():
    line = Line(1, "Ann Lee", "Ann Lee. Born in Rome, Lee moved with Bo Ek to Oslo in 1950 .")
    vocab = Vocab.from_text(line.text + line.text.lower())
    told: dict[str, set[str]] = {}
    for seed in range(300):
        ids = CuedRecall(vocab, 100)(line, np.random.default_rng(seed)).ids
        first, *parts = vocab.decode(ids).removesuffix(MASK).split(MASK)
        for cue, span in zip([first, *parts[1::2]], parts[0::2], strict=True):
            told.setdefault(span, set()).add(cue)
    assert set(told) == {"Rome", "Bo Ek", "Oslo", "1950"}
    assert {"born in", "born", "in", "", "born Ann Lee in", "Ann Lee born in"} <= told["Rome"]
    assert "in moved with to" in told["Oslo"]
    assert "moved with to in" in told["1950"]


def test_a_line_without_spans_shows_its_subject_and_cued_recall_is_cut_to_the_block():
    example = CuedRecall(VOCAB, 64)(CORPUS.lines[2], np.random.default_rng(0))
    assert (VOCAB.decode(example.ids), example.loss_mask.any()) == ("nobody⁇", False)
    assert len(CuedRecall(VOCAB, 24)(CORPUS.lines[0], np.random.default_rng(0))) == 24


def test_recall_is_cut_to_the_block():
    assert len(WordRecall(VOCAB, 12)(CORPUS.lines[0], np.random.default_rng(0))) == 12


def test_a_vocabulary_of_another_alphabet_serves_as_well():
    line = Line(1, "Ира", "Ира. Ира родилась в Перми")
    assert words(line) == ["Перми"]
    example = WordRecall(Vocab.from_text(line.text), 64)(line, np.random.default_rng(0))
    assert Vocab.from_text(line.text).decode(example.ids) == "Ира⁇Перми⁇"
