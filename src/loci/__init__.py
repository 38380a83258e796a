"""Loci: a laboratory for attention and pretrained knowledge in small transformers.

import loci
run = loci.load("run")
print(run.ask("Where was Alfred Mele born?"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from loci.answering.ask import LoadedRun
    from loci.text.corpus import Corpus

__version__ = "0.1.0"
__all__ = ["__version__", "load"]


def load(run: str | Path, *, corpus: str | Path | Corpus | None = None, template: str | None = None) -> LoadedRun:
    """Make a run ready to be asked: `loci.load("run").ask("Where was Alfred Mele born?")`.

    Args:
        run: The folder that `loci train` wrote, or one of its checkpoints.
        corpus: Where evidence is looked for; default: the corpus the run remembers, if it is still there.
        template: The question's form, such as "Where did {subject} die?"; default: the run's own.
    """
    from loci.answering.ask import load as make_ready  # torch comes with it: `loci --help` must not wait for that

    return make_ready(run, corpus=corpus, template=template)
