"""The course's own commands, with its flags, files and printed lines.

examples:
  loci course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
  loci course london --eval_corpus_path birth_dev.tsv
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from loci.cli.course_flags import Flags, Variant
from loci.cli.flags import call_with_flags
from loci.cli.interrupt import InterruptFlag
from loci.errors import LociError

if TYPE_CHECKING:
    from loci.training.reports import Outcome

Published = Annotated[Flags, tyro.conf.arg(name="")]


def pretrain(flags: Published) -> int:
    """Pretrain by span corruption and write the weights: 650 epochs, batches of 128 lines.

    The recipe of 2021-23 lets the learning rate climb back after 200 epochs and ends examples with a third mask; that
    of 2024-25 does neither.

    Training keeps its state in PARAMS.run: stopped by ctrl-C or killed, the same command goes on where it was.

    example:
      loci course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
    """
    from loci.interop import course_commands

    (writing,) = flags.needed("writing_params_path")
    flags.unused("pretrain", "reading_params_path", "finetune_corpus_path", "eval_corpus_path", "outputs_path")
    course = flags.course()
    with InterruptFlag() as interrupted:
        outcome = course_commands.pretrain(
            course,
            writing,
            year=flags.year,
            lr=flags.pretrain_lr,
            max_epochs=flags.max_epochs,
            observers=lambda run: flags.observers("pretrain", run),
            should_stop=lambda: interrupted.raised,
        )
    return _ended(outcome, writing)


def finetune(flags: Published) -> int:
    """Finetune on questions with answers and write the weights: 75 epochs from scratch, 10 after pretraining.

    example:
      loci course finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params \\
        --writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv
    """
    from loci.interop import course_commands

    writing, questions = flags.needed("writing_params_path", "finetune_corpus_path")
    flags.unused("finetune", "eval_corpus_path", "outputs_path", "year")
    course = flags.course()
    with InterruptFlag() as interrupted:
        outcome = course_commands.finetune(
            course,
            writing,
            questions,
            reading_params=flags.reading_params_path,
            lr=flags.finetune_lr,
            max_epochs=flags.max_epochs,
            observers=lambda run: flags.observers("finetune", run),
            should_stop=lambda: interrupted.raised,
        )
    return _ended(outcome, writing)


def evaluate(flags: Published) -> None:
    """Answer every question greedily, print the score, write one answer a line.

    example:
      loci course evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params \\
        --eval_corpus_path birth_dev.tsv --outputs_path vanilla.pretrain.dev.predictions
    """
    from loci.interop import course_commands

    reading, questions = flags.needed("reading_params_path", "eval_corpus_path")
    flags.unused("evaluate", "writing_params_path", "finetune_corpus_path", "year", "max_epochs")
    rows = course_commands.evaluate(flags.course(), reading, questions, outputs=flags.outputs_path)
    _print_score(rows, flags.outputs_path)


def london(eval_corpus_path: Path = Path("birth_dev.tsv"), place: str = "London") -> None:
    """Score the system that answers every question with one place.

    example:
      loci course london --eval_corpus_path birth_dev.tsv

    Args:
        eval_corpus_path: The questions, with answers.
        place: The place.
    """
    from loci.interop.course_lines import constant_rows
    from loci.text.questions import Questions

    _print_score(constant_rows(Questions.read(eval_corpus_path), place), None)


def dataset(
    dataset_type: tyro.conf.Positional[Literal["namedata", "charcorruption"]],
    pretrain_corpus_path: Path = Path("wiki.txt"),
    finetune_corpus_path: Path = Path("birth_places_train.tsv"),
    examples: int = 4,
    year: Literal[2021, 2024] = 2021,
    seed: int = 0,
) -> None:
    """Print training examples: what the model reads (x) and is to predict (y).

    example:
      loci course dataset charcorruption --pretrain_corpus_path wiki.txt

    Args:
        dataset_type: namedata, the finetuning examples, or charcorruption, the pretraining examples.
        pretrain_corpus_path: The corpus.
        finetune_corpus_path: The train questions; only namedata reads them.
        examples: How many.
        year: The form of the corruption: a third mask at the end (2021-23) or none (2024-25).
        seed: Seed of the corruption.
    """
    import numpy as np

    from loci.interop.course_lines import corruption_lines, data_line, name_lines
    from loci.recipes.course import COURSE_MODEL
    from loci.text.corpus import Corpus
    from loci.text.questions import Questions

    if examples < 0:
        raise LociError(f"--examples must not be negative, it is {examples}")
    corpus, block = Corpus.read(pretrain_corpus_path), COURSE_MODEL["block_size"]
    print(data_line(corpus))
    if dataset_type == "namedata":
        lines = name_lines(corpus, Questions.read(finetune_corpus_path), block, examples)
    else:
        lines = corruption_lines(corpus, block, examples, year=year, rng=np.random.default_rng(seed))
    for line in lines:
        print(line)


def import_params(
    variant: tyro.conf.Positional[Variant],
    pretrain_corpus_path: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")],
    reading_params_path: Path,
    out: Path,
    bottleneck_dim: int = 32,
) -> None:
    """Make a run of a .params file, so that loci evaluate and the other commands can ask it.

    example:
      loci course import vanilla wiki.txt --reading_params_path vanilla.finetune.params --out run

    Args:
        variant: The model: vanilla, synthesizer, perceiver or rope.
        pretrain_corpus_path: The corpus it was pretrained on; the vocabulary comes from it.
        reading_params_path: The weights.
        out: The run's folder, made anew.
        bottleneck_dim: Latents of the perceiver.
    """
    from loci.interop import course_commands

    course = course_commands.Course.read(variant, pretrain_corpus_path, bottleneck_dim=bottleneck_dim)
    course_commands.import_params(course, reading_params_path, out)
    print(f"ask it: loci evaluate {out} --questions FILE")


def export_params(run: tyro.conf.Positional[Path], writing_params_path: Path) -> None:
    """Write a run's model as a .params file that the course's own script reads.

    example:
      loci course export run --writing_params_path vanilla.model.params

    Args:
        run: The run; its model must be one of the course's, in the published size.
        writing_params_path: Where the weights go.
    """
    from loci.interop import course_commands

    variant = course_commands.export_params(run, writing_params_path)
    print(f"wrote {writing_params_path} ({variant})")


SUBCOMMANDS: dict[str, Callable[..., int | None]] = {
    "pretrain": pretrain,
    "finetune": finetune,
    "evaluate": evaluate,
    "london": london,
    "dataset": dataset,
    "import": import_params,
    "export": export_params,
}


def overview() -> str:
    """The text of `loci course --help`."""
    rows = [f"  {name:<9} {(inspect.getdoc(run) or '').splitlines()[0]}" for name, run in SUBCOMMANDS.items()]
    return "\n".join(
        [
            "usage: loci course SUBCOMMAND [flags]      loci course SUBCOMMAND --help",
            "",
            "The course's own commands, flags, files and printed lines: loci course in place of python src/run.py.",
            "",
            "subcommands:",
            *rows,
            "",
            "the published experiment without pretraining, from the folder with the course's files:",
            "  loci course finetune vanilla wiki.txt --writing_params_path vanilla.model.params \\",
            "      --finetune_corpus_path birth_places_train.tsv",
            "  loci course evaluate vanilla wiki.txt --reading_params_path vanilla.model.params \\",
            "      --eval_corpus_path birth_dev.tsv --outputs_path vanilla.nopretrain.dev.predictions",
        ]
    )


def course(args: list[str]) -> int:
    """Find the subcommand and run it with its flags."""
    if not args or args[0] in ("-h", "--help"):
        print(overview())
        return 0
    if args[0] not in SUBCOMMANDS:
        raise LociError(f"no subcommand {args[0]!r}", remedy=f"one of: {', '.join(SUBCOMMANDS)}")
    # Underscores in the help, as published; dashes are understood as well.
    return call_with_flags(SUBCOMMANDS[args[0]], args[1:], prog=f"loci course {args[0]}", use_underscores=True)


course.raw_arguments = True  # type: ignore[attr-defined]


def _print_score(rows: Any, outputs: Path | None) -> None:
    from loci.interop.course_lines import score_line

    line = score_line(rows)
    where = f" written to {outputs}" if outputs is not None else ""
    print(line if line is not None else f"{len(rows)} answers{where}; the questions have none to score them by")


def _ended(outcome: Outcome, writing: Path) -> int:
    """Said beside the published lines, so that those stay as they are."""
    if not outcome.finished:
        print(f"stopped after {outcome.total_steps} steps; the same command goes on from there", file=sys.stderr)
        return 130
    print(f"wrote {writing} after {outcome.total_steps} steps; the run is kept in {outcome.run}", file=sys.stderr)
    return 0
