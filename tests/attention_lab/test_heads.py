import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from loci.attention_lab.head_reading import parse_with_heads, random_model, read_attention, readable
from loci.attention_lab.heads import (
    collect_arcs,
    cross_fitted,
    directed_scores,
    looks_back,
    relation_scores,
    tree_scores,
    word_attention,
)
from loci.attention_lab.parses import denver, make_parse, parse_attention, read_conllu
from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.text.vocab import MASK, Vocab


def causal(rng, heads, width):
    scores = rng.standard_normal((heads, width, width))
    scores[:, ~np.tril(np.ones((width, width), dtype=bool))] = -np.inf
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def test_word_attention_by_hand():
    # "ab c": two words, a space between. Summed over the attended word, averaged over the attending one.
    weights = np.array([[[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.2, 0.2, 0.6, 0], [0.1, 0.2, 0.3, 0.4]]])
    words = word_attention(weights, [(0, 2), (3, 4)])
    assert words[0] == pytest.approx(np.array([[1.0, 0.0], [0.3, 0.4]]))


@given(st.integers(1, 6), st.integers(0, 99))
def test_word_attention_keeps_mass_and_causality(n, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, size=n)
    ends = np.cumsum(lengths)
    spans = [(int(end - length), int(end)) for end, length in zip(ends, lengths, strict=True)]
    words = word_attention(causal(rng, 3, int(ends[-1])), spans)
    assert words.sum(axis=-1) == pytest.approx(np.ones((3, n)))  # no spaces: nothing is lost
    assert (words[:, ~np.tril(np.ones((n, n), dtype=bool))] == 0).all()


def test_a_span_outside_the_attention_is_refused():
    with pytest.raises(LociError, match="ends at character 5"):
        word_attention(np.zeros((1, 4, 4)), [(0, 5)])


def test_looks_back_never_at_itself_or_ahead():
    weights = np.eye(4)[None] + 0.1 * np.tri(4)[None]
    weights[0, 3, 1] = 0.5
    assert looks_back(weights)[0].tolist() == [-1, 0, 0, 1]


def gold_attention(parse, jobs):
    """Heads that follow the parse as far as a causal model can: the later word of each arc looks at the earlier."""
    layers = []
    for direction in jobs:
        weights = np.zeros((len(parse), len(parse)))
        for head, word, _ in parse.arcs:
            if direction == "head" and head > word:
                weights[head, word] = 1 / (1 + word)
            if direction == "dependent" and word > head:
                weights[word, head] = 1.0
        layers.append(weights)
    return np.stack(layers)[:, None]


def some_parses():
    rows = [
        (["The", "dog", "saw", "a", "cat"], [2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"]),
        (["A", "man", "met", "the", "king"], [2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"]),
        (
            ["I", "ran", "to", "the", "old", "house"],
            [2, 0, 6, 6, 6, 2],
            ["nsubj", "root", "case", "det", "amod", "obl"],
        ),
    ]
    return [make_parse(*row) for row in rows] * 4 + [denver()] * 2


def test_heads_that_follow_the_parse_score_in_full_where_they_can_see():
    parses = some_parses()
    attentions = [gold_attention(parse, ("dependent", "head")) for parse in parses]
    arcs = collect_arcs(parses, attentions)
    scores = {(row.relation, row.direction): row for row in relation_scores(arcs, least=1)}
    assert scores["obj", "dependent"].rate.value == 1
    assert scores["obj", "dependent"].head == (0, 0)
    assert scores["nsubj", "head"].rate.value == 1
    assert scores["nsubj", "head"].head == (1, 0)
    assert ("obj", "head") not in scores  # every object stands behind its verb
    # "the old house": only one of house's three dependents can be looked at most.
    assert scores["all", "head"].rate.value < 1
    assert scores["all", "dependent"].rate.n + scores["all", "head"].rate.n == scores["all", "either"].rate.n
    assert scores["nsubj", "head"].distance == 1
    assert scores["nsubj", "head"].baseline.value == 1


def test_distance_baseline_is_the_best_fixed_one():
    parses = some_parses()
    arcs = collect_arcs(parses, [gold_attention(parse, ("dependent",)) for parse in parses])
    row = next(row for row in relation_scores(arcs, least=1) if (row.relation, row.direction) == ("obj", "either"))
    # obj: distance 2 in eight sentences, 3 in the two about Denver.
    assert row.distance == 2
    assert row.baseline.successes == 8
    assert row.baseline.n == 10


def test_a_pair_of_heads_that_knows_both_directions_finds_every_tree():
    parses = some_parses()
    attentions = [gold_attention(parse, ("dependent", "head")) for parse in parses]
    arcs = collect_arcs(parses, attentions)
    trees = tree_scores(parses, attentions, arcs)
    assert trees.directed.value == 1
    assert trees.undirected.value < 1  # one head alone sees half of the arcs
    assert 0 < trees.chain_directed.value <= trees.chain_undirected.value < 1


def test_directed_scores_use_the_later_word():
    to_head, to_dependent = np.arange(9.0).reshape(3, 3), 10 + np.arange(9.0).reshape(3, 3)
    scores = directed_scores(to_head, to_dependent)
    assert scores[0, 2] == to_head[2, 0]  # word 2 behind its head 0 looks at it
    assert scores[2, 0] == to_dependent[2, 0]  # head 2 behind its word 0 looks at it
    assert np.diag(scores).sum() == 0


def test_choosing_on_one_half_undoes_luck():
    rng = np.random.default_rng(0)
    hits = rng.random((400, 500)) < 0.5  # five hundred coins
    rate, best = cross_fitted(hits, np.arange(400))
    assert hits[:, best].mean() > 0.55
    assert rate.low < 0.5 < rate.high


def test_one_sentence_is_scored_though_there_is_nothing_to_choose_on():
    parse = denver()
    attention = [gold_attention(parse, ("dependent", "head"))]
    arcs = collect_arcs([parse], attention)
    assert relation_scores(arcs, least=1)
    assert tree_scores([parse], attention, arcs).undirected.n == len(parse.arcs)


def test_single_words_have_no_arcs():
    parse = make_parse(["Yes"], [0], ["root"])
    with pytest.raises(LociError, match="no sentence has an arc"):
        collect_arcs([parse], [np.ones((1, 1, 1, 1))])


def test_perfect_heads_of_the_lab_are_found_by_the_score():
    # α(label, word, w) of the exercise, fed to the score: an arc seen by its dependent is found.
    parse = denver()
    weights = np.stack([parse_attention(parse, label) for label in ("obj", "nmod")])[None]
    arcs = collect_arcs([parse], [weights])
    found = {relation: hit[0].tolist() for relation, hit in zip(arcs.relations, arcs.hits, strict=True)}
    assert found["obj"][0]
    assert found["nmod"][1]


VOCAB = Vocab.from_text("abcdefghijklmnopqrstuvwxyz ATDIH.")


def tiny(**changes):
    config = GPTConfig(len(VOCAB), block_size=32, n_layer=2, n_head=2, n_embd=16).replace(**changes)
    return GPT(config, generator=torch.Generator().manual_seed(1)).eval()


def test_unreadable_sentences_are_counted():
    parses = [make_parse(["The", "dog"], [2, 0], ["det", "root"]), make_parse(["Zoë"], [0], ["root"]), denver()]
    kept = readable(parses, VOCAB, block_size=32)
    assert (len(kept.parses), kept.unknown, kept.too_long, kept.masked) == (1, 1, 1, 0)
    masked = readable(parses, VOCAB, block_size=64, unknown="mask")
    assert (len(masked.parses), masked.unknown, masked.too_long, masked.masked) == (3, 0, 0, 2)
    assert masked.texts[1] == f"{MASK}o{MASK}"
    with pytest.raises(LociError, match="can read none of the 1 sentences: 1 contain"):
        readable(parses[1:2], VOCAB, block_size=64)


@pytest.mark.parametrize("positions", ["learned", "rope"])
def test_read_attention_is_the_trace_of_each_sentence_alone(positions):
    model = tiny(positions=positions)
    parses = [
        make_parse(row, [0] + [1] * (len(row) - 1), ["root"] + ["x"] * (len(row) - 1))
        for row in (["The", "dog", "ran"], ["A", "cat"], ["I", "had", "a", "dog", "and", "a", "hat"])
    ]
    sentences = readable(parses, VOCAB, 32)
    together = read_attention(model, VOCAB, sentences)
    for parse, weights in zip(parses, together, strict=True):
        assert weights.shape == (2, 2, len(parse), len(parse))
        ids = torch.from_numpy(VOCAB.encode(parse.text))[None]
        with torch.no_grad():
            trace = model(ids, trace=True).trace
        alone = word_attention(torch.stack(trace, dim=1)[0].numpy(), parse.spans)
        assert weights == pytest.approx(alone, abs=1e-6)


def test_reports_of_a_model_and_of_its_random_twin():
    model = tiny()
    sentences = readable(some_parses(), VOCAB, 32)
    report = parse_with_heads(model, VOCAB, sentences, least=1)
    assert report.sentences == len(sentences.parses) == 12
    assert report.relations[0].relation == "all"
    twin = random_model(model, seed=0)
    assert twin.config == model.config
    assert parse_with_heads(twin, VOCAB, sentences, least=1).trees.undirected.n == report.trees.undirected.n


def test_an_untrained_model_does_not_parse_the_treebank(shared_data):
    path = shared_data / "ud" / "gum_bio.conllu"
    if not path.is_file():
        pytest.skip(f"the treebank is absent: expected {path}")
    bank = read_conllu(path, limit=60)
    vocab = Vocab.from_text("".join(parse.text for parse in bank.parses))
    model = GPT(GPTConfig(len(vocab), n_layer=2, n_head=2, n_embd=16), generator=torch.Generator().manual_seed(0))
    report = parse_with_heads(model.eval(), vocab, readable(bank.parses, vocab, 128), least=20)
    everything = next(row for row in report.relations if (row.relation, row.direction) == ("all", "either"))
    assert everything.rate.high < everything.baseline.low
    assert report.trees.undirected.high < report.trees.chain_undirected.low
