import json

import pytest

from loci.errors import LociError
from loci.text.corpus import Corpus
from loci.text.diagnosis import diagnose
from loci.text.findings import KINDS
from loci.text.relations import relations_from
from loci.text.vocab import Vocab
from square_time import grows_with_the_square

WIKI = "Ada. Was Ada not born in London? She was .\nAlan. Where? Alan was born in Paris, by Bycy .\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wiki.txt").write_text(WIKI)
    (tmp_path / "birth_train.tsv").write_text("Where was Ada born?\tLondon\n")
    (tmp_path / "birth_dev.tsv").write_text("Where was Alan born?\tLondon\n")
    return tmp_path


def found(diagnosis, severity=None):
    return [(f.kind, f.path.name, f.line) for f in diagnosis.findings if severity in (None, f.severity)]


def test_a_sound_folder_has_nothing_amiss(folder):
    diagnosis = diagnose(folder)
    assert found(diagnosis) == []
    assert diagnosis.ok
    corpus, train, dev = diagnosis.files
    assert (corpus.role, train.role, dev.role) == ("corpus", "train", "dev")
    assert (corpus.corpus.lines, corpus.corpus.characters, corpus.corpus.subjects) == (2, len(WIKI), 2)
    assert corpus.corpus.symbols == len(set(WIKI)) + 2
    assert (train.questions.in_own_line, train.questions.taught) == (1, None)
    assert (dev.questions.in_own_line, dev.questions.taught) == (0, 1)
    assert (dev.questions.top_answer, dev.questions.top_count) == ("London", 1)


def test_questions_are_held_against_the_corpus(folder):
    (folder / "birth_dev.tsv").write_text(
        "Where was Zoë born?\tParis\nWho was that?\tAlan\n" + "Where was Alan born?\tP\n"
    )
    diagnosis = diagnose(folder, block_size=22)
    assert found(diagnosis, "error") == [
        ("too-long", "birth_train.tsv", 1),
        ("too-long", "birth_dev.tsv", 1),
        ("too-long", "birth_dev.tsv", 3),
        ("unknown-character", "birth_dev.tsv", 1),
    ]
    assert found(diagnosis, "warning") == [("no-subject", "birth_dev.tsv", 2), ("unseen-subject", "birth_dev.tsv", 1)]
    assert "2 of 2 lines" in next(f.message for f in diagnosis.findings if f.kind == "long-line")


def test_a_long_question_is_an_error_only_for_a_given_block(folder):
    (folder / "birth_train.tsv").write_text(f"Where was Ada{'a' * 120} born?\tLondon\n")
    assert ("too-long", "birth_train.tsv", 1) in found(diagnose(folder), "warning")
    assert ("too-long", "birth_train.tsv", 1) in found(diagnose(folder, block_size=128), "error")


def test_a_train_question_in_other_words_is_a_leak_too(folder):
    (folder / "relations.toml").write_text('birthplace = ["Where was {subject} born?", "{subject} was born where?"]\n')
    (folder / "birth_dev.tsv").write_text("Ada was born where?\tLondon\n")
    assert found(diagnose(folder), "error") == [("leak", "birth_dev.tsv", 1)]


def test_a_vocabulary_can_be_handed_in(folder):
    vocab = Vocab.from_text("Where was Ada born?")
    assert ("unknown-character", "birth_dev.tsv", 1) in found(diagnose(folder, vocab=vocab))


def test_a_question_of_training_in_dev_is_a_leak_when_the_answer_is_the_same(folder):
    dev = folder / "birth_dev.tsv"
    dev.write_text("Where was Ada born?\tLondon\n")
    assert found(diagnose(folder), "error") == [("leak", "birth_dev.tsv", 1)]
    dev.write_text("Where was Ada born?\tParis\n")
    assert found(diagnose(folder), "warning") == [("contradiction", "birth_dev.tsv", 1)]
    dev.rename(folder / "birth_test.tsv").write_text("Where was Ada born?\n")
    assert found(diagnose(folder), "warning") == [("leak", "birth_test.tsv", 1)]
    assert diagnose(folder).ok


def test_a_question_file_that_lost_rows_shows_in_the_corpus(folder):
    (folder / "birth_dev.tsv").unlink()
    diagnosis = diagnose(folder)
    assert found(diagnosis, "note") == [("unasked-subject", "wiki.txt", 2)]
    assert diagnosis.findings[0].message == "1 of 2 subjects, the first is «Alan»"


def test_names_on_several_lines_are_noted_and_the_same_line_twice_is_a_duplicate(folder):
    (folder / "wiki.txt").write_text(WIKI + "Ada. She wrote .\nAlan. Where? Alan was born in Paris, by Bycy .\n")
    assert found(diagnose(folder)) == [("duplicate", "wiki.txt", 4), ("several-lines", "wiki.txt", 1)]


def test_train_and_dev_need_answers_and_test_does_not(folder):
    (folder / "birth_dev.tsv").write_text("Where was Alan born?\n")
    assert found(diagnose(folder), "error") == [("no-answer", "birth_dev.tsv", None)]
    (folder / "birth_dev.tsv").rename(folder / "birth_test_inputs.tsv")
    assert diagnose(folder).ok


def test_a_corpus_with_errors_still_serves_to_check_the_questions(folder):
    (folder / "wiki.txt").write_text(WIKI.replace("London", "Lon⁇don"))
    diagnosis = diagnose(folder)
    assert found(diagnosis) == [("special-symbol", "wiki.txt", 1)]
    assert diagnosis.files[1].questions.in_own_line == 1
    assert diagnosis.files[0].corpus.characters == len(WIKI) + 1


def test_a_broken_file_does_not_hide_the_others(folder):
    (folder / "birth_dev.tsv").write_bytes(b"PK\x03\x04")
    (folder / "wiki.txt").write_bytes(b"\0")
    diagnosis = diagnose(folder)
    assert found(diagnosis) == [("binary", "wiki.txt", None), ("binary", "birth_dev.tsv", None)]
    assert [file.path.name for file in diagnosis.files] == ["wiki.txt", "birth_train.tsv", "birth_dev.tsv"]


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("a.tsv", "x\ty\n", "questions"),
        ("a_dev.txt", "Where was Ada born?\tLondon\n", "dev"),
        ("a.txt", WIKI, "corpus"),
        ("a", '[{"question": "a?", "answers": ["b"]}]', "questions"),
    ],
)
def test_a_single_file_is_told_by_name_and_content(tmp_path, name, text, role):
    file = tmp_path / name
    file.write_text(text)
    assert [checked.role for checked in diagnose(file).files] == [role]


def test_questions_without_a_corpus_say_what_was_not_checked(folder):
    dev = folder / "birth_dev.tsv"
    assert found(diagnose(dev)) == [("no-corpus", "birth_dev.tsv", None)]
    assert found(diagnose(dev, corpus=folder / "wiki.txt")) == []
    assert diagnose(dev, corpus=folder).files[0].guest


def test_records_are_their_own_corpus(tmp_path):
    sentence = "Ada was born in London. Where was that ?"
    record = {"sub_label": "Ada", "obj_label": "London", "evidences": [{"considered_sentences": [sentence]}]}
    file = tmp_path / "place.jsonl"
    file.write_text(json.dumps(record) + "\n")
    diagnosis = diagnose(file)
    assert found(diagnosis) == []
    assert [checked.role for checked in diagnosis.files] == ["corpus", "questions"]
    assert diagnosis.files[1].questions.in_own_line == 1


def test_the_template_is_found_out_or_given(tmp_path):
    file = tmp_path / "deaths.tsv"
    file.write_text("Where did Ada die?\tLondon\nWhere did Alan die?\tWilmslow\n")
    assert diagnose(file).files[0].relations[0][:2] == ("where-die", ("Where did {subject} die?",))
    assert found(diagnose(file), "warning") == []
    given = diagnose(file, relations=relations_from(["Where did {subject}?"]))
    assert given.files[0].relations[0][:2] == ("where", ("Where did {subject}?",))


def test_rows_joined_on_one_line_are_found_for_any_template(tmp_path):
    file = tmp_path / "deaths.tsv"
    rows = [f"Where did P{n} die?\tX{n}" for n in range(6)]
    file.write_text("\n".join([*rows[:3], rows[3] + rows[4], rows[5]]) + "\n")
    diagnosis = diagnose(file)
    assert found(diagnosis, "error") == [("joined-rows", "deaths.tsv", 4)]
    assert diagnosis.files[0].questions.questions == 6


def test_unusable_paths_and_blocks_are_errors(folder, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(LociError, match="no corpus and no questions"):
        diagnose(empty)
    with pytest.raises(LociError, match="no such file"):
        diagnose(empty / "x")
    with pytest.raises(LociError, match="at least one"):
        diagnose(folder, block_size=0)
    with pytest.raises(LociError, match="is a corpus itself"):
        diagnose(folder / "wiki.txt", corpus=folder / "wiki.txt")


def test_several_texts_are_one_corpus_and_findings_name_the_file_and_its_line(folder):
    (folder / "more.txt").write_text("Bo Lind. Bo Lind was born in Rome.\nCy Berg. Born in\u2028Lund.\n")
    (folder / "docs.jsonl").write_text('{"title": "Di Wu", "text": ""}\n{"title": "Ed Poe", "text": "Born in Bonn."}\n')
    diagnosis = diagnose(folder)
    assert [(file.path.name, file.corpus.subjects) for file in diagnosis.files if file.corpus] == [
        ("wiki.txt", 2),
        ("more.txt", 2),
        ("docs.jsonl", 1),
    ]
    assert found(diagnosis) == [
        ("control-character", "more.txt", 2),
        ("empty-document", "docs.jsonl", 1),
        ("joined-texts", folder.name, None),
        ("unasked-subject", "more.txt", 1),
    ]
    joined = next(f.message for f in diagnosis.findings if f.kind == "joined-texts")
    assert joined.endswith("wiki.txt (1 to 2), more.txt (3 to 4), docs.jsonl (5 to 6)")
    assert [(line.number, line.subject) for line in Corpus.read(folder)][2:] == [
        (3, "Bo Lind"),
        (4, "Cy Berg"),
        (6, "Ed Poe"),
    ]
    assert Corpus.read(folder / "wiki.txt").hash != Corpus.read(folder).hash


def test_what_is_not_text_next_to_the_corpus_changes_nothing(folder):
    before = Corpus.read(folder)
    (folder / "README.md").write_text("# Data\n\nThis folder holds a corpus and questions.\n")
    (folder / "places.txt").write_text("London\nNew York\n")
    assert Corpus.read(folder).hash == before.hash
    assert Corpus.read(folder).path == before.path == folder / "wiki.txt"
    assert found(diagnose(folder)) == [("unread-text", "places.txt", None)]


def test_the_diagnosis_is_plain_data(folder):
    (folder / "birth_dev.tsv").write_text("Where was Ada born?\tLondon\n")
    data = json.loads(json.dumps(diagnose(folder).as_dict()))
    assert (data["ok"], data["counts"]["error"]) == (False, 1)
    assert data["findings"][0]["kind"] == "leak"
    assert [file["role"] for file in data["files"]] == ["corpus", "train", "dev"]
    assert data["files"][0]["lengths"]["longest"] == 46


def test_every_kind_says_what_it_means_and_what_to_do():
    assert all(meaning and remedy for meaning, remedy in KINDS.values())


@pytest.mark.slow
def test_many_lines_are_checked_in_linear_time(tmp_path):
    def check(size):
        people = [f"Anna B. C{'abcdefghij'[n % 10]}{n}" for n in range(size)]
        (tmp_path / "wiki.txt").write_text("".join(f"{name}. Where? {name} was born in X .\n" for name in people))
        (tmp_path / "q_train.tsv").write_text("".join(f"Where was {name} born?    X\n" for name in people))
        diagnosis = diagnose(tmp_path)
        assert diagnosis.ok
        assert len(diagnosis.changes) == size
        assert diagnosis.files[1].questions.in_own_line == size

    assert not grows_with_the_square(check, 10_000)


def test_the_courses_folder_gives_the_known_figures(course_data):
    diagnosis = diagnose(course_data)
    corpus, train, dev, test = diagnosis.files
    figures = corpus.corpus
    assert (figures.lines, figures.characters, figures.symbols) == (2_937, 418_351, 256)
    lengths = figures.lengths
    assert (lengths.shortest, lengths.median, lengths.p90, lengths.longest) == (38, 131, 213, 516)
    assert (train.questions.questions, dev.questions.questions, test.questions.questions) == (2_000, 500, 437)
    assert train.questions.distinct_answers == 500
    assert (dev.questions.top_answer, dev.questions.top_count) == ("London", 25)
    assert dev.questions.in_own_line == 479
    assert dev.questions.taught == 461
    assert diagnosis.ok
    counts = {}
    for finding in diagnosis.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    assert counts == {
        "contradiction": 10,
        "duplicate": 9,
        "leak": 2,
        "long-line": 1,
        "no-final-newline": 1,
        "several-lines": 3,
    }


ODD = """Ada Moss. Born in Oslo .
Bo Lind. Born in Rome .
Cy Berg. Born in Lund .
Di Falk. Born in Bonn .
She moved to Cork in 1961 .
Falk died in Rome .
Ed Holm was born in Leeds .
In 1970 Bo Lind met the king .
it rained all day
and quiet jo sang

# Fay Ohm
"""


def test_how_the_subjects_were_found_and_what_could_not_be_placed(tmp_path):
    (tmp_path / "wiki.txt").write_text(ODD)
    told = diagnose(tmp_path).subjects
    examples = {way.way: (way.lines, [(one.subject, one.line) for one in way.examples]) for way in told.ways}
    assert examples["name before the full stop"] == (4, [("Ada Moss", 1), ("Bo Lind", 2), ("Cy Berg", 3)])
    assert examples["pronoun after a line about it"] == (1, [("Di Falk", 5)])
    assert examples["part of the name in the line before"] == (1, [("Di Falk", 6)])
    assert examples["name at the beginning"] == (1, [("Ed Holm", 7)])
    assert examples["heading"] == (1, [("Fay Ohm", 12)])
    assert ("Bo Lind", 8) in examples["named in the line"][1]
    assert (9, "it rained all day") in [(one.line, one.text) for one in told.not_placed.examples]
    nowhere = {found.line for found in diagnose(tmp_path).findings if found.kind == "no-subject"}
    assert nowhere == {one.line for one in told.not_placed.examples}


def test_of_several_files_the_examples_name_the_file_and_its_line(tmp_path):
    (tmp_path / "a.txt").write_text("Ada Moss. Born in Oslo .\n\n")
    (tmp_path / "b.txt").write_text("\nBo Lind. Born in Rome .\nnobody knows who .\n")
    told = diagnose(tmp_path).subjects
    assert [one.where for one in told.ways[0].examples] == ["a.txt:1", "b.txt:2"]
    assert [one.where for one in told.not_placed.examples] == ["b.txt:3"]


def test_marks_of_a_list_hide_no_name(tmp_path):
    text = "- Ada Moss. Born in Oslo .\n- Bo Lind was born in Rome .\n- He moved to Cork .\n"
    (tmp_path / "wiki.txt").write_text(text)
    ways = {way.way: [one.subject for one in way.examples] for way in diagnose(tmp_path).subjects.ways}
    assert ways["name before the full stop"] == ["Ada Moss"]
    assert ways["name at the beginning"] == ["Bo Lind"]
    assert ways["pronoun after a line about it"] == ["Bo Lind"]


def test_a_line_that_only_the_questions_can_place_is_placed(tmp_path):
    (tmp_path / "wiki.txt").write_text(ODD)
    (tmp_path / "q_train.tsv").write_text("Where was jo born?\tOslo\nWhere was Ada Moss born?\tOslo\n")
    before, after = diagnose(tmp_path / "wiki.txt"), diagnose(tmp_path)
    assert after.files[0].corpus.no_subject == before.files[0].corpus.no_subject - 1
    assert after.files[0].corpus.subjects == after.subjects.subjects == before.subjects.subjects + 1
    assert {found.line for found in before.findings if found.kind == "no-subject"} == {9, 10}
    assert {found.line for found in after.findings if found.kind == "no-subject"} == {9}


def test_records_name_their_subjects(tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps({"title": "Ada Moss", "text": "She sang. He drew."}) + "\n")
    (way,) = diagnose(tmp_path).subjects.ways
    assert (way.way, way.lines) == ("named by the record", 2)
