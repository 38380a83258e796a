"""How fast a corpus is labelled: characters of prompts a second, next to a plain batched forward pass in the same run.

A world with several relations, the recall recipes' model after a short training. Every prompt `line ⁇ question ⁇` is
read by the labeler (spans scored, the best chosen, nothing written) and, in turn with it, by a plain forward pass over
the same prompts in the same batches. The ratio is the figure.

A reader of a short training is unsure, and more of the words that could be an answer must be scored: with --run and
--data a reader that was trained is measured, such as a recite run, or the checkpoint of a self-training run in which
its reading ended.

    python benchmarks/labelling.py [--people 300] [--relations 5] [--characters 300000] [--json]
    python benchmarks/labelling.py --run RUN --data FOLDER [--lines 60]
"""

from __future__ import annotations

import json as json_format
import statistics
import tempfile
import time
from pathlib import Path

import torch
import tyro

WANTED = 0.6
NAMES = ("birthplace", "birth_year", "occupation", "employer", "death_place")


def main(
    run: Path | None = None,
    data: Path | None = None,
    lines: int = 60,
    people: int = 300,
    relations: int = 5,
    characters: int = 300_000,
    repeats: int = 5,
    threads: int = 1,
    json: bool = False,
) -> None:
    """Print the two speeds and their ratio.

    Args:
        run: A trained run or checkpoint; without it a reader is trained on a world, shortly.
        data: The folder that the run learned from.
        lines: How many of its lines are read.
        people: How many people the world has.
        relations: How many of the five relations are asked for.
        characters: How much the reader learns before.
        repeats: How often both are measured.
        threads: How many threads both may use.
        json: Print JSON.
    """
    import loci
    from loci.data.prompts import reading_prompt
    from loci.generation.context import reading
    from loci.generation.own_candidates import READ_CHARACTERS
    from loci.pipeline.labelers import Progress
    from loci.pipeline.labelers.read_lines import Reader, _jobs, read_lines
    from loci.pipeline.labelers.self_training import _reader
    from loci.text.world import RelationSpec
    from loci.training.checkpoint import load_model
    from loci.training.plan import MixtureComponent, Stage

    torch.set_num_threads(threads)
    with tempfile.TemporaryDirectory() as folder:
        if run is not None:
            if data is None:
                raise SystemExit("--run needs --data, the folder that it learned from")
            known, loaded = loci.TrainingData.read(data), load_model(run)
        else:
            asked = tuple(RelationSpec(name, unstated=0.2) for name in NAMES[:relations])
            known = loci.TrainingData.read(loci.make_world(Path(folder) / "world", people=people, relations=asked))
            recipe = loci.recipe("self-training", known)
            part = MixtureComponent("reading", source="reading-examples")
            stage = Stage(
                "read", (part,), characters=characters, batch_size=16, optimiser="muon", lr=3e-3, matrix_lr=0.02
            )
            reader = type(recipe)("reader", recipe.model, (stage,))
            loaded, lines = loci.train(reader, known, Path(folder) / "run").loaded, len(known.lines)
        assert known.questions is not None
        readers: list[Reader] = [_reader(known, one, known.questions, use_prior=True) for one in known.relations]
        read = list(known.lines)[:lines]
        jobs = sorted(_jobs(loaded, read, readers, set(), twice=False), key=lambda job: len(job.text))
        texts = [reading_prompt(loaded.vocab, job.question, job.text) for job in jobs]
        total = sum(map(len, texts))
        plain, labelling = [], []
        for _ in range(repeats):
            begun = time.perf_counter()
            with reading(loaded.model):
                left = list(texts)
                while left:
                    rows = max(1, READ_CHARACTERS // len(left[-1]))
                    batch, left = left[-rows:], left[:-rows]
                    ids = torch.nn.utils.rnn.pad_sequence(list(map(torch.from_numpy, batch)), batch_first=True)
                    loaded.model(ids)
            plain.append(total / (time.perf_counter() - begun))
            begun = time.perf_counter()
            read_lines(loaded, read, readers, set(), Progress())
            labelling.append(total / (time.perf_counter() - begun))
    ratios = [one / other for one, other in zip(labelling, plain, strict=True)]
    result = {
        "prompts": len(jobs),
        "characters": total,
        "plain": statistics.median(plain),
        "labelling": statistics.median(labelling),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "wanted": WANTED,
    }
    if json:
        print(json_format.dumps(result, indent=2))
        return
    print(f"{len(jobs):,} prompts of {total / len(jobs):.0f} characters, {threads} threads, {repeats} repeats")
    print(f"plain forward pass  {result['plain']:>10,.0f} characters/s")
    print(f"labelling           {result['labelling']:>10,.0f} characters/s")
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"ratio               {result['ratio']:>10.2f} ({spread}; wanted: at least {WANTED})")


if __name__ == "__main__":
    tyro.cli(main)
