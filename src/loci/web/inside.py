"""What the page shows of a model's inside, as plain data: a thin layer over the attention lab.

Called by the one worker. Knows nothing of HTTP.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from loci.errors import LociError
from loci.web import requests
from loci.web.library import Library

if TYPE_CHECKING:
    from loci.training.checkpoint import LoadedModel

LOOP_LEAST = 12
"""Characters a text must have repeated before the page calls it a loop."""


def written(library: Library, wanted: requests.Generate) -> Iterator[dict[str, Any]]:
    """The characters of a continued text, and the loop it falls into, once."""
    from loci.generation import Sampler, stream
    from loci.generation.context import trained_window
    from loci.generation.repetition import find_loop

    loaded = library.load(wanted.run).loaded
    sampler = Sampler(wanted.temperature, wanted.top_k, wanted.top_p, wanted.min_p)
    ids = loaded.vocab.encode(wanted.prompt)
    so_far: list[int] = []
    loop = None
    generator, window = torch.Generator().manual_seed(wanted.seed), trained_window(loaded.model)
    for index in stream(loaded.model, ids, length=wanted.length, sampler=sampler, generator=generator, window=window):
        so_far.append(index)
        yield {"text": loaded.vocab.symbols[index]}
        found = find_loop(so_far, least=LOOP_LEAST)
        if found != loop:  # it may also leave a loop again
            loop = found
            yield {"loop": None if found is None else {"entry": found.entry, "period": found.period}}


def activations(library: Library, wanted: requests.Activations) -> dict[str, Any]:
    """Activations by name, as base64."""
    from loci.model.activations import run_with_activations

    loaded = library.load(wanted.run).loaded
    ids = _ids(loaded, wanted.text)
    logits, kept = run_with_activations(loaded.model, ids, wanted.names, ablate=wanted.ablate)
    top = logits[0, -1].softmax(-1).topk(min(5, logits.shape[-1]))
    return {
        "symbols": list(loaded.vocab.decode(ids[0].tolist())),
        "next": [
            {"symbol": loaded.vocab.symbols[int(index)], "probability": float(p)}
            for p, index in zip(top.values, top.indices, strict=True)
        ],
        "activations": {name: _packed(value[0].float().numpy()) for name, value in kept.items()},
    }


def look_at(library: Library, wanted: requests.Look) -> dict[str, Any]:
    """Attention from where the answer begins, layer by layer, and how likely the answer's characters are there."""
    from loci.attention_lab.looking import look

    run = library.load(wanted.run)
    asked, generator = run.ask(wanted.question, lines=0), torch.Generator().manual_seed(0)
    seen = look(run.loaded.model, run.loaded.vocab, asked, generator=generator, draws=1)
    return {
        "symbols": list(seen.symbols),
        "n_prompt": seen.n_prompt,
        "answer": seen.answer,
        "subject": list(seen.subject),
        "attention": _packed(seen.attention),
        "lens": {"symbols": list(seen.answer_symbols), "probability": seen.lens.probability.tolist()},
    }


def intervened(library: Library, wanted: requests.Intervene) -> dict[str, Any]:
    """The untouched answer's probability, before and after the intervention, and the answer now likeliest."""
    from loci.attention_lab.interventions import intervene

    run = library.load(wanted.run)
    asked = [wanted.question, *([wanted.patch_from] if wanted.patch_from is not None else [])]
    answer, *other = run.ask_all(asked, lines=0)
    heads = {"ablate": wanted.ablate, "patch_heads": wanted.patch_heads}
    found = intervene(run.loaded.model, run.loaded.vocab, answer, patch_from=other[0] if other else None, **heads)
    (before, p), (after, q) = found.before, found.after
    return {
        "before": {"text": before, "probability": p},
        "after": {"text": after, "probability": q},
        "before_now": found.before_now,
    }


def exercises() -> list[dict[str, Any]]:
    """The exercises with their texts; formulas and symbols as MathML."""
    from loci.attention_lab.catalogue import EXERCISES
    from loci.report.attention.drawing import formula

    return [
        {
            "name": name,
            "title": name.replace("-", " "),
            "text": f"{one.statement}\n\n{one.question}",
            "symbols": [[formula(latex), meaning] for latex, meaning in one.symbols.items()],
            "formulas": [[says, formula(latex)] for says, latex in one.formulas.items()],
        }
        for name, one in EXERCISES.items()
    ]


@lru_cache(maxsize=16)
def exercise_page(name: str) -> str | None:
    """An exercise's own page with its figures; None if there is no such exercise."""
    from loci.attention_lab.catalogue import EXERCISES
    from loci.attention_lab.exercises.result import LabSettings
    from loci.report.attention.lab_page import lab_page

    if name not in EXERCISES:
        return None
    return lab_page(name, EXERCISES[name], EXERCISES[name].run(LabSettings())).html()


def _ids(loaded: LoadedModel, text: str) -> torch.Tensor:
    ids = torch.from_numpy(loaded.vocab.encode(text)).long()[None]
    limit = loaded.model.limit or loaded.model.config.block_size
    if ids.shape[1] > limit:
        raise LociError(f"the text has {ids.shape[1]} characters, the model reads {limit}", remedy="shorten it")
    return ids


def _packed(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    data = np.ascontiguousarray(array, dtype="<f4")
    return {"shape": list(data.shape), "data": base64.b64encode(data.tobytes()).decode("ascii")}
