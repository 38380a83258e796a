"""A parse as attention: one head a relation, α(label, word, w), and the arcs they stand for."""

from __future__ import annotations

from loci.attention_lab.conllu import read_conllu
from loci.attention_lab.exercises.result import ArcPanel, LabResult, LabSettings, matrix_panel
from loci.attention_lab.parses import ROOT, denver, parse_attention
from loci.errors import LociError

PARSE = "one head a relation carries a whole parse: α(label, word, w) = 1 where word hangs on w by label"
#: More heads, or longer sentences, are not drawn as heat maps: the arcs say it better.
MOST_HEADS, LONGEST_DRAWN = 9, 16


def parse(settings: LabSettings) -> LabResult:
    """The heads of one sentence: the exercise's, or the chosen one of a CoNLL-U file."""
    if settings.conllu is None:
        if settings.sentence != 1:
            raise LociError("the exercise has one sentence", remedy="--sentence belongs to --conllu FILE")
        sentence = denver()
    else:
        if settings.sentence < 1:
            raise LociError(f"sentences count from 1, {settings.sentence} was asked for")
        parses = read_conllu(settings.conllu, limit=settings.sentence).parses
        if len(parses) < settings.sentence:
            raise LociError(f"has {len(parses)} sentences, not {settings.sentence}", path=settings.conllu)
        sentence = parses[-1]
    rows = tuple(
        (word, "–" if head == ROOT else sentence.words[head], relation, None if head == ROOT else abs(head - place))
        for place, (word, head, relation) in enumerate(
            zip(sentence.words, sentence.heads, sentence.relations, strict=True)
        )
    )
    labels = list(dict.fromkeys(relation for _, _, relation in sentence.arcs))[:MOST_HEADS]
    if len(sentence) > LONGEST_DRAWN:
        labels = []
    behind = sum(head < word for head, word, _ in sentence.arcs)
    return LabResult(
        "parse",
        PARSE,
        (
            f"{len(sentence.arcs)} arcs under {len({relation for _, _, relation in sentence.arcs})} relations. A word "
            "without the relation looks at itself, so every row sums to 1.",
            f"A causal model can see {behind} of them as a word looking back at its head, the other "
            f"{len(sentence.arcs) - behind} only as a head looking back at its dependent.",
        ),
        ("word", "hangs on", "relation", "distance"),
        rows,
        (
            ArcPanel(sentence.text, sentence),
            *(
                matrix_panel(
                    f"α({label}, ·, ·)",
                    sentence.words,
                    sentence.words,
                    parse_attention(sentence, label),
                    "attended",
                    "attending",
                )
                for label in labels
            ),
        ),
    )
