"""The exercises of `loci lab`, by name."""

from __future__ import annotations

from loci.attention_lab.exercises import designed, noise, parsed, scaling, single_query
from loci.attention_lab.exercises.result import Exercise
from loci.registry import Registry

EXERCISES: Registry[Exercise] = Registry("exercise")
EXERCISES.add("distribution", single_query.DISTRIBUTION)
EXERCISES.add("copying", single_query.COPYING)
EXERCISES.add("averaging", single_query.AVERAGING)
EXERCISES.add("projection", single_query.PROJECTION)
EXERCISES.add("noisy-keys", noise.NOISY_KEYS)
EXERCISES.add("heads", noise.HEADS)
EXERCISES.add("design", designed.DESIGN)
EXERCISES.add("solve", designed.SOLVE)
EXERCISES.add("temperature", scaling.TEMPERATURE)
EXERCISES.add("folding", scaling.FOLDING)
EXERCISES.add("parse", parsed.PARSE)
