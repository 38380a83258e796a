"""The course's table in miniature: every step, small numbers, and the pure parts by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from loci.errors import LociError
from loci.evaluation.rows import HELD_OUT, Row
from loci.experiments.course import run as course
from loci.experiments.course.result import funnel
from loci.recipes import DataShape
from loci.recipes.course import FINETUNE_EPOCHS
from loci.recipes.demo import DEMO_WORLD
from loci.text.corpus import Corpus
from loci.text.questions import Questions

QUICK = course.Options(seeds=1, quick=True)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        course,
        "DEMO_WORLD",
        dataclasses.replace(DEMO_WORLD, people=24, paraphrases=1, outside=0.0, train_share=0.5, dev_share=0.5),
    )
    monkeypatch.setattr(course, "QUICK_BUDGETS", ("pretrain.characters=4000", "finetune.characters=4000"))
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
    assert sum(perceiver["kinds"].values()) == 12
    assert len(perceiver["strangers"]) == course.N_SHOWN
    assert json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8")) == report.numbers
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for words in (
        "Why does pretraining help?",
        "What does a made-up answer cost?",
        "unseen name",
        "5.0–6.2 % (reports)",
    ):
        assert words in page
    weights = tmp_path / "out" / "seed-0" / "no-pretraining" / "final" / "model.safetensors"
    before = weights.stat().st_mtime_ns
    assert course.run(tmp_path / "out", QUICK, systems=systems).numbers["rows"][1]["by_seed"] == scratch["by_seed"]
    assert weights.stat().st_mtime_ns == before


@pytest.mark.parametrize("system", course.SYSTEMS, ids=lambda system: system.folder)
def test_every_system_is_a_model_of_at_most_the_courses_size(system: course.System) -> None:
    from loci.model import GPT, GPTConfig

    shape = DataShape(2937, 2000)
    recipe = system.recipe(shape, course.Options(seeds=1, data=Path()), 3)
    model = GPT(GPTConfig.from_dict({**recipe.model, "vocab_size": 256}))
    assert model.n_parameters() <= 3_400_000
    assert (recipe.seed, recipe.answerer) == (3, "greedy")
    stages = [stage.name for stage in recipe.stages]
    assert stages == (["pretrain", "finetune"] if system.pretrained else ["finetune"])
    characters = sum(stage.characters or 0 for stage in recipe.stages)
    assert characters <= 30e6
    assert {part.source for stage in recipe.stages for part in stage.mixture} <= {"corpus", "questions"}


def test_the_funnel_keeps_what_passed_all_before() -> None:
    corpus = Corpus.from_lines(["Ann Lee. Ann was born in York .", "Bo Ray. Bo was " + "very " * 40 + "born in Oslo ."])
    people = [
        ("Ann Lee", "York", "York"),
        ("Bo Ray", "Oslo", "Oslo"),
        ("Cy Fox", "Rome", "Rome"),
        ("Ann Lee", "York", "x"),
    ]
    rows = [Row(name, said, (truth,), name, split=HELD_OUT) for name, truth, said in people]
    found = funnel(rows, [True, True, True, False], corpus, block_size=100)
    assert [step.kept.successes for step in found.steps] == [4, 3, 2, 1, 1]
    assert found.right_unwritten.successes == 1


def test_an_answer_is_masked_in_its_own_line_within_the_room() -> None:
    corpus = Corpus.from_lines(["York Lee. York Lee was born in York, of all places, in 1900 ."])
    (question,) = Questions.from_pairs([("Where was York Lee born?", "York")])
    prefix, suffix = course._masked(question, corpus, 50) or ("", "")
    assert (prefix, len(prefix + suffix)) == (
        "York Lee. ",
        50,
    )  # the first after the subject, though a part of the name
    assert course._masked(question, corpus, 5) is None


def test_bad_input_is_named_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(LociError, match=r"needs the course's files \(--data DIR"):
        course.run(tmp_path / "out", course.Options(seeds=1))
    with pytest.raises(LociError):
        course.run(tmp_path / "out", course.Options(seeds=1, data=tmp_path))
    assert not (tmp_path / "out").exists()
