"""The two tables of the way out and in: what a run can be exported to, what can be imported as a run.

An exporter fills an empty folder from a loaded model; an importer reads a file or folder and gives a model with its
vocabulary. A new one is one file and one line at the end of this one, or `EXPORTERS.add` in a plugin. A library that
only one of them needs is imported there, when it is called. Knows no format itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from loci.errors import LociError
from loci.files import atomic_folder
from loci.model import GPT
from loci.registry import Registry
from loci.text.vocab import Vocab
from loci.training.checkpoint import FINAL, LoadedModel, load_model, save_checkpoint
from loci.training.plain_data import to_dict
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import start_run


@dataclass(frozen=True)
class Imported:
    """A model from elsewhere, and what its files say of it."""

    model: GPT
    vocab: Vocab
    about: dict[str, Any] = field(default_factory=dict)
    """Further fields of the checkpoint's config, such as the relations."""


#: Writes into an empty folder; returns what the user should know, one line each.
Exporter = Callable[[LoadedModel, Path], list[str]]
#: Reads a file or folder.
Importer = Callable[[Path], Imported]

EXPORTERS: Registry[Exporter] = Registry("export format")
IMPORTERS: Registry[Importer] = Registry("import format")


def export_run(run: str | Path, to: str, out: str | Path) -> list[str]:
    """Write a run in another tool's form into a new folder, whole or not at all; returns notes for the user."""
    write = EXPORTERS[to]
    if (out := Path(out)).exists():
        raise LociError("exists already", path=out, remedy="choose another folder")
    loaded = load_model(run)
    with atomic_folder(out) as folder:
        return write(loaded, folder)


def import_run(source: str | Path, kind: str, out: str | Path) -> Imported:
    """Make a run of another tool's files, whole or not at all."""
    read = IMPORTERS[kind]
    if (out := Path(out)).exists():
        raise LociError("exists already", path=out, remedy="choose another folder")
    if not (source := Path(source)).exists():
        raise LociError("no such file or folder", path=source)
    found = read(source)
    # No stage of ours made these weights. A recipe has at least one; this one was carried out elsewhere.
    stage = Stage("elsewhere", (MixtureComponent("language-model"),), steps=1)
    model = {name: value for name, value in found.model.config.to_dict().items() if name != "vocab_size"}
    recipe = Recipe(f"imported-{kind}", model, (stage,), note=f"imported from {source.name} ({kind})")
    about = {"recipe": to_dict(recipe), **found.about}
    corpus_hash = str(about.get("corpus_hash") or "")
    with atomic_folder(out) as folder:
        start_run(folder, recipe, {"corpus": None, "corpus_hash": corpus_hash})
        save_checkpoint(folder / FINAL, found.model, found.vocab, about=about)
    return found


def require(module: str, extra: str) -> ModuleType:
    """A library of an extra, or the one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        remedy = f"pip install 'loci-lab[{extra}]'"
        raise LociError(f"this needs {module.partition('.')[0]}, which is not here ({error})", remedy=remedy) from None


def _lazily(module: str, function: str) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return getattr(importlib.import_module(f"loci.interop.{module}"), function)(*args)

    return call


EXPORTERS.add("hf", _lazily("hf_export", "export_hf"))
EXPORTERS.add("onnx", _lazily("onnx_export", "export_onnx"))
EXPORTERS.add("course", _lazily("course_commands", "export_folder"))
EXPORTERS.add("transformer-lens", _lazily("lens_export", "export_lens"))
IMPORTERS.add("hf", _lazily("hf_import", "import_hf"))
IMPORTERS.add("nanogpt", _lazily("nanogpt_import", "import_nanogpt"))
IMPORTERS.add("transformer-lens", _lazily("hf_import", "import_hf"))
