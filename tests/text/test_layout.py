import pytest

from loci.errors import LociError
from loci.text.layout import (
    find_corpora,
    find_questions,
    find_split,
    question_candidates,
    split_of,
    without_split,
)
from loci.text.unread import unread


def unread_files(folder, read):
    return [found.path for found in unread(folder, read)]


@pytest.fixture
def make(tmp_path):
    def build(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        return tmp_path

    return build


def test_the_course_layout_is_found_by_pattern(make):
    folder = make(wiki__txt="a", notes__txt="b", birth_dev__tsv="q", birth_places_train__tsv="q", x_test_y__tsv="q")
    assert find_corpora(folder) == (folder / "wiki.txt",)
    assert [(role, path.name) for role, path in question_candidates(folder)] == [
        ("train", "birth_places_train.tsv"),
        ("dev", "birth_dev.tsv"),
        ("test", "x_test_y.tsv"),
    ]


def names(folder):
    return [file.name for file in find_corpora(folder)]


def test_all_texts_and_documents_are_the_corpus_the_one_called_so_first(make):
    folder = make(a__txt="a")
    assert names(folder) == ["a.txt"]
    make(b__txt="b")
    assert names(folder) == ["a.txt", "b.txt"], "neither is a sentence: which one is meant cannot be told"
    make(b__txt="Bo Lind sings.\n", z__md="# Cy Berg\n\nHe drew.\n")
    assert names(folder) == ["b.txt", "z.md"]
    make(docs__jsonl='{"title": "Ada", "text": "She sang."}\n', corpus__txt="a")
    assert names(folder) == ["corpus.txt", "b.txt", "z.md", "docs.jsonl"]
    make(wiki__txt="a")
    assert names(folder) == ["wiki.txt", "corpus.txt", "b.txt", "z.md", "docs.jsonl"]
    assert names(folder / "a.txt") == ["a.txt"]


def test_what_is_about_the_data_or_asks_or_lists_or_was_said_is_no_corpus(make):
    said = "A sentence of five words.\n"
    folder = make(wiki__txt="a", README__md=said, LICENSE__txt=said, vanilla__predictions__txt=said, q_dev__txt=said)
    make(places__txt="Oslo\nNew York\n", q__txt="Where was Ada Moss born?\tOslo\n", readmes__txt=said)
    assert names(folder) == ["wiki.txt", "readmes.txt"]
    assert [file.name for file in unread_files(folder, find_corpora(folder))] == ["places.txt", "q.txt", "q_dev.txt"]


def test_a_readme_is_the_corpus_where_there_is_nothing_else(make):
    folder = make(README__txt="Ada Moss sings.\n", q_train__txt="Where was Ada Moss born?\tOslo\n")
    assert names(folder) == ["README.txt"]
    make(docs__jsonl='{"title": "Ada", "text": "She sang."}\n')
    assert names(folder) == ["docs.jsonl"]


def test_google_re_records_serve_as_corpus_where_there_is_no_text(make):
    folder = make(place__jsonl='{"sub_label": "A"}\n', other__jsonl='{"question": "?"}\n')
    assert names(folder) == ["place.jsonl"]
    make(docs__jsonl='{"title": "Ada", "text": "She sang."}\n')
    assert names(folder) == ["docs.jsonl"]


def test_a_folder_without_an_obvious_file_lists_the_candidates(make):
    folder = make(x_train__tsv="q", x_dev__tsv="q")
    with pytest.raises(LociError, match=r"2 files could be the question file: x_train.tsv, x_dev.tsv"):
        find_questions(folder)


def test_an_empty_folder_says_what_it_should_hold(tmp_path):
    with pytest.raises(LociError, match=r"no corpus .*wiki\.txt"):
        find_corpora(tmp_path)
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
    folder = make(wiki__txt="a", q_train__ods="q,a\n", notes__csv="x", q_dev__tsv="Where?\tb\n", test="x")
    assert unread_files(folder, [folder / "wiki.txt", folder / "q_dev.tsv"]) == [
        folder / "q_train.ods",
        folder / "test",
    ]


def test_questions_of_no_split_next_to_those_of_one_are_told_if_they_have_answers(make):
    folder = make(job_train__tsv="What was Ada?\tpoet\n", birth__tsv="Where was Ada born?\tOslo\n")
    make(unstated__tsv="Where was Bo born?\n", people__jsonl='{"name": "Ada"}\n', repairs__tsv="Where?\tb\n")
    make(more__json='[{"question": "Where was Cy born?", "answers": ["Rome"]}]')
    assert unread_files(folder, [folder / "job_train.tsv"]) == [folder / "birth.tsv", folder / "more.json"]


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
