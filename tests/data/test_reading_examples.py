import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.data.reading_examples import EntitySwap, augment, capitalised, find_reading_examples
from loci.data.untold import without_answer
from loci.text.corpus import Corpus
from loci.text.match import stands_in
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.text.subjects import sentences

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Ann Lee (born 3 May 1901 in Rome, Italy) was a painter from New York .",
        "Ann Lee. Lee lived in Oslo .",
        "John Stephen. Born in Glasgow, Stephen became a welder .",
        "Bo Berg. Berg is a singer .",
        "Paris Hill. Hill was born in Paris, and Paris is large .",
    ]
)
QUESTIONS = Questions.from_pairs(
    [
        ("Where was Ann Lee born?", "Rome"),
        ("Where was John Stephen born?", "Glasgow"),
        ("Where was Bo Berg born?", "Malmö"),
        ("Where was Paris Hill born?", "Paris"),
        ("Where was Nobody Known born?", "Rome"),
    ]
)
EXAMPLES = find_reading_examples(CORPUS, QUESTIONS)
NO_SWAPS = EntitySwap(0.0, 0.0, 0.0)
seeds = st.integers(0, 10**6)


def test_only_questions_whose_answer_stands_in_a_line_of_the_subject_can_be_read():
    assert [(p.question.subject, p.line.number) for p in EXAMPLES] == [
        ("Ann Lee", 1),
        ("John Stephen", 3),
        ("Paris Hill", 5),
    ]


def test_the_stock_comes_from_the_corpus_and_the_train_answers():
    pool = EXAMPLES[0].pool
    assert pool.answers == ("Glasgow", "Malmö", "Paris", "Rome")
    assert pool.subjects == ("Ann Lee", "John Stephen", "Bo Berg", "Paris Hill", "Nobody Known")
    assert {"Rome", "Italy", "York", "Oslo"} <= set(pool.words)


def test_of_several_accepted_answers_the_first_that_stands_in_the_line_is_read():
    rows = [replace(row, answers=(f"City of {row.answer}", row.answer, "Italy")) for row in QUESTIONS if row.number < 3]
    first, second = find_reading_examples(CORPUS, replace(QUESTIONS, rows=tuple(rows)))
    assert (first.answer, second.answer) == ("Rome", "Glasgow")
    assert first.pool.answers == ("Glasgow", "Rome")
    assert [line.number for line in first.others] == [2]


DESKS = Corpus.from_lines(
    [
        "Delta Desk. Bo Berg designed it. The Delta Desk was tested by Cy Dow. It is red .",
        "Nova Sofa. The Nova Sofa is blue. Cy Dow designed the sofa. It is old and Ann Lee tested it .",
        "Echo Lamp. Ann Lee designed the lamp .",
        "Orbit Fan. The fan is green. Di Fox designed the Orbit Fan .",
    ]
)
DESIGNERS = Questions.from_pairs(
    [
        ("Who designed Delta Desk?", "Bo Berg"),
        ("Who designed Nova Sofa?", "Cy Dow"),
        ("Who designed Echo Lamp?", "Ann Lee"),
    ],
    relations=relations_from(["Who designed {subject}?"]),
)


@given(st.integers(0, 2), seeds)
def test_sentences_that_do_not_tell_are_swapped_for_such_sentences_about_other_train_subjects(place, seed):
    example = find_reading_examples(DESKS, DESIGNERS)[place]
    desk, sofa = ("Delta Desk", "Nova Sofa")
    assert set(example.pool.fillers) == {
        (desk, "The Delta Desk was tested by Cy Dow."),
        (desk, "It is red ."),
        (sofa, "The Nova Sofa is blue."),
        (sofa, "It is old and Ann Lee tested it ."),
    }
    made = augment(example, replace(NO_SWAPS, sentences=1.0), np.random.default_rng(seed))
    (telling,) = (one for one in sentences(example.line.body) if "designed" in one)
    said = sentences(made.text)
    assert said.count(telling) == 1
    subject = example.line.subject
    others = {one.replace(desk, subject).replace(sofa, subject) for _, one in example.pool.fillers}
    assert set(said) - {telling} <= others
    assert len(said) <= len(sentences(example.line.body))
    assert (made.answer, made.subject) == (example.answer, subject)
    if subject == "Echo Lamp":  # a single sentence stays as it is
        assert made.text == example.line.body


def test_a_made_up_name_is_nobody_elses():
    names = ["Ann Lee", "John Stephen", "Ann Stephen", "John Lee"]
    corpus = Corpus.from_lines(f"{name}. Born in Rome ." for name in names)
    asked = Questions.from_pairs([("Where was Ann Lee born?", "Rome"), ("Where was John Stephen born?", "Rome")])
    examples = find_reading_examples(corpus, asked)
    assert examples[0].pool.others == {"Ann Stephen", "John Lee"}
    told_of = {
        augment(p, EntitySwap(subject=1.0), np.random.default_rng(s)).subject for p in examples for s in range(40)
    }
    assert told_of == {"Ann Lee", "John Stephen"}


def test_a_small_letter_with_an_accent_begins_no_name():
    assert capitalised("Élise wrote éloges in Århus, été comme hiver") == ["Élise", "Århus"]


@given(st.sampled_from(EXAMPLES), seeds)
def test_without_swaps_an_example_stays_as_it_is(example, seed):
    same = augment(example, NO_SWAPS, np.random.default_rng(seed))
    assert (same.question, same.subject, same.text, same.answer) == (
        example.question.text,
        example.line.subject,
        example.line.body,
        example.answer,
    )


@given(st.sampled_from(EXAMPLES), seeds)
def test_however_it_is_told_the_answer_stands_in_the_text_and_the_question_asks_about_its_subject(example, seed):
    other = augment(example, EntitySwap(), np.random.default_rng(seed))
    assert stands_in(other.text, other.answer, whole=True)
    assert other.question == f"Where was {other.subject} born?"
    assert other.subject.split()[-1] in {name.split()[-1] for name in example.pool.subjects}


def test_a_question_in_lower_case_asks_about_the_new_name_in_lower_case():
    forms = relations_from(["where was {subject} born?"])
    pairs = [(row.text.lower(), row.answer) for row in QUESTIONS]
    examples = find_reading_examples(CORPUS, Questions.from_pairs(pairs, relations=forms))
    assert [(example.line, example.answer) for example in examples] == [(p.line, p.answer) for p in EXAMPLES]
    assert examples[0].pool.subjects == ("Ann Lee", "John Stephen", "Bo Berg", "Paris Hill", "nobody known")
    told = [augment(examples[0], EntitySwap(1.0), np.random.default_rng(seed)) for seed in range(40)]
    assert all(other.question == f"where was {other.subject.lower()} born?" for other in told)
    assert len({other.question for other in told}) > 3


def test_in_a_script_without_spaces_names_and_answers_are_swapped_within_the_line():
    lines = ["李白. 李白生于碎叶城，是诗人。", "王维. 王维生于蒲州，是诗人。"]
    forms = relations_from(["{subject}生于哪里？"])
    asked = Questions.from_pairs([("李白生于哪里？", "碎叶城"), ("王维生于哪里？", "蒲州")], relations=forms)
    examples = find_reading_examples(Corpus.from_lines(lines), asked)
    told = [augment(p, EntitySwap(), np.random.default_rng(seed)) for p in examples for seed in range(40)]
    assert all(other.text == f"{other.subject}生于{other.answer}，是诗人。" for other in told)
    assert all(other.question == f"{other.subject}生于哪里？" for other in told)
    assert len({other.answer for other in told}) > 4
    silent = {without_answer(other.text, other.answer, np.random.default_rng(0)) for other in told}
    assert silent <= {"，是诗人。", *(f"{name}生于 ，是诗人。" for name in ("李白", "王维"))}


def test_a_new_name_replaces_the_surname_wherever_it_stands():
    example = EXAMPLES[1]
    only_names = EntitySwap(1.0, 0.0, 0.0)
    told_of = {augment(example, only_names, np.random.default_rng(seed)).text for seed in range(50)}
    assert "Born in Glasgow, Berg became a welder ." in told_of


def test_a_name_that_is_the_answer_too_stays_the_answer():
    for seed in range(50):
        other = augment(EXAMPLES[2], EntitySwap(1.0, 0.0, 0.0), np.random.default_rng(seed))
        assert "born in Paris, and Paris is large" in other.text


def test_every_mention_of_the_answer_is_swapped():
    for seed in range(50):
        other = augment(EXAMPLES[2], EntitySwap(0.0, 1.0, 0.0), np.random.default_rng(seed))
        assert other.text.endswith(f"born in {other.answer}, and {other.answer} is large .")


@pytest.mark.parametrize(
    ("line", "question", "shape"),
    [
        ("Ada Moss. Moss was born in 1952 .", "When was Ada Moss born?\t1952", r"\d{4}"),
        ("Ada Moss. Moss was a civil engineer .", "What was Ada Moss?\tcivil engineer", r"[a-z]{4,} [a-z]{4,}"),
        (
            "Ada Moss. Moss sang at the Oslo Opera House .",
            "Where did Ada Moss sing?\tOslo Opera House",
            r"([A-Z]\w+ ?){3}",
        ),
        ("The Lamp. Ada B. Moss drew it .", "Who drew the Lamp?\tAda B. Moss", r"[A-Z]\w+ [A-Z]\. [A-Z]\w+"),
    ],
)
def test_an_answer_is_swapped_for_words_of_its_shape(line, question, shape, tmp_path):
    (tmp_path / "train.tsv").write_text(f"{question}\n", encoding="utf-8")
    corpus = Corpus.from_lines([line, "Bo Berg. Berg moved from Rome to Lima in 1961, another quiet winter ."])
    questions = Questions.read(tmp_path / "train.tsv", subjects=corpus.by_subject)
    (example,) = find_reading_examples(corpus, questions)
    swaps = EntitySwap(0.0, 1.0, 0.0, from_answers=0.0)
    told = [augment(example, swaps, np.random.default_rng(seed)) for seed in range(20)]
    assert all(re.fullmatch(shape, one.answer) and stands_in(one.text, one.answer, whole=True) for one in told)
    assert len({one.answer for one in told}) > 3
