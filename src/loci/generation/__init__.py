"""The generation room: prompts in, ids with their probabilities out. Works on ids; knows no characters and no files."""

from loci.generation.beam import beam_search
from loci.generation.context import Window
from loci.generation.decode import Generated, generate
from loci.generation.sampling import GREEDY, Sampler
from loci.generation.scoring import score_candidates
from loci.generation.streaming import stream
from loci.generation.trie import Trie

__all__ = ["GREEDY", "Generated", "Sampler", "Trie", "Window", "beam_search", "generate", "score_candidates", "stream"]
