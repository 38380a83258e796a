import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.data.objectives import make_objective
from loci.data.prompts import line_of, reading_prompt
from loci.data.reading import in_parts, shortened
from loci.data.reading_examples import find_reading_examples
from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.match import stands_in
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.text.vocab import MASK, Vocab

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Ann Lee (born 3 May 1901 in Rome, Italy) was a painter .",
        "Bo Berg. " + "He went on and on, " * 10 + "and was born in Oslo .",
        "Oslo Dow. " + "It goes on, " * 12 + "born in Oslo, " + "and on, " * 20 + "to the end .",
    ]
)
QUESTIONS = Questions.from_pairs(
    [("Where was Ann Lee born?", "Rome"), ("Where was Bo Berg born?", "Oslo"), ("Where was Oslo Dow born?", "Oslo")]
)
VOCAB = Vocab.from_text(CORPUS.raw + "Where was born?")
EXAMPLES = find_reading_examples(CORPUS, QUESTIONS)
RNG = np.random.default_rng(0)


def shown(example) -> str:
    return VOCAB.decode(example.ids)


def in_loss(example) -> str:
    return VOCAB.decode(example.ids[example.loss_mask])


def test_a_memorized_line_counts_what_is_said_of_the_subject():
    example = make_objective("memorize", VOCAB, 128, {})(CORPUS.lines[0], RNG)
    assert shown(example) == CORPUS.lines[0].text + MASK
    assert in_loss(example) == "Ann Lee (born 3 May 1901 in Rome, Italy) was a painter ." + MASK


@given(st.sampled_from(EXAMPLES), st.integers(0, 10**6), st.integers(80, 300))
def test_reading_counts_the_answer_which_the_line_always_holds(record, seed, block_size):
    example = make_objective("reading", VOCAB, block_size, {})(record, np.random.default_rng(seed))
    line, question, answer, end = shown(example).split(MASK)
    assert end == ""
    assert in_loss(example).endswith(answer + MASK)
    named = in_loss(example).removesuffix(answer + MASK)
    assert line.startswith(named)
    assert named in question
    assert stands_in(line.removeprefix(named), answer)  # behind the name, which may hold the same word
    assert len(example) <= block_size


@given(st.sampled_from(EXAMPLES), st.integers(0, 10**6), st.integers(80, 300), st.sampled_from([0.0, 0.5]))
def test_every_character_of_an_answer_says_where_in_the_line_it_stands(record, seed, block_size, untold):
    example = make_objective("reading", VOCAB, block_size, {"untold": untold})(record, np.random.default_rng(seed))
    line, _, answer, _ = shown(example).split(MASK)
    copied = np.flatnonzero(example.copied_from >= 0)
    assert VOCAB.decode(example.ids[copied]) == answer
    assert (example.ids[copied] == example.ids[example.copied_from[copied]]).all()
    assert (example.copied_from[copied] < len(line)).all()


def test_the_entity_sketch_of_a_line_goes_without_the_subjects_own_name():
    example = make_objective("memorize", VOCAB, 128, {"line_format": "entity-sketch"})(CORPUS.lines[0], RNG)
    assert shown(example) == "Ann Lee. (born May in Rome, Italy)" + MASK


def test_the_prompt_of_a_reader_is_its_example_without_the_answer():
    example = make_objective("reading", VOCAB, 128, {"subject": 0.0, "answer": 0.0, "word": 0.0})(EXAMPLES[0], RNG)
    prompt = reading_prompt(VOCAB, "Where was Ann Lee born?", CORPUS.lines[0].text)
    assert example.ids[: len(prompt)].tolist() == prompt.tolist()


@given(st.sampled_from(EXAMPLES), st.integers(0, 10**6), st.integers(120, 400), st.sampled_from([0.0, 0.5]))
def test_a_line_shown_twice_has_the_answer_copied_from_where_it_stands_last(record, seed, block_size, untold):
    objective = make_objective("reading", VOCAB, block_size, {"twice": True, "untold": untold})
    example = objective(record, np.random.default_rng(seed))
    line, _, answer, _ = shown(example).split(MASK)
    half = len(line) // 2
    assert line[:half] == line[half + 1 :]
    assert len(example) <= block_size
    copied = np.flatnonzero(example.copied_from >= 0)
    assert VOCAB.decode(example.ids[example.copied_from[copied]]) == answer
    assert (example.copied_from[copied] > half).all()


def test_the_prompt_of_a_reader_that_is_shown_lines_twice_is_its_example_without_the_answer():
    options = {"subject": 0.0, "answer": 0.0, "word": 0.0, "twice": True}
    example = make_objective("reading", VOCAB, 256, options)(EXAMPLES[0], RNG)
    prompt = reading_prompt(VOCAB, "Where was Ann Lee born?", CORPUS.lines[0].text, twice=True)
    assert example.ids[: len(prompt)].tolist() == prompt.tolist()


@given(st.text(alphabet="ab ", max_size=40), st.integers(1, 40))
def test_a_shortened_text_is_a_beginning_of_whole_words(text, longest):
    short = shortened(text, longest)
    assert text.startswith(short)
    assert len(short) <= longest
    if 0 < len(short) < len(text) and " " in text[: longest + 1].lstrip(" "):
        assert text[len(short)] == " "


def test_a_block_without_room_for_a_line_is_refused():
    with pytest.raises(LociError, match="no room for a line"):
        make_objective("reading", VOCAB, 20, {})(EXAMPLES[0], RNG)


STORY = "Ann Lee was a painter. " + "She sang in Rome and in St. Gall. " * 12 + "Lee died in Oslo."


@given(st.text(alphabet="abC. ", max_size=300), st.integers(1, 150))
def test_a_line_in_parts_says_the_same_and_one_that_fits_is_whole(text, room):
    parts = in_parts("Ann", text, room)
    assert all(0 <= len(part) <= room for part in parts)
    if len(parts) == 1:
        assert parts == [shortened(line_of("Ann", text), room)]
    else:
        told = "".join(part.removeprefix("Ann. ") for part in parts)
        assert told.replace(" ", "") == text.replace(" ", "")


def test_parts_are_whole_sentences_behind_the_subject():
    parts = in_parts("Ann Lee", STORY, 120)
    assert len(parts) > 3
    assert all(part.startswith("Ann Lee. ") and part.endswith(".") for part in parts)
    assert parts[-1].endswith("Lee died in Oslo.")


def test_of_a_line_that_does_not_fit_the_part_that_tells_is_read_and_others_do_not_tell():
    corpus = Corpus.from_lines([f"Ann Lee. {STORY}"])
    asked = Questions.from_pairs(
        [("Where did Ann Lee die?", "Oslo")], relations=relations_from(["Where did {subject} die?"])
    )
    vocab = Vocab.from_text(corpus.raw + "Where did die?")
    (record,) = find_reading_examples(corpus, asked)
    as_it_stands = {"subject": 0.0, "answer": 0.0, "word": 0.0}
    line = vocab.decode(make_objective("reading", vocab, 160, as_it_stands)(record, RNG).ids).split(MASK)[0]
    assert line.startswith("Ann Lee. She sang")
    assert line.endswith("Lee died in Oslo.")
    silent = make_objective("reading", vocab, 160, {**as_it_stands, "untold": 1.0})
    read = {vocab.decode(silent(record, np.random.default_rng(seed)).ids) for seed in range(40)}
    assert {text.split(MASK)[2] for text in read} == {""}
    assert len(read) > 2  # not only the beginning
