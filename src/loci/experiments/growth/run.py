"""What does a larger corpus cost? Characters and FLOPs until 90 % of the people are known, and bits per parameter.

Worlds of 250, 1,000, 4,000 and 16,000 people, models to match. A question and an answer about everybody are memorized
at a constant rate until nine people in ten are known, by weights averaged over the last passes: so no horizon has to be
chosen for a decay. Reading is left out, it costs about the same whatever the corpus. What lies beyond is read off the
fit.

examples:
  loci experiment growth --out growth --seeds 1 --largest 4000
  loci experiment growth --quick                     all steps within a minute; proves nothing
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.optim.swa_utils import AveragedModel

from loci.data.prompts import question_prompt
from loci.evaluation.json_data import to_json
from loci.experiments.growth.page import growth_report
from loci.experiments.growth.result import KNOWN, Grown, GrowthResult, entropy
from loci.experiments.trials import AGAIN, Hooks, Settings, Stopped, birthplaces, keep_report, open_folder
from loci.files import read_struct, write_json
from loci.generation import generate
from loci.generation.own_candidates import score_own_candidates
from loci.model import GPT
from loci.model.cost import model_cost
from loci.pipeline.runner import model_config
from loci.recipes.recall import RECALL_MODEL
from loci.report.parts import Report
from loci.text.corpus import Corpus
from loci.text.questions import Question
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec, people
from loci.training.optim import make_optimisers, set_rate
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData, make_stream
from loci.training.step import step

SIZES = ((250, 64, 8), (1000, 96, 24), (4000, 128, 100), (16000, 192, 400))
"""People, the width of the model that memorizes them, and its batch: some 40 steps between two looks at a person."""
QUICK_SIZES = ((12, 16, 8), (24, 16, 8))
PASSES, QUICK_PASSES = 100, 6
"""How often everybody is seen at most."""
LOOK_EVERY = 2
"""Passes between two looks at what is known."""
AVERAGED = 3
"""Passes over which weights are averaged: at a constant rate the newest ones are too noisy to be asked."""
WARMUP = 50
ASKED = 200
ANSWER_LENGTH = 32


@dataclass(frozen=True)
class Options(Settings):
    """How far it goes."""

    largest: int = 16000
    """The largest world that is trained on; what lies beyond is on paper."""


def run(out: Path, options: Options = Options(), hooks: Hooks = Hooks()) -> Report:
    """Carry out the experiment; what an earlier call finished is not done again."""
    open_folder(out, "growth", options, may_change=("seeds", "largest"))
    sizes = QUICK_SIZES if options.quick else [size for size in SIZES if size[0] <= options.largest]
    grown = []
    for count, width, batch in sizes:
        for seed in options.every_seed:
            file = out / f"people-{count}-seed-{seed}.json"
            if not file.is_file():
                hooks.say(f"memorizing {count:,} people, seed {seed}")
                write_json(file, to_json(grow(count, width, batch, seed, options, hooks)))
            grown.append(read_struct(file, Grown, remedy=AGAIN))
    return keep_report(out, growth_report(GrowthResult(tuple(grown), len(options.every_seed), options.quick)))


def grow(count: int, width: int, batch: int, seed: int, options: Options, hooks: Hooks) -> Grown:
    """Memorize a world of so many people until 90 % are known."""
    everybody = list(people(WorldSpec(people=count, seed=seed)))
    questions = birthplaces(everybody)
    told = [f"{person.name}. {person.name} was born in {person.birth_place.name} ." for person in everybody]
    data = TrainingData(Corpus.from_lines(told), questions)
    part = MixtureComponent("question-answer", source="questions")
    stage = Stage("memorize", (part,), steps=1, batch_size=batch, pool=16, lr=3e-3, matrix_lr=0.02, optimiser="muon")
    model_sizes = {**RECALL_MODEL, "n_embd": width, "block_size": 96}
    recipe = Recipe("growth", model_sizes, (stage,), seed=seed)
    model = GPT(model_config(recipe, data), generator=torch.Generator().manual_seed(seed))
    stream = make_stream(stage, 0, recipe, data, 96)
    optimisers = make_optimisers(model, stage)
    horizon = AVERAGED * count / batch
    average = AveragedModel(model, avg_fn=lambda old, new, _: old + (new - old) / max(2.0, horizon))
    assert isinstance(average.module, GPT)
    order = np.random.default_rng(seed).permutation(count)[:ASKED]
    asked = [questions[int(index)] for index in order]
    length = float(np.mean([question.example_length() for question in questions]))
    each = model_cost(model.config, round(length)).total
    passes = round((QUICK_PASSES if options.quick else PASSES) * options.budget)
    at, characters, looks, known, surprise = 0, 0, 1, 0.0, 0.0
    curve: list[tuple[float, float]] = []
    while known < KNOWN and characters < passes * count * length:
        if hooks.should_stop():
            raise Stopped
        work = stream.parts(at, 1)
        set_rate(optimisers, min(1.0, (at + 1) / WARMUP))
        model.train()
        step(model, work, stage, optimisers)
        average.update_parameters(model)
        characters, at = characters + work.characters, at + 1
        if characters >= looks * LOOK_EVERY * count * length:
            looks += 1
            known, surprise = _known(average.module, data.vocab, asked)
            curve.append((float(characters), known))
    whole = entropy([question.answers[0] for question in questions])
    return Grown(
        people=count,
        seed=seed,
        width=width,
        parameters=model.n_parameters(),
        reached=known >= KNOWN,
        known=known,
        asked=len(asked),
        characters=float(characters),
        exposures=characters / (count * length),
        flops=characters / round(length) * float(each.forward_flops + each.backward_flops),
        bits=count * max(0.0, whole - surprise),
        entropy=whole,
        curve=tuple(curve),
    )


def _known(model: GPT, vocab: Vocab, asked: list[Question]) -> tuple[float, float]:
    """The share of the questions answered rightly, and the mean surprise at the answers in bits."""
    prompts = [question_prompt(vocab, question.text) for question in asked]
    written = generate(model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID)
    right = [vocab.decode(text.ids) == question.answer for text, question in zip(written, asked, strict=True)]
    answers = [[vocab.encode(question.answers[0]).tolist()] for question in asked]
    logs = score_own_candidates(model, prompts, answers, stop_id=MASK_ID, least=0)
    return float(np.mean(right)), float(-np.mean(logs) / np.log(2))
