from typing import Any

import pytest

from loci.evaluation.rows import HELD_OUT, Row
from loci.experiments.recall.page import budget_figure, funnel_figure, recall_report
from loci.experiments.recall.result import Measured, accuracy, doubt, grouped, left_after


def rows(right: int, n: int = 20) -> tuple[Row, ...]:
    """`n` answers, the first `right` of them right."""
    said = ["Rome" if index < right else "Paris" for index in range(n)]
    return tuple(
        Row(f"Where was P{index} born?", answer, ("Rome",), f"P{index}", split="held-out")
        for index, answer in enumerate(said)
    )


def measured(name: str, right: int, **changes) -> Measured:
    about: dict[str, Any] = {"part": "ablations", "name": name, "recipe": name.partition(",")[0], "shows": "s"}
    about |= {"asked": "fold 0", "asked_hash": "feed", "seed": 0, "budget": 1.0, "parameters": 100}
    about |= {"characters": 1000, "reading_loss": 0.5, "labels": None, "faithful": None}
    about |= {"funnel": (("asked", 20, 20), ("readable", 18, 20), ("answered rightly", right, 20))}
    return Measured(**{**about, "rows": rows(right), **changes})


def test_seeds_are_pooled_and_shown_each():
    two = [measured("recite", 10, seed=1), measured("recite", 14, seed=0)]
    assert [[m.seed for m in own] for own in grouped(two)] == [[0, 1]]
    assert (accuracy(two).successes, accuracy(two).n) == (24, 40)
    assert left_after(two, "readable").value == pytest.approx(0.9)
    (numbers,) = recall_report(two).numbers["ablations"]
    assert numbers["accuracies"] == [0.7, 0.5]


def test_an_ablation_is_held_against_its_recipe_on_the_same_questions():
    report = recall_report([measured("recite", 18), measured("recite, no carriers", 3)])
    (table,) = next(section for section in report.sections if section.title == "What each part brings").tables
    whole, without = table.rows
    assert whole[-2:] == ["", ""]
    assert str(without[-2]).startswith("−75.0 <")
    assert without[-1] == "< 0.001"


def test_an_ablation_whose_recipe_was_not_trained_with_that_seed_is_held_against_nothing():
    report = recall_report([measured("recite", 18), measured("recite, no carriers", 3, seed=7)])
    (table,) = next(section for section in report.sections if section.title == "What each part brings").tables
    assert table.rows[1][-2:] == ["", ""]


def test_an_ablation_is_held_against_its_recipe_of_the_same_budget():
    own = [measured("recite", 18, budget=2.0), measured("recite", 4), measured("recite, one stage", 14)]
    report = recall_report(own)
    (table,) = next(section for section in report.sections if section.title == "What each part brings").tables
    assert [row[0] for row in table.rows] == ["recite, 2 × the budget", "recite", "recite, one stage"]
    assert str(table.rows[2][-2]).startswith("+50.0 <")


def test_final_figures_are_not_mixed_with_those_of_a_slice():
    numbers = recall_report([measured("recite", 18, part="recipes", asked="dev"), measured("recite", 4)]).numbers
    assert [(one["name"], one["accuracies"]) for one in numbers["recipes"]] == [("recite", [0.9])]
    assert [(one["name"], one["accuracies"]) for one in numbers["ablations"]] == [("recite", [0.2])]


def test_the_curve_has_a_line_per_recipe_and_a_point_per_budget():
    points = [
        measured(recipe, right, part="budgets", budget=budget, characters=round(100 * budget))
        for recipe, right in (("recite", 5), ("self-training", 15))
        for budget in (0.5, 1.0)
    ]
    lines = [trace for trace in budget_figure(points).data if trace.mode == "lines+markers"]
    assert [trace.mode for trace in budget_figure(points).data] == ["lines", "lines+markers"] * 2
    assert [(line.name, list(line.x), list(line.y)) for line in lines] == [
        ("recite", [50, 100], [25.0, 25.0]),
        ("self-training", [50, 100], [75.0, 75.0]),
    ]


def test_answers_to_different_questions_are_never_one_point():
    both = [
        measured("recite", 10, part="budgets"),
        measured("recite", 20, part="budgets", asked="dev", rows=rows(20, 25)),
    ]
    lines = [trace for trace in budget_figure(both).data if trace.mode == "lines+markers"]
    assert [(line.name, list(line.y)) for line in lines] == [("recite, fold 0", [50.0]), ("recite, dev", [80.0])]
    numbers = recall_report(both).numbers["budgets"]
    assert [(one["asked"], one["people"]["held-out"]["n"]) for one in numbers] == [("fold 0", 20), ("dev", 25)]


def test_probabilities_are_corrected_for_the_number_of_ablations():
    ablations = [measured(f"recite, {name}", 12) for name in ("one", "two", "three")]
    sections = recall_report([measured("recite", 18), *ablations]).sections
    (table,) = next(section for section in sections if section.title == "What each part brings").tables
    assert [row[-1] for row in table.rows] == ["", "0.094", "0.094", "0.094"]  # 2⁻⁵ each, thrice


def test_kinds_of_attention_under_two_recipes_are_two_tables():
    own = [measured(f"{recipe}, rope", 12, part="variants") for recipe in ("recite", "self-training")]
    section = next(section for section in recall_report(own).sections if "attention" in section.title)
    assert [table.caption.partition(",")[0] for table in section.tables] == ["recite", "self-training"]


def test_the_steps_of_the_funnel_stand_in_order_though_some_models_lack_one():
    steps = (("asked", 20, 20), ("readable", 18, 20), ("recited", 9, 20), ("answered rightly", 9, 20))
    figure = funnel_figure(grouped([measured("self-training", 15), measured("recite", 9, funnel=steps)]))
    assert [label.replace("<br>", " ") for label in figure.layout.yaxis.categoryarray] == [
        "asked",
        "readable",
        "recited",
        "answered rightly",
    ]
    assert [list(bar.x) for bar in figure.data] == [[100, 90, 75], [100, 90, 45, 45]]


def test_the_page_has_a_section_for_what_was_measured_and_no_other(tmp_path):
    variants = [
        measured(f"self-training, {name}", right, part="variants", faithful=(right, 20))
        for name, right in (("rope", 12), ("perceiver", 2))
    ]
    report = recall_report([measured("recite", 18, part="recipes", asked="dev"), *variants])
    assert [section.title for section in report.sections] == [
        "Recall",
        "Error funnel",
        "Which attention stores facts?",
    ]
    assert report.cards[0][0] == "recite"
    report.page().write(tmp_path / "recall.html")
    page = (tmp_path / "recall.html").read_text(encoding="utf-8")
    assert "perceiver" in page


def test_folds_are_judged_together():
    """Right answers at 0.9, wrong ones at 0.3 and one right one below them; one wrong answer is withheld."""

    def fold(name: str, *said: tuple[str, float]) -> Measured:
        own = tuple(
            Row(f"Where was {name}{index} born?", answer, ("Rome",), split="held-out", probability=p, silence=silence)
            for index, (answer, p) in enumerate(said)
            for silence in ["unsure" if p < 0.25 else None]
        )
        return measured("recite", 0, part="recipes", asked=name, rows=own, faithful=(len(own) - 1, len(own)))

    two = [
        fold("fold 0", ("Rome", 0.9), ("Rome", 0.9), ("Paris", 0.3)),
        fold("fold 1", ("Rome", 0.2), ("Paris", 0.1)),
    ]
    (found,) = recall_report(two).numbers["doubt"]
    assert found["auroc"]["value"] == pytest.approx(5 / 6)
    assert found["ece"] == pytest.approx((0.2 + 0.3 + 0.8 + 0.1) / 5)
    shown = {name: found[name]["successes"] for name in ("right", "answered_rightly", "answered_wrongly")}
    assert shown == {"right": 3, "answered_rightly": 2, "answered_wrongly": 1}
    page = recall_report(two).page().html()
    assert "fold 0, fold 1" in page
    assert "labels remembered" in page


def test_seeds_that_say_the_same_are_no_more_people():
    def one(seed):
        said = ["Rome" if n % 4 else "Oslo" for n in range(40)]
        own = [Row(f"q{n}", text, ("Rome",), probability=0.9, split=HELD_OUT) for n, text in enumerate(said)]
        return measured("recite", 0, seed=seed, asked="dev", rows=tuple(own), faithful=(30, 40))

    once, thrice = (doubt([one(seed) for seed in range(n)]) for n in (1, 3))
    assert once is not None
    assert thrice is not None
    assert (thrice.right.successes, thrice.right.n) == (90, 120)
    for name in ("right", "answered_rightly", "answered_wrongly", "remembered"):
        assert getattr(thrice, name).low == pytest.approx(getattr(once, name).low)
