"""Text on disk to lines about subjects, and questions about them. Knows no model."""

from loci.text.corpus import Corpus, Line
from loci.text.findings import Finding
from loci.text.questions import Question, Questions
from loci.text.relations import Relation
from loci.text.template import BIRTHPLACE, Template
from loci.text.vocab import MASK, PAD, Vocab

__all__ = [
    "BIRTHPLACE", "MASK", "PAD", "Corpus", "Finding", "Line", "Question", "Questions", "Relation", "Template", "Vocab"
]  # fmt: skip
