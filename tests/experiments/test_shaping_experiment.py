import json
from dataclasses import replace

import pytest

from loci.cli.main import main
from loci.evaluation.metrics import Estimate
from loci.experiments import trials
from loci.experiments.shaping import run as shaping
from loci.experiments.shaping.page import shaping_report
from loci.experiments.shaping.result import Condition, Measured, ShapingResult
from loci.experiments.shaping.run import CONDITIONS


def measured(condition: Condition, seed: int, *, loss: float, recall: float) -> Measured:
    return Measured(
        condition.name, seed, loss, 0.4, 0.3, 0.35, 1.0, recall, 100, 1000.0 if condition.weight else 2000.0
    )


def test_the_report_names_the_best_and_the_worst_setting():
    conditions = (Condition("plain"), Condition("focus 1", focus=1.0), Condition("near 1", near=1.0))
    losses = {"plain": 1.0, "focus 1": 0.9, "near 1": 1.5}
    rows = [measured(c, seed, loss=losses[c.name] + seed / 100, recall=0.5) for c in conditions for seed in range(3)]
    report = shaping_report(ShapingResult(conditions, tuple(rows), seeds=3, quick=False))
    sentence = report.numbers["in_words"][0]
    assert "focus 1) changes it by -0.100" in sentence
    assert "near 1) by +0.500" in sentence
    assert "differ by up to 0.020" in sentence
    table = report.sections[1].tables[0]
    assert [row[-1] for row in table.rows] == ["×1.00", "×2.00", "×2.00"]
    language = table.rows[0][1]
    assert isinstance(language, Estimate)
    assert language.value == pytest.approx(1.01)


@pytest.mark.slow
def test_a_quick_run_carries_out_every_condition_once_and_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(trials, "QUICK_STEPS", 2)
    monkeypatch.setattr(shaping, "OTHER_PEOPLE", replace(shaping.OTHER_PEOPLE, people=20))
    out = tmp_path / "shaping"
    assert main(["experiment", "shaping", "--quick", "--out", str(out), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert [row["condition"] for row in numbers["measured"]] == [condition.name for condition in CONDITIONS]
    assert all(0 <= row["parse"] <= 1 and row["language_loss"] > 0 for row in numbers["measured"])
    assert (out / "report.html").exists()
    before = {file: file.stat().st_mtime_ns for file in out.rglob("measured.json")}
    assert main(["experiment", "shaping", "--quick", "--out", str(out)]) == 0
    assert before == {file: file.stat().st_mtime_ns for file in out.rglob("measured.json")}
