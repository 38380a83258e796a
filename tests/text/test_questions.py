import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.questions import Question, Questions
from loci.text.relations import relations_from
from loci.text.vocab import Vocab

ADA, ALAN = "Where was Ada born?", "Where was Alan born?"


@pytest.fixture
def read(tmp_path):
    def write_and_read(data, name="q.tsv", **options):
        file = tmp_path / name
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return Questions.read(file, **options)

    return write_and_read


def pairs(questions):
    return [(row.text, row.answers) for row in questions]


def kinds(findings):
    return [found.kind for found in findings]


def test_plain_tsv(read):
    questions = read(f"{ADA}\tLondon\n{ALAN}\tMaida Vale\n")
    assert questions.rows == (
        Question(ADA, ("London",), "Ada", 1, "birthplace"),
        Question(ALAN, ("Maida Vale",), "Alan", 2, "birthplace"),
    )
    assert questions[0].answer == "London"
    assert questions.subjects == ("Ada", "Alan")
    assert questions.findings == ()
    assert [row.text for row in questions[1:]] == [ALAN]


def test_questions_alone_are_a_test_file(read):
    questions = read(f"{ADA}\n{ALAN}\n")
    assert [row.answers for row in questions] == [(), ()]
    assert questions[0].answer is None
    assert questions.answered == ()


def test_any_template_serves(read):
    questions = read("Where did Ada die?\tLondon\n", relations=relations_from(["Where did {subject} die?"]))
    assert questions.subjects == ("Ada",)
    assert read("Where did Ada die?\tLondon\n").subjects == ()
    assert pairs(read("the capital of France\tParis\n")) == [("the capital of France", ("Paris",))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"\ufeff{ADA}\tLondon\n{ALAN}\tParis\n", "bom"),
        (f"{ADA}\tLondon\r\n{ALAN}\tParis\r\n", "crlf"),
        (f"{ADA}\tLondon\r{ALAN}\tParis\r", "lone-cr"),
        (f"{ADA}    London\n{ALAN}\tParis\n", "spaces-for-tab"),
        (f"{ADA}\tLondon\n\n{ALAN}\tParis\n", "empty-line"),
        (f"{ADA}\tLondon\n{ALAN}\tParis\n\n", "empty-line"),
        (f" {ADA}\tLondon \n{ALAN}\tParis\n", "surrounding-space"),
        (f"{ADA}\t\tLondon\n{ALAN}\tParis\n", "extra-column"),
        (f"{ADA}\tLondon\n{ALAN}\tParis\nquestion\tanswer\n", "repeated-header"),
        (f"{ADA}\tLondon\u2028\n{ALAN}\tParis\n", "control-character"),
    ],
)
def test_what_can_only_mean_one_thing_is_repaired_and_stated(read, text, kind):
    questions = read(text)
    assert pairs(questions) == [(ADA, ("London",)), (ALAN, ("Paris",))]
    assert kind in kinds(questions.repairs)


def test_a_missing_last_newline_is_only_noted(read):
    questions = read(f"{ADA}\tLondon")
    assert pairs(questions) == [(ADA, ("London",))]
    assert kinds(questions.findings) == ["no-final-newline"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no questions"),
        (f"{ADA}\tLondon\n{ALAN}\n", r"q\.tsv:2: no tab and answer"),
        (f"{ADA}\n{ALAN}\tLondon\n", r"q\.tsv:1: no tab and answer"),
        (f"{ADA}\tLondon\n{ALAN}\t \n", r"q\.tsv:2: the answer is empty"),
        (f"{ADA}\tLondon\n\tParis\n", r"q\.tsv:2: no question before"),
        (f"{ADA} London\n", r"q\.tsv:1: text after the question mark but no tab"),
        (f"{ADA}London\n{ALAN}Paris\n", r"q\.tsv:1: text after the question mark but no tab.*put one tab.*--repair"),
        (f"{ADA}: London\n", r"q\.tsv:1: no tab on any line, no question mark at the end of one.*tab"),
        (f"{ADA}\tLondon{ALAN}\tParis\n", r"q\.tsv:1: 2 questions on one line.*--repair"),
        (f"{ADA}\tLondon\tEngland\n", r"q\.tsv:1: 2 columns after the question"),
        (f"{ADA}⁇London⁇\n", r"q\.tsv:1: contains ⁇"),
        ("Ada. Ada was born in London .\nAlan. Alan too .\n", r"no tab and no question mark; the first is «Ada\."),
        (f"{ADA}\tLondon\n".encode() + b"Where was \xe9 born?\tX\n", r"q\.tsv:2: byte 0xe9"),
        (b"PK\x03\x04", "zip archive"),
    ],
)
def test_what_could_mean_two_things_is_an_error_with_its_place(read, text, message):
    with pytest.raises(LociError, match=message):
        read(text)


@pytest.mark.parametrize(
    "text", ["李白出生在哪里？", "أين ولد علي؟", 'Who wrote "Why?"?', 'Who wrote "Why?" and when?', "Is ?that? a name?"]
)
def test_questions_alone_end_with_a_question_mark_of_any_script(read, text):
    assert pairs(read(f"{text}\n")) == [(text, ())]


def test_an_answer_column_that_is_empty_throughout_means_no_answers(read):
    questions = read(f"{ADA}\t\n{ALAN}\t\n")
    assert pairs(questions) == [(ADA, ()), (ALAN, ())]
    assert kinds(questions.repairs) == ["empty-answer", "empty-answer"]


def test_duplicates_and_contradictions_are_read_and_recorded(read):
    questions = read(f"{ADA}\tLondon\n{ADA}\tLondon\n{ADA}\tEngland\n")
    assert len(questions) == 3
    assert [(found.kind, found.line, found.severity) for found in questions.findings] == [
        ("duplicate", 2, "warning"),
        ("contradiction", 3, "warning"),
    ]
    assert "«London» on line 1" in questions.findings[1].message


def test_a_question_with_two_answers_is_asked_once_and_both_are_accepted(read):
    asked = read(
        "Where was A born?\tRome\nWhere was B born?\tBonn\nWhere was A born?\tItaly\nWhere was A born?\tRome\n"
    )
    assert [(row.text, row.answers, row.number) for row in asked.merged()] == [
        ("Where was A born?", ("Rome", "Italy"), 1),
        ("Where was B born?", ("Bonn",), 2),
    ]
    assert len(asked) == 4, "each answer still teaches"
    assert asked[:2].merged() == asked[:2]
    assert Questions.from_pairs([]).merged() == Questions.from_pairs([])


def test_many_questions_are_merged_alike(read, monkeypatch):
    monkeypatch.setattr("loci.text.questions.PACKED_FROM", 2)
    asked = read("Where was A born?\tRome\nWhere was B born?\tBonn\nWhere was A born?\tItaly\n")
    assert isinstance(asked.merged().rows, type(asked.rows))
    assert [row.answers for row in asked.merged()] == [("Rome", "Italy"), ("Bonn",)]


def test_two_question_marks_are_only_a_diagnosis(read):
    questions = read("Where was Ada born??\tLondon\n")
    assert kinds(questions.findings) == ["typed-mask", "no-subject"]
    assert questions[0].text == "Where was Ada born??"


def test_a_folder_needs_one_question_file(tmp_path):
    (tmp_path / "x_dev.tsv").write_text(f"{ADA}\tLondon\n")
    assert len(Questions.read(tmp_path)) == 1
    (tmp_path / "x_train.tsv").write_text(f"{ADA}\tLondon\n")
    with pytest.raises(LociError, match=r"x_train\.tsv, x_dev\.tsv"):
        Questions.read(tmp_path)


# The other forms.

POPQA = "id\tsubj\tprop\tobj\ts_aliases\tquestion\tpossible_answers\n"


def test_popqa(read):
    answers = '"[""politician"", ""political leader""]"'
    questions = read(POPQA + f"7\tAda\toccupation\tpolitician\t[]\tWhat is Ada's occupation?\t{answers}\n")
    expected = Question("What is Ada's occupation?", ("politician", "political leader"), "Ada", 2, "occupation")
    assert questions.rows == (expected,)


def test_a_table_of_ones_own_with_a_header(read):
    questions = read(f'\tAnswer\tQuestion\n0\tLondon\t{ADA}\n1\tParis\t"Where was ""Doc"" born?"\n')
    assert pairs(questions) == [(ADA, ("London",)), ('Where was "Doc" born?', ("Paris",))]
    assert pairs(read(f"question\n{ADA}\n")) == [(ADA, ())]


def test_the_word_question_may_be_an_answer(read):
    assert pairs(read("What is this?\tQuestion\n")) == [("What is this?", ("Question",))]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (f"1\tAda\tp\tLondon\t[]\t{ADA}\t[broken\n", "not a JSON list"),
        (f"1\tAda\tp\t\t[]\t{ADA}\t[]\n2\tB\tp\tX\t[]\t{ALAN}\t[]\n", "the answer is empty"),
        (f"1\tAda\tp\tLondon\t[]\t{ADA}\t[]\textra\n", "8 columns, the header names 7"),
        ("1\tAda\tp\tLondon\t[]\t\t[]\n", "the question is empty"),
        (f'1\tAda\tp\tLondon\t[]\t{ADA}\t["\\ud800"]\n', "half a character"),
    ],
)
def test_a_broken_row_of_a_table_is_an_error(read, row, message):
    with pytest.raises(LociError, match=rf"q\.tsv:2: .*{message}"):
        read(POPQA + row)


def test_entity_questions(read):
    data = [{"question": ADA, "answers": ["London", "City of London"]}, {"question": ALAN, "answers": ["Paris"]}]
    for indent in (None, 2):
        questions = read(json.dumps(data, indent=indent), "P19.test.json")
        assert pairs(questions) == [(ADA, ("London", "City of London")), (ALAN, ("Paris",))]
        assert questions.subjects == ("Ada", "Alan")
    assert questions[1].number == 9


def test_json_lines_of_questions(read):
    lines = [{"question": ADA, "answer": "London"}, {"question": ALAN, "answer": 1912, "subject": "A. Turing"}]
    questions = read("\n".join(map(json.dumps, lines)), "q.jsonl")
    assert pairs(questions) == [(ADA, ("London",)), (ALAN, ("1912",))]
    assert questions.subjects == ("Ada", "A. Turing")


def test_google_re_records_are_asked_with_the_template(read):
    record = {"sub_label": "Ada", "obj_label": "London", "obj_aliases": ["Londinium"], "evidences": []}
    questions = read(json.dumps(record), "place.jsonl")
    assert questions.rows == (Question(ADA, ("London", "Londinium"), "Ada", 1, "birthplace"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"question": "a?", "answers": ["b"]}, 3]', "an object in braces"),
        ('[{"question": "a?", "answers": ["b"]} {"question"', "a comma is missing"),
        ('[{"question": "a?", "answers": ["b"]},\n{"question": ', ":2: not valid JSON"),
        ('[{"question": "a?", "answers": ["b"]}] trailing', "after the end of the list"),
        ('[{"question": "a?", "answers": ["b"]}', "the list breaks off"),
        ('{"question": "a?", "answers": ["b"]}\n{"query": "c"}', ":2: no question and no subject .* query"),
        ('{"question": "a?", "answers": ["b"]}\n' + '{"a":' * 100_000, ":2: not valid JSON"),
        ('{"question": "a?", "n": ' + "9" * 5000 + "}", ":1: not valid JSON"),
        ('{"question": "a?", "answers": ["\\ud800"]}', "half a character"),
        ('{"question": " ", "answers": ["b"]}', "the question is empty"),
    ],
)
def test_broken_json_is_an_error_with_its_line(read, text, message):
    with pytest.raises(LociError, match=message):
        read(text, "q.json")


def test_a_column_or_a_field_names_the_relation(read):
    table = read(f"question\tanswer\trelation\n{ADA}\tLondon\tplace\nWhat did Ada do?\tmathematics\tfield\n")
    assert [row.relation for row in table] == ["place", "field"]
    lines = [{"question": ADA, "answer": "London"}, {"question": "What did Ada do?", "answer": "x", "relation": "job"}]
    assert [row.relation for row in read("\n".join(map(json.dumps, lines)), "q.jsonl")] == ["birthplace", "job"]
    assert [row.relation for row in read("What is this?\ta\n")] == [""]


# Writing, hashing, fitting a model.

words = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="□⁇\ufeff"), min_size=1)
words = words.map(str.strip).filter(bool)


@settings(max_examples=40)  # each example is written and fsynced
@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3, unique=True)), min_size=1))
def test_what_is_written_reads_back_the_same(tmp_path_factory, rows):
    made = Questions(None, tuple(Question(q, tuple(a), None, 1) for q, a in rows))
    file = tmp_path_factory.mktemp("questions") / "q.tsv"
    made.write(file)
    assert pairs(Questions.read(file)) == pairs(made)


@settings(max_examples=40)
@given(st.lists(words.map(lambda word: word + "?"), min_size=1), st.booleans())
def test_pairs_written_read_back_the_same(tmp_path_factory, texts, answered):
    made = Questions.from_pairs([(text, "x" if answered else None) for text in texts])
    file = tmp_path_factory.mktemp("questions") / "q.tsv"
    made.write(file)
    read = Questions.read(file)
    assert pairs(read) == pairs(made)
    assert read.hash == made.hash


def test_plain_questions_are_written_as_the_course_writes_them(tmp_path):
    Questions.from_pairs([(ADA, "London"), (ALAN, "Paris")]).write(tmp_path / "q.tsv")
    assert (tmp_path / "q.tsv").read_text() == f"{ADA}\tLondon\n{ALAN}\tParis\n"


def test_the_hash_knows_questions_and_answers():
    hashes = {Questions.from_pairs(rows).hash for rows in ([(ADA, "x")], [(ADA, "y")], [(ALAN, "x")], [(ADA, None)])}
    assert len(hashes) == 4
    assert Questions.from_pairs([(ADA, "x")]).hash == Questions.from_pairs([(ADA, "x")]).hash


@pytest.mark.parametrize("pair", [("", "a"), ("a\tb", "c"), ("a", " "), ("a", "b\n")])
def test_a_question_is_one_line_of_text(pair):
    with pytest.raises(LociError, match="one line of text"):
        Questions.from_pairs([pair])


def test_a_model_must_be_able_to_take_the_questions():
    questions = Questions.from_pairs([(ADA, "London"), ("Where was Zoë born?", "Paris")])
    ascii_only = Vocab.from_text("".join(map(chr, range(32, 127))))
    with pytest.raises(LociError, match=r"line 2: .*'ë' \(U\+00EB\)"):
        questions.require(ascii_only, 128)
    questions[:1].require(ascii_only, 27)  # 19 + 6 + two masks
    with pytest.raises(LociError, match="27 symbols with answer and masks, the block has 26"):
        questions.require(ascii_only, 26)


pieces = [ADA, ALAN, "\t", " ", "  ", "\n", "\r\n", "⁇", "□", "?", "??", "question", "answers", "London", '"', "[", "{"]
pieces += ['{"question": "a?", "answers": ["b"]}', '{"sub_label": "A", "obj_label": 3}', "\x0b", "\ufeff", "]", ","]
fragments = st.lists(st.sampled_from(pieces), max_size=20).map("".join)


@given(st.binary() | fragments.map(str.encode), st.sampled_from(["q.tsv", "q.txt", "q.json", "q.jsonl"]))
def test_reading_any_bytes_raises_nothing_but_a_loci_error(tmp_path_factory, data, name):
    file = tmp_path_factory.mktemp("bytes") / name
    file.write_bytes(data)
    try:
        questions = Questions.read(file)
    except LociError:
        return
    assert len(questions) > 0
    assert len({bool(row.answers) for row in questions}) == 1


@pytest.mark.parametrize(
    ("name", "count", "answers"),
    [("birth_places_train.tsv", 2_000, 500), ("birth_dev.tsv", 500, 247), ("birth_test_inputs.tsv", 437, 0)],
)
def test_the_courses_questions_are_read_as_they_are(course_data, name, count, answers):
    questions = Questions.read(course_data / name)
    assert len(questions) == count
    assert len({row.answer for row in questions.answered}) == answers
    assert all(row.subject for row in questions)
    assert questions.repairs == ()
    assert {found.kind for found in questions.findings} <= {"contradiction"}
