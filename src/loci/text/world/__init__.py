"""Synthetic worlds: people or products with their whole truth, lines about them, questions and gold parses.

`spec` says what a world is, `tables` what it is made of; `draws` and `pcg` are the random numbers; `population` and
`products` are whom it is about, `sentences` and `parse` the wordings with their trees, `story` the lines, `questions`
who is asked what, `writer` the files. Knows nothing of models.
"""

from __future__ import annotations

from loci.text.world.population import Person, people
from loci.text.world.products import Product
from loci.text.world.spec import Counts, RelationSpec, WorldSpec, example_products
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
    "Product",
    "RelationSpec",
    "Sentence",
    "WorldSpec",
    "WorldSummary",
    "WorldText",
    "WrittenFile",
    "example_products",
    "lines_about",
    "people",
    "tellings",
    "world_text",
    "write_world",
]
