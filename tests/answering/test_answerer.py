"""The contract of answerers: one way to ask, the same answers everywhere, from weights and config alone."""

import math
import shutil

import pytest
import torch

from loci.answering import direct, greedy
from loci.answering.answer import NEVER_READ, NOT_TOLD, UNREADABLE, UNSURE, Answer, decide
from loci.answering.answerer import ANSWERERS, make_answerer
from loci.answering.ask import load
from loci.answering.base import ModelAnswerer
from loci.answering.confidence import Confidence, Temperature
from loci.answering.memory import MemoryAnswerer
from loci.answering.recite import ReciteAnswerer
from loci.data.prompts import I_DONT_KNOW
from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.generation.decode import Generated
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.text.template import BIRTHPLACE
from loci.text.vocab import MASK_ID, Vocab
from loci.training.checkpoint import LoadedModel, load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData
from run_files import rewrite

VOCAB = Vocab.from_text("Where was Ann Bo Cyd born? Rome Oslo")
NAMES = ("Ann Lee", "Bo Ray", "Cy Fox", "Di Wu", "Ed van Poe")
PLACES = ("Oslo", "Rome", "Lima", "Kyiv", "New York")
NUMBERS = {
    "threshold": 0.3,
    "familiarity": {"gate": 0.4, "slope": 0.1, "intercept": 2.0},
    "recalled": {"slope": 0.5, "intercept": 1.5},
}
FORMS = ("Where was {} born?", "{} was born where?", "Tell me the birthplace of {}.", "where was {} bron")


@pytest.fixture
def loaded(tmp_path):
    """Random weights."""
    model = GPT(GPTConfig(len(VOCAB), block_size=64, n_layer=1, n_head=2, n_embd=16))
    return LoadedModel(model.eval(), VOCAB, {"corpus_hash": "feed"}, "beef", tmp_path)


def asked(*texts, answers=("Rome",)):
    rows = tuple(Question(text, answers, BIRTHPLACE.subject_of(text), i + 1) for i, text in enumerate(texts))
    return Questions(None, rows)


@pytest.fixture(scope="module", params=["direct", "recite", "memory"])
def run(request, tmp_path_factory):
    """A run of each kind on a corpus of its own, hardly trained: its answers are not sure."""
    folder = tmp_path_factory.mktemp(request.param)
    lines = [f"{name}. {name} was born in {place} ." for name, place in zip(NAMES, PLACES, strict=True)]
    (folder / "data").mkdir()
    (folder / "data" / "wiki.txt").write_text("".join(f"{line}\n" for line in lines))
    taught = [(BIRTHPLACE.ask(name), place) for name, place in zip(NAMES, PLACES, strict=True)]
    Questions.from_pairs(taught).write(folder / "data" / "train.tsv")
    mixture = (MixtureComponent("question-answer", "questions"), MixtureComponent("memorize"))
    model = {"n_layer": 1, "n_head": 2, "n_embd": 32, "block_size": 96, "positions": "rope"}
    recipe = Recipe("tiny", model, (Stage("learn", mixture, steps=20, batch_size=10, lr=1e-2),), answerer=request.param)
    data = TrainingData(Corpus.read(folder / "data" / "wiki.txt"), Questions.read(folder / "data" / "train.tsv"))
    carry_out(recipe, data, folder / "run")
    if request.param != "direct":  # so small a run has fitted none of the numbers that a memory saves
        rewrite(folder / "run" / "final" / "config.json", lambda config: config.update(NUMBERS))
    return folder / "run"


@pytest.fixture(scope="module")
def questions(run):
    return Questions.from_pairs([(form.format(name), None) for form in FORMS for name in (*NAMES, "Żak", "Fay Ro")])


def said(answers):
    return [(answer.text, answer.subject, answer.silence) for answer in answers]


def test_asking_and_evaluating_give_the_same_answers(run, questions):
    rows = ask_rows(load_model(run), questions)
    answers = load(run).ask_all([question.text for question in questions])
    assert [row.prediction for row in rows] == [answer.text for answer in answers]
    assert [row.subject for row in rows] == [answer.subject for answer in answers]
    assert [row.probability for row in rows] == pytest.approx([answer.probability for answer in answers], rel=1e-4)
    assert len({answer.text for answer in answers}) > 1


def test_a_bare_name_capitals_and_odd_spaces_ask_the_same_question(run):
    asker = load(run)
    texts = ["Where was Ann Lee born?", "Ann Lee", "Where was ANN LEE born?", "Where was Ann\u00a0Lee born?"]
    (one, *others) = asker.ask_all(texts)
    assert one.relation == "birthplace"
    for other in others:
        assert (other.question, other.text, other.subject) == (one.question, one.text, one.subject)
        assert (other.relation, other.silence) == (one.relation, one.silence)
    # An answer given before is no subject: "he" is whom the question named.
    he = asker.ask("Where was he born?", history=["Where was Bo Ray born?\tRome"])
    assert he.subject == "Bo Ray"


def test_what_is_no_text_is_no_question(run):
    for odd in (None, 3, b"Where?"):
        with pytest.raises(LociError, match="a question is text"):
            load(run).ask(odd)  # type: ignore[arg-type]


def test_neither_the_number_wanted_nor_the_company_changes_an_answer(run, questions):
    answerer = make_answerer(load_model(run))
    together = answerer.answer(questions)
    assert said(together) == said(answerer.answer(questions, n=8))
    for index, question in enumerate(questions):
        (alone,) = answerer.answer(questions[index : index + 1], n=3)
        assert said([alone]) == said(together[index : index + 1]), question
        assert alone.probability == pytest.approx(together[index].probability, rel=1e-4)


def test_weights_and_config_are_enough(run, questions, tmp_path):
    """Without the data, run.json and everything else the answers are the same."""
    texts = [question.text for question in questions]
    before = load(run).ask_all(texts)
    assert before[0].evidence
    shutil.copytree(run / "final", tmp_path / "alone")
    data = run.parent / "data"
    data.rename(tmp_path / "away")
    try:
        for place in (run, tmp_path / "alone"):
            after = load(place).ask_all(texts)
            assert said(after) == said(before)
            assert [answer.probability for answer in after] == [answer.probability for answer in before]
            assert not any(answer.evidence for answer in after)
    finally:
        (tmp_path / "away").rename(data)


def test_a_question_that_cannot_be_read_is_silenced_with_its_reason(run):
    answers = make_answerer(load_model(run)).answer(
        Questions.from_pairs([("Where was Żak born?", None), (BIRTHPLACE.ask("Bo " * 40 + "Ray"), None)])
    )
    assert [answer.silence for answer in answers] == [UNREADABLE, UNREADABLE]
    assert "'Ż'" in answers[0].why
    assert "96 characters" in answers[1].why


def test_every_reason_that_was_learned_has_its_probability(run, questions):
    answerer = make_answerer(load_model(run))
    if isinstance(answerer, MemoryAnswerer | ReciteAnswerer):
        for candidates in (None, ["not told"]):  # of a memory then no answer is left to look at
            told = [one for one in answerer.answer(questions, candidates=candidates) if one.silence != UNREADABLE]
            assert {frozenset(one.reason_probabilities) for one in told} == {frozenset({NEVER_READ, NOT_TOLD, UNSURE})}
    else:
        (never_learned,) = answerer.answer(questions[:1], candidates=["Rome"])
        assert set(never_learned.reason_probabilities) == {UNSURE}


def test_a_toy_answerer_is_one_class_and_one_line(run):
    class Echo:
        """Answers with the subject."""

        def __init__(self, loaded, confidence):
            pass

        def answer(self, questions, *, n=1, candidates=None):
            return [Answer(q.text, q.subject, None, q.subject or "", 1.0, 1.0, True) for q in questions]

    ANSWERERS.add("echo", Echo)
    try:
        (row,) = ask_rows(load_model(run), asked("Where was Ann Lee born?"), answerer="echo")
    finally:
        ANSWERERS.remove("echo")
    assert (row.prediction, row.probability) == ("Ann Lee", 1.0)
    with pytest.raises(LociError, match="unknown answerer 'echo'"):
        make_answerer(load_model(run), name="echo")


def decided(ranked, threshold=0.5, **options):
    return decide("Where?", ranked, Confidence(threshold), silences=ModelAnswerer.silences, **options)


@pytest.mark.parametrize(
    ("ranked", "text", "silence"),
    [
        ([("Rome", 0.9), ("unknown", 0.1)], "Rome", None),
        ([("unknown", 0.6), ("Rome", 0.3)], "Rome", NEVER_READ),
        ([("", 0.6), ("Rome", 0.3)], "Rome", NEVER_READ),
        ([("not told", 0.55), ("Rome", 0.4)], "Rome", NOT_TOLD),
        ([("Rome", 0.3), ("Oslo", 0.3), ("unknown", 0.1)], "Rome", UNSURE),
        ([(I_DONT_KNOW, 0.6), ("Rome", 0.4)], "Rome", UNSURE),
        ([("Rome", 0.45), ("unknown", 0.4)], "Rome", NEVER_READ),
        ([("unknown", 1.0)], "", NEVER_READ),
    ],
)
def test_silence_has_its_reason(ranked, text, silence):
    answer = decided(ranked)
    assert (answer.text, answer.known, answer.silence) == (text, silence is None, silence)
    assert sum(answer.reason_probabilities.values()) + answer.raw_probability == pytest.approx(1)
    assert answer.said == ("Rome" if answer.known else I_DONT_KNOW)


def test_a_calibration_decides_and_the_models_own_probability_is_kept():
    answer = decide("Where?", [("Rome", 0.8), ("Oslo", 0.1)], Confidence(0.7, Temperature(3.0)), silences={}, n=2)
    assert (answer.known, answer.raw_probability) == (False, 0.8)
    assert answer.probability == pytest.approx(1 / (1 + math.exp(-math.log(4) / 3)))
    assert (answer.alternatives[0].raw_probability, answer.alternatives[0].text) == (0.1, "Oslo")


def test_an_answer_is_short_in_a_shell_and_a_card_in_a_notebook():
    answer = decided([("<Rome>", 0.8), ("Oslo", 0.1)], n=2)
    assert repr(answer) == "Answer('Where?' → '<Rome>': 80 %)"
    assert "&lt;Rome&gt;" in answer._repr_html_()
    assert "<Rome>" not in answer._repr_html_()


@pytest.mark.parametrize("name", ["direct", "greedy"])
def test_the_probability_is_that_of_the_whole_answer(loaded, name):
    (row,) = ask_rows(loaded, asked("Where was Ann born?"), answerer=name)
    ids = [*VOCAB.encode("Where was Ann born?"), MASK_ID, *VOCAB.encode(row.prediction)]
    if len(row.prediction) < direct.ANSWER_LENGTH:
        ids.append(MASK_ID)
    with torch.inference_mode():
        log_p = loaded.model(torch.tensor([ids])).logits[0].log_softmax(-1)
    start = len("Where was Ann born?") + 1
    expected = sum(float(log_p[place - 1, ids[place]]) for place in range(start, len(ids)))
    assert row.probability == pytest.approx(math.exp(expected), rel=1e-4)


def test_rows_keep_order_truth_and_hashes(loaded):
    questions = asked("Where was Ann born?", "Where was Bo born?", "Where was Cyd Ann Bo born?")
    rows = ask_rows(loaded, questions, split="held-out")
    assert [row.question for row in rows] == [question.text for question in questions]
    assert [row.subject for row in rows] == ["Ann", "Bo", "Cyd Ann Bo"]
    assert {(row.model, row.data, row.split) for row in rows} == {("beef", "feed", "held-out")}
    assert ask_rows(loaded, asked()) == []


def test_an_answer_the_model_could_never_write_is_no_fault_of_the_question(loaded):
    for answer in ("Łódź", "Rome " * 20):
        (row,) = ask_rows(loaded, asked("Where was Ann born?", answers=(answer,)))
        assert row.correct is False


def test_the_published_way_says_whatever_comes(loaded, monkeypatch):
    said = Generated(tuple(VOCAB.encode("Rome").tolist()), math.log(0.01), True)
    monkeypatch.setattr(greedy, "generate", lambda *args, **options: [said])
    (answer,) = make_answerer(loaded, name="greedy").answer(asked("Where was Ann born?"))
    assert (answer.text, answer.known) == ("Rome", True)
    assert answer.probability == pytest.approx(0.01)


def test_zero_shot_reads_what_was_never_asked(run):
    """A reciting run says nothing to a question of another relation; its zero-shot form recites the line and reads."""
    loaded = load_model(run)
    if loaded.answerer != "recite":
        pytest.skip("a run that recites nothing has nothing to read")
    never = Questions(None, (Question("Where did Ann Lee study?", (), None, 1),))
    (own,) = make_answerer(loaded).answer(never)
    assert own.silence == UNREADABLE
    assert own.recited is None
    (other,) = make_answerer(loaded, name="zero-shot").answer(never)
    assert other.silence != UNREADABLE
    assert other.subject == "Ann Lee"
    assert other.recited is not None
    assert other.recited.startswith("Ann Lee. ")
