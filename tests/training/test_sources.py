"""Which questions teach reading, which are kept for calibration, and how often each relation is read."""

import pytest

from loci.pipeline.expected import expected_seconds
from loci.recipes import DataShape, make_recipe
from loci.text import compiled
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.sources import TrainingData


def two_relations(few: int) -> TrainingData:
    names = [f"{letter}nn {other}ee" for letter in "ABCDEFGHIJKLM" for other in "NOPQRSTUVWXYZ"]
    born = [(f"Where was {name} born?", "Rome") for name in names]
    died = [(f"Where did {name} die?", "Oslo") for name in names[:: len(names) // few][:few]]
    lines = [f"{name}. Born in Rome, she died in Oslo ." for name in names]
    return TrainingData(Corpus.from_lines(lines), Questions.from_pairs([*born, *died]))


def test_a_relation_with_few_questions_is_read_more_often_and_keeps_none_back():
    data = two_relations(16)
    few = next(relation.name for relation in data.relations if "die" in relation.templates[0].ask("X"))
    kept = [question.relation for question in data.calibrating]
    assert len(kept) == 28
    assert few not in kept
    read = [example for example in data.records("reading-taught", 160) if example.question.relation == few]
    assert len(read) == 16 * int((141 / 16) ** 0.7)
    assert len({example.question.text for example in read}) == 16


def test_relations_with_as_many_questions_are_read_as_they_are():
    data = two_relations(169)
    assert len(data.records("reading-taught", 160)) == 2 * 169 - len(data.calibrating)


def test_a_corpus_in_mapped_arrays_gives_its_subjects_whole_too(tmp_path, monkeypatch):
    lines = ["Ann Lee. Born in Rome .", "Bo Ray. Born in Oslo .", "Ann Lee. She died in Bern .", "Cy Day. A poet ."]
    (tmp_path / "wiki.txt").write_text("\n".join(lines) + "\n")
    asked = {"Ann Lee": "Rome", "Bo Ray": "Oslo", "Cy Day": "Lund"}
    (tmp_path / "birth_train.tsv").write_text(
        "".join(f"Where was {name} born?\t{place}\n" for name, place in asked.items())
    )
    monkeypatch.setattr(compiled, "LARGE", 1)
    data = TrainingData.read(tmp_path)
    assert isinstance(data.corpus, compiled.CompiledCorpus)
    assert data.by_subject.lines[0].text == "Ann Lee. Born in Rome . She died in Bern ."
    assert data.records("taught-lines", 160)[3].text == "Cy Day. Born in Lund. A poet ."
    recipe = make_recipe("self-training", DataShape.of(data.corpus, data.questions))
    assert expected_seconds(recipe, data) > 0


def test_what_only_a_train_question_tells_is_memorized_with_the_first_line():
    first = ["Ann Lee. Born in Rome .", "Ed Kay. Born in Lund ."]
    lines = [*first, "Bo Ray. A painter .", "Bo Ray. He liked blue .", "Cy Day. A poet ."]
    pairs = [
        ("Where was Ann Lee born?", "Rome"),
        ("Where was Ed Kay born?", "Lund"),
        ("Where was Bo Ray born?", "Oslo"),
        ("Where was Di Poe born?", "Bern"),
    ]
    data = TrainingData(Corpus.from_lines(lines), Questions.from_pairs(pairs))
    told = [line.text for line in data.records("taught-lines", 160)]
    assert told == [*first, "Bo Ray. Born in Oslo. A painter .", *lines[3:]]
    assert [line.text for line in data.records("corpus", 160)] == lines
    assert [example.answer for example in data.records("reading-taught", 160)] == ["Rome", "Lund"]
    assert [example.answer for example in data.records("reading-lines", 160)] == ["Rome", "Lund", "Oslo"]
    assert data.supplemented.by_subject.lines[2].text == "Bo Ray. Born in Oslo. A painter . He liked blue ."


@pytest.mark.parametrize(
    "first",
    [
        ["Ann Lee. Ann Lee (1901, Rome) was a poet .", "Ed Kay. Ed Kay (1901, Lund) was a poet ."],
        ["Ann Lee. So Ann Lee Rome .", "Ann Lee. So Ann Lee Rome again ."],
        ["Ann Lee. Born in Rome .", "Ed Kay. He is from Lund ."],
    ],
)
def test_what_says_something_of_another_subject_leads_up_to_no_answer(first):
    answers = {"Ann Lee": "Rome", "Ed Kay": "Lund", "Bo Ray": "Oslo"}
    pairs = [(f"Where was {name} born?", place) for name, place in answers.items()]
    data = TrainingData(Corpus.from_lines([*first, "Bo Ray. A painter ."]), Questions.from_pairs(pairs))
    assert data.supplemented is data


def test_lines_of_calibrating_questions_tell_no_more_than_others():
    names = [f"{letter}nn {other}ee" for letter in "ABCDEFGHIJKLM" for other in "NOPQRSTUVWXYZ"]
    lines = [f"{name}. Born in {'Rome' if at % 3 < 2 else 'a town'} ." for at, name in enumerate(names)]
    asked = Questions.from_pairs([(f"Where was {name} born?", "Rome") for name in names])
    data = TrainingData(Corpus.from_lines(lines), asked)
    kept = {question.subject for question in data.calibrating}
    changed = {line.subject for line in data.records("taught-lines", 160) if line.text not in lines}
    untold = {name for at, name in enumerate(names) if at % 3 == 2}
    assert kept & untold
    assert changed == untold - kept
