"""The flags that the course's script takes, published and our own, and what they stand for.

One set for pretrain, finetune and evaluate, as published; which of them a function needs, the function says. Knows
nothing of what is done with them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.interop.course_commands import Course
    from loci.training.reports import Observer

Variant = Literal["vanilla", "synthesizer", "perceiver", "rope"]
# Unset flags say nothing of a default: "None" would tell a student little.
OptionalPath = Annotated[Path | None, tyro.conf.arg(metavar="PATH", help_behavior_hint="")]


@dataclass(frozen=True)
class Flags:
    """The published flags; pretrain, finetune and evaluate all take all of them."""

    variant: tyro.conf.Positional[Variant]
    """The model: vanilla, synthesizer, perceiver or rope."""
    pretrain_corpus_path: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")]
    """The pretraining corpus; the vocabulary always comes from it."""
    reading_params_path: OptionalPath = None
    """Weights to start from (finetune) or to ask (evaluate)."""
    writing_params_path: OptionalPath = None
    """Where the trained weights go (pretrain, finetune)."""
    finetune_corpus_path: OptionalPath = None
    """The train questions (finetune)."""
    eval_corpus_path: OptionalPath = None
    """The questions to answer (evaluate)."""
    outputs_path: OptionalPath = None
    """Where the answers go, one a line (evaluate)."""
    pretrain_lr: float = 6e-3
    """Learning rate of pretraining."""
    finetune_lr: float = 6e-4
    """Learning rate of finetuning."""
    bottleneck_dim: int = 32
    """Latents of the perceiver."""
    tb_expt_name: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    """Write TensorBoard events to expt/FUNCTION/NAME_..., where TensorBoard is installed."""
    year: Annotated[Literal[2021, 2024] | None, tyro.conf.arg(metavar="{2021,2024}", help_behavior_hint="")] = None
    """Pretrain as in 2021-23 or as in 2024-25; unless given, 2024 for rope and 2021 for the others (not published)."""
    max_epochs: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="")] = None
    """Epochs, instead of 650 (pretrain), 75 (finetune) or 10 (finetune after pretraining) (not published)."""
    seed: int = 0
    """Seed of weights, corruption and dropout (not published)."""

    def needed(self, *names: str) -> list[Any]:
        """The values of flags that a function cannot do without."""
        for name in names:
            if getattr(self, name) is None:
                raise LociError(f"--{name} is missing")
        return [getattr(self, name) for name in names]

    def unused(self, function: str, *names: str) -> None:
        """Say which given flags do nothing here; the course's script takes them silently."""
        for name in names:
            if getattr(self, name) is not None:
                print(f"loci course: {function} does not use --{name}", file=sys.stderr)

    def course(self) -> Course:
        """The published model over the corpus."""
        from loci.interop.course_commands import Course

        if self.max_epochs is not None and self.max_epochs < 1:
            raise LociError(f"--max_epochs must be at least 1, it is {self.max_epochs}")
        course = Course.read(
            self.variant, self.pretrain_corpus_path, bottleneck_dim=self.bottleneck_dim, seed=self.seed
        )
        for finding in course.corpus.repairs:
            print(f"loci course: {finding}", file=sys.stderr)
        return course

    def observers(self, function: str, run: Path) -> list[Observer]:
        """Who watches training: the terminal, TensorBoard under the published name."""
        from loci.cli.progress import ProgressBar
        from loci.training.observers import TensorBoard

        watching: list[Observer] = [ProgressBar()]
        if self.tb_expt_name is not None:
            if TensorBoard.available():
                bottleneck = f"_{self.bottleneck_dim}" if self.variant == "perceiver" else ""
                rates = f"pt_lr_{self.pretrain_lr:f}_ft_lr_{self.finetune_lr:f}"
                folder = Path("expt") / function / f"{self.tb_expt_name}_{self.variant}{bottleneck}_{rates}"
                watching.append(TensorBoard(folder))
            else:
                print("loci course: no TensorBoard here (pip install 'loci-lab[tensorboard]')", file=sys.stderr)
        return watching
