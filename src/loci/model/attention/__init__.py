"""First axis: how positions mix. One class a file; a new one is a file here and a line in the registry."""

from loci.model.attention.base import Attention
from loci.model.attention.dot import DotAttention
from loci.model.registry import Registry

ATTENTIONS: Registry[type[Attention]] = Registry("attention")
ATTENTIONS.add("dot", DotAttention)

__all__ = ["ATTENTIONS", "Attention", "DotAttention"]
