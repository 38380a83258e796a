"""Synthetic worlds: people with their whole truth, lines about them, questions and gold parses.

`spec` holds the knobs, `tables` what a world is made of, `draws` the random numbers, `population` the people,
`sentences` and `parse` the wordings with their trees, `story` the lines, `writer` the files. Knows nothing of models.
"""

from __future__ import annotations

from loci.text.world.population import Person, people
from loci.text.world.spec import Counts, WorldSpec
from loci.text.world.story import Line, Sentence, lines_about
from loci.text.world.writer import (
    WORLD_VERSION,
    WorldSummary,
    WorldText,
    WrittenFile,
    tellings,
    world_text,
    write_world,
)

__all__ = [
    "WORLD_VERSION",
    "Counts",
    "Line",
    "Person",
    "Sentence",
    "WorldSpec",
    "WorldSummary",
    "WorldText",
    "WrittenFile",
    "lines_about",
    "people",
    "tellings",
    "world_text",
    "write_world",
]
