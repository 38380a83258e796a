"""Exported models in the transformers library: the same ids, logits and answers, for every variant."""

import json
import re
import runpy
import sys
from types import SimpleNamespace

import pytest
import torch
from small_runs import ALPHABET, DEMO, QUESTIONS, greedy, small_run, some_ids

import loci
from loci.answering.answerer import make_answerer
from loci.answering.confidence import Confidence
from loci.answering.greedy import GreedyAnswerer
from loci.cli.main import main
from loci.errors import LociError
from loci.evaluation.rows import Row, write_rows
from loci.interop.answer_script import answer_script
from loci.interop.exchange import export_run, import_run
from loci.interop.hf_export import MODELLING, modelling_file
from loci.interop.model_card import model_card
from loci.model import VARIANTS, GPTConfig
from loci.pipeline import carry_out
from loci.recipes import DataShape, make_recipe
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.taught import subject_hash
from loci.text.vocab import MASK
from loci.training.checkpoint import load_model
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import start_run
from loci.training.sources import TrainingData
from run_files import rewrite

TOLERANCE = 1e-5
OPTIONS = {
    "demo": ("rope", DEMO),
    "tied": ("vanilla", {"tied_head": True}),
    "tanh": ("vanilla", {"activation": "gelu-tanh"}),
    "all": (
        "rope",
        {**DEMO, "norm": "rms", "value_embeddings": True, "logit_soft_cap": 15.0, "learn_temperature": True},
    ),
}
CASES = {**{name: (name, {}) for name in VARIANTS}, **OPTIONS}
CONLLU = """# text = Bo was born .
1	Bo	Bo	PROPN	_	_	3	nsubj	_	_
2	was	be	AUX	_	_	3	aux	_	_
3	born	bear	VERB	_	_	0	root	_	_
4	.	.	PUNCT	_	_	3	punct	_	_

"""
STOCK = {"vanilla": "gpt2", "rope": "gpt_neox", "tied": "gpt2", "tanh": "gpt2"}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(scope="module")
def transformers():
    reason = "transformers is not here: pip install 'loci-lab[hf]', or make test-interop"
    return pytest.importorskip("transformers", reason=reason)


@pytest.mark.parametrize("case", CASES)
def test_an_exported_model_computes_the_same(case, tmp_path, transformers):
    variant, options = CASES[case]
    loaded = small_run(tmp_path / "run", variant, **options)
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    kind = json.loads((tmp_path / "out" / "config.json").read_text(encoding="utf-8"))["model_type"]
    assert kind == STOCK.get(case, "loci")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out", trust_remote_code=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out", trust_remote_code=True)
    ids = some_ids(loaded)
    with torch.no_grad():
        assert torch.allclose(model(input_ids=ids).logits, loaded.model(ids).logits, atol=TOLERANCE, rtol=0)
    prompts = tokenizer([f"{question}{MASK}" for question in QUESTIONS], return_tensors="pt", padding=True)
    given = {name: prompts[name] for name in ("input_ids", "attention_mask")}
    written = model.generate(**given, max_new_tokens=20)[:, given["input_ids"].shape[1] :].tolist()
    answers = [tokenizer.decode(row[: row.index(1)] if 1 in row else row) for row in written]
    assert answers == greedy(loaded)


def test_the_tokenizer_is_the_vocabulary(tmp_path, transformers):
    loaded = small_run(tmp_path / "run")
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    for text in (*QUESTIONS, f"{QUESTIONS[0]}{MASK}Oslo{MASK}", "a  b\n c", ALPHABET):
        ids = tokenizer(text)["input_ids"]
        assert ids == loaded.vocab.encode(text).tolist()
        assert tokenizer.decode(ids) == text
    with pytest.raises(Exception, match="Missing"):
        tokenizer("ß")


def test_a_reciting_run_comes_with_a_script_that_answers_as_it_does(tmp_path, transformers):
    loaded = small_run(tmp_path / "run", "rope", answerer="recite", **DEMO)
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    script = runpy.run_path(str(tmp_path / "out" / "answer.py"))
    reciter = script["Reciter"](tmp_path / "out")
    ours = make_answerer(loaded).answer(Questions.from_pairs([(question, None) for question in QUESTIONS]))
    for question, answer in zip(QUESTIONS, ours, strict=True):
        text, probability, known, line = reciter.answer(question)
        assert (text, known, line) == (answer.text, answer.known, answer.recited)
        assert probability == pytest.approx(answer.raw_probability, rel=1e-3)


def test_the_script_quotes_what_the_run_quotes(tmp_path, monkeypatch):
    """Each relation has its own length of answers and its own commas; here without transformers."""
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoModelForCausalLM=None, AutoTokenizer=None))
    small_run(tmp_path / "run", "rope", answerer="recite", **DEMO)
    born = {"name": "birthplace", "templates": ["Where was {subject} born?"], "joiners": [", "]}
    wrote = {"name": "writer", "templates": ["Who wrote {subject}?"], "longest": 6}
    rewrite(tmp_path / "run" / "config.json", lambda config: config.update(relations=[born, wrote]))
    (tmp_path / "answer.py").write_text(answer_script(load_model(tmp_path / "run")), encoding="utf-8")
    answer = runpy.run_path(str(tmp_path / "answer.py"))["Reciter"].answer

    class Listener:
        def __init__(self):
            self.offered = []

        def recite(self, start, before, several):
            return [(f"{start}By Jo of the Far Old Hill, in Pisa, Italy .", 1.0)]

        def log_probabilities(self, prompt, texts):
            self.offered.append([text.removesuffix(MASK) for text in texts])
            return [[-1.0] * len(text) for text in texts]

    rewrite(tmp_path / "run" / "config.json", lambda config: config.update(recalled={"slope": 2.0, "intercept": 0.5}))
    assert "RECALLED = (2.0, 0.5)" in answer_script(load_model(tmp_path / "run"))
    for question, quoted in [("Where was Bo born?", "Pisa, Italy"), ("Who wrote Bo?", "Jo of the Far Old Hill")]:
        listener = Listener()
        answer(listener, question)
        assert {"Pisa, Italy", "Jo of the Far Old Hill"} & {*listener.offered[-1]} == {quoted}


@pytest.mark.parametrize("case", ["vanilla", "rope", "tied", "tanh", "demo", "perceiver"])
def test_an_exported_model_comes_back(case, tmp_path):
    variant, options = CASES[case]
    loaded = small_run(tmp_path / "run", variant, **options)
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    import_run(tmp_path / "out", "hf", tmp_path / "back")
    back, ids = load_model(tmp_path / "back"), some_ids(loaded)
    with torch.no_grad():
        assert torch.equal(back.model(ids).logits, loaded.model(ids).logits)
    assert back.vocab == loaded.vocab
    assert greedy(back) == greedy(loaded)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_modelling_file_needs_torch_and_transformers_alone(variant, tmp_path):
    source = modelling_file(VARIANTS[variant].apply(GPTConfig(20, n_layer=3, n_embd=16, n_head=2)))
    compile(source, MODELLING, "exec")
    imported = {line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imported - {"torch", "transformers"} <= {"__future__", *sys.stdlib_module_names}
    assert "jaxtyping" not in source
    assert len(source.splitlines()) < 1100


def test_the_card_says_what_was_measured_and_what_was_not(tmp_path):
    small_run(tmp_path / "run")
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Not measured" in card
    assert "people nobody wrote about was not measured" in card
    assert f"Where was Ada Moss born?{MASK}" in card


def test_the_card_goes_by_whom_the_run_was_taught(tmp_path):
    small_run(tmp_path / "run" / "final")
    stage = Stage("learn", (MixtureComponent("question-answer", "questions"),), steps=1)
    taught = {"writer": [subject_hash("Emma")], "year": [subject_hash("Ulysses")]}
    about = {"corpus": None, "corpus_hash": "x", "taught": taught}
    start_run(tmp_path / "run", Recipe("tiny", {}, (stage,)), about)
    rows = [Row("q", "a", ("a",), name, relation="writer") for name in ("Emma", "Ulysses", "Ulysses")]
    write_rows(tmp_path / "run" / "predictions" / "books_train.jsonl", rows)
    card = model_card(load_model(tmp_path / "run"), None)
    assert re.search(r"\| taught: .* n = 1\)", card)
    assert re.search(r"\| held-out: .* n = 2\)", card)


def test_what_cannot_be_done_is_said_in_one_line(tmp_path):
    small_run(tmp_path / "run")
    (tmp_path / "there").mkdir()
    with pytest.raises(LociError, match="exists already"):
        export_run(tmp_path / "run", "hf", tmp_path / "there")
    with pytest.raises(LociError, match="unknown export format 'hugging'"):
        export_run(tmp_path / "run", "hugging", tmp_path / "out")
    (tmp_path / "there" / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(LociError, match="of type 'bert' cannot be imported"):
        import_run(tmp_path / "there", "hf", tmp_path / "out")
    (tmp_path / "there" / "config.json").write_text('{"model_type": "gpt2", "n_embd": 4}', encoding="utf-8")
    with pytest.raises(LociError, match="does not describe a gpt2 model"):
        import_run(tmp_path / "there", "hf", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_stock_models_made_by_the_library_can_be_imported(tmp_path, transformers, capsys):
    """GPT-2 as others save it, with BPE tokens: for scores, looks and heads, not for questions."""
    tokenizers = pytest.importorskip("tokenizers")
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator(QUESTIONS * 20, vocab_size=280)
    config = transformers.GPT2Config(
        vocab_size=280, n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    model.save_pretrained(tmp_path / "gpt2")
    bpe.save(str(tmp_path / "gpt2" / "tokenizer.json"))
    import_run(tmp_path / "gpt2", "hf", tmp_path / "run")
    loaded = load_model(tmp_path / "run")
    assert loaded.vocab.decode(loaded.vocab.encode("Where was Bo born?").tolist()) == "Where was Bo born?"
    assert len(loaded.vocab.encode("Where was")) < len("Where was")
    assert loaded.vocab.positions("Where was Bo", [(6, 9)]) == [
        (len(loaded.vocab.encode("Where")), len(loaded.vocab.encode("Where was")))
    ]
    ids = torch.randint(0, 280, (2, 20))
    with torch.no_grad():
        assert torch.allclose(loaded.model(ids).logits, model(input_ids=ids).logits, atol=TOLERANCE)
    with pytest.raises(LociError, match="cannot be asked"):
        make_answerer(loaded)
    assert loci.load(tmp_path / "run").score("Where was Bo", [" born?"])[" born?"] < 0
    asked = ["Where was Bo born?", "--subject", "Bo", "--answer", " Oslo", "--draws", "1"]
    assert main(["look", str(tmp_path / "run"), *asked, "--out", str(tmp_path / "look.html")]) == 0
    (tmp_path / "bank.conllu").write_text(CONLLU * 4, encoding="utf-8")
    heads = ["--conllu", str(tmp_path / "bank.conllu"), "--least", "1", "--seeds", "1", "--json"]
    assert main(["heads", str(tmp_path / "run"), *heads]) == 0
    assert '"read": 4' in capsys.readouterr().out


@pytest.mark.slow
def test_the_course_dev_questions_get_the_same_greedy_answers(course_data, tmp_path, transformers):
    """All 500 by `generate` alone, from a run that was taught just enough to say different things."""
    corpus, train = Corpus.read(course_data), Questions.read(course_data / "birth_places_train.tsv")
    recipe = make_recipe("demo-scratch", DataShape.of(corpus, train)).override(["finetune.characters=2e5"])
    carry_out(recipe, TrainingData(corpus, train), tmp_path / "run")
    export_run(tmp_path / "run", "hf", tmp_path / "out")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out", trust_remote_code=True).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out", trust_remote_code=True)
    asked = Questions.read(course_data / "birth_dev.tsv")
    ours = [answer.text for answer in GreedyAnswerer(load_model(tmp_path / "run"), Confidence()).answer(asked)]
    theirs = []
    for start in range(0, len(asked), 50):
        prompts = [f"{question.text}{MASK}" for question in asked[start : start + 50]]
        given = tokenizer(prompts, return_tensors="pt", padding=True)
        shape = {name: given[name] for name in ("input_ids", "attention_mask")}
        written = model.generate(**shape)[:, given["input_ids"].shape[1] :].tolist()
        theirs += [tokenizer.decode(row[: row.index(1)] if 1 in row else row) for row in written]
    assert len(set(ours)) > 20
    assert theirs == ours
