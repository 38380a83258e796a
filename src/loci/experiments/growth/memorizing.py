"""One model memorizes the people of a world until most are known. Its state is written after every look at it.

Knows nothing of other sizes, fits or pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch.optim.swa_utils import AveragedModel

from loci.data.prompts import question_prompt
from loci.errors import LociError
from loci.experiments.growth.result import KNOWN, Grown, entropy
from loci.experiments.trials import AGAIN, Hooks, Stopped, birthplaces
from loci.files import atomic_file
from loci.generation import generate
from loci.generation.own_candidates import score_own_candidates
from loci.model import GPT
from loci.model.cost import model_cost
from loci.pipeline.runner import model_config
from loci.recipes.recall import RECALL_MODEL
from loci.text.corpus import Corpus
from loci.text.questions import Question, Questions
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec, people
from loci.training.checkpoint import save_tensors
from loci.training.optim import make_optimisers, set_rate
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.sources import TrainingData, make_stream
from loci.training.state import pack, unpack
from loci.training.step import step

LOOK_EVERY = 2
"""Passes between two looks at what is known."""
AVERAGED = 3
"""Passes over which weights are averaged: at a constant rate the newest ones are too noisy to be asked."""
WARMUP = 50
ASKED = 200
ANSWER_LENGTH = 32
BLOCK = 96


def grow(count: int, width: int, batch: int, seed: int, passes: int, state: Path, hooks: Hooks) -> Grown:
    """Memorize a world of so many people until 90 % are known, in at most so many passes; goes on from `state`."""
    everybody = list(people(WorldSpec(people=count, seed=seed)))
    questions = birthplaces(everybody)
    told = [f"{person.name}. {person.name} was born in {person.birth_place.name} ." for person in everybody]
    one = _Memorizing(TrainingData(Corpus.from_lines(told), questions), width, batch, seed)
    length = float(np.mean([question.example_length() for question in questions]))
    order = np.random.default_rng(seed).permutation(count)[:ASKED]
    asked = [questions[int(index)] for index in order]
    if state.is_file():
        one.load(state)
    known = one.curve[-1][1] if one.curve else 0.0
    while known < KNOWN and one.characters < passes * count * length:
        if hooks.should_stop():
            one.save(state)
            raise Stopped
        one.step()
        if one.characters >= (len(one.curve) + 1) * LOOK_EVERY * count * length:
            known, _ = one.known(asked)
            one.curve.append((float(one.characters), known))
            one.save(state)
            hooks.say(f"{one.characters / (count * length):.0f} passes: {known:.0%} known")
    each = model_cost(one.model.config, round(length)).total
    return Grown(
        people=count,
        seed=seed,
        width=width,
        parameters=one.model.n_parameters(),
        reached=known >= KNOWN,
        known=known,
        asked=len(asked),
        characters=float(one.characters),
        exposures=one.characters / (count * length),
        flops=one.characters / round(length) * float(each.forward_flops + each.backward_flops),
        bits=count * max(0.0, (whole := _entropy(questions)) - one.known(asked)[1]),
        entropy=whole,
        curve=tuple(one.curve),
    )


def _entropy(questions: Questions) -> float:
    return entropy([question.answers[0] for question in questions])


class _At(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a training is, as its state says it."""

    steps: Annotated[int, msgspec.Meta(ge=0)]
    characters: Annotated[int, msgspec.Meta(ge=0)]
    curve: tuple[tuple[float, float], ...]


class _Memorizing:
    """A model, the mean of its weights, and how far it is."""

    def __init__(self, data: TrainingData, width: int, batch: int, seed: int) -> None:
        part = MixtureComponent("question-answer", source="questions")
        sizes = {**RECALL_MODEL, "n_embd": width, "block_size": BLOCK}
        self.stage = Stage(
            "memorize", (part,), steps=1, batch_size=batch, pool=16, lr=3e-3, matrix_lr=0.02, optimiser="muon"
        )
        recipe = Recipe("growth", sizes, (self.stage,), seed=seed)
        self.vocab = data.vocab
        self.model = GPT(model_config(recipe, data), generator=torch.Generator().manual_seed(seed))
        self.stream = make_stream(self.stage, 0, recipe, data, BLOCK)
        self.optimisers = make_optimisers(self.model, self.stage)
        horizon = AVERAGED * len(data.lines) / batch
        self.average = AveragedModel(self.model, avg_fn=lambda old, new, _: old + (new - old) / max(2.0, horizon))
        self.steps, self.characters = 0, 0
        self.curve: list[tuple[float, float]] = []

    def step(self) -> None:
        """One batch more."""
        work = self.stream.parts(self.steps, 1)
        set_rate(self.optimisers, min(1.0, (self.steps + 1) / WARMUP))
        self.model.train()
        step(self.model, work, self.stage, self.optimisers)
        self.average.update_parameters(self.model)
        self.characters, self.steps = self.characters + work.characters, self.steps + 1

    def known(self, asked: list[Question]) -> tuple[float, float]:
        """The share of the questions that the mean answers rightly, and its mean surprise at the answers in bits."""
        assert isinstance(self.average.module, GPT)
        return _known(self.average.module, self.vocab, asked)

    def save(self, file: Path) -> None:
        """Write all that is needed to go on."""
        tensors = {f"optimiser.{name}": tensor for name, tensor in pack(self.optimisers).items()}
        tensors |= {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        tensors |= {f"average.{name}": tensor for name, tensor in self.average.state_dict().items()}
        at = msgspec.json.encode(_At(self.steps, self.characters, tuple(self.curve))).decode()
        with atomic_file(file) as whole:
            save_tensors({name: tensor.clone() for name, tensor in tensors.items()}, whole, {"at": at})

    def load(self, file: Path) -> None:
        """Go on from what `save` wrote."""
        try:
            with safe_open(file, "pt") as saved:
                at = msgspec.json.decode((saved.metadata() or {})["at"], type=_At)
                tensors = {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118 - no dict
            self.model.load_state_dict(_part(tensors, "model."))
            self.average.load_state_dict(_part(tensors, "average."))
            unpack(_part(tensors, "optimiser."), self.optimisers)
        except (SafetensorError, msgspec.MsgspecError, KeyError, ValueError, TypeError, RuntimeError) as error:
            what = " ".join(str(error).split())[:200]
            raise LociError(f"holds no state of this training: {what}", path=file, remedy=AGAIN) from None
        self.steps, self.characters, self.curve = at.steps, at.characters, list(at.curve)


def _part(tensors: dict[str, torch.Tensor], name: str) -> dict[str, torch.Tensor]:
    return {key.removeprefix(name): tensor for key, tensor in tensors.items() if key.startswith(name)}


def _known(model: GPT, vocab: Vocab, asked: list[Question]) -> tuple[float, float]:
    prompts = [question_prompt(vocab, question.text) for question in asked]
    written = generate(model, prompts, max_new=ANSWER_LENGTH, stop_id=MASK_ID)
    right = [vocab.decode(text.ids) == question.answer for text, question in zip(written, asked, strict=True)]
    answers = [[vocab.encode(question.answers[0]).tolist()] for question in asked]
    logs = score_own_candidates(model, prompts, answers, stop_id=MASK_ID, least=0)
    return float(np.mean(right)), float(-np.mean(logs) / np.log(2))
