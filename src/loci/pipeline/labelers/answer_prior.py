"""AnswerPrior: how often a word that stands in a line is its answer, as the train questions have it.

A reader that was taught with swapped names goes by the sentence alone. In "born in Lincoln, England" it finds two
places, and cannot know which the questions would call the answer. The train questions say it of many words: of the
lines that hold one, the share in which it is the answer. They also say how seldom a part of a longer name is one: in
"born in Nowy Targ, Poland" it is not Nowy. And they say how answers look: a year is no town, and who designed a chair
has more than one name. Knows nothing of models or relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.spans import fragments, shape, word_spans

Length = tuple[str, int]
"""A span's shape and how many words it has."""


@dataclass(frozen=True)
class AnswerPrior:
    """For every word span the smoothed share of the lines it stands in of which it is the answer."""

    shares: Mapping[str, float]
    unmet: float
    """The share of a span no train line holds: that of all spans together."""
    fragment: float = 1.0
    """What a span keeps of its share where it stands only inside longer names."""
    shapes: Mapping[str, float] = field(default_factory=dict)
    """What a span keeps of its share by its shape: all of it where most answers look like it."""
    lengths: Mapping[Length, float] = field(default_factory=dict)
    """What a span of that shape and so many words keeps: little where such spans are common and answers seldom so."""

    def of(self, span: str, *, fragment: bool = False) -> float:
        """How likely the span is an answer where it stands, by the train questions alone."""
        looks = self.shapes.get(shape(span), self.shapes.get("", 1.0)) * self.lengths.get(_length(span), 1.0)
        return self.shares.get(span, self.unmet) * looks * (self.fragment if fragment else 1.0)

    def without_shares(self) -> AnswerPrior:
        """The same for few questions: they cannot tell which words are answers, but how answers look."""
        return replace(self, shares={}, unmet=1.0)


def _length(span: str) -> Length:
    return shape(span), len(span.split())


def _lengths(offered: Counter[Length], meant: Counter[Length]) -> dict[Length, float]:
    """How much less often than other spans of its shape a span of so many words is meant, with one more of each.

    Where no span of that shape is ever meant, the shape says it already.
    """
    all_offered, all_meant = Counter[str](), Counter[str]()
    for (kind, n), times in offered.items():
        all_offered[kind] += times
        all_meant[kind] += meant[kind, n]
    return {
        (kind, n): min(1.0, (meant[kind, n] + 1) / (times * all_meant[kind] / all_offered[kind] + 1))
        for (kind, n), times in offered.items()
    }


def answer_prior(corpus: Corpus, questions: Questions, *, longest: int, joiners: Collection[str] = ()) -> AnswerPrior:
    """The answer prior of answered questions about subjects of the corpus, for spans of at most `longest` words.

    Each share is that of the span's own lines and one more, in which spans are answers as often as they are on average:
    a word met once is hardly judged, one met a hundred times is.
    """
    met: Counter[str] = Counter()
    meant: Counter[str] = Counter()
    parts, parts_meant, names, names_meant = 0, 0, 0, 0
    offered, of_length = Counter[Length](), Counter[Length]()
    for question in questions.answered:
        lines = corpus.about(question.subject) if question.subject is not None else ()
        spans = {span for line in lines for span in word_spans(line.body, longest, joiners)}
        met.update(spans)
        answers = spans.intersection(question.answers)
        meant.update(answers)
        inside = {span for line in lines for span in fragments(line.body, longest)}
        offered.update(map(_length, spans - inside))
        of_length.update(map(_length, answers - inside))
        whole = {span for span in spans if span[0].isupper()} - inside
        parts, parts_meant = parts + len(inside), parts_meant + len(answers & inside)
        names, names_meant = names + len(whole), names_meant + len(answers & whole)
    average = meant.total() / met.total() if met else 1.0
    shares = {span: (meant[span] + average) / (times + 1) for span, times in met.items()}
    of_names = (names_meant + average) / (names + 1)
    fragment = (parts_meant / of_names + 1) / (parts + 1) if of_names else 1.0
    looks = Counter(shape(answer) for question in questions.answered for answer in question.answers)
    most = max(looks.values(), default=0)
    shapes = {"": 1 / (most + 1), **{name: (n + 1) / (most + 1) for name, n in looks.items()}}
    return AnswerPrior(shares, average, min(1.0, fragment), shapes, _lengths(offered, of_length))
