"""The course's own commands, with its flags, files and printed lines.

examples:
  loci course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
  loci course london --eval_corpus_path birth_dev.tsv
"""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loci.cli.course_flags import FILES, USES, parser, with_underscores
from loci.cli.output import print_json
from loci.cli.work import InterruptFlag
from loci.errors import LociError

if TYPE_CHECKING:
    from loci.interop.course_commands import Course, Hooks
    from loci.training.plan import Stage
    from loci.training.reports import Observer, Outcome

SHOWN_PAIRS = 10
IN_BF16 = "products in bf16, where the published code has fp32"


def pretrain(flags: Namespace) -> int:
    """Pretrain by span corruption and write the weights: 650 epochs, batches of 128 lines.

    Training keeps its state in PARAMS.run: stopped by ctrl-C or killed, the same command goes on where it was.
    With --copy_every 50 it also writes vanilla.pretrain.epoch-50.params and so on; loci course folds asks them.
    Under torchrun several processes share every batch: one a core is faster than as many threads. --precision bf16
    is faster still on a processor that multiplies such numbers (loci doctor tells), and not what was published.

    examples:
      loci course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
      torchrun --nproc_per_node 2 -m loci course pretrain vanilla wiki.txt --writing_params_path vanilla.pretrain.params
    """
    from loci.interop import course_commands

    _check_files(flags, "writing_params_path")
    options = {"lr": flags.pretrain_lr, "max_epochs": flags.max_epochs, "copy_every": flags.copy_every}
    return _trained(flags, lambda course, out, hooks: course_commands.pretrain(course, out, hooks=hooks, **options))


def finetune(flags: Namespace) -> int:
    """Finetune on questions with answers and write the weights: 75 epochs from scratch, 10 after pretraining.

    example:
      loci course finetune vanilla wiki.txt --reading_params_path vanilla.pretrain.params \\
        --writing_params_path vanilla.finetune.params --finetune_corpus_path birth_places_train.tsv
    """
    from loci.interop import course_commands

    _check_files(flags, "writing_params_path", "finetune_corpus_path")
    if flags.copy_every is not None:
        _note("finetune does not use --copy_every")
    questions, reading = flags.finetune_corpus_path, flags.reading_params_path
    options = {"lr": flags.finetune_lr, "max_epochs": flags.max_epochs, "reading": reading}
    return _trained(
        flags, lambda course, out, hooks: course_commands.finetune(course, out, questions, hooks=hooks, **options)
    )


def evaluate(flags: Namespace) -> None:
    """Answer every question greedily, print the score, write one answer per line.

    example:
      loci course evaluate vanilla wiki.txt --reading_params_path vanilla.finetune.params \\
        --eval_corpus_path birth_dev.tsv --outputs_path vanilla.pretrain.dev.predictions
    """
    from loci.interop import course_commands

    _check_files(flags, "reading_params_path", "eval_corpus_path")
    course, hooks = _course(flags), course_commands.Hooks(note=_note)
    course_commands.evaluate(
        course, flags.reading_params_path, flags.eval_corpus_path, outputs=flags.outputs_path, hooks=hooks
    )


def london(flags: Namespace) -> None:
    """Score the system that answers every question with one place.

    example:
      loci course london --eval_corpus_path birth_dev.tsv
    """
    from loci.interop.course_lines import constant_rows, score_lines
    from loci.text.questions import Questions

    print(*score_lines(constant_rows(Questions.read(flags.eval_corpus_path), flags.place)), sep="\n")


def dataset(flags: Namespace) -> None:
    """Print training examples: what the model reads (x) and is to predict (y).

    example:
      loci course dataset charcorruption --pretrain_corpus_path wiki.txt
    """
    from loci.interop.course_commands import Course, as_taught
    from loci.interop.course_lines import data_line, example_lines
    from loci.interop.course_notes import choose_year
    from loci.recipes.course import finetune_stage, pretrain_stage
    from loci.text.questions import Questions

    year, why = choose_year("vanilla", flags.year, writing=Path())  # of what was trained in this folder
    course = Course.read("vanilla", flags.pretrain_corpus_path, year=year, fix=flags.fix)
    _note(f"as in {year} ({why})")
    if flags.dataset_type == "namedata":
        questions = as_taught(Questions.read(flags.finetune_corpus_path), course)
        stage = finetune_stage(course.shape, fix=course.fix)
    else:
        questions, stage = None, pretrain_stage(course.shape, year=course.year, fix=course.fix)
    lines = example_lines(course.corpus, stage, questions, course.config.block_size, flags.examples, flags.seed)
    print(data_line(course.corpus), *lines, sep="\n")


def grade(flags: Namespace) -> int:
    """Grade predictions files: the published line, its interval, the kinds of errors, files that agree too much.

    example:
      loci course grade handed-in/*.predictions --gold birth_dev.tsv
    """
    from loci.interop import course_grade

    graded = course_grade.grade(flags.predictions, flags.gold, train=flags.train, corpus=flags.corpus)
    if flags.json:
        print_json(graded)
    else:
        print(*graded.lines(SHOWN_PAIRS), sep="\n")
    if ungraded := sum(found.right is None for found in graded.files):
        _note(f"{ungraded} of {len(graded.files)} files could not be graded")
    return 2 if ungraded else 0


def folds(flags: Namespace) -> int:
    """Finetune pretrained weights on four fifths of the train questions and ask about the last fifth.

    So copies of one pretraining can be compared without a look at the dev questions. Stopped, it goes on where it was.

    example:
      loci course folds vanilla wiki.txt --reading_params_path vanilla.pretrain.epoch-*.params \\
        --finetune_corpus_path birth_places_train.tsv --out folds
    """
    from loci.cli.progress import ProgressBar
    from loci.interop.course_commands import Hooks
    from loci.interop.course_folds import ask_folds
    from loci.training.device import choose

    def observers(run: Path, stage: Stage, n_records: int) -> list[Observer]:
        return [ProgressBar(run.name.removesuffix(".params.run"))]

    with InterruptFlag() as interrupted:
        placement = choose("cpu", flags.precision)
        if placement.bf16:
            _note(IN_BF16)
        hooks = Hooks(lambda text: None, _note, observers, lambda: interrupted.raised, placement=placement)
        options = {"lr": flags.finetune_lr, "max_epochs": flags.max_epochs, "hooks": hooks}
        given = sorted(flags.reading_params_path, key=_by_number)
        for params in given:
            if not params.is_file():
                raise LociError("no such file", path=params, remedy="check the name")
            if [other.stem for other in given].count(params.stem) > 1:
                raise LociError("another file has the same name", path=params, remedy="ask them with an --out each")
        for params in given:
            course = _course(Namespace(**{**vars(flags), "reading_params_path": params}))
            rate = ask_folds(course, params, flags.finetune_corpus_path, flags.out, folds=flags.folds, **options)
            if rate is None:
                _note("stopped; the same command goes on from there")
                return 130
            print(f"{params.name}: {rate}")
    return 0


def import_params(flags: Namespace) -> None:
    """Make a run of a .params file, so that loci evaluate and the other commands can ask it.

    example:
      loci course import vanilla wiki.txt --reading_params_path vanilla.finetune.params --out run
    """
    from loci.interop import course_commands

    course_commands.import_params(_course(flags), flags.reading_params_path, flags.out)
    print(f"ask it: loci evaluate {flags.out} --questions FILE")


def export_params(flags: Namespace) -> None:
    """Write a run's model as a .params file that the course's own script reads.

    example:
      loci course export run --writing_params_path vanilla.model.params
    """
    from loci.interop import course_commands

    hooks = course_commands.Hooks(note=_note)
    variant = course_commands.export_params(flags.run, flags.writing_params_path, hooks)
    print(f"wrote {flags.writing_params_path} ({variant})")


SUBCOMMANDS: dict[str, Callable[[Namespace], int | None]] = {
    **{run.__name__: run for run in (pretrain, finetune, evaluate, london, dataset, folds, grade)},
    "import": import_params,
    "export": export_params,
}


def course(args: Sequence[str]) -> int:
    """Find the subcommand and run it with its flags."""
    root = parser(SUBCOMMANDS)
    if not args or args[0] in ("-h", "--help"):
        root.print_help()
        return 0
    flags = root.parse_args(_as_published(with_underscores(args), root))
    return int(SUBCOMMANDS[flags.function](flags) or 0)


course.raw_arguments = True  # type: ignore[attr-defined]


def _as_published(args: list[str], root: ArgumentParser) -> list[str]:
    """The arguments with the published flags last and in full, as the script of the year understands them.

    To it FUNCTION is one argument among others, and Loci's own flags are no other meaning of a short one.
    """
    from loci.interop.course_notes import YEARS, choose_year

    def read(*names: str) -> tuple[dict[str, str], list[str]]:
        script = type(root)(prog=root.prog, add_help=False, argument_default=SUPPRESS)
        for name in names:
            script.add_argument(f"--{name}")
        found, rest = script.parse_known_args(args)
        return vars(found), rest

    found, rest = read(*FILES, "year")
    if not rest or rest[0] not in USES:
        return args
    variant, told = next((word for word in rest if word in YEARS), "vanilla"), found.get("year", "")
    reading, writing = (Path(found[name]) if name in found else None for name in FILES[:2])
    given = int(told) if told.isdecimal() and len(told) == 4 else None
    year, _ = choose_year(variant, given, reading=reading, writing=writing)
    later = ("pretrain_lr", "finetune_lr", "tb_expt_name") if year >= 2023 else ()
    found, rest = read(*FILES, *later, *(["bottleneck_dim"] if year == 2023 else []))
    return [*rest, *(f"--{name}={value}" for name, value in found.items())]


def _check_files(flags: Namespace, *needed: str) -> None:
    """Name a missing file; say which given ones do nothing here, since the course's script takes them silently."""
    for name in needed:
        if getattr(flags, name) is None:
            raise LociError(f"--{name} is missing")
    for name in FILES:
        if name not in USES[flags.function] and getattr(flags, name) is not None:
            _note(f"{flags.function} does not use --{name}")


def _unheard(text: str) -> None:
    """Of several processes the first one speaks."""


def _note(text: str) -> None:
    """Said next to the published lines, so that those stay as they are."""
    print(f"loci course: {text}", file=sys.stderr)


def _course(flags: Namespace, note: Callable[[str], None] = _note) -> Course:
    """The published model over the corpus, in the year's form."""
    from loci.interop.course_commands import Course
    from loci.interop.course_notes import choose_year

    reading, writing = (getattr(flags, name, None) for name in FILES[:2])
    year, why = choose_year(flags.variant, flags.year, reading=reading, writing=writing)
    own = ("bottleneck_dim", "perceiver_form", "seed", "fix")
    chosen = {name: getattr(flags, name) for name in own if hasattr(flags, name)}
    course = Course.read(flags.variant, flags.pretrain_corpus_path, year=year, **chosen)
    for finding in course.corpus.repairs:
        note(str(finding))
    note(f"as in {year} ({why})")
    return course


def _trained(flags: Namespace, train: Callable[[Course, Path, Hooks], Outcome]) -> int:
    from loci.interop.course_commands import Hooks
    from loci.interop.course_lines import Iterations
    from loci.training.device import choose
    from loci.training.distributed import Group

    writing, placement = flags.writing_params_path, choose("cpu", flags.precision)
    with InterruptFlag() as interrupted, Group.join() as group:
        say, note = (print, _note) if group.first else (_unheard, _unheard)
        taught = _course(flags, note)
        if placement.bf16:
            note(IN_BF16)

        def observers(run: Path, stage: Stage, n_records: int) -> list[Observer]:
            return [Iterations(stage, n_records, taught.config.block_size, _board(flags, taught.year))]

        outcome = train(taught, writing, Hooks(say, note, observers, lambda: interrupted.raised, group, placement))
    if not group.first:
        return 0 if outcome.finished else 130
    if not outcome.finished:
        _note(f"stopped after {outcome.total_steps} steps; the same command goes on from there")
        return 130
    _note(f"wrote {writing} after {outcome.total_steps} steps; the run is kept in {outcome.run}")
    return 0


def _board(flags: Namespace, year: int) -> Any:
    """TensorBoard's writer where the course has one: from 2023 on, or when a name is given."""
    from loci.interop.course_lines import board_folder
    from loci.training.observers import TensorBoard

    if flags.tb_expt_name is None and year < 2023:
        return None
    if TensorBoard.available():
        name, rates = flags.tb_expt_name or "run", (flags.pretrain_lr, flags.finetune_lr)
        return TensorBoard(board_folder(flags.function, year, flags.variant, name, flags.bottleneck_dim, *rates)).writer
    if flags.tb_expt_name is not None:
        _note("no TensorBoard here (pip install 'loci-lab[tensorboard]')")
    return None


def _by_number(file: Path) -> list[tuple[bool, int, str]]:
    """So that epoch-50 comes before epoch-100."""
    parts = re.split(r"(\d+)", str(file))
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]
