"""Trainings that are killed, meet a full disk, or want one folder at once; each in a process forked from this one.

    python tests/fuzz/fuzz_kills.py FOLDER SEED kill=20 full=8 both=6 learn=8

kill: ended by SIGKILL at 20 random file operations or moments; full: the disk is full at 8 random file operations; both:
six processes start or resume one run at once; learn: `loci learn` is killed 8 times, in training, labelling and after
it. Each is then finished.

Prints JSON, for each kind: how the processes ended, and whether the run in the end has the very weights, losses and files
of one that nobody disturbed. A file operation is one that makes a write last or gives it its name: fsync, rename, replace, and the
write of weights, which Rust does; in learning also the reading of lines for labels. Knows `carry_out` and `learn` alone.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # the first optimiser of a process imports it, which takes a second: here once for all of them

from loci.errors import LociError
from loci.pipeline import carry_out
from loci.pipeline.labelers import read_lines
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training import checkpoint
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.reports import CheckpointPolicy
from loci.training.run import read_metrics
from loci.training.sources import TrainingData

STEPS, LEARNING = 12, 6
OPERATIONS = 60
"""About as many file operations as a few steps take; where the disturbance strikes is drawn below this."""
SECONDS = 0.3
"""About as long as these take: every fourth kill comes at a random moment below this, whatever is done then."""


def train(run: Path) -> None:
    """Start or go on with a training that writes a checkpoint after every step."""
    names = ("Ana Lima", "Rui Paz", "Bo Berg", "Ida Holm")
    corpus = Corpus.from_lines(f"{name}. {name} was born in Porto." for name in names)
    asked = Questions.from_pairs([(f"Where was {name} born?", "Porto") for name in names[:2]])
    model = {"n_layer": 1, "n_head": 2, "n_embd": 8, "block_size": 64}
    stages = (
        Stage("pretrain", (MixtureComponent("corruption-2024"),), steps=STEPS // 2, batch_size=2, optimiser="muon"),
        Stage("finetune", (MixtureComponent("question-answer", source="questions"),), steps=STEPS // 2, batch_size=2),
    )
    recipe = Recipe("tiny", model, stages, seed=5)
    carry_out(recipe, TrainingData(corpus, asked), run, resume=None, checkpoints=CheckpointPolicy(every_steps=1))


def learn_world(run: Path) -> None:
    """Learn a folder, or go on with it: read, label in small parts, memorize, evaluate, report."""
    from loci.learn import learn, make_plan

    vars(read_lines)["PART"] = 8  # this process is ours
    sizes = ["model.n_layer=1", "model.n_embd=16", "model.n_head=2"]
    steps = [f"{stage}.{field}" for stage in ("read", "memorize") for field in ("steps=3", "batch_size=2")]
    learn(make_plan(run.parents[1] / "world", recipe="self-training", changes=[*sizes, *steps]), run)


def forked(work: Callable[[], None]) -> int:
    """Start `work` in a process of its own; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except LociError as error:
        os.write(2, f"refused: {error}\n".encode())  # one write, or lines of several at once run into each other
        code = 2
    finally:
        sys.stderr.flush()
        os._exit(code)


def ended(child: int) -> int:
    """The exit code of a process, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def disturbed(work: Callable[[Path], None], run: Path, at: int, strike: Callable[[], None]) -> None:
    """Train or learn; at the file operation with this number, `strike` happens instead."""
    left = at

    def watched(operation: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                strike()
            return operation(*arguments, **named)

        return instead

    for name in ("fsync", "rename", "replace"):
        setattr(os, name, watched(getattr(os, name)))
    vars(checkpoint)["save_file"] = watched(vars(checkpoint)["save_file"])
    vars(read_lines)["_read"] = watched(vars(read_lines)["_read"])
    work(run)


def interrupted(run: Path, seconds: float) -> None:
    """Train; after so many seconds the process is killed."""
    threading.Timer(seconds, kill).start()
    train(run)


def kill() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def fill() -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def weights(run: Path) -> dict[str, torch.Tensor]:
    """What a run knows in the end."""
    return dict(checkpoint.load_model(run).model.state_dict())


def compared(whole: Path, cut: Path, steps: int) -> dict[str, bool]:
    """What a disturbed run has of an undisturbed one."""
    one, two = weights(whole), weights(cut)
    written = [
        [file.read_bytes() for file in sorted(run.glob("p*/*.jsonl")) + sorted(run.glob("*.tsv"))]
        for run in (whole, cut)
    ]
    rows = [[(row["total_steps"], row["loss"]) for row in read_metrics(run)] for run in (whole, cut)]
    return {
        "same weights": one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one),
        "same losses": rows[0] == rows[1] and len(rows[0]) == steps,
        "same labels and answers": written[0] == written[1],
        "nothing left behind": not list(cut.rglob(".*.tmp")),
    }


def outcome(kind: str, whole: Path, folder: Path, times: int, rng: random.Random) -> dict[str, Any]:
    """Disturb a training, finish it, compare it with an undisturbed one."""
    folder.mkdir()
    cut, codes = folder / "cut", list[int]()
    work, steps = (learn_world, LEARNING) if kind == "learn" else (train, STEPS)
    if kind == "both":
        started = [forked(lambda: train(cut)) for _ in range(times)]
        codes = [ended(child) for child in started]
    else:
        strike, meant = (fill, 2) if kind == "full" else (kill, -signal.SIGKILL)
        while codes.count(meant) < times and len(codes) < 10 * times:
            at, seconds = rng.randrange(1, OPERATIONS), rng.uniform(0, SECONDS)
            if kind == "kill" and len(codes) % 4 == 3:
                codes.append(ended(forked(lambda seconds=seconds: interrupted(cut, seconds))))  # type: ignore[misc]
            else:
                codes.append(ended(forked(lambda at=at: disturbed(work, cut, at, strike))))  # type: ignore[misc]
            if codes[-1] == 0:  # it came to its end first: once more from the beginning
                os.rename(cut, folder / f"done-{len(codes)}")
    code = 0 if kind != "learn" and (cut / "final").is_dir() else 2
    while code:
        code = ended(forked(lambda: work(cut)))
        assert code in (0, 2)
    return {"codes": codes, **compared(whole, cut, steps)}


def main(folder: Path, seed: int, kinds: dict[str, int]) -> dict[str, Any]:
    """The outcome of each kind of disturbance, so many times."""
    torch.set_num_threads(1)
    rng, found = random.Random(seed), {}
    (folder / "whole").mkdir()
    write_world(WorldSpec(people=24), folder / "world")
    for kind, times in kinds.items():
        whole = folder / "whole" / ("learned" if kind == "learn" else "trained")
        work = learn_world if kind == "learn" else train
        assert whole.exists() or ended(forked(lambda: work(whole))) == 0  # noqa: B023 - it is over at once
        found[kind] = outcome(kind, whole, folder / kind, times, rng)
    return found


if __name__ == "__main__":
    wanted = dict(word.split("=") for word in sys.argv[3:])
    told = main(Path(sys.argv[1]), int(sys.argv[2]), {kind: int(times) for kind, times in wanted.items()})
    print(json.dumps(told))
