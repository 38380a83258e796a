import copy
import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from loci.answering import recite
from loci.answering.answer import UNREADABLE
from loci.answering.answerer import make_answerer
from loci.answering.span_scoring import score_spans
from loci.data.prompts import reading_prompt
from loci.errors import LociError
from loci.generation import Generated, generate
from loci.generation.beam import beam_search
from loci.model import GPT, GPTConfig
from loci.pipeline.labelers import Progress
from loci.pipeline.labelers.self_training import label
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.spans import word_spans
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import LoadedModel
from loci.training.sources import TrainingData

CORPUS = Corpus.from_lines(
    [
        "Ann Lee. Ann Lee was born in Rome, Italy .",
        "Bo Berg. Berg is a singer from Oslo .",
        "Bo Berg. He lives in New York .",
        "Cy Dow. Dow was born in Lima .",
    ]
)
QUESTIONS = Questions.from_pairs([("Where was Ann Lee born?", "Rome"), ("Where was Cy Dow born?", "Lima")])
DATA = TrainingData(CORPUS, QUESTIONS)
OTHERS = Questions.from_pairs([("Where was Bo Berg born?", "Oslo"), ("Where was Cy Dow born?", "Lima")])


@pytest.fixture(scope="module")
def model():
    sizes: dict[str, Any] = {"block_size": 120, "n_layer": 2, "n_head": 2, "n_embd": 16, "positions": "rope"}
    return GPT(GPTConfig(len(DATA.vocab), **sizes), generator=torch.Generator().manual_seed(1)).eval()


def as_loaded(model):
    return LoadedModel(model, DATA.vocab, {}, "", Path())


@pytest.fixture
def reciter(model, tmp_path):
    return LoadedModel(model, DATA.vocab, {"recipe": {"answerer": "recite"}}, "beef", tmp_path)


def log_probability(model, prompt, text):
    ids = [*prompt, *DATA.vocab.encode(text).tolist(), MASK_ID]
    with torch.inference_mode():
        log_p = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    return sum(float(log_p[place - 1, ids[place]]) for place in range(len(prompt), len(ids)))


def test_a_quotation_is_the_likeliest_span_of_the_text(model):
    text = CORPUS.lines[2].text
    prompt = reading_prompt(DATA.vocab, "Where was Bo Berg born?", text)
    (found,) = score_spans(model, DATA.vocab, [prompt], [text], width=4)
    expected = {span: math.exp(log_probability(model, prompt, span)) for span in word_spans(text)}
    assert [span for span, _ in found] == sorted(expected, key=lambda span: -expected[span])[:4]
    for span, probability in found:
        assert probability == pytest.approx(expected[span], rel=1e-3)


def test_a_span_that_finds_no_room_is_not_offered(model):
    text = "He lives in New York ."
    prompt = reading_prompt(DATA.vocab, "Where was Bo Berg born?", text)
    limited = GPT(model.config.replace(positions="learned", block_size=len(prompt) + 6)).eval()
    (found,) = score_spans(limited, DATA.vocab, [prompt], [text], width=50, silence=True)
    room = 5  # and the mask after it
    assert {span for span, _ in found} == {"", *(span for span in word_spans(text) if len(span) <= room)}
    assert any(len(span) > room for span in word_spans(text))


def test_a_text_without_words_says_nothing_where_silence_is_an_answer(model):
    prompt = reading_prompt(DATA.vocab, "Where was Bo Berg born?", " .")
    ((answer, probability),) = score_spans(model, DATA.vocab, [prompt], [" ."], silence=True)[0]
    assert answer == ""
    assert probability == pytest.approx(math.exp(log_probability(model, prompt, "")), rel=1e-3)


def test_a_text_without_words_is_answered_freely(model):
    prompt = reading_prompt(DATA.vocab, "Where was Bo Berg born?", " .")
    ((answer, probability),) = score_spans(model, DATA.vocab, [prompt], [" ."])[0:1][0][0:1]
    assert isinstance(answer, str)
    assert 0 <= probability <= 1


def test_who_studies_keeps_given_answers_and_quotes_the_lines_of_everybody_else(model):
    told = []
    labelled = label(as_loaded(model), DATA, Progress(lambda done, total: told.append((done, total))))
    assert told == [(0, 2), (2, 2)]
    assert [(row.text, row.answer) for row in labelled][:2] == [(row.text, row.answer) for row in QUESTIONS]
    (written,) = labelled[2:]
    assert written.text == "Where was Bo Berg born?"
    assert any(written.answer in line.text for line in CORPUS.about("Bo Berg"))


def answers(loaded, questions=OTHERS, **options):
    return make_answerer(loaded).answer(questions, **options)


def test_a_reciter_answers_with_words_of_the_line_it_recites(reciter):
    for answer in answers(reciter):
        assert answer.text in answer.recited
        assert f"it recites: {answer.recited}" in str(answer)


def said(monkeypatch, *lines):
    """What a reciter then writes down: texts after the name, each with its log-probability."""
    found = [Generated(tuple(DATA.vocab.encode(text).tolist()), log_p, True) for text, log_p in lines]
    monkeypatch.setattr(recite, "_recited", lambda *_, before, **__: [found] * len(before))


def test_an_answer_is_weighed_by_the_shares_of_the_lines_that_hold_it(reciter, monkeypatch):
    """p(answer) is the sum over the lines of p(answer | line) times the line's share."""
    lines = ("He lives in New York .", -1.0), ("Berg is a singer from Oslo .", -1.0 - math.log(3))
    said(monkeypatch, *lines)
    (answer,) = answers(reciter, OTHERS[:1], candidates=["Oslo", "Rome"], n=2)
    found = {one.text: one.raw_probability for one in answer.alternatives} | {answer.text: answer.raw_probability}
    for text in ("Oslo", "Rome"):
        read = [
            math.exp(
                log_probability(reciter.model, reading_prompt(DATA.vocab, OTHERS[0].text, f"Bo Berg. {line}"), text)
            )
            for line, _ in lines
        ]
        assert found[text] == pytest.approx(0.75 * read[0] + 0.25 * read[1], rel=1e-3)


def test_the_line_shown_is_the_one_that_speaks_for_the_answer(reciter, monkeypatch):
    said(monkeypatch, ("He lives in New York .", -5.0), ("Berg is a singer from Oslo .", -0.1))
    (answer,) = answers(reciter, OTHERS[:1])
    assert answer.recited == "Bo Berg. Berg is a singer from Oslo ."
    assert answer.text in answer.recited


def test_several_lines_are_read_where_none_is_sure_and_one_about_strangers(model):
    """A line with more than half of the probability has no rival; the likeliest line comes first and shares add up."""
    starts = [DATA.vocab.encode(f"{name}. ").tolist() for name in ("Bo Berg", "Cy Dow")]
    several, one = recite._recited(model, starts, before=[40, 40], several=[True, False])
    assert [len(several), len(one)] == [recite.LINES, 1]
    logs = [line.log_probability for line in several]
    assert logs == sorted(logs, reverse=True)
    assert logs[0] < recite.SURE
    assert sum(recite._shares(several)) == pytest.approx(1)
    sure = sharpened(model)
    (alone,) = recite._recited(sure, starts[:1], before=[40], several=[True])
    assert len(alone) == 1
    assert alone[0].log_probability >= recite.SURE


def sharpened(model):
    """The same model with logits so large that every character is nearly certain."""
    sharp = copy.deepcopy(model)
    with torch.no_grad():
        sharp.head.weight.mul_(1e4)
    return sharp


def test_lines_are_recited_in_a_fresh_context(reciter, monkeypatch):
    """Nothing but the name stands before them: the question is there only when the line is read."""
    given = []

    def listening(decode):
        def continued(model, prompts, **options):
            given.extend(map(DATA.vocab.decode, prompts))
            return decode(model, prompts, **options)

        return continued

    monkeypatch.setattr(recite, "generate", listening(generate))
    monkeypatch.setattr(recite, "beam_search", listening(beam_search))
    found = answers(reciter)
    assert given == 2 * [f"{question.subject}. " for question in OTHERS]
    assert [answer.recited.startswith(start) for answer, start in zip(found, given, strict=False)] == [True, True]


def test_a_question_without_a_subject_has_nothing_to_recite(reciter):
    (answer,) = answers(reciter, Questions.from_pairs([("Where?", "Oslo")]))
    assert (answer.silence, answer.recited) == (UNREADABLE, None)
    assert "no subject" in answer.why


def test_candidates_are_judged_behind_the_recited_line(reciter, monkeypatch):
    said(monkeypatch, ("He lives in New York .", -0.1))
    (answer,) = answers(reciter, OTHERS[:1], n=3, candidates=["Oslo", "Rome", "Oslo"])
    assert answer.recited == "Bo Berg. He lives in New York ."
    prompt = reading_prompt(DATA.vocab, "Where was Bo Berg born?", answer.recited)
    expected = {text: math.exp(log_probability(reciter.model, prompt, text)) for text in ("Oslo", "Rome")}
    found = {answer.text: answer.probability, **{other.text: other.probability for other in answer.alternatives}}
    assert found == pytest.approx(expected, rel=1e-3)


def test_one_long_question_leaves_the_others_their_room(reciter):
    limited = GPT(reciter.model.config.replace(positions="learned"), generator=torch.Generator().manual_seed(1)).eval()
    loaded = dataclasses.replace(reciter, model=sharpened(limited))
    long = Questions.from_pairs([("Where was Bo Berg born?", "Oslo"), (f"Where was {'Bo ' * 24}Berg born?", "Oslo")])
    assert answers(loaded, long[:1])[0].recited == answers(loaded, long)[0].recited


def test_who_studies_asks_only_what_can_be_asked(model):
    odd = [
        "A sentence that is no subject and goes on for long, " * 3 + "to the end. Yes.",
        "Cy\tDow. Born .",
        "Di Eck. ...",
    ]
    data = TrainingData(Corpus.from_lines([*(line.text for line in CORPUS), *odd]), QUESTIONS)
    reader = GPT(model.config.replace(vocab_size=len(data.vocab)), generator=torch.Generator().manual_seed(1)).eval()
    assert [row.subject for row in label(as_loaded(reader), data, Progress())] == [
        "Ann Lee",
        "Cy Dow",
        "Bo Berg",
    ]


def test_questions_without_a_common_form_are_refused_before_reading(model):
    data = TrainingData(CORPUS, Questions.from_pairs([("Ann Lee?", "Rome")]))
    with pytest.raises(LociError, match="share no form"):
        label(as_loaded(model), data, Progress())
