"""Loops and repetition: a trigram model and a run, against temperature, top-k, top-p, min-p and a repetition penalty.

examples:
  loci repetition --text shakespeare.txt --out repetition.html
  loci repetition run --samples 8 --length 256
"""

from __future__ import annotations

from pathlib import Path

from loci.cli.output import print_json, print_table
from loci.errors import LociError


def repetition(
    run: Path | None = None,
    /,
    *,
    text: Path | None = None,
    prompt: str | None = None,
    order: int = 2,
    length: int = 256,
    samples: int = 8,
    n: int = 8,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> None:
    """Generate at every setting of the sampler and measure how much is repeated.

    Args:
        run: A trained run; without it only the n-gram model is measured.
        text: A text to count trigrams in and to take prompts from (default: the corpus the run was trained on).
        prompt: Begin every text with this instead of lines of the text.
        order: How many characters the n-gram model looks back: 2 is the trigram model.
        length: Characters to generate.
        samples: How many texts at each setting.
        n: Length of the character n-grams whose repetition is counted.
        seed: Where chance starts.
        out: Where the page goes (default: none).
        json: Print JSON instead of a table.
    """
    import numpy as np

    from loci.attention_lab.repetition_sweep import (
        make_material,
        measure,
        model_generator,
        ngram_generator,
        read_lines,
        sweep,
    )
    from loci.generation.repetition import find_loop
    from loci.generation.sampling import GREEDY
    from loci.training.checkpoint import load_model

    if length <= n:
        raise LociError(f"--length must be more than --n, they are {length} and {n}")
    lines = read_lines(text if text is not None else _corpus_of(run))
    loaded = load_model(run) if run is not None else None
    vocab = loaded.vocab if loaded is not None else None
    material = make_material(lines, samples, np.random.default_rng(seed), vocab=vocab, prompt=prompt)
    generators = {"trigrams" if order == 2 else f"order-{order} counts": ngram_generator(material, order, length, seed)}
    if run is not None and loaded is not None:
        generators[run.name or "run"] = model_generator(material, loaded.model, length, seed)
    sweeps = {name: sweep(generate, n) for name, generate in generators.items()}
    pieces = material.pieces(length)
    reference = measure(pieces, n).seq_rep.value if pieces else None
    if out is not None:
        from loci.report.attention.lab_page import repetition_page

        greedy = {name: generate(GREEDY)[0] for name, generate in generators.items()}
        start, decode = material.beginnings[0], material.vocab.decode
        examples = [(name, start, decode(ids), find_loop(ids, least=2 * n)) for name, ids in greedy.items()]
        page = repetition_page(sweeps, examples, n=n, reference=reference, length=length, seed=seed)
        written = page.write(out)
    if json:
        print_json({"models": sweeps, "text_itself": reference, "page": out})
        return
    headers = ("model", "setting", "value", f"seq-rep-{n}", f"distinct-{n}", "loops", "entered at", "period")
    rows = []
    for name, point in ((name, point) for name, points in sweeps.items() for point in points):
        repeated = (round(point.seq_rep.value, 3), round(point.distinct.value, 3))
        loops = (f"{point.looped.successes} of {point.looped.n}", point.entry, point.period)
        rows.append((name, point.setting, point.value, *repeated, *loops))
    print_table(headers, rows)
    if reference is not None:
        print(f"the text itself: seq-rep-{n} {reference:.3f}")
    if out is not None:
        print(written)


def _corpus_of(run: Path | None) -> Path:
    """The file the run was trained on."""
    if run is None:
        raise LociError("there is nothing to count", remedy="give --text FILE, a run, or both")
    from loci.training.run import holds_run, read_run

    found = read_run(run).corpus() if holds_run(run) else None
    if found is None or found.path is None:
        what = "the corpus of this run is not where it was, or not the same"
        raise LociError(what, path=run, remedy="give --text FILE")
    return found.path
