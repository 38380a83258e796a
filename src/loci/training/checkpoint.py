"""Checkpoints: a folder with the weights, what they mean, and where training stood.

    step-00000300/  model.safetensors   weights
                    config.json         model, vocabulary, recipe, corpus hash, versions, hashes of the files
                    state.safetensors   optimiser moments and random state      } absent in a finished
                    state.json          stage, step, time                       } model kept for use

Written whole to a temporary sibling and renamed, so a reader never sees a part; nothing is pickled, so nothing can run
when it is read. Knows nothing of the loop that writes it.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from loci import __version__
from loci.errors import LociError
from loci.files import atomic_folder, read_object, remove_leftovers, sha256_file, write_json
from loci.model import GPT, GPTConfig
from loci.text.relations import Relation
from loci.text.template import BIRTHPLACE
from loci.text.vocab import Vocab

FORMAT = 1
WEIGHTS, CONFIG, STATE_TENSORS, STATE = "model.safetensors", "config.json", "state.safetensors", "state.json"
FINAL = "final"
_DAMAGED = "the checkpoint is damaged: give another one, RUN/checkpoints/step-…, or train again"


@dataclass
class TrainingState:
    """Where training stands; with the weights, all that is needed to go on bit for bit."""

    stage: int = 0
    step: int = 0
    """Steps done in this stage."""
    total_steps: int = 0
    tokens: int = 0
    """Positions trained on in this stage, padding to the block included: what the course's schedule counts."""
    characters: int = 0
    stage_characters: int = 0
    """Useful characters of the run, and of this stage."""
    stage_seconds: float = 0.0
    seconds: float = 0.0
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be asked, and what is known about it."""

    model: GPT
    vocab: Vocab
    config: Mapping[str, Any]
    hash: str
    path: Path

    def __repr__(self) -> str:
        return f"LoadedModel({str(self.path)!r}: {self.model.n_parameters():,} parameters, {len(self.vocab)} symbols)"

    @property
    def answerer(self) -> str:
        """How it is to be asked: the name of an answerer."""
        recipe = self.config.get("recipe")
        return str(recipe.get("answerer", "direct")) if isinstance(recipe, dict) else "direct"

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What it was taught to be asked, and in which forms."""
        found = tuple(map(Relation.from_dict, self.config.get("relations", ())))
        return found or (Relation(BIRTHPLACE.relation, (BIRTHPLACE,)),)

    @property
    def corpus_hash(self) -> str | None:
        """Hash of the corpus it was trained on."""
        value = self.config.get("corpus_hash")
        return str(value) if value is not None else None


def save_checkpoint(
    folder: Path, model: GPT, vocab: Vocab, *, about: Mapping[str, Any], state: TrainingState | None = None
) -> None:
    """Write a checkpoint, whole or not at all. `about` (recipe, corpus hash, …) goes into config.json."""
    with atomic_folder(folder) as temporary:
        weights = {name: tensor.cpu().contiguous() for name, tensor in model.state_dict().items()}
        if model.config.tied_head:
            del weights["head.weight"]  # the same tensor as the embedding; the file holds it once
        save_file(weights, temporary / WEIGHTS)
        if state is not None:
            save_file(state.tensors, temporary / STATE_TENSORS)
            data = {name: value for name, value in asdict(state).items() if name != "tensors"}
            write_json(temporary / STATE, data)
        hashes = {file.name: sha256_file(file) for file in sorted(temporary.iterdir())}
        write_json(
            temporary / CONFIG,
            {
                "format": FORMAT,
                "versions": {"loci": __version__, "torch": torch.__version__, "python": platform.python_version()},
                "parameters": model.n_parameters(),
                "model": model.config.to_dict(),
                "vocabulary": list(vocab.symbols),
                **about,
                "sha256": hashes,
            },
        )


def read_config(folder: Path) -> dict[str, Any]:
    """The config.json of a checkpoint whose files all match their hashes."""
    try:
        config = read_object(folder / CONFIG, {"model": dict, "vocabulary": list, "sha256": dict})
    except LociError as error:
        raise LociError(error.message, path=error.path, line=error.line, remedy=_DAMAGED) from None
    if config.get("format") != FORMAT:
        raise LociError(
            f"checkpoint format {config.get('format')!r}, this Loci reads {FORMAT}", path=folder, remedy="upgrade Loci"
        )
    for name, expected in config["sha256"].items():
        if not (folder / name).is_file() or sha256_file(folder / name) != expected:
            raise LociError(
                f"{name} is missing or does not match its recorded hash",
                path=folder,
                remedy=_DAMAGED,
            )
    return config


def load_checkpoint(folder: Path) -> LoadedModel:
    """The model of one checkpoint folder, in evaluation mode."""
    config = read_config(folder)
    try:
        vocab, model = Vocab(tuple(config["vocabulary"])), GPT(GPTConfig.from_dict(config["model"]))
    except LociError as error:
        raise LociError(error.message, path=folder / CONFIG, remedy=_DAMAGED) from None
    try:
        weights = load_file(folder / WEIGHTS)
        if model.config.tied_head:
            weights["head.weight"] = weights["tok_emb.weight"]
        model.load_state_dict(weights)
    except SafetensorError as error:
        raise LociError(f"{WEIGHTS} cannot be read: {error}", path=folder, remedy=_DAMAGED) from None
    except (RuntimeError, KeyError):
        raise LociError(f"{WEIGHTS} holds another model than {CONFIG} says", path=folder, remedy=_DAMAGED) from None
    return LoadedModel(model.eval(), vocab, config, config["sha256"][WEIGHTS][:16], folder)


def load_state(folder: Path) -> TrainingState:
    """Where training stood when this checkpoint was written."""
    if not (folder / STATE).exists():
        raise LociError("holds a finished model without its training state", path=folder, remedy="nothing to resume")
    state = TrainingState(**read_object(folder / STATE))
    state.tensors = load_file(folder / STATE_TENSORS)
    return state


def checkpoint_folder(run: Path, total_steps: int) -> Path:
    """Where a run keeps the checkpoint of a step."""
    return run / "checkpoints" / f"step-{total_steps:08d}"


def checkpoints(run: Path) -> list[Path]:
    """The run's training checkpoints, oldest first."""
    return sorted((run / "checkpoints").glob("step-*"))


def prune(run: Path, keep: int) -> None:
    """Remove all but the newest `keep`; each leaves under a hidden name first, so a half-removed one is never read.

    A newer one that is damaged goes too: it would take a whole one's place.
    """
    whole = [folder for folder in checkpoints(run) if _whole(folder)]
    for folder in [folder for folder in checkpoints(run) if folder not in whole[-keep:]]:
        leaving = folder.with_name(f".{folder.name}.old.tmp")
        folder.rename(leaving)
        shutil.rmtree(leaving)
    remove_leftovers(run / "checkpoints")


def latest(run: Path) -> Path | None:
    """The newest checkpoint whose files are whole, or None."""
    return next(filter(_whole, reversed(checkpoints(run))), None)


def _whole(folder: Path) -> bool:
    """Whether all files of a checkpoint are there as they were written."""
    try:
        read_config(folder)
    except LociError:
        return False
    return True


def load_model(path: str | Path) -> LoadedModel:
    """The model of a run (finished, or its newest checkpoint) or of one checkpoint folder."""
    path = Path(path)
    if not path.exists():
        raise LociError("no such run", path=path, remedy="loci runs lists the runs of a folder")
    if (path / CONFIG).is_file():
        return load_checkpoint(path)
    if (path / FINAL / CONFIG).is_file():
        return load_checkpoint(path / FINAL)
    newest = latest(path) if path.is_dir() else None
    if newest is None:
        started = path.is_dir() and (path / "run.json").is_file()
        raise LociError(
            "has no checkpoint yet" if started else "holds no model",
            path=path,
            remedy=f"go on with loci train --resume --out {path}"
            if started
            else "give the folder that loci train --out wrote",
        )
    return load_checkpoint(newest)
