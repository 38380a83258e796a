"""The harness's figure is that of `loci evaluate`; its task and the worlds' JSON lines are read by `datasets`."""

from pathlib import Path

import pytest
from small_runs import QUESTIONS, small_run

from loci.errors import LociError
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import exact_match
from loci.interop.lm_eval_task import TASK, process_results, write_task
from loci.text.questions import Questions
from loci.text.world.spec import WorldSpec
from loci.text.world.writer import write_world

pytestmark = pytest.mark.filterwarnings("ignore")


def test_both_give_one_figure(tmp_path, monkeypatch):
    reason = "the harness is not here: pip install 'loci-lab[eval]'"
    lm_eval = pytest.importorskip("lm_eval", reason=reason)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    from lm_eval.tasks import TaskManager

    from loci.interop.lm_eval_model import LociLM

    loaded = small_run(tmp_path / "run")
    said = ask_rows(loaded, Questions.from_pairs([(question, None) for question in QUESTIONS]))
    # One of the truths is what the model says, so that the figure is neither 0 nor 1.
    truths = [said[0].prediction or "x", "Oslo", "Cork"]
    asked = Questions.from_pairs(list(zip(QUESTIONS, truths, strict=True)))
    write_task(asked, tmp_path / "task")
    result = lm_eval.simple_evaluate(
        model=LociLM(str(tmp_path / "run")),
        tasks=[TASK],
        task_manager=TaskManager(include_path=str(tmp_path / "task"), include_defaults=False),
        bootstrap_iters=0,
    )
    ours = exact_match(ask_rows(loaded, asked)).value
    assert result["results"][TASK]["exact_match,none"] == pytest.approx(ours)
    assert 0 < ours < 1


def test_worlds_are_datasets(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="datasets is not here: pip install 'loci-lab[eval]'")
    write_world(WorldSpec(people=20), tmp_path / "world", jsonl=True)
    files = sorted(str(file) for file in (tmp_path / "world" / "jsonl").glob("*.jsonl"))
    for file in files:
        found = datasets.load_dataset("json", data_files=file, cache_dir=str(tmp_path / "cache"), split="train")
        assert len(found) == len(Path(file).read_text(encoding="utf-8").splitlines())


def test_answers_are_judged_to_the_letter():
    assert process_results({"answers": ["Oslo", "Kristiania"]}, ["Kristiania\n"])["exact_match"] == 1
    assert process_results({"answers": ["Cafe\u0301"]}, ["Caf\u00e9"])["exact_match"] == 1
    assert process_results({"answers": ["Oslo"]}, ["oslo"])["exact_match"] == 0
    assert process_results({"answers": ["Oslo"]}, [""])["exact_match"] == 0


def test_questions_without_answers_make_no_task(tmp_path):
    with pytest.raises(LociError, match="no question has an answer"):
        write_task(Questions.from_pairs([(QUESTIONS[0], None)]), tmp_path / "task")
