"""A run as a model of lm-evaluation-harness, answered by the run's own answerer.

    import loci.interop.lm_eval_model  # registers it
    lm_eval.simple_evaluate(model="loci", model_args="run=RUN", tasks=["loci_questions"], task_manager=…)

`generate_until` answers a question as `loci evaluate` does, so both give one figure: an answer that the model itself
declines is an empty text. Log-likelihoods are those of an answer behind the question and its mask. Imported by nothing
in Loci: it needs the extra `eval`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

from loci.answering.answerer import make_answerer
from loci.data.prompts import question_prompt
from loci.generation import score_candidates
from loci.generation.likelihood import nats_per_character
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID
from loci.training.checkpoint import load_model


@register_model("loci")
class LociLM(LM):  # type: ignore[misc]
    """Answers, scores of answers, and the likelihood of texts."""

    def __init__(self, run: str, **ignored: Any):
        super().__init__()
        self.loaded = load_model(run)

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        """The answer to the last line of each context: the question."""
        asked = [(request.args[0].strip().splitlines() or [""])[-1] for request in requests]
        answers = make_answerer(self.loaded).answer(Questions.from_pairs([(question, None) for question in asked]))
        return ["" if answer.declined else answer.text for answer in answers]

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """log p of each continuation as a whole answer; it is greedy where the run's best answer is the same."""
        best = self.generate_until(requests)
        found = []
        for request, said in zip(requests, best, strict=True):
            question, continuation = (text.strip() for text in request.args[:2])
            prompt, ids = question_prompt(self.loaded.vocab, question), self.loaded.vocab.encode(continuation)
            score = score_candidates(self.loaded.model, [prompt], [ids.tolist()], stop_id=MASK_ID)[0]
            found.append((float(score[0]), said == continuation))
        return found

    def loglikelihood_rolling(self, requests: Sequence[Any]) -> list[float]:
        """log p of each text, read in windows of the length the model was trained on."""
        texts = [self.loaded.vocab.encode(request.args[0]) for request in requests]
        width = self.loaded.model.config.block_size
        return [
            -nats_per_character(self.loaded.model, ids, width=min(width, len(ids) - 1)) * (len(ids) - 1)
            for ids in texts
        ]
