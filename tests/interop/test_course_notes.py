from __future__ import annotations

from pathlib import Path

import pytest
import torch
from small_course import QUIET

from loci.errors import LociError
from loci.interop import course_commands
from loci.interop.course_commands import Course
from loci.interop.course_notes import choose_year, how_made
from loci.interop.params_file import write_params


def test_a_perceiver_of_the_other_form_is_refused_also_after_an_export(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"n_layer": 3, "n_head": 2, "n_embd": 16, "block_size": 64}
    monkeypatch.setattr(course_commands, "COURSE_MODEL", sizes)
    first, second, run = tmp_path / "p.params", tmp_path / "back.params", tmp_path / "run"
    bare, residual = (Course.read("perceiver", corpus, perceiver_form=form) for form in ("bare", "residual"))
    course_commands.pretrain(bare, first, max_epochs=1, hooks=QUIET)
    assert (how_made(first) or {})["perceiver_form"] == "bare"
    bare.load(first)
    course_commands.import_params(bare, first, run)
    course_commands.export_params(run, second)
    assert (how_made(second) or {}).items() >= {"perceiver_form": "bare", "corpus": "wiki.txt"}.items()
    assert choose_year("perceiver", reading=second) == choose_year("perceiver")  # an exported file has none
    for params in (first, second):
        with pytest.raises(LociError, match=r"of the form bare, not residual \(give --perceiver_form bare"):
            residual.load(params)
    bare.load(second)


@pytest.mark.usefixtures("small")
def test_the_year_is_that_of_what_was_trained_before(corpus: Path, questions: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "rope.params", tmp_path / "fine.params"
    assert choose_year("vanilla", writing=first)[0] == 2021
    assert choose_year("rope", writing=first)[0] == 2024
    course_commands.pretrain(Course.read("rope", corpus, year=2024), first, max_epochs=1, hooks=QUIET)
    # Another variant in the same folder gets the same year, so that the two can be compared.
    assert choose_year("vanilla", writing=tmp_path / "vanilla.params") == (2024, "as rope.params was trained")
    assert choose_year("vanilla", writing=tmp_path / "elsewhere" / "vanilla.params")[0] == 2021
    older = tmp_path / "older" / "vanilla.params"
    older.parent.mkdir()
    course_commands.pretrain(Course.read("vanilla", corpus), older, max_epochs=1, hooks=QUIET)
    told = "as vanilla.params was trained; rope came in 2024: --year 2024"  # no handout had it so
    assert choose_year("rope", writing=older.with_name("rope.params")) == (2021, told)
    assert choose_year("vanilla", 2022, writing=second)[0] == 2022
    assert choose_year("rope", reading=first, writing=second)[0] == 2024
    with pytest.raises(LociError, match=r"rope\.params: was trained as in 2024, not 2021"):
        choose_year("rope", 2021, reading=first)
    # A note speaks of the file it was written for, and of no other.
    assert (how_made(first) or {})["fix"] == []
    write_params(first, {"other": torch.ones(1)})
    assert how_made(first) is None
    assert choose_year("rope", 2021, reading=first)[0] == 2021


@pytest.mark.usefixtures("small")
def test_the_same_number_of_other_characters_is_another_vocabulary(corpus: Path, tmp_path: Path) -> None:
    params, other = tmp_path / "p.params", tmp_path / "other.txt"
    course_commands.pretrain(Course.read("vanilla", corpus), params, max_epochs=1, hooks=QUIET)
    other.write_text(corpus.read_text(encoding="utf-8").replace("Y", "Z"), encoding="utf-8")
    with pytest.raises(LociError, match=r"another vocabulary of the same size \(give the corpus .*wiki\.txt"):
        Course.read("vanilla", other).load(params)
