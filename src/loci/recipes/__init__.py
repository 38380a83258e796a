"""Recipes: functions from the shape of the data to a `Recipe`. A new one is a function and a row here."""

from __future__ import annotations

from collections.abc import Callable

from loci.errors import LociError
from loci.recipes.char import char
from loci.recipes.course import course_2021, course_2024, course_scratch
from loci.recipes.demo import demo, demo_scratch
from loci.recipes.recall import reader, self_training, strict
from loci.recipes.shape import DataShape
from loci.training.plan import Recipe

RECIPES: dict[str, Callable[[DataShape], Recipe]] = {
    "demo": demo,
    "demo-scratch": demo_scratch,
    "strict": strict,
    "self-training": self_training,
    "reader": reader,
    "course-2021": course_2021,
    "course-2024": course_2024,
    "course-scratch": course_scratch,
    "char": char,
}


def make_recipe(name: str, shape: DataShape) -> Recipe:
    """The recipe of that name for data of that shape; an unknown name lists the known ones."""
    if name not in RECIPES:
        raise LociError(f"unknown recipe {name!r}", remedy=f"one of: {', '.join(RECIPES)}")
    return RECIPES[name](shape)


__all__ = ["DataShape", "RECIPES", "make_recipe"]
