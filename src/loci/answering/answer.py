"""An answer: what a run says to one question, how sure it is, or why it is silent.

`decide` turns the answers a model thought of into one `Answer`. Knows how to say it in words, as plain data and as
HTML; knows nothing of how the answers were found.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from loci.answering.confidence import Confidence
from loci.answering.evidence import Evidence
from loci.data.prompts import I_DONT_KNOW
from loci.errors import LociError

Silence = Literal["never read about", "not told", "unsure", "unreadable"]
NEVER_READ: Silence = "never read about"
NOT_TOLD: Silence = "not told"
UNSURE: Silence = "unsure"
UNREADABLE: Silence = "unreadable"

Scored = tuple[str, float]
"""An answer's text and the model's probability of it."""


@dataclass(frozen=True)
class Alternative:
    """Another answer the model thought of."""

    text: str
    probability: float
    """The chance of being right: calibrated, if the run has a calibration."""
    raw_probability: float
    """The model's own probability."""


@dataclass(frozen=True)
class Answer:
    """What a run says to one question, how sure it is, and, if it is silent, why."""

    question: str
    """As the model was asked: with the name where a pronoun stood."""
    subject: str | None
    relation: str | None
    """What is asked about the subject, if the run knows a name for it."""
    text: str
    """The best answer, said or withheld; empty if there is none."""
    probability: float
    """The chance of being right: what the threshold is compared with."""
    raw_probability: float
    """The model's own, before any calibration file: of the whole answer, its end included, and what the run's last step
    found such a probability to be worth."""
    known: bool
    """Whether the run stands by the answer; otherwise it says "I don't know"."""
    threshold: float = 0.0
    alternatives: tuple[Alternative, ...] = ()
    silence: Silence | None = None
    """The reason for silence; None for an answer that is known."""
    declined: bool = False
    """Whether the model itself put silence above any answer, or could not read the question; a threshold does not."""
    reason_probabilities: Mapping[Silence, float] = field(default_factory=dict)
    """Each reason for silence with its probability."""
    note: str | None = None
    """Why the question could not be read."""
    did_you_mean: str | None = None
    """The name it read about that the asked one may be a misspelling of."""
    recited: str | None = None
    """What a model that recites wrote down about the subject before it answered."""
    evidence: tuple[Evidence, ...] = ()
    """Lines about the subject first, of these the ones that hold the answer first; then what a search finds."""
    in_corpus: bool | None = None
    """Whether any line is about the subject; None when there is no corpus to look into."""
    pronoun: str | None = None
    """What the question said instead of the subject's name."""

    @property
    def said(self) -> str:
        """The answer as it is given."""
        return self.text if self.known else I_DONT_KNOW

    @property
    def why(self) -> str:
        """The number behind what is said, or the reason for saying nothing, in words."""
        if self.silence == UNREADABLE:
            return self.note or UNREADABLE
        differs = share(self.probability) != share(self.raw_probability)
        sure = share(self.probability) + (f", {share(self.raw_probability)} by the model itself" if differs else "")
        if self.known:
            return sure
        assert self.silence is not None
        reason = f"{self.silence}: {share(self.reason_probabilities[self.silence])}"
        if self.did_you_mean is not None:
            return f"{reason}; did you mean {self.did_you_mean}?"
        if not self.text:
            return reason
        if self.threshold > 1:
            return f"{reason}; best guess {self.text}: {sure}; by its calibration no answer of this run is worth giving"
        below = f", below the threshold of {share(self.threshold)}" if self.probability < self.threshold else ""
        return f"{reason}; best guess {self.text}: {sure}{below}"

    @property
    def standing(self) -> str | None:
        """What the corpus has about the subject, in words; None without a corpus."""
        if self.in_corpus is None:
            return None
        if self.subject is None:
            return "no subject was found in the question"
        if self.in_corpus:
            without = self.text and self.evidence and not any(line.supports for line in self.evidence)
            return f"the corpus has lines about {self.subject}" + (", none with this answer" if without else "")
        return f"no line of the corpus is about {self.subject}" + ("; the nearest:" if self.evidence else "")

    def _where(self, found: Evidence) -> str:
        """Where a line is; and whose it is, where a search found it next to the subject's own."""
        another = self.in_corpus and found.found_by == "search" and found.subject
        return f"{found.where}, about {found.subject}" if another else found.where

    @property
    def others(self) -> str:
        """The alternatives on one line."""
        return ", ".join(f"{other.text} {share(other.probability)}" for other in self.alternatives)

    def __str__(self) -> str:
        meant = f" ({self.pronoun}: {self.subject})" if self.pronoun else ""
        lines = [f"{self.question}{meant}", f"  {self.said} ({self.why})"]
        if self.alternatives:
            lines.append(f"  or {self.others}")
        if self.recited is not None:
            lines.append(f"  it recites: {self.recited}")
        if self.standing is not None:
            lines.append(f"  {self.standing}")
        for found in self.evidence:
            marked = "".join(f"«{piece}»" if hit else piece for piece, hit in found.segments())
            lines.append(f"    {self._where(found)}: {marked}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Answer({self.question!r} → {self.said!r}: {self.why})"

    def _repr_html_(self) -> str:
        """A small card for notebooks."""
        escape = html.escape
        lines = [f"<b>{escape(self.said)}</b> <small>{escape(self.why)}</small>"]
        if self.alternatives:
            lines.append(f"<small>or {escape(self.others)}</small>")
        if self.recited is not None:
            lines.append(f"<small>it recites: <i>{escape(self.recited)}</i></small>")
        if self.standing is not None:
            lines.append(f"<small>{escape(self.standing)}</small>")
        for found in self.evidence:
            pieces = (f"<mark>{escape(text)}</mark>" if hit else escape(text) for text, hit in found.segments())
            lines.append(f"<small>{self._where(found)}: {''.join(pieces)}</small>")
        colour = "#2e7d32" if self.known else "#b26a00"
        style = f"border-left:4px solid {colour};padding:2px 0 2px 10px;margin:4px 0"
        return f'<div style="{style}">{escape(self.question)}<br>{"<br>".join(lines)}</div>'

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "question": self.question,
            "subject": self.subject,
            "relation": self.relation,
            "answer": self.said,
            "text": self.text,
            "known": self.known,
            "probability": self.probability,
            "raw_probability": self.raw_probability,
            "threshold": self.threshold if self.threshold <= 1 else None,
            "silence": self.silence,
            "reason_probabilities": dict(self.reason_probabilities),
            "note": self.note,
            "did_you_mean": self.did_you_mean,
            "alternatives": [vars(other) for other in self.alternatives],
            "pronoun": self.pronoun,
            "recited": self.recited,
            "in_corpus": self.in_corpus,
            "evidence": [line.as_dict() for line in self.evidence],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Answer:
        """The answer whose `as_dict` this is; refuses data that is none."""
        try:
            named = {key: value for key, value in data.items() if key != "answer"}
            named["threshold"] = math.inf if data["threshold"] is None else data["threshold"]
            named["alternatives"] = tuple(Alternative(**other) for other in data["alternatives"])
            named["evidence"] = tuple(Evidence.from_dict(line) for line in data["evidence"])
            return cls(**named)
        except (KeyError, TypeError, AttributeError) as error:
            raise LociError(f"this is no answer: {error}", remedy="is it a loci web server of this version?") from None


def decide(
    question: str,
    ranked: Sequence[Scored],
    confidence: Confidence,
    *,
    silences: Mapping[str, Silence],
    n: int = 1,
    subject: str | None = None,
    relation: str | None = None,
    recited: str | None = None,
    right: Mapping[str, float] = MappingProxyType({}),
    familiar: float | None = None,
    not_told: float | None = None,
) -> Answer:
    """One answer from the texts a model thought of, likeliest first; `silences` says which of them mean silence.

    The answer is known if it is likelier than silence and its confidence reaches the threshold. Of the reasons for
    silence the likeliest is given; what neither the answer nor a spoken silence has of the probability is "unsure".

    A model that has learned whom it never read about says how `familiar` the subject is. Below the confidence's
    familiarity it is silent, whatever the answer; above it that no longer counts, and the answer's probability is the
    chance `right` that what is remembered is right. `not_told` is the probability that there was nothing to read.
    What a model has learned to tell has a probability even where that is 0.
    """
    gate = confidence.familiarity.gate if confidence.familiarity is not None else 0.0
    weight = familiar if familiar is not None and familiar < gate else 1.0
    strange = weight < gate
    declined = strange or ranked[0][0] in silences
    learned: dict[Silence, float | None] = {
        NEVER_READ: None if familiar is None else 1.0 - familiar,
        NOT_TOLD: not_told,
    }
    reasons = {one: p for one, p in learned.items() if p is not None}
    for told, p in ((silences.get(said, UNSURE), p) for said, p in ranked):
        if told != UNSURE and p:
            reasons[told] = min(1.0, reasons.get(told, 0.0) + p)  # two signs of one reason may overlap
    if strange:  # what it would know of somebody it read about counts as little as that
        reasons = {one: p if one == NEVER_READ else weight * p for one, p in reasons.items()}
    left = max(0.0, 1.0 - sum(reasons.values())) if declined else 1.0  # silence is likelier than any answer
    real = [(text, min(left, weight * right.get(text, p))) for text, p in ranked if text not in silences] or [("", 0.0)]
    sure = confidence.apply([p for _, p in real[:n]])
    (text, raw), probability = real[0], sure[0]
    room = 1.0 - probability
    if reasons.get(NOT_TOLD, 0.0) > room:  # answer and silence are fitted apart
        reasons[NOT_TOLD] = room
    reasons[UNSURE] = max(0.0, room - sum(reasons.values()))
    # Of equals the last: where all are 0, a threshold alone withholds the answer.
    reason = NEVER_READ if strange else max(reversed(reasons), key=lambda one: reasons[one])
    known = bool(text) and not declined and probability >= confidence.threshold
    return Answer(
        question=question,
        subject=subject,
        relation=relation,
        text=text,
        probability=probability,
        raw_probability=raw,
        known=known,
        threshold=confidence.threshold,
        alternatives=tuple(Alternative(t, c, p) for (t, p), c in zip(real[1:n], sure[1:], strict=True)),
        silence=None if known else reason,
        declined=declined,
        reason_probabilities=reasons,
        recited=recited,
    )


def unreadable(question: str, note: str, *, subject: str | None = None, relation: str | None = None) -> Answer:
    """The silence about a question that the model cannot read, with the reason."""
    return Answer(question, subject, relation, "", 0.0, 0.0, False, silence=UNREADABLE, declined=True, note=note)


def share(p: float) -> str:
    """A probability for people."""
    return "< 1 %" if 0 < p < 0.01 else "> 99 %" if 0.99 < p < 1 else f"{100 * p:.0f} %"
