"""Labelers: let a trained model write pseudo-labels for a later stage.

A labeler is called as `(loaded, data, progress, **options) -> Questions`; the options are those of the recipe's
labelling step. It returns the train questions and what it wrote about others. A new one is a file and a row here.
"""

from loci.pipeline.labelers import self_training
from loci.pipeline.labelers.labeler import Labeler, Progress, Stopped, require_options
from loci.registry import Registry

LABELERS: Registry[Labeler] = Registry("labeler")
LABELERS.add("self-training", self_training.label)
LABELERS.add("given", self_training.given)

__all__ = ["LABELERS", "Labeler", "Progress", "Stopped", "require_options"]
