"""A reciting model asked with the transformers library alone: it writes the subject's line down, then reads it.

`loci export --to hf` cuts this into `answer.py` next to the model, with the run's own question forms. It gives the text
and the probability that Loci's own answerer gives; only a calibration of the run is not carried over. Nothing here is
imported by Loci itself.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from loci.answering.confidence import EDGE
from loci.answering.recite import LINES, LONGEST_RECITATION, RIVALS, SURE
from loci.answering.span_scoring import ROOM_FOR_ANSWER
from loci.data.prompts import line_of
from loci.text.spans import word_spans
from loci.text.vocab import MASK, MASK_ID, PAD_ID

FORMS: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
"""Each form of a question, how many words an answer to it has at most, and what may stand between them."""
LIMIT: int | None = None
PART = 64
THRESHOLD = 0.5
FAMILIARITY: tuple[float, float, float, float | None] | None = None
"""From log p of a name to having read about it: the gate, slope, intercept, and the most that the letters count; None
for a run that cannot tell."""
RECALLED: tuple[float, float] | None = None
"""From the log-odds of an answer to those it is worth: slope and intercept; None leaves them as they are."""


class Reciter:
    """The model and its tokenizer from the folder of this file."""

    def __init__(self, folder: str | Path):
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        self.model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()

    def answer(self, question: str) -> tuple[str, float, bool, str]:
        """The best answer, its probability, whether the model stands by it, and the line that was recited."""
        subject, longest, joiners = understood(question)
        start = line_of(subject)
        (told,) = self.log_probabilities(start[:1], [start[1:]])
        familiar, strange = 1.0, False
        if FAMILIARITY is not None:
            gate, slope, intercept, most = FAMILIARITY
            letters, ending = math.fsum(told[: len(subject) - 1]), math.fsum(told[len(subject) - 1 :])
            odds = slope * ((letters if most is None else min(letters, most)) + ending) + intercept
            familiar = 1 / (1 + math.exp(-min(50.0, max(-50.0, odds))))
            strange = familiar < gate  # it never read about somebody of this name
        weights: dict[str, float] = {}
        read: list[tuple[str, dict[str, float]]] = []
        for line, share in self.recite(start, before=len(question) + 1 + len(start), several=not strange):
            spans = word_spans(line[len(subject) :], longest, joiners)
            room = math.inf if LIMIT is None else LIMIT - len(line) - len(question) - 3
            spans = [span for span in spans if len(span) <= room]
            spans.append("")  # nothing is an answer too: the line does not tell
            logs = self.log_probabilities(f"{line}{MASK}{question}{MASK}", [f"{span}{MASK}" for span in spans])
            scored = sorted(zip(map(math.fsum, logs), spans, strict=True), key=lambda pair: -pair[0])
            kept = [pair for position, pair in enumerate(scored) if position < RIVALS or not pair[1]]
            read.append((line, {span: share * math.exp(log) for log, span in kept}))
            for span, p in read[-1][1].items():
                weights[span] = weights.get(span, 0.0) + p
        silence = weights.pop("")
        text = max(weights, key=lambda span: weights[span], default="")
        shown, _ = max(read, key=lambda pair: pair[1].get(text, 0.0))
        p = min(1.0, weights.get(text, 0.0))
        known = p > silence and not strange
        if RECALLED is not None and text:
            slope, intercept = RECALLED
            within = min(max(p, EDGE), 1 - EDGE)
            odds = slope * (math.log(within) - math.log1p(-within)) + intercept
            p = 1 / (1 + math.exp(-min(50.0, max(-50.0, odds))))
        if strange:
            p = familiar * min(p, 1 - silence)
        elif not known:  # silence is likelier than any answer, which has what that leaves
            p = min(p, max(0.0, familiar - silence))
        return text, p, known and p >= THRESHOLD, shown

    def recite(self, start: str, before: int, several: bool) -> list[tuple[str, float]]:
        """The line that the start calls up, or the likeliest few where it is not sure, each with its share."""
        room = LONGEST_RECITATION if LIMIT is None else LIMIT - before - ROOM_FOR_ANSWER
        most = min(LONGEST_RECITATION, max(1, room - room % 16))
        lines = self.continued(start, most)
        if several and lines[0][1] < SURE:
            lines = self.continued(start, most, num_beams=LINES, num_return_sequences=LINES)
        best = max(log for _, log in lines)
        weights = [math.exp(log - best) for _, log in lines]
        return [(line, weight / sum(weights)) for (line, _), weight in zip(lines, weights, strict=True)]

    def continued(self, start: str, most: int, **beams: int) -> list[tuple[str, float]]:
        """The start with what follows it up to the mask, and log p of that."""
        ids = self.tokenizer(start, return_tensors="pt")
        # No penalty for length: a line's own probability counts.
        options = {"length_penalty": 0.0, "early_stopping": "never", **beams} if beams else {}
        with torch.inference_mode():
            out = self.model.generate(**ids, max_new_tokens=most, **options)
        found = []
        for row in out[:, ids["input_ids"].shape[1] :].tolist():
            ended = MASK_ID in row
            line = str(self.tokenizer.decode(row[: row.index(MASK_ID)] if ended else row))
            (logs,) = self.log_probabilities(start, [line + MASK if ended else line])
            found.append((start + line, math.fsum(logs)))
        return found

    def log_probabilities(self, prompt: str, texts: list[str]) -> list[list[float]]:
        """log p of every character of every text after the prompt, some texts at a time."""
        if len(texts) > PART:
            return [
                logs
                for at in range(0, len(texts), PART)
                for logs in self.log_probabilities(prompt, texts[at : at + PART])
            ]
        first = self.tokenizer(prompt)["input_ids"]
        rows = [first + self.tokenizer(text)["input_ids"] for text in texts]
        width = max(map(len, rows))
        ids = torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        with torch.inference_mode():
            logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits.float()
        logs = logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        return [log[len(first) - 1 : len(row) - 1].tolist() for log, row in zip(logs, rows, strict=True)]


def understood(question: str) -> tuple[str, int, tuple[str, ...]]:
    """Whom a question in one of the taught forms is about, and the words and joiners of its answers."""
    for template, longest, joiners in FORMS:
        prefix, _, suffix = template.partition("{subject}")
        subject = question[len(prefix) : len(question) - len(suffix)]
        if question == prefix + subject + suffix and subject and subject == subject.strip():
            return subject, longest, joiners
    taught = ", ".join(template for template, _, _ in FORMS)
    raise SystemExit(f"{question!r} has none of the forms that were taught: {taught}")


def main() -> None:
    """Answer every question on the command line."""
    reciter = Reciter(Path(__file__).parent)
    for question in sys.argv[1:]:
        text, probability, known, line = reciter.answer(question)
        said = text if known else f"I don't know (best guess {text})"
        print(f"{question}\n  {said}, {probability:.3f}\n  recited: {line}")
