"""Worlds, folders and recipes so small that an experiment takes a second."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from loci.experiments.abstain.run import WORLD as ABSTAIN_WORLD
from loci.experiments.names.run import WORLD as NAMES_WORLD
from loci.recipes.demo import demo

SMALL_ABSTAIN = dataclasses.replace(ABSTAIN_WORLD, people=46, paraphrases=1)
SMALL_NAMES = dataclasses.replace(NAMES_WORLD, people=42, paraphrases=1)


def small_recipe(shape):
    """The demo's recipe on a model of a few thousand parameters, three steps a stage."""
    recipe = demo(shape)
    recipe = recipe.with_stages(lambda s: dataclasses.replace(s.with_budget(steps=3), batch_size=4, pool=2))
    return dataclasses.replace(recipe, model={**recipe.model, "n_layer": 1, "n_head": 2, "n_embd": 16})


def folder_of(folder: Path, train: dict[str, str], dev: dict[str, str]) -> Path:
    """A corpus, train questions and dev questions; files without a question are not written."""
    folder.mkdir()
    lines = [f"{name}. {name} was born in {place} ." for name, place in (train | dev).items()]
    (folder / "wiki.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for split, people in (("train", train), ("dev", dev)):
        rows = [f"Where was {name} born?\t{place}\n" for name, place in people.items()]
        if rows:
            (folder / f"birth_{split}.tsv").write_text("".join(rows), encoding="utf-8")
    return folder
