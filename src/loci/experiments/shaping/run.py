"""Does shaping attention help? Focus and near terms over λ, against the loss of language, the parse and recall.

The problem set argues that no such term can help if training finds the minimum of the loss over the whole population of
texts: there the model predicts with the true distribution already, and a term can only move it away. With finite text
and an imperfect optimiser a term may still help generalisation or optimisation. Here it is measured, at equal steps,
over several seeds.

examples:
  loci experiment shaping --out shaping --seeds 3
  loci experiment shaping --quick                      all steps within a minute; proves nothing
"""

from __future__ import annotations

import dataclasses
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from loci.attention_lab.head_reading import parse_with_heads, readable
from loci.attention_lab.parses import read_conllu
from loci.data.example import collate
from loci.data.objectives import LanguageModel
from loci.evaluation.asking import ask_rows
from loci.evaluation.metrics import exact_match
from loci.experiments.shaping.page import shaping_report
from loci.experiments.shaping.result import Condition, Measured, ShapingResult
from loci.experiments.trials import AGAIN, Hooks, Settings, keep_report, keep_world, open_folder, trial
from loci.files import read_struct, write_json
from loci.model import GPT
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.vocab import Vocab
from loci.text.world import WorldSpec
from loci.training.checkpoint import LoadedModel
from loci.training.loss import next_character_loss
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import read_metrics
from loci.training.sources import TrainingData

STEPS = 1000
WORLD = WorldSpec(people=160, paraphrases=4, permute=True, train_share=0.5, dev_share=0.5)
#: People the model never read about, told in the same wordings: their text measures language, not memory.
OTHER_PEOPLE = dataclasses.replace(WORLD, people=80, paraphrases=1, seed=WORLD.seed + 1)
SENTENCES = 250

MODEL = {
    "n_layer": 3,
    "n_head": 4,
    "n_embd": 64,
    "block_size": 160,
    "positions": "rope",
    "embd_pdrop": 0.0,
    "attn_pdrop": 0.0,
    "resid_pdrop": 0.0,
    "activation": "relu2",
    "zero_init": True,
}


CONDITIONS = (
    Condition("plain"),
    Condition("focus 0.01", focus=0.01),
    Condition("focus 0.1", focus=0.1),
    Condition("near 0.001", near=0.001),
    Condition("near 0.01", near=0.01),
)


Options = Settings


def recipe(condition: Condition) -> Recipe:
    """One stage that teaches text and questions at once, shaped or not."""
    mixture = (
        MixtureComponent("salient-span", share=0.4),
        MixtureComponent("word-recall", share=0.2),
        MixtureComponent("language-model", share=0.2),
        MixtureComponent("question-answer", source="questions", share=0.2),
    )
    rates: dict[str, Any] = {"lr": 3e-3, "optimiser": "muon", "schedule": "wsd", "floor": 0.05}
    shaped: dict[str, Any] = {"focus": condition.focus, "near": condition.near}
    stage = Stage("learn", mixture, steps=STEPS, batch_size=24, pool=16, **rates, **shaped)
    return Recipe(f"shaping {condition.name}", MODEL, (stage,))


def run(out: Path, options: Options, hooks: Hooks) -> Report:
    """Train and measure every condition on every seed; what an earlier call finished is not done again."""
    open_folder(out, "shaping", options)
    keep_world(OTHER_PEOPLE, out / "others", conllu=True)
    world = keep_world(dataclasses.replace(WORLD, people=40) if options.quick else WORLD, out / "world", conllu=True)
    data = TrainingData.read(world)
    measured = []
    for seed in options.every_seed:
        for condition in CONDITIONS:
            run = out / _folder(condition, seed)
            if not (run / "measured.json").exists():
                made = options.budgeted(recipe(condition), seed)
                model = trial(made, data, run, f"{condition.name}, seed {seed}", hooks)
                write_json(run / "measured.json", asdict(measure(out, run, model, condition, seed)))
            measured.append(read_struct(run / "measured.json", Measured, remedy=AGAIN))
    result = ShapingResult(CONDITIONS, tuple(measured), len(options.every_seed), options.quick)
    return keep_report(out, shaping_report(result))


def _folder(condition: Condition, seed: int) -> str:
    return f"{condition.name.replace(' ', '-')}-seed-{seed}"


def measure(out: Path, run: Path, loaded: LoadedModel, condition: Condition, seed: int) -> Measured:
    """All that is asked of one trained model."""
    others = Corpus.read(out / "others")
    treebank = read_conllu(out / "others" / "wiki.conllu", limit=SENTENCES)
    sentences = readable(treebank.parses, loaded.vocab, loaded.model.config.block_size)
    heads = parse_with_heads(loaded.model, loaded.vocab, sentences)
    overall = next(score for score in heads.relations if (score.relation, score.direction) == ("all", "either"))
    taught, rate = (
        exact_match(ask_rows(loaded, Questions.read(out / "world" / f"birth_{name}.tsv")))
        for name in ("places_train", "dev")
    )
    rows = read_metrics(run)
    speed = rows[-1]["characters"] / rows[-1]["seconds"] if rows else float("nan")
    language = language_loss(loaded.model, loaded.vocab, others)
    parse = (overall.rate.value, overall.baseline.value, heads.trees.undirected.value)
    return Measured(condition.name, seed, language, *parse, taught.value, rate.value, rate.n, speed)


def language_loss(model: GPT, vocab: Vocab, corpus: Corpus) -> float:
    """Mean loss of the next character over whole lines that the vocabulary can spell."""
    objective, rng = LanguageModel(vocab, model.config.block_size), np.random.default_rng(0)
    lines = [line for line in corpus if line.text and not vocab.missing(line.text)]
    total = count = 0.0
    with torch.inference_mode():
        for start in range(0, len(lines), 32):
            batch = collate([objective(line, rng) for line in lines[start : start + 32]])
            x, y = torch.from_numpy(batch.x), torch.from_numpy(batch.y)
            n = int((batch.y >= 0).sum())
            total += n * float(next_character_loss(model, x, y).language)
            count += n
    return total / count
