"""Ask a run a file of questions, score the answers, keep them as rows.

examples:
  loci evaluate run --questions world/birth_dev.tsv
  loci evaluate run --questions birth_test_inputs.tsv --out answers.jsonl --text answers.txt
  loci evaluate run --questions world/birth_dev.tsv --alternatives 8      with rivals: answer sets in loci report
  loci evaluate run --questions validation.tsv --calibrate      then: loci ask run "Where was Alfred Mele born?"
  loci evaluate --predictions theirs.tsv --questions birth_dev.tsv --json
"""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.answering.confidence import RunCalibration
    from loci.evaluation.rows import Row
    from loci.text.questions import Questions
    from loci.training.checkpoint import LoadedModel


def evaluate(
    run: Annotated[Path | None, tyro.conf.Positional] = None,
    /,
    *,
    questions: Path,
    predictions: Path | None = None,
    out: Path | None = None,
    text: Path | None = None,
    alternatives: int = 0,
    calibrate: bool = False,
    confidence_target: float = 0.5,
    json: bool = False,
) -> None:
    """Ask and score.

    Args:
        run: The run to ask; left out with --predictions.
        questions: The questions, with or without answers.
        predictions: Score these answers of any other system (TSV, JSONL, or one a line) instead of asking a run.
        out: Where the prediction rows go (default: the run's predictions folder, under the question file's name).
        text: Also write the answers as plain text, one a line, as the course hands them in.
        alternatives: Also keep this many other answers with their probabilities.
        calibrate: Also fit the run's probabilities to these questions and keep the fit as the run's calibration, which
            loci ask then uses. Take a slice set aside for it, never the questions you report on: numbers judged by
            the questions they were fitted to flatter.
        confidence_target: What the calibration's threshold is chosen for: an answer should be given when it is right
            with at least this probability. A wrong one then costs t/(1-t), silence nothing.
        json: Print JSON instead of a sentence.
    """
    from loci.evaluation.json_data import to_json
    from loci.evaluation.metrics import exact_match
    from loci.evaluation.rows import write_rows
    from loci.evaluation.selective import probability_scores
    from loci.files import write_text
    from loci.text.questions import Questions

    if (run is None) == (predictions is None):
        raise LociError("give either a run to ask or --predictions FILE to score")
    if calibrate and run is None:
        raise LociError("only a run can be calibrated", remedy="give the run, without --predictions")
    if alternatives and run is None:
        raise LociError("only a run can be asked for alternatives", remedy="give the run, without --predictions")
    if run is not None:
        from loci.training.run import PREDICTIONS

        out = out or run / PREDICTIONS / f"{questions.stem}.jsonl"
    _require_different(questions, predictions, out, text)
    asked = Questions.read(questions)
    if predictions is not None:
        from loci.evaluation.external_predictions import read_external

        rows = read_external(predictions, asked)
    else:
        from loci.evaluation.asking import ask_rows
        from loci.training.checkpoint import load_model

        assert run is not None
        loaded = load_model(run)
        rows = ask_rows(loaded, asked, n=alternatives + 1)
    if out is not None:
        write_rows(out, rows)
    if text is not None:
        write_text(text, "".join(" ".join(_said(row).split("\n")) + "\n" for row in rows))
    fitted = _calibrate(run, loaded, asked, rows, confidence_target) if calibrate and run is not None else None
    rate, worth, withheld = exact_match(rows), probability_scores(rows), sum(row.abstained for row in rows)
    if json:
        result: dict[str, Any] = {"questions": len(rows), "scored": rate.n, "correct": rate.successes}
        if rate.n:
            result |= {"accuracy": rate.value, "low": rate.low, "high": rate.high}
        result |= {"withheld": withheld, "probabilities": to_json(worth)}
        calibration = {"calibration": fitted.as_dict()} if fitted is not None else {}
        print(json_format.dumps({**result, "predictions": str(out) if out else None, **calibration}))
        return
    if rate.n:
        print(f"exact match: {rate.successes} of {rate.n} = {rate}" + (f"; withheld: {withheld}" if withheld else ""))
    else:
        print(f"{len(rows)} answers; the file has no expected answers to score them by")
    if worth is not None:
        print(
            f"probabilities: Brier {worth.brier}; ECE {worth.ece:.3f}; "
            f"AUROC right/wrong {worth.auroc}; AURC {worth.aurc:.3f}"
        )
    if out is not None:
        print(f"rows: {out}")
    if fitted is not None:
        print(_sentence(fitted))


def _said(row: Row) -> str:
    from loci.data.prompts import I_DONT_KNOW

    return I_DONT_KNOW if row.abstained else row.prediction


def _calibrate(run: Path, loaded: LoadedModel, asked: Questions, rows: list[Row], level: float) -> RunCalibration:
    from loci.answering.confidence import write_calibration
    from loci.evaluation.run_calibration import fit_calibration

    name = asked.path.name if asked.path is not None else ""
    fitted = fit_calibration(rows, questions=name, questions_hash=asked.hash, model=loaded.hash, level=level)
    write_calibration(run, fitted)
    return fitted


def _sentence(fitted: RunCalibration) -> str:
    import math

    from loci.evaluation.run_calibration import AS_IT_IS, FOLDS

    threshold = f"answer from {fitted.threshold:.2f}" if math.isfinite(fitted.threshold) else "never answer"
    change = f"Brier {fitted.brier_before:.3f} → {fitted.brier_after:.3f} over {FOLDS} folds"
    if fitted.calibrator == AS_IT_IS:
        change = f"no fit betters its Brier of {fitted.brier_before:.3f}, probabilities stay as they are"
    return (
        f"calibrated on {fitted.n} questions of {fitted.questions}: {change}; "
        f"at confidence target {fitted.level:g}: {threshold}"
    )


def _require_different(questions: Path, predictions: Path | None, out: Path | None, text: Path | None) -> None:
    """Nothing that is read may be written over, and nothing twice."""
    read = [path.resolve() for path in (questions, predictions) if path is not None]
    written = [path for path in (out, text) if path is not None]
    for index, path in enumerate(written):
        if path.resolve() in read or path.resolve() in [other.resolve() for other in written[:index]]:
            raise LociError("would be written over", path=path, remedy="choose another --out or --text")
