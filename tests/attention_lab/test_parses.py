import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.parses import (
    ROOT,
    Parse,
    base_relation,
    denver,
    make_parse,
    parse_attention,
    parse_conllu,
    read_conllu,
    tree_fault,
)
from loci.errors import LociError


def row(number, form, head, relation, misc="_"):
    return "\t".join([str(number), form, "_", "_", "_", "_", str(head), relation, "_", misc])


def block(*rows):
    return "\n".join(["# text = whatever", *rows]) + "\n\n"


GOOD = block(
    row(1, "She", 2, "nsubj"),
    row("2-3", "don't", "_", "_", "SpaceAfter=No"),
    row(2, "do", 0, "root"),
    row(3, "n't", 2, "advmod"),
    "3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_",
    row(4, ".", 2, "punct"),
)


def test_reading_places_words_in_the_text():
    (parse,) = parse_conllu(GOOD).parses
    assert parse.text == "She don't."
    assert parse.words == ("She", "do", "n't", ".")
    assert [parse.text[a:b] for a, b in parse.spans] == list(parse.words)
    assert parse.heads == (1, ROOT, 1, 1)
    assert parse.root == 1
    assert parse.line == 2
    assert parse.arcs == [(1, 0, "nsubj"), (1, 2, "advmod"), (1, 3, "punct")]


def test_a_multiword_token_that_its_words_do_not_spell_leaves_the_sentence_out():
    bad = block(row("1-2", "del", "_", "_"), row(1, "de", 0, "root"), row(2, "el", 1, "det"))
    short = block(row("1-2", "dela", "_", "_"), row(1, "de", 0, "root"), row(2, "l", 1, "det"))
    bank = parse_conllu(bad + GOOD + short)
    assert len(bank.parses) == 1
    assert bank.respelt == 2


def test_limit_and_missing_last_blank_line_and_windows_ends():
    two = (GOOD + GOOD).rstrip("\n").replace("\n", "\r\n")
    assert len(parse_conllu(two).parses) == 2
    assert len(parse_conllu(two, limit=1).parses) == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (block(row(1, "a", 2, "x"), row(2, "b", 1, "x")), 2, "a cycle: 1 → 2 → 1"),
        (block(row(1, "a", 0, "root"), row(2, "b", 3, "x"), row(3, "c", 2, "x")), 3, "a cycle: 2 → 3 → 2"),
        (block(row(1, "a", 0, "root"), row(2, "b", 0, "root")), 3, "a second root: words 1 and 2"),
        (block(row(1, "a", 0, "root"), row(2, "b", 7, "x")), 3, "head 7 is no word of the sentence, which has 2"),
        (block(row(1, "a", 1, "x")), 2, "its own head"),
        (block(row(1, "a", "_", "x")), 2, "head '_' is not a number"),
        (block(row(1, "a", -1, "x")), 2, "head '-1' is not a number"),
        (block(row(1, "a", 0, "root"), row(3, "b", 1, "x")), 3, "word number '3', 2 was expected"),
        (GOOD + block("1 a"), 10, "10 columns, this line has 1"),
        (block(row("2-1", "ab", "_", "_"), row(1, "a", 0, "root")), 2, "not a range"),
        (block(row("1-3", "ab", "_", "_"), row(1, "ab", 0, "root")), 2, "ranges beyond"),
        (block(row(1, " ", 0, "root")), 2, "without a form"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path, text, line, message):
    path = tmp_path / "bad.conllu"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LociError, match=message) as caught:
        read_conllu(path)
    assert caught.value.line == line
    assert caught.value.path == path


def test_files_that_are_no_treebank_are_refused(tmp_path):
    with pytest.raises(LociError, match="no such file"):
        read_conllu(tmp_path / "absent")
    with pytest.raises(LociError, match="is a folder"):
        read_conllu(tmp_path)
    (tmp_path / "empty").write_text("# only a comment\n")
    with pytest.raises(LociError, match="no sentence"):
        read_conllu(tmp_path / "empty")
    with pytest.raises(LociError, match="limit must be"):
        parse_conllu(GOOD, limit=0)


def test_the_treebanks_are_read_whole(shared_data):
    for name in ("ewt_dev", "gum_bio"):
        path = shared_data / "ud" / f"{name}.conllu"
        if not path.is_file():
            pytest.skip(f"the treebank is absent: expected {path}")
        bank = read_conllu(path)
        raw = path.read_text(encoding="utf-8")
        sentences = raw.count("# sent_id")
        assert len(bank.parses) + bank.respelt == sentences
        assert bank.respelt < 0.02 * sentences
        texts = {line.removeprefix("# text = ") for line in raw.splitlines() if line.startswith("# text = ")}
        built = sum(parse.text in texts for parse in bank.parses)
        assert built > 0.99 * len(bank.parses)


trees = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.lists(st.integers(0, 10**6), min_size=n, max_size=n))
)


def random_tree(drawn):
    order, choices = drawn
    heads = [ROOT] * len(order)
    for place in range(1, len(order)):
        heads[order[place]] = order[choices[place] % place]
    return heads


@given(trees)
def test_every_tree_is_accepted_and_every_broken_one_is_not(drawn):
    heads = random_tree(drawn)
    assert tree_fault(heads) is None
    if len(heads) > 1:
        root = heads.index(ROOT)
        word = (root + 1) % len(heads)
        assert tree_fault([ROOT if at == word else head for at, head in enumerate(heads)]) is not None
        assert tree_fault([word if at == root else head for at, head in enumerate(heads)]) is not None


def test_denver_by_hand():
    parse = denver()
    words = parse.words
    objects = parse_attention(parse, "obj")
    assert objects[words.index("flight"), words.index("prefer")] == 1
    assert objects[words.index("I"), words.index("I")] == 1


@given(trees, st.lists(st.sampled_from(["nsubj", "obj", "det"]), min_size=9, max_size=9))
def test_one_head_per_label_carries_the_whole_parse(drawn, labels):
    heads = random_tree(drawn)
    relations = ["root" if head == ROOT else label for head, label in zip(heads, labels[: len(heads)], strict=True)]
    parse = make_parse([f"w{i}" for i in range(len(heads))], [head + 1 for head in heads], relations)
    read_back: list[tuple[int, str]] = [(ROOT, "root")] * len(heads)
    for label in ("nsubj", "obj", "det"):
        weights = parse_attention(parse, label)
        assert (weights >= 0).all()
        assert weights.sum(axis=1) == pytest.approx(np.ones(len(heads)))
        for word, target in enumerate(weights.argmax(axis=1).tolist()):
            if target != word:  # only a word without the relation looks at itself
                read_back[word] = (target, label)
    assert read_back == list(zip(heads, relations, strict=True))


def test_refinements_are_left_out():
    assert base_relation("nsubj:pass") == "nsubj"
    assert base_relation("det") == "det"


def test_bad_parses_are_refused():
    with pytest.raises(LociError, match="second root"):
        make_parse(["a", "b"], [0, 0], ["root", "root"])
    with pytest.raises(LociError, match="2 words have 1 heads"):
        make_parse(["a", "b"], [0], ["root", "x"])
    with pytest.raises(LociError, match="at least one word"):
        Parse("", (), (), (), ())
    with pytest.raises(AssertionError, match="out of order"):
        Parse("ab", ("ab",), (ROOT,), ("root",), ((0, 3),))
