"""The flags of the course's commands: the published ones, and Loci's own behind them.

Argparse, as the course uses it, so that flags may be shortened as there. Knows nothing of what is done with them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from loci.errors import LociError

VARIANTS = ("vanilla", "synthesizer", "perceiver", "rope")
FILES = ("reading_params_path", "writing_params_path", "finetune_corpus_path", "eval_corpus_path", "outputs_path")
#: The files that a function reads or writes; the course's script takes all of them everywhere.
USES = {"pretrain": FILES[1:2], "finetune": FILES[:3], "evaluate": (FILES[0], *FILES[3:])}
LARGEST_SEED = 2**53


def whole(least: int, most: int = 10**6) -> Callable[[str], int]:
    """A whole number within bounds."""

    def number(text: str) -> int:
        if not least <= (value := int(text)) <= most:
            raise argparse.ArgumentTypeError(f"must be from {least} to {most:,}, it is {value}")
        return value

    return number


def _path(help: str, **more: Any) -> dict[str, Any]:
    return {"type": Path, "metavar": "PATH", "help": help, **more}


def _number(kind: Callable[[str], float], help: str, default: float | None = None) -> dict[str, Any]:
    return {"type": kind, "metavar": "FLOAT" if kind is float else "INT", "default": default, "help": help}


PUBLISHED: dict[str, dict[str, Any]] = {
    "variant": {"choices": VARIANTS, "metavar": "VARIANT", "help": f"the model: {', '.join(VARIANTS)}"},
    "pretrain_corpus_path": _path("the pretraining corpus; the vocabulary is always its own", metavar="CORPUS"),
    "--reading_params_path": _path("weights to start from (finetune) or to ask (evaluate)"),
    "--writing_params_path": _path("where the weights go (pretrain, finetune)"),
    "--finetune_corpus_path": _path("the train questions (finetune)"),
    "--eval_corpus_path": _path("the questions to answer (evaluate)"),
    "--outputs_path": _path("where the answers go, one a line (evaluate)"),
    "--pretrain_lr": _number(float, "of pretraining (default: 6e-3)", 6e-3),
    "--finetune_lr": _number(float, "of finetuning (default: 6e-4)", 6e-4),
    "--bottleneck_dim": _number(int, "latents of the perceiver (default: 32)", 32),
    "--tb_expt_name": {
        "metavar": "NAME",
        "help": "TensorBoard's events go to expt/FUNCTION/NAME_..., where it is installed (default from 2023 on: run)",
    },
}
OWN: dict[str, dict[str, Any]] = {
    "--year": {
        "type": int,
        "choices": range(2021, 2026),
        "metavar": "YEAR",
        "help": "whose form, 2021 to 2025 (default: that of what was trained before, else the variant's first year)",
    },
    "--fix": {
        "type": lambda text: text.split(","),
        "metavar": "NAMES",
        "default": [],
        "help": "the sensible form, not the published one: all, or some of decay,rate,ascii,newline,lines",
    },
    "--perceiver_form": {
        "choices": ("residual", "bare"),
        "default": "residual",
        "help": "bare: no residual path around the reading blocks, both inputs normalised",
    },
    "--max_epochs": _number(whole(1), "instead of 650 (pretrain), 75 (finetune) or 10 (finetune after pretraining)"),
    "--copy_every": {
        **_number(whole(1), "pretrain also keeps the weights of every so many epochs, next to PARAMS"),
        "metavar": "EPOCHS",
    },
    "--precision": {
        "choices": ("fp32", "bf16"),
        "default": "fp32",
        "help": "of a training's products; bf16 where the processor has it (default: fp32, as published)",
    },
    "--seed": _number(whole(0, LARGEST_SEED), "of all chance (default: 0)", 0),
}
_MODEL = ("variant", "pretrain_corpus_path", "--bottleneck_dim", "--perceiver_form", "--year")
_ALL = {**PUBLISHED, **OWN}

FLAGS: dict[str, Mapping[str, dict[str, Any]]] = {
    "pretrain": _ALL,
    "finetune": _ALL,
    "evaluate": _ALL,
    "london": {
        "--eval_corpus_path": _path("the questions, with answers", default=Path("birth_dev.tsv")),
        "--place": {"default": "London", "help": "the place"},
    },
    "dataset": {
        "dataset_type": {"choices": ("namedata", "charcorruption"), "help": "finetuning or pretraining examples"},
        "--pretrain_corpus_path": _path("the corpus", default=Path("wiki.txt")),
        "--finetune_corpus_path": _path("the train questions", default=Path("birth_places_train.tsv")),
        "--examples": _number(whole(0), "how many (default: 4)", 4),
        **{name: OWN[name] for name in ("--year", "--fix", "--seed")},
    },
    "folds": {
        "variant": PUBLISHED["variant"],
        "pretrain_corpus_path": PUBLISHED["pretrain_corpus_path"],
        "--reading_params_path": _path("the pretrained weights, one file or several", nargs="+", required=True),
        "--finetune_corpus_path": _path("the train questions", required=True),
        "--out": _path("where the folds, the finetuned weights and the answers go", required=True),
        "--folds": _number(
            whole(1, 5), "how many of the five are asked about, each after finetuning on the others (default: 1)", 1
        ),
        **{name: _ALL[name] for name in ("--finetune_lr", "--bottleneck_dim", "--perceiver_form", "--year", "--fix")},
        **{name: _ALL[name] for name in ("--max_epochs", "--precision", "--seed")},
    },
    "grade": {
        "predictions": _path("files with one answer per line", metavar="PREDICTIONS", nargs="+"),
        "--gold": _path("the questions with their answers", required=True),
        "--train": _path("the train questions, for kinds of errors (default: birth_places_train.tsv next to the gold)"),
        "--corpus": _path("the corpus, for kinds of errors (default: wiki.txt next to the gold)"),
        "--json": {"action": "store_true", "help": "everything as JSON"},
    },
    "import": {
        **{name: _ALL[name] for name in _MODEL},
        "--reading_params_path": _path("the weights", required=True),
        "--out": _path("the run's folder, made anew", required=True),
    },
    "export": {
        "run": _path("the run; its model must be one of the course's, in the published size", metavar="RUN"),
        "--writing_params_path": _path("where the weights go", required=True),
    },
}


class _Parser(argparse.ArgumentParser):
    """An error is one line."""

    def error(self, message: str) -> Any:
        raise LociError(message, remedy=f"{self.prog} --help")


def parser(commands: Mapping[str, Callable[..., Any]]) -> argparse.ArgumentParser:
    """All subcommands with their flags; their help is the functions' own."""
    form = argparse.RawDescriptionHelpFormatter
    root = _Parser(
        prog="loci course",
        formatter_class=form,
        description="The course's own commands, flags, files and printed lines: loci course for python src/run.py.",
        epilog="the published experiment without pretraining, from the folder with the course's files:\n"
        "  loci course finetune vanilla wiki.txt --writing_params_path vanilla.model.params \\\n"
        "      --finetune_corpus_path birth_places_train.tsv\n"
        "  loci course evaluate vanilla wiki.txt --reading_params_path vanilla.model.params \\\n"
        "      --eval_corpus_path birth_dev.tsv --outputs_path vanilla.nopretrain.dev.predictions",
    )
    added = root.add_subparsers(metavar="SUBCOMMAND", dest="function")
    for name, run in commands.items():
        text = re.sub(r"^ {4}", "", run.__doc__ or "", flags=re.M).rstrip()
        made = added.add_parser(name, help=text.splitlines()[0], description=text, formatter_class=form)
        made.set_defaults(run=run)
        own = made.add_argument_group("Loci's own (not published)")
        for flag, options in FLAGS[name].items():
            (own if flag in OWN and FLAGS[name] is _ALL else made).add_argument(flag, **options)
    return root


def with_underscores(args: Sequence[str]) -> list[str]:
    """Published flags have underscores; dashes are understood as well."""
    found = [arg.partition("=") for arg in args]
    return [
        "--" + name[2:].replace("-", "_") + equals + value if name.startswith("--") else name + equals + value
        for name, equals, value in found
    ]
