"""Checkpoints: a folder with the weights, what they mean, and where training stood.

    step-00000300/  model.safetensors   weights
                    config.json         model, vocabulary, recipe, relations, corpus hash, versions
                    state.safetensors   optimiser moments and random state      } absent in a finished
                    state.json          stage, step, time                       } model kept for use
                    manifest.json       the version of the format, and the hashes of all these files

Written whole to a temporary sibling and renamed, so a reader never sees a part; nothing is pickled, so nothing can run
when it is read. A reader trusts nothing: hashes, types, and sizes against the weights are checked before a model is
built. Knows nothing of the loop that writes it.
"""

from __future__ import annotations

import errno
import math
import os
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from loci import __version__
from loci.errors import LociError
from loci.files import atomic_folder, read_struct, remove_leftovers, write_json
from loci.manifest import hashes_of, read_manifest, require_files, write_manifest
from loci.model import GPT, GPTConfig
from loci.model.cost import model_cost
from loci.text.relations import Relation
from loci.text.template import BIRTHPLACE
from loci.text.vocab import Layout, Vocab

FORMAT = 3
WEIGHTS, CONFIG, STATE_TENSORS, STATE = "model.safetensors", "config.json", "state.safetensors", "state.json"
TOKENIZER = "tokenizer.json"
FINAL, BEST, CHECKPOINTS = "final", "best", "checkpoints"
SHARD = "shard-"
"""What the files of a sharded checkpoint begin with."""
DAMAGED = "the checkpoint is damaged or too old: give another one, RUN/checkpoints/step-…, or train again"
ROUNDING = 10_000
_FLOATS = ("F32", "F16", "BF16", "F64")

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Tensors = dict[str, torch.Tensor]


class FamiliarityConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers of `loci.answering.familiarity`."""

    gate: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    slope: Annotated[float, msgspec.Meta(gt=0, le=1e4)]
    intercept: Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
    most: Annotated[float, msgspec.Meta(ge=-1e6, le=0)] | None = None


class RecalledConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The numbers of `loci.pipeline.recalled`."""

    slope: Annotated[float, msgspec.Meta(gt=0, le=100)]
    intercept: Annotated[float, msgspec.Meta(ge=-100, le=100)]


class CheckpointConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What config.json says."""

    versions: dict[str, str]
    parameters: Count
    model: dict[str, Any]
    """The fields of `GPTConfig`."""
    vocabulary: tuple[str, ...]
    layout: Layout = "loci"
    """What the vocabulary's symbols are; anything but `loci` comes from elsewhere and cannot be asked."""
    recipe: dict[str, Any] | None = None
    corpus_hash: str | None = None
    relations: tuple[dict[str, Any], ...] = ()
    """What the train questions ask, and in which forms (`loci.text.relations`)."""
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    """Answers whose confidence is below it are withheld; None leaves that to the answerer."""
    familiarity: FamiliarityConfig | None = None
    """How familiar a subject must be; None leaves that to the answerer."""
    recalled: RecalledConfig | None = None
    """From the log-odds of what is recalled to those it is worth; None leaves them as they are."""
    total_steps: Count = 0
    seconds: Seconds = 0.0


class TrainingState(msgspec.Struct, forbid_unknown_fields=True):
    """Where training stands, as state.json says; with weights, moments and random state, all that going on needs."""

    stage: Count = 0
    step: Count = 0
    """Steps done in this stage."""
    total_steps: Count = 0
    tokens: Count = 0
    """Positions trained on in this stage, padding to the block included: what the course's schedule counts."""
    characters: Count = 0
    stage_characters: Count = 0
    """Useful characters of the run, and of this stage."""
    stage_seconds: Seconds = 0.0
    seconds: Seconds = 0.0
    rate_factor: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    """What is left of this stage's learning rate after it was halved where training diverged."""


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be asked, and what is known about it."""

    model: GPT
    vocab: Vocab
    config: Mapping[str, Any]
    """The fields of `CheckpointConfig`, as plain data."""
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


def require_finite(weights: Mapping[str, torch.Tensor], path: Path) -> None:
    """Refuse weights that are not all numbers: whatever such a model says means nothing."""
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise LociError(f"{name} holds values that are not numbers", path=path, remedy="train it again")


def save_checkpoint(
    folder: Path,
    model: GPT,
    vocab: Vocab,
    *,
    about: Mapping[str, Any],
    state: TrainingState | None = None,
    tensors: Tensors | None = None,
) -> None:
    """Write a checkpoint, whole or not at all. `about` (recipe, corpus hash, …) goes into config.json."""
    weights = weights_of(model)
    require_finite(weights, folder)
    with atomic_folder(folder) as temporary:
        save_tensors(weights, temporary / WEIGHTS)
        if state is not None:
            save_tensors(tensors or {}, temporary / STATE_TENSORS)
        write_about(temporary, model, vocab, about=about, state=state)


def weights_of(model: GPT, *, plain: bool = True) -> Tensors:
    """The weights by name, as a file holds them; or (not `plain`) the model's own tensors, to be written to."""
    weights = dict(model.state_dict())
    if model.config.tied_head:
        del weights["head.weight"]  # the same tensor as the embedding; the file holds it once
    return {name: tensor.cpu().contiguous() for name, tensor in weights.items()} if plain else weights


def write_about(
    folder: Path, model: GPT, vocab: Vocab, *, about: Mapping[str, Any], state: TrainingState | None
) -> None:
    """Write what goes with the weights into a checkpoint's folder; the manifest comes last."""
    config = CheckpointConfig(
        versions={"loci": __version__, "torch": str(torch.__version__), "python": platform.python_version()},
        parameters=model.n_parameters(),
        model=model.config.to_dict(),
        vocabulary=vocab.symbols,
        layout=vocab.layout,
        **about,
    )
    if vocab.tokenizer is not None:
        (folder / TOKENIZER).write_bytes(vocab.tokenizer)
    write_json(folder / CONFIG, msgspec.to_builtins(config))
    if state is not None:
        write_json(folder / STATE, msgspec.to_builtins(state))
    write_manifest(folder, "checkpoint", FORMAT, hashes_of(folder))


def save_tensors(tensors: Tensors, file: Path, metadata: dict[str, str] | None = None) -> None:
    """Write tensors; what the system refuses is an `OSError` with its number."""
    try:
        save_file(tensors, file, metadata)
    except SafetensorError as error:  # it says what the system said, and hides the number
        found = re.search(r"(?:code: |os error )(\d+)", str(error))
        number = int(found[1]) if found else errno.EIO
        raise OSError(number, os.strerror(number), str(file)) from None


def read_config(folder: Path) -> CheckpointConfig:
    """The config.json of a checkpoint whose files are all as they were written."""
    _hashes(folder)
    return read_struct(folder / CONFIG, CheckpointConfig, remedy=DAMAGED)


def _hashes(folder: Path) -> Mapping[str, str]:
    """The hashes of a checkpoint's files, all of which agree."""
    manifest = read_manifest(folder, "checkpoint", FORMAT, remedy=DAMAGED)
    weights = [name for name in manifest.sha256 if name.startswith(SHARD)] or [WEIGHTS]
    require_files(folder, manifest, {*weights, CONFIG, *manifest.sha256}, remedy=DAMAGED)
    return manifest.sha256


def load_checkpoint(folder: Path) -> LoadedModel:
    """The model of one checkpoint folder, in evaluation mode."""
    if is_sharded(folder):
        raise LociError("is sharded, a model is wanted in one file", path=folder, remedy="loci consolidate RUN")
    weights_hash, config = _hashes(folder)[WEIGHTS], read_struct(folder / CONFIG, CheckpointConfig, remedy=DAMAGED)
    try:
        tokenizer = (folder / TOKENIZER).read_bytes() if config.layout == "tokens" else None
        vocab, sizes = Vocab(config.vocabulary, config.layout, tokenizer), GPTConfig.from_dict(config.model)
        _require_sizes(folder / WEIGHTS, sizes, config)
        model = GPT(sizes)
        weights = load_file(folder / WEIGHTS)
        require_finite(weights, folder / WEIGHTS)
        if sizes.tied_head:
            weights["head.weight"] = weights["tok_emb.weight"]
        model.load_state_dict(weights)
        loaded = LoadedModel(model.eval(), vocab, msgspec.to_builtins(config), weights_hash[:16], folder)
        _ = loaded.relations  # that they can be made
    except LociError as error:
        raise LociError(error.message, path=error.path or folder / CONFIG, remedy=DAMAGED) from None
    except SafetensorError as error:
        raise LociError(f"{WEIGHTS} cannot be read: {error}", path=folder, remedy=DAMAGED) from None
    except FileNotFoundError:
        raise LociError(f"has no {TOKENIZER}", path=folder, remedy=DAMAGED) from None
    except (RuntimeError, KeyError):
        raise LociError(f"{WEIGHTS} holds another model than {CONFIG} says", path=folder, remedy=DAMAGED) from None
    return loaded


def _require_sizes(file: Path, sizes: GPTConfig, config: CheckpointConfig) -> None:
    """Refuse weights of another size than the config's, from their header alone: a model may be too large to build."""
    if len(config.vocabulary) != sizes.vocab_size:
        raise LociError(f"names {len(config.vocabulary)} symbols, and the model has {sizes.vocab_size}")
    with safe_open(file, "pt") as header:
        parts = [header.get_slice(name) for name in header.keys()]  # noqa: SIM118 - it is no mapping
        kinds = {part.get_dtype() for part in parts} - {*_FLOATS}
        elements = sum(math.prod(part.get_shape()) for part in parts)
    if kinds:
        raise LociError(f"weights of kind {', '.join(sorted(kinds))} cannot be loaded", path=file)
    require_enough(sizes, len(parts), elements, file)


def require_enough(sizes: GPTConfig, tensors: int, elements: int, file: Path) -> None:
    """Refuse to build a model that has more numbers than a file holds for it."""
    # Each layer has tensors of its own, so the first test keeps the second short. The formula of an attention from
    # outside the package may be wrong by a little; a model of quite another size is not built.
    if sizes.n_layer > tensors or model_cost(sizes, 1, 1).total.parameters > 2 * elements + ROUNDING:
        raise LociError(f"holds {elements:,} numbers, fewer than the model it is said to be", path=file, remedy=DAMAGED)


def is_sharded(folder: Path) -> bool:
    """Whether the processes that trained wrote a part each (`loci.training.shards`)."""
    return next(folder.glob(f"{SHARD}*"), None) is not None


def load_state(folder: Path) -> TrainingState:
    """Where training stood when this checkpoint was written; `loci.training.shards` reads moments and random state."""
    if not (folder / STATE).exists():
        raise LociError("holds a finished model without its training state", path=folder, remedy="nothing to resume")
    return read_struct(folder / STATE, TrainingState, remedy=DAMAGED)


def checkpoint_folder(run: Path, total_steps: int) -> Path:
    """Where a run keeps the checkpoint of a step."""
    return run / CHECKPOINTS / f"step-{total_steps:08d}"


def checkpoints(run: Path) -> list[Path]:
    """The run's training checkpoints, oldest first."""
    return sorted((run / CHECKPOINTS).glob("step-*"))


def prune(run: Path, keep: int) -> None:
    """Remove all but the newest `keep`; each leaves under a hidden name first, so a half-removed one is never read.

    A newer one that is damaged goes too: it would take a whole one's place.
    """
    whole = [folder for folder in checkpoints(run) if _whole(folder)]
    for folder in [folder for folder in checkpoints(run) if folder not in whole[-keep:]]:
        leaving = folder.with_name(f".{folder.name}.old.tmp")
        folder.rename(leaving)
        shutil.rmtree(leaving)
    remove_leftovers(run / CHECKPOINTS)


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
