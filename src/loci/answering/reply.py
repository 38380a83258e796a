"""What a run says to one question: the answer, how sure it is, its rivals, and what the corpus has about it.

Knows how to say it in words and as plain data; knows nothing of how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loci.answering.evidence import Evidence
from loci.answering.n_best import I_DONT_KNOW


@dataclass(frozen=True)
class Alternative:
    """Another answer the model thought of."""

    text: str
    probability: float
    calibrated_probability: float | None = None


@dataclass(frozen=True)
class Answer:
    """What a run says to one question, how sure it is, and what was written about it."""

    question: str
    """As the model was asked: with the name where a pronoun stood."""
    text: str
    """The likeliest answer, said or withheld."""
    known: bool
    """Whether the run stands by it; otherwise it says "I don't know"."""
    probability: float
    """Of the whole answer, its end included, as the model has it."""
    calibrated_probability: float | None
    """The chance of being right, if the run has a calibration."""
    alternatives: tuple[Alternative, ...]
    evidence: tuple[Evidence, ...]
    """Lines about the subject first, of these the ones that hold the answer first; then what a search finds."""
    subject: str | None
    in_corpus: bool | None
    """Whether any line is about the subject; None when there is no corpus to look into."""
    threshold: float
    pronoun: str | None = None
    """What the question said instead of the subject's name."""
    recital: str | None = None
    """What a model that recites remembered of the subject before it answered."""

    @property
    def confidence(self) -> float:
        """The probability that decides: the calibrated one, if there is one."""
        return self.probability if self.calibrated_probability is None else self.calibrated_probability

    @property
    def said(self) -> str:
        """The answer as it is given."""
        return self.text if self.known else I_DONT_KNOW

    @property
    def why(self) -> str:
        """The number behind what is said, in words."""
        differs = share(self.confidence) != share(self.probability)
        own = f", {share(self.probability)} by the model itself" if differs else ""
        if self.known:
            return f"{share(self.confidence)}{own}"
        if self.text == I_DONT_KNOW:
            return f"{share(self.probability)}: it was taught to say so"
        guess = f"would have said {self.text or 'nothing at all'}: {share(self.confidence)}{own}"
        if self.threshold > 1:
            return f"{guess}; by its calibration no answer of this run pays"
        return f"{guess}, below the threshold of {share(self.threshold)}" if self.text else guess

    @property
    def standing(self) -> str | None:
        """Whether the corpus knows the subject, in words; None without a corpus."""
        if self.in_corpus is None:
            return None
        if self.subject is None:
            return "the question names nobody whom a line of the corpus is about"
        if self.in_corpus:
            none = self.evidence and self.text != I_DONT_KNOW and not any(line.supports for line in self.evidence)
            return f"the corpus has lines about {self.subject}" + (", none of them with this answer" if none else "")
        return f"no line of the corpus is about {self.subject}" + ("; the nearest:" if self.evidence else "")

    def others(self, calibrated: bool = True) -> str:
        """The alternatives on one line."""
        parts = []
        for other in self.alternatives:
            given = other.calibrated_probability if calibrated else None
            p = other.probability if given is None else given
            parts.append(f"{other.text or '(nothing)'} {share(p)}")
        return ", ".join(parts)

    def __str__(self) -> str:
        meant = f" ({self.pronoun}: {self.subject})" if self.pronoun else ""
        lines = [f"{self.question}{meant}", f"  {self.said} ({self.why})"]
        if self.alternatives:
            lines.append(f"  or {self.others()}")
        if self.recital is not None:
            lines.append(f"  it remembers: {self.recital}")
        if self.standing is not None:
            lines.append(f"  {self.standing}")
        for found in self.evidence:
            marked = "".join(f"«{piece}»" if hit else piece for piece, hit in found.segments())
            lines.append(f"    {found.number}: {marked}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "question": self.question,
            "answer": self.said,
            "text": self.text,
            "known": self.known,
            "probability": self.probability,
            "calibrated_probability": self.calibrated_probability,
            "threshold": self.threshold if self.threshold <= 1 else None,
            "alternatives": [vars(other) for other in self.alternatives],
            "subject": self.subject,
            "pronoun": self.pronoun,
            "in_corpus": self.in_corpus,
            "recital": self.recital,
            "evidence": [line.as_dict() for line in self.evidence],
        }


def share(p: float) -> str:
    """A probability for people."""
    return "< 1 %" if 0 < p < 0.01 else "> 99 %" if 0.99 < p < 1 else f"{100 * p:.0f} %"
