import dataclasses
import json
import math
import shutil
import unicodedata

import pytest
import torch

import loci
from loci.answering import ask as ask_module
from loci.answering.answer import UNREADABLE, UNSURE
from loci.answering.answerer import make_answerer
from loci.answering.ask import Asker, load
from loci.answering.confidence import FILE, THRESHOLD, RunCalibration, Temperature, write_calibration
from loci.data.prompts import I_DONT_KNOW, question_prompt
from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.generation import score_candidates
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData
from run_files import rewrite

FACTS = {"Ann Lee": "Oslo", "Bo Ray": "Rome", "Cy Fox": "Lima", "Zoë Wu": "Kyiv"}
LINES = [f"{name}. {name} was born in {place} ." for name, place in FACTS.items()]
LINES += ["Ann Lee. Ann Lee died in Bern .", "Zed Kay. Zed Kay lived in Rome ."]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A model that has memorized four answers, one of them silence."""
    folder = tmp_path_factory.mktemp("ask")
    (folder / "wiki.txt").write_text("".join(f"{line}\n" for line in LINES))
    taught = [(f"Where was {name} born?", place) for name, place in FACTS.items()]
    taught.append(("Where was Nobody born?", I_DONT_KNOW))
    Questions.from_pairs(taught).write(folder / "train.tsv")
    stage = Stage("learn", (MixtureComponent("question-answer", "questions"),), steps=70, batch_size=5, lr=1e-2)
    model = {"n_layer": 1, "n_head": 2, "n_embd": 32, "block_size": 48, "positions": "rope"}
    quiet = {"embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0}
    data = TrainingData(Corpus.read(folder), Questions.read(folder / "train.tsv"))
    carry_out(Recipe("tiny", {**model, **quiet}, (stage,)), data, folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def loaded(run):
    return load(run)


def calibration(model, **changes):
    values = {"level": 0.5, "threshold": 0.7, "n": 10, "right": 5, "brier_before": 0.2, "brier_after": 0.1}
    fit = Temperature(4.0)
    return RunCalibration(fit, fit, None, model=model, questions="s", questions_hash="h", **{**values, **changes})


def test_a_learned_answer_comes_with_its_probability_rivals_and_lines(run):
    found = loci.load(run).ask("Where was Ann Lee born?")
    assert (found.text, found.said, found.known, found.subject, found.in_corpus) == (
        "Oslo",
        "Oslo",
        True,
        "Ann Lee",
        True,
    )
    assert found.probability > 0.8
    assert found.raw_probability == found.probability
    assert found.threshold == THRESHOLD
    assert found.alternatives
    assert all(other.probability <= found.probability for other in found.alternatives)
    assert found.probability + sum(other.probability for other in found.alternatives) <= 1 + 1e-6
    first, second, *rest = found.evidence
    assert first.segments()[1] == ("Oslo", True)
    assert (first.number, second.number) == (1, 5)
    assert all(line.found_by == "search" for line in rest)
    text = str(found)
    assert text.splitlines()[0] == "Where was Ann Lee born?"
    assert "«Oslo»" in text
    assert "Oslo (" in text
    data = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert data["evidence"][0]["marks"] == [[29, 33]]
    assert data["answer"] == "Oslo"


def test_beam_probabilities_are_those_of_exact_scoring(loaded):
    questions = Questions.from_pairs([(f"Where was {name} born?", None) for name in (*FACTS, "Zed Kay")])
    for question, answer in zip(questions, make_answerer(loaded.loaded).answer(questions, n=8), strict=True):
        answers = [(answer.text, answer.probability), *((a.text, a.probability) for a in answer.alternatives)]
        prompt = question_prompt(loaded.loaded.vocab, question.text)
        ids = [loaded.loaded.vocab.encode(text) for text, _ in answers]
        exact = score_candidates(loaded.loaded.model, [prompt], ids, stop_id=MASK_ID)[0]
        assert [p for _, p in answers] == pytest.approx([math.exp(value) for value in exact], rel=1e-4)
        assert [p for _, p in answers] == sorted((p for _, p in answers), reverse=True)


def test_candidates_are_scored_and_nothing_else_is_said(loaded):
    found = loaded.ask("Where was Ann Lee born?", candidates=["Rome", "Lima", "Rome"], threshold=0.0)
    assert {found.text, *(other.text for other in found.alternatives)} == {"Rome", "Lima"}
    with pytest.raises(LociError, match="'ß'"):
        loaded.ask("Where was Ann Lee born?", candidates=["Weißenfels"])


def test_below_the_threshold_it_does_not_know(loaded):
    found = loaded.ask("Where was Ann Lee born?", threshold=1.0)
    assert (found.known, found.said, found.text) == (False, I_DONT_KNOW, "Oslo")
    assert found.silence == UNSURE
    assert "best guess Oslo" in str(found)
    with pytest.raises(LociError, match="between 0 and 1"):
        loaded.ask("Where was Ann Lee born?", threshold=1.5)


def test_taught_silence_is_no_answer(loaded):
    found = loaded.ask("Where was Nobody born?", threshold=0.0)
    assert (found.known, found.said, found.silence, found.in_corpus) == (False, I_DONT_KNOW, UNSURE, False)
    assert found.declined
    assert I_DONT_KNOW not in {found.text, *(other.text for other in found.alternatives)}
    assert found.reason_probabilities[UNSURE] > 0.8
    (row,) = ask_rows(loaded.loaded, Questions.from_pairs([("Where was Nobody born?", None)]), n=4, split="unseen")
    assert row.abstained
    assert (row.prediction, row.probability) == (found.text, found.probability)
    assert row.split == "unseen"


def test_people_and_questions_the_corpus_does_not_know(loaded):
    found = loaded.ask("Where was Fay Ro born?")
    assert (found.subject, found.in_corpus) == ("Fay Ro", False)
    assert "no line of the corpus is about Fay Ro" in str(found)
    other = loaded.ask("Is Bo Ray in Rome?")
    assert (other.subject, other.in_corpus) == ("Bo Ray", True)
    assert {line.found_by for line in other.evidence} == {"subject", "search"}
    for line in other.evidence:  # whose line it is stands there, where it is not the one asked about
        assert (f"{line.where}, about {line.subject}: " in str(other)) == (line.found_by == "search")
    nobody = loaded.ask("Is it so?")
    assert (nobody.subject, nobody.in_corpus) == (None, False)
    assert "no subject was found" in str(nobody)


def test_later_questions_may_say_he_or_she(loaded):
    first, second, third = loaded.ask_all(["Where was Bo Ray born?", "Where was he born?", "Where were they born?"])
    assert second.question == third.question == "Where was Bo Ray born?"
    assert (second.pronoun, second.text) == ("he", first.text)
    assert "(he: Bo Ray)" in str(second)
    assert loaded.ask("Where was she born?", history=["Where was Ann Lee born?", "Oslo"]).text == "Oslo"


def test_asking_one_by_one_or_together_is_the_same(loaded):
    questions = [f"Where was {name} born?" for name in FACTS]
    together = loaded.ask_all(questions)
    for question, found in zip(questions, together, strict=True):
        alone = loaded.ask(question)
        assert alone.text == found.text
        assert alone.probability == pytest.approx(found.probability, rel=1e-5)
    assert loaded.ask_all([]) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where was Żak born?", "'Ż'"),
        ("Where was " + "Ann " * 20 + "born?", "48"),
        ("Where was ⁇ born?", "⁇"),
        ("Where was he born?", "nobody was named"),
    ],
)
def test_what_the_model_cannot_read_silences_that_question_alone(question, said, loaded):
    silent, answered = loaded.ask_all([question, "Where was Ann Lee born?"])
    assert (silent.known, silent.silence, silent.text) == (False, UNREADABLE, "")
    assert said in silent.why
    assert said in str(silent)
    assert answered.text == "Oslo"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_may_be_composed_or_not(form, loaded):
    found = loaded.ask(unicodedata.normalize(form, "Where was Zoë Wu born?"))
    assert (found.text, found.subject, found.in_corpus) == ("Kyiv", "Zoë Wu", True)


def test_an_empty_question_is_an_error(loaded):
    with pytest.raises(LociError, match="one line of text") as raised:
        loaded.ask(" ")
    assert raised.value.line is None


def test_a_calibration_decides_when_the_run_has_one(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    model = load(copy).loaded.hash
    write_calibration(copy, calibration(model))
    found = load(copy).ask("Where was Ann Lee born?")
    assert found.threshold == 0.7
    assert found.probability < found.raw_probability
    assert found.known == (found.probability >= 0.7)
    assert all(other.probability != other.raw_probability for other in found.alternatives)
    assert "by the model itself" in str(found)
    write_calibration(copy, calibration(model, threshold=math.inf))
    never = load(copy).ask("Where was Ann Lee born?")
    assert not never.known
    assert never.as_dict()["threshold"] is None
    assert "no answer of this run is worth giving" in str(never)
    assert load(copy / "final").confidence.calibrator is not None
    write_calibration(copy, calibration("other weights"))
    stale = load(copy)
    assert stale.confidence.calibrator is None
    assert any("other weights" in remark for remark in stale.remarks)
    (copy / FILE).write_text("{")
    with pytest.raises(LociError, match=r"calibration\.json: cannot be read"):
        load(copy)


def test_without_its_corpus_a_run_still_answers(run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    gone = {"corpus": str(tmp_path / "gone.txt"), "questions": str(tmp_path / "gone.tsv")}
    rewrite(copy / "run.json", lambda raw: raw["data"].update(gone))
    alone = load(copy)
    assert "gone.txt" in alone.remarks[0]
    found = alone.ask("Where was Ann Lee born?")
    assert (found.text, found.in_corpus, found.evidence, found.standing) == ("Oslo", None, (), None)
    given = load(copy, corpus=Corpus.from_lines(LINES[:2]))
    assert "not the text" in given.remarks[0]
    assert given.ask("Where was Ann Lee born?").in_corpus
    shutil.rmtree(copy / "checkpoints")
    (copy / "run.json").unlink()
    assert "does not say" in load(copy / "final").remarks[0]


def test_own_lines_are_found_without_the_search_library(run, monkeypatch):
    monkeypatch.setattr(ask_module, "_can_search", lambda: False)
    alone = load(run)
    assert "bm25s" in alone.remarks[0]
    assert [line.found_by for line in alone.ask("Where was Ann Lee born?").evidence] == ["subject", "subject"]
    assert alone.ask("Where was Fay Ro born?").evidence == ()


def test_the_template_can_be_any(run):
    deaths = load(run, template="Where did {subject} die?")
    found = deaths.ask_all(["Where did Ann Lee die?", "Where did she die?"])[1]
    assert (found.subject, found.question) == ("Ann Lee", "Where did Ann Lee die?")
    with pytest.raises(LociError, match="subject"):
        load(run, template="Where?")


def test_asking_draws_nothing_and_changes_nothing(loaded):
    before = {name: value.clone() for name, value in loaded.loaded.model.state_dict().items()}
    state = torch.get_rng_state()
    loaded.ask("Where was Ann Lee born?")
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in loaded.loaded.model.state_dict().items())
    assert dataclasses.is_dataclass(Asker)


def test_the_whole_corpus_is_not_searched_for_many_questions(loaded, monkeypatch):
    asked = ["Where was Bo Ray born?", "Where was Fay Ro born?"]
    few = loaded.ask_all(asked)
    assert {line.found_by for answer in few for line in answer.evidence} == {"subject", "search"}
    monkeypatch.setattr(ask_module, "SEARCHED", 1)
    many = loaded.ask_all(asked)
    assert [[line.found_by for line in answer.evidence] for answer in many] == [["subject"], []]
    assert [answer.text for answer in many] == [answer.text for answer in few]
