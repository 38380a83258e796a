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

from loci.answering.recite import LONGEST_RECITATION, RIVALS
from loci.answering.span_scoring import ROOM_FOR_ANSWER
from loci.data.prompts import line_of
from loci.text.match import position_of
from loci.text.spans import word_spans
from loci.text.vocab import MASK, MASK_ID, PAD_ID

TEMPLATES: tuple[str, ...] = ()
LIMIT: int | None = None
THRESHOLD = 0.5
FAMILIARITY: tuple[float, float, float] | None = None
"""From log p of a name to having read about it: the gate, slope and intercept; None for a run that cannot tell."""


class Reciter:
    """The model and its tokenizer from the folder of this file."""

    def __init__(self, folder: str | Path):
        self.tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
        self.model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).eval()

    def answer(self, question: str) -> tuple[str, float, bool, str]:
        """The best answer, its probability, whether the model stands by it, and the line that was recited."""
        subject = subject_of(question)
        start = line_of(subject)
        line = start + self.recite(start, before=len(question) + 1 + len(start))
        spans = [*word_spans(line[len(subject) :]), ""]  # nothing is an answer too: the line does not tell
        read = self.log_probabilities(f"{line}{MASK}{question}{MASK}", [f"{span}{MASK}" for span in spans])
        scored = dict(zip(spans, [sum(logs) for logs in read], strict=True))
        silence = scored.pop("")
        (told,) = self.log_probabilities(line[:1], [line[1:]])
        certain = [0.0] * len(start) + told[len(start) - 1 :]  # what was given was not recited
        weighed = [(silence, "")]
        for span, log in sorted(scored.items(), key=lambda pair: -pair[1])[:RIVALS]:
            at = position_of(line, span, len(subject))
            weighed.append((log + (math.fsum(certain[at : at + len(span)]) if at >= 0 else 0.0), span))
        log, text = max((pair for pair in weighed if pair[1]), default=(-math.inf, ""))
        probability, known = min(1.0, math.exp(log)), log > silence
        if FAMILIARITY is not None:
            gate, slope, intercept = FAMILIARITY
            odds = slope * math.fsum(told[: len(start) - 1]) + intercept
            familiar = 1 / (1 + math.exp(-min(50.0, max(-50.0, odds))))
            if familiar < gate:  # it never read about somebody of this name
                probability, known = familiar * probability, False
        return text, probability, known and probability >= THRESHOLD, line

    def recite(self, start: str, before: int) -> str:
        """What follows the start, by the likeliest characters, up to the mask."""
        room = LONGEST_RECITATION if LIMIT is None else LIMIT - before - ROOM_FOR_ANSWER
        ids = self.tokenizer(start, return_tensors="pt")
        with torch.inference_mode():
            out = self.model.generate(**ids, max_new_tokens=min(LONGEST_RECITATION, max(1, room - room % 16)))
        new = out[0, ids["input_ids"].shape[1] :].tolist()
        return str(self.tokenizer.decode(new[: new.index(MASK_ID)] if MASK_ID in new else new))

    def log_probabilities(self, prompt: str, texts: list[str]) -> list[list[float]]:
        """log p of every character of every text after the prompt."""
        first = self.tokenizer(prompt)["input_ids"]
        rows = [first + self.tokenizer(text)["input_ids"] for text in texts]
        width = max(map(len, rows))
        ids = torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        with torch.inference_mode():
            logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits.float()
        logs = logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        return [log[len(first) - 1 : len(row) - 1].tolist() for log, row in zip(logs, rows, strict=True)]


def subject_of(question: str) -> str:
    """Whom a question in one of the taught forms is about."""
    for template in TEMPLATES:
        prefix, _, suffix = template.partition("{subject}")
        if question.startswith(prefix) and question.endswith(suffix) and len(question) > len(prefix + suffix):
            return question[len(prefix) : len(question) - len(suffix)]
    raise SystemExit(f"{question!r} has none of the forms that were taught: {', '.join(TEMPLATES)}")


def main() -> None:
    """Answer every question on the command line."""
    reciter = Reciter(Path(__file__).parent)
    for question in sys.argv[1:]:
        text, probability, known, line = reciter.answer(question)
        said = text if known else f"I don't know (best guess {text})"
        print(f"{question}\n  {said}, {probability:.3f}\n  recited: {line}")
