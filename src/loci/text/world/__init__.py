"""Synthetic worlds: people or products with their whole truth, lines about them, questions and gold parses.

`spec` says what a world is, `tables` what it is made of; `draws` are the random numbers; `population` and `products`
are whom it is about, `sentences` and `parse` the wordings with their trees, `story` the lines and who is asked what,
`writer` the files. Knows nothing of models.
"""

from __future__ import annotations

from loci.text.world.population import Person, people
from loci.text.world.spec import Counts, RelationSpec, WorldSpec, example_products
from loci.text.world.story import lines_about
from loci.text.world.writer import WORLD_VERSION, WorldSummary, tellings, world_text, write_world

__all__ = [
    "WORLD_VERSION", "Counts", "Person", "RelationSpec", "WorldSpec", "WorldSummary",
    "example_products", "lines_about", "people", "tellings", "world_text", "write_world",
]  # fmt: skip
