import pytest

from loci.evaluation.rows import Row
from loci.experiments.recall.page import (
    Measured,
    curve_figure,
    grouped,
    left_after,
    pooled,
    recall_report,
    waterfall_figure,
)


def rows(right: int, n: int = 20) -> tuple[Row, ...]:
    """`n` answers, the first `right` of them right."""
    said = ["Rome" if index < right else "Paris" for index in range(n)]
    return tuple(
        Row(question=f"Where was P{index} born?", subject=f"P{index}", answers=("Rome",), prediction=answer)
        for index, answer in enumerate(said)
    )


def measured(arm: str, right: int, **changes) -> Measured:
    about = {"what": "levers", "arm": arm, "recipe": arm.partition(",")[0], "shows": "something", "asked": "a fifth"}
    about |= {"seed": 0, "minutes": 5.0, "parameters": 100, "characters": 1000, "reading_loss": 0.5}
    about |= {"waterfall": (("asked", 20, 20), ("readable", 18, 20), ("answered rightly", right, 20))}
    return Measured(**{**about, "rows": rows(right), **changes})


def test_seeds_are_pooled_and_shown_each():
    two = [measured("strict", 10, seed=1), measured("strict", 14, seed=0)]
    assert [[m.seed for m in own] for own in grouped(two)] == [[0, 1]]
    assert (pooled(two).successes, pooled(two).n) == (24, 40)
    assert left_after(two, "readable").value == pytest.approx(0.9)
    (numbers,) = recall_report(two).numbers["levers"]
    assert numbers["accuracies"] == [0.7, 0.5]


def test_a_lever_is_held_against_its_recipe_on_the_same_questions():
    report = recall_report([measured("strict", 18), measured("strict, no carriers", 3)])
    (table,) = next(section for section in report.sections if section.title == "What each lever brings").tables
    whole, without = table.rows
    assert whole[-2:] == ["", ""]
    assert str(without[-2]).startswith("−75.0 (")
    assert without[-1] == "< 0.001"


def test_a_lever_whose_recipe_was_not_trained_with_that_seed_is_held_against_nothing():
    report = recall_report([measured("strict", 18), measured("strict, no carriers", 3, seed=7)])
    (table,) = next(section for section in report.sections if section.title == "What each lever brings").tables
    assert table.rows[1][-2:] == ["", ""]


def test_a_lever_is_held_against_its_recipe_of_the_same_time():
    arms = [measured("strict", 18, minutes=10.0), measured("strict", 4), measured("strict, one stage", 14)]
    report = recall_report(arms)
    (table,) = next(section for section in report.sections if section.title == "What each lever brings").tables
    assert [row[2] for row in table.rows] == ["10", "5", "5"]
    assert str(table.rows[2][-2]).startswith("+50.0 (")


def test_final_figures_are_not_mixed_with_those_of_a_slice():
    numbers = recall_report([measured("strict", 18, what="final", asked="dev"), measured("strict", 4)]).numbers
    assert [(one["name"], one["accuracies"]) for one in numbers["final"]] == [("strict, 5 min", [0.9])]
    assert [(one["name"], one["accuracies"]) for one in numbers["levers"]] == [("strict, 5 min", [0.2])]


def test_the_curve_has_a_line_a_recipe_and_a_point_a_time():
    points = [
        measured(recipe, right, what="curve", minutes=minutes)
        for recipe, right in (("strict", 5), ("self-training", 15))
        for minutes in (5.0, 10.0)
    ]
    lines = [trace for trace in curve_figure(points).data if trace.mode == "lines+markers"]
    assert [trace.mode for trace in curve_figure(points).data] == ["lines", "lines+markers"] * 2
    assert [(line.name, list(line.x), list(line.y)) for line in lines] == [
        ("strict", [5.0, 10.0], [25.0, 25.0]),
        ("self-training", [5.0, 10.0], [75.0, 75.0]),
    ]


def test_answers_to_different_questions_are_never_one_point():
    both = [
        measured("strict", 10, what="curve"),
        measured("strict", 20, what="curve", asked="dev", rows=rows(20, 25)),
    ]
    lines = [trace for trace in curve_figure(both).data if trace.mode == "lines+markers"]
    assert [(line.name, list(line.y)) for line in lines] == [("strict, a fifth", [50.0]), ("strict, dev", [80.0])]
    assert [(one["asked"], one["n"]) for one in recall_report(both).numbers["curve"]] == [("a fifth", 20), ("dev", 25)]


def test_probabilities_are_corrected_for_the_number_of_levers():
    levers = [measured(f"strict, {name}", 12) for name in ("one", "two", "three")]
    (table,) = next(s for s in recall_report([measured("strict", 18), *levers]).sections if "lever" in s.title).tables
    assert [row[-1] for row in table.rows] == ["", "0.094", "0.094", "0.094"]  # 2⁻⁵ each, thrice


def test_kinds_of_attention_under_two_recipes_are_two_tables():
    arms = [measured(f"{recipe}, rope", 12, what="variants") for recipe in ("strict", "self-training")]
    section = next(section for section in recall_report(arms).sections if "attention" in section.title)
    assert [table.caption.partition(",")[0] for table in section.tables] == ["strict", "self-training"]


def test_the_steps_of_the_waterfall_stand_in_order_though_some_models_lack_one():
    steps = (("asked", 20, 20), ("readable", 18, 20), ("stored", 9, 20), ("answered rightly", 9, 20))
    figure = waterfall_figure([measured("self-training", 15), measured("strict", 9, waterfall=steps)])
    assert list(figure.layout.xaxis.categoryarray) == ["asked", "readable", "stored", "answered rightly"]
    assert [list(bar.y) for bar in figure.data] == [[100, 90, 75], [100, 90, 45, 45]]


def test_the_page_has_a_section_for_what_was_measured_and_no_other(tmp_path):
    variants = [
        measured(f"self-training, {name}", right, what="variants", faithful=(right, 20))
        for name, right in (("rope", 12), ("perceiver", 2))
    ]
    report = recall_report([measured("strict", 18, what="final", asked="dev"), *variants])
    assert [section.title for section in report.sections] == [
        "Recall",
        "Where the points go",
        "Which attention stores facts?",
    ]
    assert report.cards[0][0] == "strict, 5 min"
    report.page().write(tmp_path / "recall.html")
    page = (tmp_path / "recall.html").read_text(encoding="utf-8")
    assert "perceiver" in page
