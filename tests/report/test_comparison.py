import json
import math
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from loci.cli.main import main
from loci.errors import LociError
from loci.evaluation.comparison.artifacts import Sources, load_entries, read_groups, read_places, with_groups
from loci.evaluation.comparison.comparison import compare
from loci.evaluation.comparison.entries import Entry, read_entries
from loci.evaluation.error_kinds import ErrorKind
from loci.evaluation.metrics import wilson
from loci.evaluation.rows import Row, read_rows, split_of, write_rows
from loci.report.comparison.examples import chosen_rows
from loci.report.comparison.page import comparison_report, headline
from loci.report.comparison.wording import listed, once, p_value
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.relations import relations_from
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import start_run
from loci.training.sources import TrainingData
from run_files import rewrite
from synthetic_runs import Vices, make_run, make_world


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    world = make_world(folder / "world", people=300)
    make_run(world, folder / "weak", Vices(0.2, 2.0), seed=1, steps=50)
    make_run(world, folder / "strong", Vices(0.7, 1.0), seed=2, steps=50)
    return folder


@pytest.fixture(scope="module")
def computed(folder):
    entries = load_entries([folder / "weak", folder / "strong"], Sources(folder / "world", window=112))
    return compare(entries, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("stem", "split"),
    [
        ("birth_places_train", "taught"),
        ("birth_dev", "held-out"),
        ("birth_test_inputs", "held-out"),
        ("birth_outside", "never-read"),
        ("birth_validation", "held-out"),
        ("birth_unstated", "unstated"),
        ("held-out", "held-out"),
        ("held_out", "held-out"),
        ("NEVER_READ", "never-read"),
        ("birth-never-read", "never-read"),
        ("answers", None),
    ],
)
def test_a_file_name_tells_the_split(stem, split):
    assert split_of(stem) == split


RECIPE = Recipe("any", {}, (Stage("learn", (MixtureComponent("language-model"),), steps=1),))


def test_a_run_is_read_with_its_splits_and_curve(folder):
    (entry,) = read_entries([folder / "weak"])
    assert entry.name == "weak"
    assert {row.split for row in entry.rows} == {"taught", "held-out", "unstated", "never-read"}
    assert len(entry.metrics) == 50


def test_a_run_names_its_own_corpus_and_questions(folder, tmp_path):
    write_rows(tmp_path / "run" / "predictions" / "x.jsonl", [Row("q", "a", answers=("a",))])
    world = folder / "world"
    named = {"corpus": str(world / "wiki.txt"), "questions": str(world / "gone.tsv")}
    start_run(tmp_path / "run", RECIPE, {**named, "corpus_hash": Corpus.read(world).hash})
    (entry,) = load_entries([tmp_path / "run"])
    assert entry.context.corpus.hash == Corpus.read(world).hash
    assert entry.context.known == {}


def rows_of(people, right, split=None):
    """A row a person; those in `right` are answered rightly."""
    return [
        Row(f"Where was {name} born?", "Oslo" if name in right else "Rome", answers=("Oslo",), split=split)
        for name in people
    ]


def asked_files(folder, **files):
    for name, rows in files.items():
        write_rows(folder / "predictions" / f"{name}.jsonl", rows)
    return folder


DEV, SLICE = [f"dev {i}" for i in range(20)], [f"slice {i}" for i in range(30)]


def test_a_validation_slice_is_not_counted_among_the_held_out_people(tmp_path):
    """Part of the slice stands in dev too; all of it is answered rightly, as what was chosen on will be."""
    both = DEV[:5]
    weak = asked_files(
        tmp_path / "weak", birth_dev=rows_of(DEV, DEV[:6]), validation=rows_of([*both, *SLICE], {*both, *SLICE})
    )
    strong = asked_files(
        tmp_path / "strong", birth_dev=rows_of(reversed(DEV), DEV[:14]), validation=rows_of([*both, *SLICE], {*SLICE})
    )
    found = compare(load_entries([weak, strong]), np.random.default_rng(0))
    assert [card.people["held-out"].right for card in found.cards] == [wilson(6, 20), wilson(14, 20)]
    assert [card.rows for card in found.cards] == [20, 20]
    (test,) = found.pairwise
    assert (test.test.n, test.test.both, test.test.only_first, test.test.only_second) == (20, 6, 0, 8)
    assert headline(found) == "held-out people of birth_dev"
    assert "weak: held-out people are those of birth_dev alone; left out: validation" in found.remarks
    text = comparison_report(found).page().html()
    assert "Large numbers are about held-out people of birth_dev" in text
    assert "The questions about held-out people of birth_dev that both were asked" in text
    assert "those of birth_dev alone; left out: validation" in text
    data = found.as_dict()
    assert data["questions"] == ["birth_dev"]
    assert data["runs"][0]["files"] == {"held-out": "birth_dev"}
    assert data["runs"][0]["left_out"] == {"held-out": ["validation"]}


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["birth_dev", "validation"], "birth_dev"),
        (["birth_validation", "birth_test"], "birth_test"),
        (["birth_test", "held_out"], "held_out"),
        (["birth_dev", "birth_test"], "birth_dev"),
        (["validation"], "validation"),
    ],
)
def test_one_file_speaks_for_the_held_out_people(tmp_path, names, chosen):
    (entry,) = read_entries([asked_files(tmp_path / "run", **{name: rows_of([name], []) for name in names})])
    assert entry.files == {"held-out": chosen}
    assert [row.question for row in entry.rows] == [f"Where was {chosen} born?"]
    assert [*entry.left_out.values()] == ([tuple({*names} - {chosen})] if len(names) > 1 else [])


def test_a_dev_file_with_a_question_of_train_does_not_speak_for_taught_people(tmp_path):
    def asked(split, names):
        return [Row(f"Where was {name} born?", "a", answers=("a",), split=split) for name in names]

    dev = asked("held-out", DEV[:9]) + asked("taught", ["Al"])
    run = asked_files(tmp_path / "run", birth_dev=dev, birth_places_train=asked("taught", ["Al", "Bo"]))
    (entry,) = read_entries([run])
    assert entry.files == {"held-out": "birth_dev", "taught": "birth_places_train"}
    assert len(entry.rows) == 11


def test_files_of_several_relations_speak_together(tmp_path):
    """Of relations the run was taught, and only where the names say the same of their people."""

    def asked(relation, n, split=None):
        return [Row(f"{relation} of {i}?", "a", answers=("a",), relation=relation, split=split) for i in range(n)]

    run, forms = tmp_path / "run", {"author": "Who wrote {subject}?", "year": "When was {subject} written?"}
    taught = [{"name": name, "templates": [form], "names": True} for name, form in forms.items()]
    start_run(run, RECIPE, {"corpus": None, "corpus_hash": "x", "relations": taught})
    files = {"author_dev": asked("author", 2), "year_dev": asked("year", 3), "year_test": asked("year", 4)}
    asked_files(run, **files, other_dev=asked("other", 1), held_back=asked("author", 6, "held-out"))
    (entry,) = read_entries([run])
    assert entry.files == {"held-out": "year_dev and author_dev"}
    assert len(entry.rows) == 5
    assert {*entry.left_out["held-out"]} == {"year_test", "other_dev", "held_back"}
    found = compare([entry], np.random.default_rng(0))
    told = found.as_dict()["runs"][0]["relations"]["held-out"]
    assert {name: own["right"]["n"] for name, own in told.items()} == {"author": 2, "year": 3}
    text = comparison_report(found).page().html()
    assert "held-out people of year_dev and author_dev" in text
    assert "The same for the questions of each relation" in text


def test_of_several_relations_a_fact_is_taught_and_not_a_person(tmp_path):
    """A train file holds what a run held back of people whose other relation it was taught."""
    relations = relations_from(["Who wrote {subject}?", "When was {subject} written?"])
    author, year = relations
    asked = [(author.ask("Emma"), "Jane"), (author.ask("Ulysses"), "James"), (year.ask("Emma"), "1815")]
    corpus = Corpus.from_lines(["Emma. A book .", "Ulysses. A book ."])
    data = TrainingData(corpus, Questions.from_pairs(asked, relations=relations))
    taught = data.describe()
    start_run(tmp_path / "run", RECIPE, taught)
    names = [relation.name for relation in data.relations]
    facts = [(name, subject) for name in names for subject in ("Emma", "Ulysses")]
    rows = [Row(f"{name} of {subject}?", "a", subject=subject, relation=name) for name, subject in facts]
    asked_files(tmp_path / "run", books_train=rows, books_dev=rows)

    def splits():
        (entry,) = read_entries([tmp_path / "run"])
        return {(row.relation, row.subject): row.split for row in entry.rows}

    assert splits() == dict.fromkeys(facts[:3], "taught") | {facts[3]: "held-out"}
    # A run of an earlier version tells whom alone: a train file then is about people it was taught.
    old = sorted({digest for own in taught["taught"].values() for digest in own})
    rewrite(tmp_path / "run" / "run.json", lambda info: info["data"].update(taught=old))
    (tmp_path / "run" / "predictions" / "books_dev.jsonl").unlink()
    assert set(splits().values()) == {"taught"}
    for odd in ({"author": "x"}, {"author": [1]}, "x", 3):
        rewrite(tmp_path / "run" / "run.json", lambda info, odd=odd: info["data"].update(taught=odd))
        with pytest.raises(LociError, match=r"run\.json"):
            read_entries([tmp_path / "run"])


def test_answers_that_nobody_can_score_do_not_displace_those_that_can(tmp_path):
    inputs = [Row(f"q{i}", "Oslo") for i in range(9)]
    (entry,) = read_entries([asked_files(tmp_path / "run", birth_dev=inputs, validation=rows_of(SLICE, SLICE))])
    assert entry.files == {"held-out": "validation"}


def test_the_runs_speak_of_the_same_file_where_they_can(tmp_path):
    first = asked_files(tmp_path / "first", birth_dev=rows_of(DEV, DEV), birth_test=rows_of(SLICE, SLICE))
    second = asked_files(tmp_path / "second", birth_test=rows_of(SLICE, []))
    found = compare(load_entries([first, second]), np.random.default_rng(0))
    assert headline(found) == "held-out people of birth_test"
    assert found.pairwise[0].test.n == len(SLICE)
    assert not any("not all runs" in remark for remark in found.remarks)


def test_runs_asked_other_people_are_tested_on_what_they_share_and_it_is_said(tmp_path):
    first = asked_files(tmp_path / "first", birth_dev=rows_of(DEV, DEV))
    second = asked_files(tmp_path / "second", validation=rows_of([*DEV[:5], *SLICE], []))
    found = compare(load_entries([first, second]), np.random.default_rng(0))
    assert headline(found) == "held-out people of birth_dev and validation"
    assert found.pairwise[0].test.n == 5
    assert any("not all runs were asked the same held-out questions" in remark for remark in found.remarks)


def test_rows_of_a_split_of_their_own_say_so_whatever_their_file(tmp_path):
    twins = rows_of(DEV, DEV, split="held-out")
    (entry,) = read_entries([asked_files(tmp_path / "run", birth_dev=rows_of(DEV, []), twins=twins)])
    assert entry.files == {"held-out": "birth_dev"}
    mixed = asked_files(tmp_path / "mixed", answers=[*rows_of(DEV, DEV), *rows_of(SLICE, [], split="taught")])
    assert read_entries([mixed])[0].files == {"answers": "answers", "taught": "answers"}
    assert len(read_entries([mixed])[0].rows) == len(DEV) + len(SLICE)


def test_only_held_out_people_count_in_a_pairwise_test(tmp_path):
    others = {"birth_outside": rows_of(["x"], []), "birth_places_train": rows_of(["y"], ["y"])}
    runs = [
        asked_files(tmp_path / name, birth_dev=rows_of(DEV, right), **others) for name, right in (("a", DEV), ("b", []))
    ]
    found = compare(load_entries(runs), np.random.default_rng(0))
    assert found.pairwise[0].test.n == len(DEV)
    write_rows(tmp_path / "theirs.jsonl", rows_of(DEV, DEV[:3]))
    found = compare(load_entries([runs[0], tmp_path / "theirs.jsonl"]), np.random.default_rng(0))
    assert found.pairwise[0].test.n == len(DEV)


def test_names_are_made_distinct(tmp_path):
    for parent in ("a", "b"):
        write_rows(tmp_path / parent / "rows.jsonl", [Row("q", "a", answers=("a",))])
    paths = [tmp_path / "a" / "rows.jsonl", tmp_path / "b" / "rows.jsonl", tmp_path / "b" / "rows.jsonl"]
    assert [entry.name for entry in read_entries(paths)] == ["a/rows", "b/rows", "b/rows (2)"]


def test_a_folder_without_predictions_says_what_to_do(tmp_path):
    with pytest.raises(LociError, match="loci evaluate"):
        read_entries([tmp_path])


def test_groups_from_a_table_and_from_a_world(folder, tmp_path):
    table = tmp_path / "groups.tsv"
    table.write_text("Ann Lee\tnordic\n\nBo Ray\tfrench\n", encoding="utf-8")
    groups = read_groups(table)
    assert groups == {"Ann Lee": "nordic", "Bo Ray": "french"}
    assert len(read_groups(folder / "world" / "people.jsonl")) == 300
    rows = (Row("q", "a", subject="Ann Lee"), Row("q", "a", subject="Ann Lee", group="own"))
    assert [row.group for row in with_groups(Entry("e", table, rows), groups).rows] == ["nordic", "own"]
    for bad in ("Ann Lee\n", '{"name": "x"}\n', "a\tb\tc\n", "{\n"):
        table.write_text("x\ty\n" + bad, encoding="utf-8")
        with pytest.raises(LociError, match="subject and group") as caught:
            read_groups(table)
        assert caught.value.line == 2


def test_a_world_tells_its_places_and_a_file_may_too(folder, tmp_path):
    people = folder / "world" / "people.jsonl"
    first = json.loads(people.read_text(encoding="utf-8").splitlines()[0])
    assert {first["birth"]["place"], first["work"]["place"]} <= read_places(people)
    table = tmp_path / "places.txt"
    table.write_text("Oslo\n\n New York \n", encoding="utf-8")
    assert read_places(table) == {"Oslo", "New York"}
    table.write_text("Oslo\n{", encoding="utf-8")
    with pytest.raises(LociError, match="not valid JSON") as caught:
        read_places(table)
    assert caught.value.line == 2


def test_a_run_on_a_world_needs_no_flags(folder, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(folder / "weak", run)
    world = folder / "world"
    start_run(run, RECIPE, TrainingData.read(world).describe())
    found = compare(load_entries([run]), np.random.default_rng(0))
    assert found.cards[0].groups is not None
    assert found.entries[0].context.places == read_places(world / "people.jsonl")
    assert found.cards[0].error_funnel is not None


def test_the_comparison_finds_what_was_put_in(computed):
    weak, strong = computed.cards
    assert computed.split == "held-out"
    assert strong.people["held-out"].right.low > weak.people["held-out"].right.high
    assert computed.pairwise[0].p_value < 0.001
    assert computed.pairwise[0].difference.value > 0
    assert weak.selective.temperature.calibrator.value > strong.selective.temperature.calibrator.value
    assert weak.error_kinds["held-out"][ErrorKind.NEAREST_SPELLING].value > weak.nearest_name_by_chance["held-out"]
    assert weak.popularity.top_given > weak.popularity.top_true
    assert weak.groups is not None
    assert computed.baseline is not None
    assert [step.name for step in weak.error_funnel.steps][3] == "within 112 characters"


def test_the_better_run_stands_first_whatever_the_order(computed, folder):
    turned = compare(load_entries([folder / "strong", folder / "weak"]), np.random.default_rng(0))
    assert turned.pairwise[0].difference.value < 0
    for found in (computed, turned):
        text = comparison_report(found).page().html()
        rows = re.findall(r"<tr>(.*?)</tr>", text, flags=re.S)
        pair = next(row for row in rows if 'title="strong"' in row and 'title="weak"' in row)
        assert pair.index('title="strong"') < pair.index('title="weak"')
        assert re.search(r"\+\d+\.\d <", pair)
        assert "more than <strong>weak</strong>, and the difference is beyond chance" in text


def test_all_numbers_are_json(computed):
    text = json.dumps(computed.as_dict(), allow_nan=False)
    data = json.loads(text)
    right = computed.cards[1].people["held-out"].right
    assert data["runs"][1]["people"]["held-out"]["right"]["value"] == right.value
    assert data["pairwise"][0]["second"] == "strong"


def test_the_page_has_every_section(computed):
    text = comparison_report(computed, seed=0).page().html()
    for section in (
        "Accuracy",
        "Error funnel",
        "Calibration",
        "Abstention",
        "Answer sets",
        "Made-up answers",
        "Bias",
        "Learning",
        "Examples",
        "Notes",
    ):
        assert f">{section}</h2>" in text
    assert text.count('class="plot"') == 9
    assert text.count('class="pair"') == 1
    assert "<mark>" in text
    assert "beyond chance" in text


def test_rows_that_tell_little_still_make_a_page(tmp_path):
    bare = [Row("q1", "a", answers=("a",)), Row("q2", "", answers=("b",)), Row("q3", "c")]
    write_rows(tmp_path / "bare.jsonl", bare)
    found = compare(load_entries([tmp_path / "bare.jsonl"]), np.random.default_rng(0))
    text = comparison_report(found).page().html()
    assert "No run gives probabilities" in text
    assert ">Error funnel</h2>" not in text
    assert found.pairwise == ()


def test_one_row_with_a_probability(tmp_path):
    write_rows(tmp_path / "one.jsonl", [Row("q", "a", answers=("b",), probability=1.0)])
    found = compare(load_entries([tmp_path / "one.jsonl"]), np.random.default_rng(0))
    comparison_report(found).page().write(tmp_path / "one.html")
    assert math.isnan(found.cards[0].selective.auroc.value)


def test_runs_with_no_question_in_common_are_not_tested(tmp_path):
    for name in "ab":
        write_rows(tmp_path / f"{name}.jsonl", [Row(name, "x", answers=("x",))])
    found = compare(load_entries([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]), np.random.default_rng(0))
    assert found.pairwise == ()
    assert "no run more" in comparison_report(found).page().html()


def silent_about(people, reason, p):
    """Best answers that are right and withheld."""
    return [replace(row, silence=reason, reasons=((reason, p),)) for row in rows_of(people, people)]


def test_both_columns_and_the_reasons_for_silence_of_all_people(tmp_path):
    held_out = [
        *rows_of(DEV[:12], DEV[:10]),
        *silent_about(DEV[12:17], "unsure", 0.6),
        *silent_about(DEV[17:], "not told", 0.9),
    ]
    outside = silent_about(SLICE, "never read about", 0.98)
    folder = asked_files(
        tmp_path / "run", birth_dev=held_out, birth_outside=[replace(row, answers=()) for row in outside]
    )
    other = asked_files(tmp_path / "other", birth_dev=rows_of(DEV, DEV[:18]))
    found = compare(load_entries([folder, other]), np.random.default_rng(0))
    assert found.pairwise[0].test.both + found.pairwise[0].test.only_first == 18  # best answers, also those withheld
    report = comparison_report(found)
    assert report.cards[0][1] == wilson(18, 20)
    assert "answered rightly 50.0 %, wrongly 10.0 %" in report.cards[0][2]
    accuracy, silences = report.sections[0].tables[:2]
    assert accuracy.headers == ["run", "people", "best answer right", "answered rightly", "answered wrongly", "silent"]
    cells = {row[1]: row[2:] for row in accuracy.rows[:3]}
    assert cells == {
        "taught: not asked": [None] * 4,
        "held-out": [wilson(18, 20), wilson(10, 20), wilson(2, 20), wilson(8, 20)],
        "never read about": [wilson(0, 0), wilson(0, 30), wilson(0, 30), wilson(30, 30)],
    }
    assert [(*row[1:4], str(row[5])[:4]) for row in silences.rows] == [
        ("held-out", "not told", 3, "90.0"),
        ("held-out", "unsure", 5, "60.0"),
        ("never read about", "never read about", 30, "98.0"),
    ]
    text = report.page().html()
    assert "(would have said Oslo; never read about 98\u00a0%)" in text
    made_up = next(section for section in report.sections if section.title == "Made-up answers").tables[0]
    assert [row[2] for row in made_up.rows[:2]] == [wilson(2, 20), wilson(0, 30)]


def test_a_silence_that_follows_a_new_name_is_a_change(tmp_path):
    before = rows_of(DEV, DEV)
    write_rows(tmp_path / "a.jsonl", before)
    after = [replace(row, silence="unsure") for row in before]
    found = compare(load_entries([tmp_path / "a.jsonl"]), np.random.default_rng(0), renamed=(before, after))
    assert (found.renamed.changed.value, found.renamed.right_after.value) == (1, 0)


def test_nothing_to_compare(tmp_path):
    with pytest.raises(LociError, match="nothing to compare"):
        load_entries([])
    write_rows(tmp_path / "a.jsonl", [Row("q", "x")])
    with pytest.raises(LociError, match="no row has a known truth"):
        compare(load_entries([tmp_path / "a.jsonl"]), np.random.default_rng(0))


def test_counterfactual_pairs(folder, tmp_path, capsys):
    before = [Row(f"q{i}", "Oslo", answers=("Oslo",), group="nordic") for i in range(5)]
    after = [Row(f"r{i}", "Rome", answers=("Oslo",), group="italian") for i in range(5)]
    write_rows(tmp_path / "a.jsonl", before)
    write_rows(tmp_path / "b.jsonl", after)
    entries = load_entries([folder / "weak"], Sources(folder / "world"))
    paths = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    found = compare(entries, np.random.default_rng(0), renamed=(read_rows(paths[0]), read_rows(paths[1])))
    assert found.renamed.changed.value == 1
    assert found.renamed.follows_name.value == 1
    assert "Counterfactual names" in comparison_report(found).page().html()
    write_rows(tmp_path / "b.jsonl", after[:3])
    assert main(["report", str(folder / "weak"), "--pairs", *map(str, paths), "--json"]) == 2
    assert f"{paths[1]}:4: 5 rows and 3 renamed ones" in capsys.readouterr().err


def test_chosen_rows_are_distinct_and_of_their_sort():
    rows = [
        Row(f"q{i}", "a", answers=("a" if i % 2 else "b",), probability=i / 20, split="held-out") for i in range(20)
    ]
    rows += [Row("u", "a", split="never-read", probability=0.9)]
    chosen = chosen_rows(rows)
    assert len({id(row) for _, row in chosen}) == len(chosen) == 10
    assert [row.question for name, row in chosen if name == "Most confident mistakes"] == ["q18", "q16", "q14"]
    assert chosen[-1][1].question == "u"


def test_words():
    assert [p_value(p) for p in (0.0001, 0.0123, 0.5)] == ["< 0.001", "0.012", "0.50"]
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert once([["a", 1], ["a", 2], ["b", 3]]) == [["a", 1], ["", 2], ["b", 3]]
