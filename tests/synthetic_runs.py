"""Runs that nobody trained: rows with the vices the report is to show, for a small world in a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from loci.evaluation.error_kinds import nearest_by_spelling
from loci.evaluation.rows import Row, write_rows
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world.spec import WorldSpec
from loci.text.world.writer import write_world


@dataclass(frozen=True)
class Vices:
    """How a made-up model errs: `knows` of 1 it gets right; boasts by `slope`; mistakes are spread over the rest."""

    knows: float
    slope: float
    same_line: float = 0.2
    nearest_name: float = 0.2
    popular: float = 0.4
    gibberish: float = 0.05


def make_world(folder: Path, people: int = 900) -> Path:
    write_world(WorldSpec(people=people, unstated=0.05, outside=0.12, train_share=0.5, dev_share=0.4), folder)
    return folder


def make_run(world: Path, folder: Path, vices: Vices, seed: int = 0, steps: int = 400) -> Path:
    rng = np.random.default_rng(seed)
    corpus = Corpus.read(world)
    train = Questions.read(world / "birth_places_train.tsv")
    known = {q.subject: q.answers[0] for q in train}
    places = [q.answers[0] for q in train]
    for name in ("birth_places_train", "birth_dev", "birth_unstated", "birth_outside"):
        questions = Questions.read(world / f"{name}.tsv")
        nearest = nearest_by_spelling([q.subject for q in questions], list(known))
        share = {"birth_places_train": 0.97, "birth_dev": vices.knows}.get(name, 0.03)
        rows = [answer(q, share, vices, corpus, known, places, nearest, rng) for q in questions]
        write_rows(folder / "predictions" / f"{name}.jsonl", rows)
    curve = []
    for step in range(steps):
        stage = "pretrain" if step < steps * 0.8 else "finetune"
        fall = step if stage == "pretrain" else step - steps * 0.8
        loss = (2.6 if stage == "pretrain" else 1.4) * np.exp(-fall / 120) + 0.5 + rng.normal(0, 0.05)
        row = {"stage": stage, "step": step, "total_steps": step + 1, "loss": loss, "characters": 9000 * step}
        curve.append({**row, "progress": 0.5, "shaping": 0.0, "lr": 0.001, "seconds": 1.0 * step})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in curve), encoding="utf-8")
    return folder


def answer(question, share, vices, corpus, known, places, nearest, rng):
    truth = question.answers[0]
    z = rng.normal(0, 1.5) + np.log(share / (1 - share)) * 1.4
    right = rng.random() < 1 / (1 + np.exp(-z))
    claimed = float(1 / (1 + np.exp(-(vices.slope * z + 0.4))))
    if right:
        said = truth
    else:
        kind = rng.random()
        words = [w.strip(".,") for line in corpus.about(question.subject) for w in line.text.split()]
        others = [w for w in words if w in set(places) and w != truth]
        if kind < vices.gibberish:
            said = truth[:3] + "burg"
        elif kind < vices.gibberish + vices.same_line and others:
            said = str(rng.choice(others))
        elif kind < vices.gibberish + vices.same_line + vices.nearest_name:
            said = known[nearest[question.subject][0]]
        elif kind < vices.gibberish + vices.same_line + vices.nearest_name + vices.popular:
            said = max(set(places), key=places.count)
        else:
            said = str(rng.choice(places))
    pool = [place for place in dict.fromkeys([truth, *rng.choice(places, 4)]) if place != said]
    rest = rng.dirichlet(np.ones(len(pool))) * (1 - claimed)
    ranked = sorted(zip(map(str, pool), rest.tolist(), strict=True), key=lambda pair: -pair[1])
    return Row(
        question.text,
        said,
        answers=question.answers,
        subject=question.subject,
        probability=claimed,
        alternatives=tuple(ranked),
        model=f"{int(vices.knows * 1e6):08x}",
        data=corpus.hash,
    )
