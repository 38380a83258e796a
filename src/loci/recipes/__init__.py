"""Recipes: functions from the shape of the data to a `Recipe`. A new one is a function and a row here."""

from __future__ import annotations

from collections.abc import Callable

from loci.recipes.char import char
from loci.recipes.course import course_2021, course_2024, course_scratch, course_short
from loci.recipes.demo import demo, demo_scratch
from loci.recipes.recall import recite, self_training
from loci.recipes.shape import DataShape
from loci.registry import Registry
from loci.training.plan import Recipe

RECIPES: Registry[Callable[[DataShape], Recipe]] = Registry("recipe")
RECIPES.add("demo", demo)
RECIPES.add("demo-scratch", demo_scratch)
RECIPES.add("recite", recite)
RECIPES.add("self-training", self_training)
RECIPES.add("course-2021", course_2021)
RECIPES.add("course-2024", course_2024)
RECIPES.add("course-scratch", course_scratch)
RECIPES.add("course-short", course_short)
RECIPES.add("char", char)


def make_recipe(name: str, shape: DataShape) -> Recipe:
    """The recipe of that name for data of that shape; an unknown name lists the known ones."""
    return RECIPES[name](shape)


__all__ = ["DataShape", "RECIPES", "make_recipe"]
