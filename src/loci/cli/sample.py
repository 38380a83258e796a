"""Let a run write on from a prompt; characters appear as they come.

examples:
  loci sample run --prompt "O God, O God!" --length 2000 --temperature 1 --top-k 10
  loci sample run --prompt "Where was Ada Byron born?⁇" --until-mask --temperature 0
  loci sample run --prompt "KING:" --samples 3 --seed 7 --json
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


def sample(
    run: Path,
    /,
    *,
    prompt: str | None = None,
    length: int = 500,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    samples: int = 1,
    seed: int = 0,
    until_mask: bool = False,
    context: int | None = None,
    keep: int | None = None,
    json: bool = False,
) -> None:
    """Write on from a prompt.

    Args:
        run: The run that writes.
        prompt: What the text begins with (default: a new line).
        length: How many characters to write.
        temperature: Below 1 keeps to the likelier characters, above 1 strays; 0 always takes the likeliest.
        top_k: Draw from this many likeliest characters only.
        top_p: Draw from the fewest likeliest characters that together reach this probability.
        min_p: Leave out characters less likely than this part of the likeliest one's probability.
        repetition_penalty: Above 1 makes characters that came before less likely.
        samples: How many texts to write.
        seed: Same seed, same texts.
        until_mask: End a text where the model writes the mask ⁇, as answers end.
        context: Characters the model looks back over at most (default: the length it was trained on).
        keep: Characters kept when the context is full (default: half of it; all of it, as published, is slower).
        json: Print JSON with each text's log-probability, when all are done.
    """
    import torch

    from loci.cli.output import print_json
    from loci.generation import Sampler, generate, stream
    from loci.generation.context import trained_window
    from loci.text.vocab import MASK_ID
    from loci.training.checkpoint import load_model

    prompt = "\n" if prompt is None else prompt
    loaded = load_model(run)
    ids = loaded.vocab.encode(prompt)
    options: dict[str, Any] = {
        "stop_id": MASK_ID if until_mask else None,
        "sampler": Sampler(temperature, top_k, top_p, min_p, repetition_penalty),
        "generator": torch.Generator().manual_seed(seed),
        "window": trained_window(loaded.model, context, keep),
    }
    if json:
        results = generate(loaded.model, [ids] * samples, max_new=length, **options)
        texts = [
            {"text": loaded.vocab.decode(one.ids), "log_probability": one.log_probability, "stopped": one.stopped}
            for one in results
        ]
        print_json({"run": run, "model": loaded.hash, "prompt": prompt, "seed": seed, "samples": texts})
        return
    for number in range(1, samples + 1):
        if samples > 1:
            print(f"--- {number} of {samples}")
        print(prompt, end="", flush=True)
        for index in stream(loaded.model, ids, length=length, **options):
            print(loaded.vocab.symbols[index], end="", flush=True)
        print()
