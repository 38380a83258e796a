import pytest

from loci.errors import LociError
from loci.text.layout import (
    find_corpus,
    find_questions,
    find_split,
    question_candidates,
    split_of,
    unread_files,
    without_split,
)


@pytest.fixture
def make(tmp_path):
    def build(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        return tmp_path

    return build


def test_the_course_layout_is_found_by_pattern(make):
    folder = make(wiki__txt="a", notes__txt="b", birth_dev__tsv="q", birth_places_train__tsv="q", x_test_y__tsv="q")
    assert find_corpus(folder) == folder / "wiki.txt"
    assert [(role, path.name) for role, path in question_candidates(folder)] == [
        ("train", "birth_places_train.tsv"),
        ("dev", "birth_dev.tsv"),
        ("test", "x_test_y.tsv"),
    ]


def test_the_corpus_is_wiki_then_corpus_then_the_only_text(make):
    folder = make(a__txt="a")
    assert find_corpus(folder).name == "a.txt"
    make(corpus__txt="a")
    assert find_corpus(folder).name == "corpus.txt"
    make(wiki__txt="a")
    assert find_corpus(folder).name == "wiki.txt"
    assert find_corpus(folder / "a.txt").name == "a.txt"


def test_google_re_records_serve_as_corpus_where_there_is_no_text(make):
    folder = make(place__jsonl='{"sub_label": "A"}\n', other__jsonl='{"question": "?"}\n')
    assert find_corpus(folder).name == "place.jsonl"


def test_a_folder_without_an_obvious_file_lists_the_candidates(make):
    folder = make(a__txt="a", b__txt="b", x_train__tsv="q", x_dev__tsv="q")
    with pytest.raises(LociError, match=r"2 files could be the corpus: a.txt, b.txt"):
        find_corpus(folder)
    with pytest.raises(LociError, match=r"2 files could be the question file: x_train.tsv, x_dev.tsv"):
        find_questions(folder)


def test_an_empty_folder_says_what_it_should_hold(tmp_path):
    with pytest.raises(LociError, match=r"no corpus .*wiki\.txt"):
        find_corpus(tmp_path)
    with pytest.raises(LociError, match=r"no question file .*\*train\*"):
        find_questions(tmp_path)


def test_without_names_of_splits_the_content_decides_and_our_own_list_of_repairs_never_counts(make):
    folder = make(facts__tsv="a\tb\n", repairs__tsv="Where?\tb\n", q__tsv="Where was A born?\tB\n", c__json='{"x": 1}')
    assert find_questions(folder) == (folder / "q.tsv",)
    assert question_candidates(folder) == (("questions", folder / "q.tsv"),)


@pytest.mark.parametrize(
    ("name", "role", "rest"),
    [
        ("P19.DEV.json", "dev", "p19"),
        ("a.tsv", "questions", "a"),
        ("latest.tsv", "questions", "latest"),
        ("devices.jsonl", "questions", "devices"),
        ("constraint_train.tsv", "train", "constraint"),
        ("dev2.tsv", "dev", "2"),
        ("madeInTrain.tsv", "train", "made_in"),
        ("made-in.train.tsv", "train", "made-in"),
        ("birth_test_inputs.tsv", "test", "birth__inputs"),
        ("training.tsv", "train", ""),
        ("développement_détest.tsv", "questions", "développement_détest"),
    ],
)
def test_the_role_is_a_word_of_the_name(tmp_path, name, role, rest):
    assert split_of(tmp_path / name) == role
    assert without_split(tmp_path / name) == rest


def test_documents_are_no_questions_whatever_their_name_and_text(make):
    document = '{"title": "Delta Desk", "text": "Who could want more? It is made in Oslo."}\n'
    folder = make(devices__jsonl=document, test_docs__jsonl=document, questions__tsv="Where is it made?\tOslo\n")
    assert question_candidates(folder) == (("questions", folder / "questions.tsv"),)


def test_files_named_for_a_split_that_nobody_reads_are_told(make):
    folder = make(wiki__txt="a", q_train__csv="q,a\n", notes__csv="x", q_dev__tsv="Where?\tb\n", test="x")
    assert unread_files(folder, [folder / "wiki.txt", folder / "q_dev.tsv"]) == [
        folder / "q_train.csv",
        folder / "test",
    ]


def test_the_files_of_a_split_are_found_and_a_missing_one_is_said(make):
    folder = make(a_train__tsv="q?\ta\n", b_train__tsv="r?\tb\n", a_dev__tsv="s?\tc\n")
    assert [path.name for path in find_split(folder, "train")] == ["a_train.tsv", "b_train.tsv"]
    assert find_questions(folder, "train") == find_split(folder, "train")
    assert find_split(folder, "test") == ()
    with pytest.raises(LociError, match=r"no file of test questions in this folder .*\*train\*"):
        find_questions(folder, "test")


def test_what_the_course_commands_note_is_no_question_file(make):
    folder = make(birth_places_train__tsv="q", vanilla__pretrain__params__course__json="{}")
    assert find_split(folder, "train") == (folder / "birth_places_train.tsv",)
