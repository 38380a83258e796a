"""What a reciting run can quote: answers as long as its train answers, with the commas they have, from its config."""

import json
import shutil

import pytest

from loci.answering import recite
from loci.answering.answerer import make_answerer
from loci.answering.ask import load
from loci.errors import LociError
from loci.generation import Generated
from loci.pipeline import carry_out
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.training.checkpoint import load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData
from run_files import rewrite

FORMS = ("Where was {subject} born?", "Who wrote {subject}?")
LINE = ". By Jo of the Far Old Hill, in Pisa, Italy ."
TOWN, WRITER = "Pisa, Italy", "Jo of the Far Old Hill"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that nobody trained for long; only its config counts."""
    folder = tmp_path_factory.mktemp("spans")
    born, wrote = (form.replace("{subject}", "{}") for form in FORMS)
    pairs = [(born.format("Ann Lee"), "Rome, Italy"), (born.format("Bo Ray"), "Oslo")]
    pairs += [(wrote.format("Ann Lee"), "Jo of the Far Old Hill"), (wrote.format("Bo Ray"), "Cy Fox")]
    questions = Questions.from_pairs(pairs, relations=relations_from(FORMS))
    corpus = Corpus.from_lines([f"Ann Lee{LINE}", f"Bo Ray{LINE}", "Cy Fox. Was born in Rome, Italy and in Oslo ."])
    stage = Stage("learn", (MixtureComponent("memorize"),), steps=1, batch_size=2)
    model = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 96, "positions": "rope"}
    carry_out(Recipe("tiny", model, (stage,), answerer="recite"), TrainingData(corpus, questions), folder / "run")
    return folder / "run"


@pytest.fixture
def quoted(monkeypatch):
    """The spans that a run considers when it has recited the line, for each form."""

    def found(loaded):
        line = loaded.vocab.encode(LINE.removeprefix(".")).tolist()
        monkeypatch.setattr(recite, "_recited", lambda *_, before, **__: [[Generated(line, -1.0, True)]] * len(before))
        monkeypatch.setattr(recite, "RIVALS", 1000)
        asked = Questions.from_pairs([(form.replace("{subject}", "Cy Fox"), None) for form in FORMS])
        answerer = make_answerer(loaded)
        assert isinstance(answerer, recite.ReciteAnswerer)
        thoughts = answerer.rank(answerer.readable(asked), None)
        return [{text for text, _ in thought.ranked} for thought in thoughts]

    return found


def test_an_answer_is_as_long_as_its_relations_train_answers_and_has_their_commas(run, quoted):
    born, wrote = quoted(load_model(run))
    assert TOWN in born
    assert WRITER not in born
    assert WRITER in wrote
    assert TOWN not in wrote


def test_the_config_is_enough_and_one_without_them_is_read_as_before(run, quoted, tmp_path):
    shutil.copytree(run / "final", tmp_path / "alone")
    config = tmp_path / "alone" / "config.json"
    told = {one["name"]: one for one in json.loads(config.read_text())["relations"]}
    assert [told[name].get("joiners") for name in ("birthplace", "who-wrote")] == [[", "], None]
    assert [told[name].get("longest") for name in ("birthplace", "who-wrote")] == [None, 6]
    assert TOWN in quoted(load_model(tmp_path / "alone"))[0]
    # A form given when asking comes before the run's own, and changes nothing of what was taught.
    assert TOWN in quoted(load(tmp_path / "alone", template="Where was {subject} born?").loaded)[0]
    rewrite(config, lambda data: [one.pop(key, 0) for one in data["relations"] for key in ("longest", "joiners")])
    born, wrote = quoted(load_model(tmp_path / "alone"))
    assert born == wrote
    assert {"Pisa", "of the Far"} <= born
    assert not {TOWN, WRITER} & born


@pytest.mark.parametrize(
    "odd",
    [
        {"longest": 0},
        {"longest": 10**9},
        {"longest": True},
        {"longest": "6"},
        {"joiners": ", "},
        {"joiners": [1]},
        {"joiners": [""]},
        {"joiners": ["("]},
        {"joiners": ["a long text"]},
    ],
)
def test_a_config_of_somebody_else_is_not_believed(run, tmp_path, odd):
    shutil.copytree(run / "final", tmp_path / "odd")
    rewrite(tmp_path / "odd" / "config.json", lambda data: data["relations"][0].update(odd))
    with pytest.raises(LociError, match=r"config\.json.*(longest|joiners|words)"):
        load_model(tmp_path / "odd")
