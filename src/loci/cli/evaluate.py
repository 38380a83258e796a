"""Ask a run a file of questions, score the answers, keep them as rows.

examples:
  loci evaluate run --questions world/birth_dev.tsv
  loci evaluate run --questions birth_test_inputs.tsv --out answers.jsonl --text answers.txt
  loci evaluate --predictions theirs.tsv --questions birth_dev.tsv --json
"""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated

import tyro

from loci.errors import LociError


def evaluate(
    run: Annotated[Path | None, tyro.conf.Positional] = None,
    /,
    *,
    questions: Path,
    predictions: Path | None = None,
    out: Path | None = None,
    text: Path | None = None,
    json: bool = False,
) -> None:
    """Ask and score.

    Args:
        run: The run to ask.
        questions: The questions, with or without answers.
        predictions: Score these answers of any other system (TSV or JSONL) instead of asking a run.
        out: Where the prediction rows go (default: the run's predictions folder, under the question file's name).
        text: Also write the answers as plain text, one a line, as the course hands them in.
        json: Print JSON instead of a sentence.
    """
    from loci.files import write_text
    from loci.knowledge.metrics import exact_match
    from loci.knowledge.rows import write_predictions
    from loci.text.questions import Questions

    if (run is None) == (predictions is None):
        raise LociError("give either a run to ask or --predictions FILE to score")
    asked = Questions.read(questions)
    if predictions is not None:
        from loci.knowledge.foreign import read_foreign

        rows = read_foreign(predictions, asked)
    else:
        from loci.knowledge.answer import answer_questions
        from loci.training.checkpoint import load_model
        from loci.training.run import PREDICTIONS

        assert run is not None
        rows = answer_questions(load_model(run), asked)
        out = out or run / PREDICTIONS / f"{questions.stem}.jsonl"
    if out is not None:
        write_predictions(out, rows)
    if text is not None:
        write_text(text, "".join(" ".join(row.prediction.split("\n")) + "\n" for row in rows))
    rate = exact_match(rows)
    if json:
        result: dict[str, float | int] = {"questions": len(rows), "scored": rate.n, "correct": rate.successes}
        if rate.n:
            result |= {"accuracy": rate.value, "low": rate.low, "high": rate.high}
        print(json_format.dumps({**result, "predictions": str(out) if out else None}))
        return
    if rate.n:
        print(f"exact match: {rate.successes} of {rate.n} = {rate}")
    else:
        print(f"{len(rows)} answers; the file has no expected answers to score them by")
    if out is not None:
        print(f"rows: {out}")
