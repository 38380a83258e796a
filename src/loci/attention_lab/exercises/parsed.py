"""A parse as attention: one head per relation, α(label, word, w), and the arcs they represent."""

from __future__ import annotations

from loci.attention_lab.exercises.result import ArcPanel, Exercise, LabResult, LabSettings, MatrixPanel
from loci.attention_lab.parses import ROOT, Parse, denver, parse_attention, read_conllu
from loci.errors import LociError

#: More heads, or longer sentences, are not drawn as heat maps: the arcs say it better.
MOST_HEADS, LONGEST_DRAWN = 9, 16
AXES = ("attended", "attending")


def parse(settings: LabSettings) -> LabResult:
    """The heads of one sentence: the exercise's, or the chosen one of a CoNLL-U file."""
    sentence = _sentence(settings)
    words = sentence.words
    rows = tuple(
        (word, "–" if head == ROOT else words[head], relation, None if head == ROOT else abs(head - position))
        for position, (word, head, relation) in enumerate(zip(words, sentence.heads, sentence.relations, strict=True))
    )
    relations = list(dict.fromkeys(relation for _, _, relation in sentence.arcs))
    drawn = relations[:MOST_HEADS] if len(sentence) <= LONGEST_DRAWN else []
    back = sum(head < word for head, word, _ in sentence.arcs)
    return LabResult(
        (
            f"{len(sentence.arcs)} arcs under {len(relations)} relations. A word without the relation looks at itself, "
            "so every row sums to 1.",
            f"A causal model can see {back} of them as a word looking back at its head, the other "
            f"{len(sentence.arcs) - back} only as a head looking back at its dependent.",
        ),
        ("word", "head", "relation", "distance"),
        rows,
        (
            ArcPanel(sentence.text, sentence),
            *(
                MatrixPanel(f"α({label}, ·, ·)", words, words, parse_attention(sentence, label), *AXES)
                for label in drawn
            ),
        ),
    )


def _sentence(settings: LabSettings) -> Parse:
    if settings.conllu is None:
        if settings.sentence != 1:
            raise LociError("the exercise has one sentence", remedy="--sentence belongs to --conllu FILE")
        return denver()
    if settings.sentence < 1:
        raise LociError(f"sentences count from 1, {settings.sentence} was asked for")
    parses = read_conllu(settings.conllu, limit=settings.sentence).parses
    if len(parses) < settings.sentence:
        raise LociError(f"has {len(parses)} sentences, not {settings.sentence}", path=settings.conllu)
    return parses[-1]


PARSE = Exercise(
    "one head per relation carries a whole parse: α(label, word, w) = 1 where w is the head of word by label",
    "Write a dependency parse as attention: give every relation a head of its own, and its weights. Which of the arcs "
    "can a causal model see at all?",
    {
        r"\ell": "the label of a relation, such as nsubj or det",
        r"t, w": "words of the sentence",
        r"\alpha(\ell, t, w)": "how much word t attends to word w in the head of relation ℓ",
    },
    {
        "A word attends to its head by this relation, or else to itself.": r"\alpha(\ell, t, w) = \begin{cases} 1 & "
        r"w \text{ is the head of } t \text{ by } \ell \\ 1 & w = t \text{ and } t \text{ has no head by } \ell \\ 0 & "
        r"\text{otherwise} \end{cases}"
    },
    parse,
)
