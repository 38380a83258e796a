"""First axis: how positions mix. A new class is a file here and a line in the registry."""

from loci.model.attention.base import Attention
from loci.model.attention.dot import DotAttention
from loci.model.attention.folded import FoldedAttention
from loci.model.attention.naive import NaiveAttention
from loci.model.attention.synthesizer import (
    FactorisedSynthesizerAttention,
    MixedSynthesizerAttention,
    RandomSynthesizerAttention,
    SynthesizerAttention,
)
from loci.registry import Registry

ATTENTIONS: Registry[type[Attention]] = Registry("attention")
ATTENTIONS.add("dot", DotAttention)
ATTENTIONS.add("synthesizer", SynthesizerAttention)
ATTENTIONS.add("synthesizer-random", RandomSynthesizerAttention)
ATTENTIONS.add("synthesizer-factorised", FactorisedSynthesizerAttention)
ATTENTIONS.add("synthesizer-mixed", MixedSynthesizerAttention)
ATTENTIONS.add("folded", FoldedAttention)
ATTENTIONS.add("naive", NaiveAttention)

__all__ = ["ATTENTIONS", "Attention", "DotAttention", "FoldedAttention", "NaiveAttention", "SynthesizerAttention"]
