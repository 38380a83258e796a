"""The model: three independent axes (attention × positions × trunk), one model around them."""

from loci.model.config import GPTConfig
from loci.model.gpt import GPT, Output
from loci.model.variants import VARIANTS, Variant

__all__ = ["GPT", "GPTConfig", "Output", "VARIANTS", "Variant"]
