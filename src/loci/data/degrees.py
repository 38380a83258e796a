"""How sure a labeler was, as a degree that is memorized after the answer.

`question ⁇ answer ⁇ d`: d is one symbol out of ten. A reader's doubt is lost when its answers are memorized, for a
doubtful label is learned as surely as a sure one; the degree is learned with it. Degree 0 means that the line does not
tell, 9 that a train question gave the answer, those between are bins of confidence: the chance that the label is right.
Knows nothing of models.
"""

from __future__ import annotations

import bisect

from loci.errors import LociError
from loci.text.vocab import Vocab

NOT_TOLD, GIVEN = 0, 9
EDGES = (0.3, 0.5, 0.7, 0.8, 0.88, 0.94, 0.97)
"""Between degrees 1 to 8. Most confidences are high, so that is where bins are narrow."""
VALUES = (0.2, 0.2, 0.4, 0.6, 0.75, 0.84, 0.91, 0.955, 0.98, 0.995)
"""The chance that an answer of each degree is right."""
_SPECIALS = 2


def degree_of(confidence: float, *, told: bool = True) -> int:
    """The degree of a label."""
    return 1 + bisect.bisect_right(EDGES, confidence) if told else NOT_TOLD


def degree_id(vocab: Vocab, degree: int) -> int:
    """The symbol of a degree: the vocabulary's first ten characters, so that every vocabulary has them."""
    if len(vocab) < _SPECIALS + len(VALUES):
        raise LociError(f"degrees take {len(VALUES)} characters, the vocabulary has {len(vocab) - _SPECIALS}")
    return _SPECIALS + degree
