"""What clients may send, with its bounds. Knows nothing of what is done with it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1, max_length=1000)]
RunName = Annotated[str, Field(min_length=1, max_length=200)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]
Place = Annotated[int, Field(ge=0, le=1000)]
Heads = Annotated[list[tuple[Place, Place]], Field(max_length=256)]
"""(block, head) pairs."""
LONGEST_FILE = 2000
"""Questions in one batch."""


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Ask(_Request):
    """One question to one run."""

    run: RunName
    question: Text
    history: list[Text] = Field(default=[], max_length=20, description="Earlier questions: they tell whom 'she' means.")
    threshold: Probability | None = None
    alternatives: int = Field(default=3, ge=0, le=20)
    lines: int = Field(default=3, ge=0, le=20)


class AskBatch(_Request):
    """Several questions to one run."""

    run: RunName
    questions: list[Text] = Field(min_length=1, max_length=LONGEST_FILE)
    threshold: Probability | None = None


class Generate(_Request):
    """A text to continue."""

    run: RunName
    prompt: str = Field(default="\n", min_length=1, max_length=2000)
    length: int = Field(default=200, ge=1, le=2000)
    temperature: float = Field(default=1.0, ge=0, le=10, allow_inf_nan=False)
    top_k: int | None = Field(default=None, ge=1, le=10_000)
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    min_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    seed: Seed = 0


class Activations(_Request):
    """Internals of one text."""

    run: RunName
    text: Text
    names: list[Annotated[str, Field(max_length=60)]] = Field(default=["blocks.*.attn.pattern"], max_length=40)
    ablate: Heads = Field(default=[], description="(block, head) pairs that contribute nothing.")


class Look(_Request):
    """The inside of one answer."""

    run: RunName
    question: Text


class Intervene(_Request):
    """A question asked again with heads ablated, or with another name's activations."""

    run: RunName
    question: Text
    ablate: Heads = []
    patch_from: Text | None = Field(default=None, description="A question whose name, or whose heads, are patched in.")
    patch_heads: Heads = Field(
        default=[], description="(block, head) pairs taken from that question instead of its name."
    )


class StartTraining(_Request):
    """A small training."""

    kind: Literal["demo", "quick-demo", "course", "recipe"] = "quick-demo"
    recipe: str = Field(default="self-training", max_length=60)
    people: int = Field(default=60, ge=20, le=1000)
    characters: int = Field(default=400_000, ge=10_000, le=20_000_000)
    seed: Seed = 0
