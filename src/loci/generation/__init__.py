"""Generation: prompts in, ids with their probabilities out. Works on ids; knows no characters and no files."""

from loci.generation.beam import beam_search
from loci.generation.context import Window
from loci.generation.decode import Generated, generate, stream
from loci.generation.sampling import GREEDY, Sampler
from loci.generation.scoring import score_candidates

__all__ = ["GREEDY", "Generated", "Sampler", "Window", "beam_search", "generate", "score_candidates", "stream"]
