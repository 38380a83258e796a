"""Carries out recipes: alternates training stages and labelling steps."""

from loci.pipeline.runner import carry_out

__all__ = ["carry_out"]
