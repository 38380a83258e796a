"""Make ordinary checkpoints of those that a sharded training (`--parallel fsdp`) wrote, so that they can be asked.

examples:
  loci consolidate run                                       every checkpoint of the run
  loci consolidate run/checkpoints/step-00000300             one of them
"""

from __future__ import annotations

from pathlib import Path


def consolidate(path: Path, /) -> None:
    """Put the shards of a run's checkpoints together.

    Args:
        path: A run, or one of its checkpoints.
    """
    from loci.errors import LociError
    from loci.training import checkpoint as ckpt
    from loci.training.lock import owned
    from loci.training.run import run_folder
    from loci.training.shards import consolidate

    folders = ckpt.checkpoints(path) if not (path / ckpt.CONFIG).is_file() else [path]
    if not folders:
        raise LociError("holds no checkpoint", path=path, remedy="give the folder that loci train --out wrote")
    sharded = list(filter(ckpt.is_sharded, folders))
    with owned(run_folder(path) or path):
        for folder in sharded:
            consolidate(folder)
            print(f"consolidated: {folder}")
    if not sharded:
        print("nothing to do: no checkpoint is sharded")
