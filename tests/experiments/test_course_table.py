"""The course's table in miniature: every step, small numbers, and the pure parts by hand."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from small import folder_of

from loci.data.recall import MarkedLine
from loci.errors import LociError
from loci.evaluation.rows import HELD_OUT, TAUGHT, Row, read_rows
from loci.experiments.course import run as course
from loci.experiments.course import stored
from loci.experiments.course.asked import Asked
from loci.experiments.course.result import funnel
from loci.experiments.course.stored import cued_prompts, in_view
from loci.experiments.recall.run import held_back
from loci.experiments.trials import Hooks, keep_world
from loci.generation import Generated
from loci.model import GPT, VARIANTS, GPTConfig
from loci.model.cost import model_cost
from loci.recipes import DataShape
from loci.recipes.course import FINETUNE_EPOCHS, course_short
from loci.recipes.demo import DEMO_WORLD
from loci.text.corpus import Corpus
from loci.text.match import stands_in
from loci.text.questions import Question, Questions
from loci.text.vocab import Vocab
from loci.training.checkpoint import LoadedModel
from square_time import grows_with_the_square

QUICK = course.Options(seeds=1, quick=True)


SMALL_WORLD = dataclasses.replace(DEMO_WORLD, people=24, paraphrases=1, outside=0.0, train_share=0.5, dev_share=0.5)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "DEMO_WORLD", SMALL_WORLD)
    changes = ("model.n_embd=32", "pretrain.characters=4000", "finetune.characters=4000")
    monkeypatch.setattr(course, "QUICK", changes)
    monkeypatch.setitem(FINETUNE_EPOCHS, "from scratch", 2)


@pytest.mark.usefixtures("small")
def test_the_table_is_made_once_and_has_its_page(tmp_path: Path) -> None:
    systems = [system for system in course.SYSTEMS if system.name in ("no pretraining", "perceiver as published")]
    report = course.run(tmp_path / "out", QUICK, systems=systems)
    baseline, scratch, perceiver = report.numbers["rows"]
    assert baseline["training"] is None
    assert scratch["held_out"]["n"] == perceiver["held_out"]["n"] == baseline["held_out"]["n"] == 12
    assert 0 < scratch["training"]["characters"] < perceiver["training"]["characters"]
    assert [step["name"] for step in perceiver["funnel"]["steps"]] == [
        "asked", "in the corpus", "in view", "stored", "answered rightly",
    ]  # fmt: skip
    assert perceiver["funnel"]["steps"][2]["kept"]["successes"] > 0
    assert scratch["funnel"]["steps"][2]["kept"]["successes"] == 0  # it is shown no line
    assert sum(perceiver["kinds"].values()) == 12
    right = perceiver["held_out"]["successes"]
    assert [score["value"] for score in perceiver["priced"]] == pytest.approx(
        [(right - (12 - right) * cost) / 12 for cost in (1, 3, 9)]
    )
    assert len(perceiver["strangers"]) == course.N_SHOWN
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8")) == report.numbers
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for words in (
        "Why does pretraining help?",
        "What does a made-up answer cost?",
        "unseen name",
        "5.0–6.2 % (reports)",
        "words name words⁇span⁇",
        "ReLU²",
        f"right about {100 * scratch['taught']['successes'] / 12:.1f} % (",
        "t = 0.75",
    ):
        assert words in page
    weights = tmp_path / "out" / "seed-0" / "no-pretraining" / "final" / "model.safetensors"
    before = weights.stat().st_mtime_ns
    assert course.run(tmp_path / "out", QUICK, systems=systems).numbers["rows"][1]["by_seed"] == scratch["by_seed"]
    assert weights.stat().st_mtime_ns == before
    fewer = dataclasses.replace(QUICK, only=("no-pretraining",))
    assert course.run(tmp_path / "out", fewer, systems=systems).numbers == report.numbers  # the table only grows
    said: list[str] = []
    more = dataclasses.replace(fewer, seeds=2)
    report = course.run(tmp_path / "out", more, Hooks(say=said.append), systems=systems)
    assert [row["name"] for row in report.numbers["rows"]] == ["most common place", "no pretraining"]
    assert said[0] == "left out of the table: perceiver as published, trained for 1 of 2 seeds"


@pytest.mark.usefixtures("small")
def test_damaged_metrics_of_a_finished_run_are_named(tmp_path: Path) -> None:
    scratch, vanilla = course.SYSTEMS[:2]
    course.run(tmp_path / "out", QUICK, systems=[vanilla])
    metrics = tmp_path / "out" / "seed-0" / "vanilla" / "metrics.jsonl"
    rows = metrics.read_bytes().splitlines(keepends=True)
    first = [row for row in rows if b'"pretrain"' in row]
    cut = [rows[:0], first[:1], first, rows[:-1], rows[len(first) :]]
    named = r"vanilla.metrics\.jsonl: is missing or damaged \(remove the run's folder: the same command trains it again"
    for content in (*map(b"".join, cut), b"\x00" * 99):
        metrics.write_bytes(content)
        with pytest.raises(LociError, match=named):
            course.run(tmp_path / "out", QUICK, systems=[vanilla])
    metrics.unlink()
    only = dataclasses.replace(QUICK, only=("no-pretraining",))
    with pytest.raises(LociError, match=named):  # also where another row is asked for: before it is trained
        course.run(tmp_path / "out", only, systems=[scratch, vanilla])
    assert not (tmp_path / "out" / "seed-0" / "no-pretraining").exists()
    shutil.rmtree(metrics.parent)
    assert len(course.run(tmp_path / "out", QUICK, systems=[vanilla]).numbers["rows"]) == 2


@pytest.mark.parametrize("system", course.SYSTEMS, ids=lambda system: system.folder)
def test_every_system_is_a_model_of_at_most_the_courses_size(system: course.System) -> None:
    shape = DataShape(2937, 2000)
    recipe = system.recipe(shape, course.Options(seeds=1, data=Path()), 3)
    model = GPT(GPTConfig.from_dict({**recipe.model, "vocab_size": 256}))
    assert model.n_parameters() <= 3_400_000
    assert (recipe.seed, recipe.answerer) == (3, "greedy")
    stages = [stage.name for stage in recipe.stages]
    assert stages == (["pretrain", "finetune"] if system.pretrained else ["finetune"])
    objectives = {part.objective for stage in recipe.stages for part in stage.mixture}
    blind = system.variant == "perceiver-course"  # a line's mask is asked behind what it sees
    assert ("salient-span" in objectives) == (system.pretrained and not blind)
    assert ("cued-recall" in objectives) == system.pretrained
    sources = {part.source for stage in recipe.stages for part in stage.mixture}
    assert sources <= {"corpus", "marked-lines", "questions"}  # no reading, no pseudo-labels


@pytest.mark.usefixtures("small")
def test_a_fold_of_train_is_asked_and_dev_is_not_even_read(tmp_path: Path) -> None:
    out = tmp_path / "out"
    keep_world(SMALL_WORLD, tmp_path / "world")
    (tmp_path / "world" / "birth_dev.tsv").unlink()
    options = course.Options(seeds=1, quick=True, data=tmp_path / "world", fold=1, only=("no-pretraining",))
    report = course.run(out, options)
    assert [row["name"] for row in report.numbers["rows"]] == ["most common place", "no pretraining"]
    assert report.numbers["data"]["fold"] == 1
    assert "fold 1 of the train questions held back" in report.subtitle
    train = Questions.read(tmp_path / "world", split="train")
    taught, asked = held_back(train, 1)
    predictions = out / "seed-0" / "no-pretraining" / "predictions"
    for split, questions in ((HELD_OUT, asked), (TAUGHT, taught)):
        assert [row.question for row in read_rows(predictions / f"{split}.jsonl")] == [row.text for row in questions]
    with pytest.raises(LociError, match="holds an experiment with fold 1, not 2"):
        course.run(out, dataclasses.replace(options, fold=2))
    with pytest.raises(LociError, match=r"--only banana: no such row \(one of: no-pretraining, vanilla"):
        course.run(out, dataclasses.replace(options, only=("banana",)))


def test_a_smaller_budget_is_less_text_and_as_many_questions() -> None:
    shape, rope = DataShape(2937, 1600), next(system for system in course.SYSTEMS if system.name == "rope")
    whole, quarter = (rope.recipe(shape, course.Options(seeds=1, budget=budget), 0) for budget in (1.0, 0.25))
    assert quarter.stages[0].characters == whole.stages[0].characters / 4
    assert quarter.stages[1] == whole.stages[1]


def test_a_system_that_stores_late_reads_more_but_not_in_the_quick_form() -> None:
    shape, rope = DataShape(2937, 1600), next(system for system in course.SYSTEMS if system.name == "rope")
    slow = dataclasses.replace(rope, budget=1.5)
    whole, more = (system.recipe(shape, course.Options(seeds=1), 0).stages for system in (rope, slow))
    assert more[0].characters == 1.5 * whole[0].characters
    assert more[1] == whole[1]
    assert slow.recipe(shape, QUICK, 0) == rope.recipe(shape, QUICK, 0)


def test_flops_are_those_of_examples_of_the_mean_length(tmp_path: Path) -> None:
    config = GPTConfig(50, n_layer=1, n_head=2, n_embd=16, block_size=160)
    recipe = dataclasses.replace(course_short(DataShape(2937, 2000)), model={})
    rows = recipe.stages[0].batch_size
    steps = [("pretrain", 10, 10 * rows * 80), ("finetune", 5, 10 * rows * 80 + 5 * rows * 50)]
    metrics = [{"stage": name, "step": step, "characters": done, "seconds": 1.0} for name, step, done in steps]
    spent = course._training(LoadedModel(GPT(config), Vocab.from_text("a"), {}, "", tmp_path), recipe, metrics)
    cost = model_cost(config, 70).total
    assert spent.characters == 15 * rows * 70
    assert spent.flops == pytest.approx(15 * rows * (cost.forward_flops + cost.backward_flops))


def test_the_funnel_keeps_what_passed_all_before() -> None:
    corpus = Corpus.from_lines(["Ann Lee. Ann was born in York .", "Bo Ray. Bo was born in Oslo ."])
    people = [
        ("Ann Lee", "York", "York"),
        ("Bo Ray", "Oslo", "Oslo"),
        ("Cy Fox", "Rome", "Rome"),
        ("Ann Lee", "York", "x"),
    ]
    rows = [Row(name, said, (truth,), name, split=HELD_OUT) for name, truth, said in people]
    found = funnel(rows, [True, False, True, True], [True, True, True, False], corpus)
    assert [step.kept.successes for step in found.steps] == [4, 3, 2, 1, 1]
    assert found.right_unwritten.successes == 1


FAR = Corpus.from_lines(
    [
        "York Lee. York Lee was born in York, of all places, in 1900 .",
        "Bo Ray. Bo was " + "very " * 40 + "born in Oslo .",
        "Cy Fox. Cy was born in a village .",
    ]
)
ASKED = Questions.from_pairs(
    (f"Where was {line.subject} born?", place) for line, place in zip(FAR, ("York", "Oslo", "village"), strict=True)
)
PLACES = frozenset({"York", "Paris"})


def loaded_model(variant: str, tmp_path: Path, **sizes: int) -> LoadedModel:
    small = GPTConfig(len(FAR.vocab), n_layer=3, n_head=2, n_embd=16, block_size=96)
    return LoadedModel(GPT(VARIANTS[variant].apply(small.replace(**sizes))), FAR.vocab, {}, "", tmp_path)


def test_in_view_is_what_pretraining_asks_for_wherever_it_stands(tmp_path: Path) -> None:
    # York is a part of the name and the village no name: neither is ever asked for. Oslo stands far along.
    assert in_view(loaded_model("vanilla", tmp_path), FAR, ASKED, PLACES) == [False, True, False]
    for sees, expected in ((12, True), (11, False)):  # "Bo Ray⁇Oslo⁇"
        blind = loaded_model("perceiver-course", tmp_path, bottleneck_dim=sees)
        assert in_view(blind, FAR, ASKED, PLACES)[1] is expected


def test_an_answer_is_asked_for_by_the_words_that_lead_up_to_it() -> None:
    asked = [*ASKED[:2], *Questions.from_pairs([("Where was Cy Fox born?", "Rome")])]
    # York is a part of the name.
    assert cued_prompts(asked, FAR, PLACES) == [None, "Bo Ray very very born in", None]


def test_the_first_span_with_an_answer_is_the_one_that_is_found_span_by_span() -> None:
    texts = ["Milano", "Rome Rome", "München", "Milan", "3 March 1822", "東京都", "New York", "Yorkshire"]
    lines = [f"Ann Lee. Ann Lee went on to {text} at last ." for text in texts]
    corpus = Corpus.from_lines(lines)
    askable = stored.Askable(corpus, frozenset(texts))
    every = [(one, span) for line in corpus for one in [MarkedLine(line, frozenset(texts))] for span in one.every]
    said = [one.line.text[span.start : span.stop] for one, span in every]
    for answer in (*texts, "Mila", "Munchen", "Mu\u0308nchen", "York", "Rome", "1822", "京", "18", "e"):
        by_one = next((place for place, text in zip(every, said, strict=True) if stands_in(text, answer)), None)
        assert askable.first(Question("Where to?", (answer,), "Ann Lee", 1, "")) == by_one, answer


def test_many_lines_about_one_subject_take_time_by_their_number(tmp_path: Path) -> None:
    def look(size: int) -> None:
        corpus = Corpus.from_lines(f"Ann Lee. In Town{n} Ann Lee met Bo Ray of City{n} ." for n in range(size))
        questions = [Question(f"Whom? {n}", (f"City{n}",), "Ann Lee", n, "") for n in range(size)]
        assert all(in_view(loaded, corpus, Questions(None, questions), frozenset()))
        assert None not in cued_prompts(questions, corpus, frozenset())

    loaded = loaded_model("vanilla", tmp_path)
    assert not grows_with_the_square(look, 100)


def test_stored_is_what_is_given_after_name_and_cue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts: list[str] = []

    def says(model: GPT, asked: list[list[int]], **how: object) -> list[Generated]:
        prompts.extend(map(FAR.vocab.decode, asked))
        return [Generated(tuple(FAR.vocab.encode("Oslo")), 0.0, True) for _ in asked]

    monkeypatch.setattr(stored, "generate", says)
    assert stored.is_stored(loaded_model("vanilla", tmp_path), FAR, ASKED, PLACES) == [False, True, False]
    assert prompts == ["Bo Ray very very born in⁇"]


def test_every_dev_person_whose_line_tells_can_count_as_stored(course_data: Path, tmp_path: Path) -> None:
    corpus = Corpus.read(course_data)
    dev = Questions.read(course_data, split="dev", subjects=corpus.by_subject)
    taught = Questions.read(course_data, split="train", subjects=corpus.by_subject).answers
    told = [question for question in dev if corpus.tells(question.subject, question.answers)]
    assert len(told) == 479
    model = loaded_model("vanilla", tmp_path, block_size=160)
    assert sum(in_view(model, corpus, dev, taught)) == 479
    cued = cued_prompts(told, corpus, taught)
    assert all((text or "").startswith(row.subject or "?") for text, row in zip(cued, told, strict=True))
    assert len(Asked.read(course_data, None).held_out) == 500  # one of them has a namesake in the train questions


def test_bad_input_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(LociError, match=r"needs the course's files \(--data DIR"):
        course.run(tmp_path / "out", course.Options(seeds=1))
    with pytest.raises(LociError):
        course.run(tmp_path / "out", course.Options(seeds=1, data=tmp_path))
    with pytest.raises(LociError, match="--fold must be 0 to 4, it is 7"):
        course.run(tmp_path / "out", course.Options(quick=True, fold=7))
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("small")
def test_names_of_one_word_give_no_strangers_and_the_page_says_so(tmp_path: Path) -> None:
    train = {"Plato": "Athens", "Solon": "Athens", "Zeno": "Elea", "Bias": "Priene"}
    data = folder_of(tmp_path / "data", train, {"Thales": "Miletus"})
    options = course.Options(seeds=1, quick=True, data=data, only=("no-pretraining",))
    row = course.run(tmp_path / "out", options).numbers["rows"][1]
    assert (row["invented"], row["strangers"]) == (None, [])
    assert "Nobody was asked about here" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
