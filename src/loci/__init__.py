"""Loci: a laboratory for attention and pretrained knowledge in small transformers."""

__version__ = "0.1.0"
