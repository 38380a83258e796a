from __future__ import annotations

from pathlib import Path

import pytest
from small_course import PEOPLE

from loci.evaluation.rows import Row
from loci.interop.course_lines import (
    NO_GOLD,
    Iterations,
    board_folder,
    example_lines,
    score_lines,
)
from loci.recipes import DataShape
from loci.recipes.course import finetune_stage, pretrain_stage
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.training.reports import StepReport


def rows_with(right: int, total: int) -> list[Row]:
    return [Row("q", "London" if number < right else "York", ("London",)) for number in range(total)]


@pytest.mark.parametrize(
    ("right", "line"),
    [
        (25, "Correct: 25.0 out of 500.0: 5.0%"),
        (93, "Correct: 93.0 out of 500.0: 18.6%"),
        (115, "Correct: 115.0 out of 500.0: 23.0%"),
        (9, "Correct: 9.0 out of 500.0: 1.7999999999999998%"),
        (0, "Correct: 0.0 out of 500.0: 0.0%"),
    ],
)
def test_published_score_lines(right: int, line: str) -> None:
    assert score_lines(rows_with(right, 500)) == [line]


def test_no_answers_no_score() -> None:
    assert score_lines([Row("q", "London")]) == score_lines([]) == [NO_GOLD]


@pytest.mark.parametrize(("year", "masks"), [(2021, 3), (2024, 2)])
def test_corruption_lines(year: int, masks: int, corpus: Path) -> None:
    text = Corpus.read(corpus)
    stage = pretrain_stage(DataShape(5), year=year)
    lines = example_lines(text, stage, None, 128, 3, seed=0)
    assert len(lines) == 6
    for x, y in zip(lines[::2], lines[1::2], strict=True):
        assert (x[:3], y[:3]) == ("x: ", "y: ")
        assert len(x) == len(y) == 3 + 127
        assert x[4:] == y[3:-1]
        assert x.count("⁇") == masks
    assert lines == example_lines(text, stage, None, 128, 3, seed=0)


def test_examples_on_request_only(corpus: Path, questions: Path) -> None:
    text, asked, stage = Corpus.read(corpus), Questions.read(questions), finetune_stage(DataShape(5))
    assert example_lines(text, stage, asked, 128, 0, seed=0) == []
    assert len(example_lines(text, stage, asked, 128, 100, seed=0)) == 2 * len(PEOPLE)
    assert "x: Where was Dora Quist born?⁇Malm⁇□" in "\n".join(example_lines(text, stage, asked, 128, 4, seed=0))


class Board:
    """Writes down what TensorBoard hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, float, int]] = []

    def add_scalar(self, *scalar: object) -> None:
        self.heard.append(scalar)  # type: ignore[arg-type]


def test_each_iteration_is_shown_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    """The rates are those of published outputs: the last of finetuning, and of the ninth epoch."""
    board = Board()
    shown = Iterations(finetune_stage(DataShape(2938)), 2000, 128, board)
    for step, loss in ((72, 0.30447), (79, 0.2), (80, 0.26082)):
        shown.on_step(StepReport("finetune", step, step, step / 80, loss, 0.0, 0.0, 0, 0.0))
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition(": ")[0] for line in lines] == [
        "epoch 9 iter 7: train loss 0.30447. lr 5.986453e-04",
        "epoch 10 iter 7: train loss 0.26082. lr 5.983263e-04",
    ]
    assert [scalar[::2] for scalar in board.heard[:2]] == [("train/loss", 71), ("train/lr", 71)]
    assert f"{board.heard[-1][1]:e}" == "5.983263e-04"


@pytest.mark.parametrize(
    ("year", "name"),
    [(2023, "run_vanilla_32_pt_lr_0.006000_ft_lr_0.000600"), (2024, "run_vanilla_pt_lr_0.006000_ft_lr_0.000600")],
)
def test_where_tensorboard_writes(year: int, name: str) -> None:
    assert board_folder("pretrain", year, "vanilla", "run", 32, 6e-3, 6e-4) == Path("expt/pretrain") / name
