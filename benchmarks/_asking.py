"""Asking as published, and a model to ask that ends its answers by itself.

The published evaluation takes one question at a time, reads the whole prefix again for each of 32 characters, whatever
they are, and calls the answer what stands between the first two masks. Random weights would hardly ever write the
second mask, so the model is taught the course's train questions first, briefly. Knows nothing of timing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from loci.answering.direct import ANSWER_LENGTH
from loci.data.prompts import question_prompt
from loci.model import GPT
from loci.text.questions import Question
from loci.text.vocab import MASK
from loci.training.checkpoint import LoadedModel, load_model

COURSE = Path(__file__).resolve().parents[2] / "shared" / "data" / "course"
TRAIN, DEV, CORPUS = "birth_places_train.tsv", "birth_dev.tsv", "wiki.txt"

#: Changes to the recipe of the train questions alone: enough for answers that look like places and end, in about a
#: minute on two quiet cores. Whether they are right does not matter here, and without the corpus they seldom are.
BRIEF: Mapping[str, object] = {
    "finetune.steps": 150,
    "finetune.batch_size": 64,
    "finetune.shuffle": "true",
    "finetune.pool": 8,
    "finetune.optimiser": "muon",
    "finetune.lr": 1e-3,
    "finetune.schedule": "wsd",
    "finetune.warmup": 0.05,
    "model.embd_pdrop": 0,
    "model.attn_pdrop": 0,
    "model.resid_pdrop": 0,
}
SMALL: Mapping[str, object] = {**BRIEF, "model.n_layer": 1, "model.n_head": 4, "model.n_embd": 64}


def missing(folder: Path = COURSE) -> list[str]:
    """The course's files that teaching and asking want and that are not there."""
    return [name for name in (CORPUS, TRAIN, DEV) if not (folder / name).is_file()]


def teach(changes: Mapping[str, object] = BRIEF, folder: Path = COURSE, *, seed: int = 0) -> LoadedModel:
    """A model that was taught the train questions; progress goes to standard error.

    By `loci train` in a process of its own: training has the C library keep freed memory, and what is timed afterwards
    is to find its settings as they come.
    """
    with tempfile.TemporaryDirectory() as run:
        command = [sys.executable, "-m", "loci", "train", "--recipe", "course-scratch", "--out", str(Path(run) / "run")]
        command += ["--corpus", str(folder / CORPUS), "--questions", str(folder / TRAIN), "--seed", str(seed)]
        command += ["--threads", str(torch.get_num_threads()), "--device", "cpu", "--no-tensorboard"]
        for name, value in changes.items():
            command += ["--set", f"{name}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return load_model(Path(run) / "run")


@torch.no_grad()
def published_sample(model: GPT, prompt: Sequence[int], steps: int) -> list[int]:
    """The published way: the whole prefix, logits everywhere, the last one's likeliest id, and again."""
    ids = torch.tensor([list(prompt)])
    for _ in range(steps):
        logits = model(ids[:, -model.config.block_size :]).logits
        likeliest = logits[:, -1].softmax(-1).topk(1).indices
        ids = torch.cat((ids, likeliest), dim=1)
    return ids[0, len(prompt) :].tolist()


@dataclass(frozen=True)
class PublishedAnswer:
    """What the published evaluation takes for the answer."""

    text: str
    ended: bool
    """The model wrote the mask that ends an answer; otherwise the answer is all that it wrote."""


def published_answers(loaded: LoadedModel, questions: Iterable[Question]) -> list[PublishedAnswer]:
    """One question at a time, no cache, always as many steps as published."""
    found = []
    for question in questions:
        prompt = question_prompt(loaded.vocab, question.text).tolist()
        completion = loaded.vocab.decode([*prompt, *published_sample(loaded.model, prompt, ANSWER_LENGTH)])
        pieces = completion.split(MASK)
        found.append(PublishedAnswer(pieces[1], len(pieces) > 2))
    return found
