"""Ask a run a file of questions, score the answers, keep them as rows.

examples:
  loci evaluate run --questions world/birth_dev.tsv
  loci evaluate run --questions products         the folder's dev files together, with a row for each relation
  loci evaluate run --questions birth_test_inputs.tsv --out answers.jsonl --text answers.txt
  loci evaluate run --questions world/birth_dev.tsv --alternatives 8      with rivals: answer sets in loci report
  loci evaluate run --questions validation.tsv --calibrate      then: loci ask run "Where was Alfred Mele born?"
  torchrun --nproc_per_node 8 -m loci evaluate run --questions many.tsv      spread over processes; goes on when stopped
  loci evaluate reciting --questions study_dev.tsv --answerer zero-shot     what no train question asked
  loci evaluate --predictions theirs.tsv --questions birth_dev.tsv --json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loci.errors import LociError

if TYPE_CHECKING:
    from loci.answering.confidence import RunCalibration
    from loci.api import Evaluation
    from loci.evaluation.rows import Row
    from loci.text.questions import Questions
    from loci.training.checkpoint import LoadedModel


def evaluate(
    run: Path | None = None,
    /,
    *,
    questions: Path,
    predictions: Path | None = None,
    out: Path | None = None,
    text: Path | None = None,
    alternatives: int = 0,
    answerer: str | None = None,
    calibrate: bool = False,
    confidence_target: float = 0.5,
    json: bool = False,
) -> None:
    """Ask and score.

    Args:
        run: The run to ask; left out with --predictions.
        questions: The questions, with or without answers: a file, or a folder, of which the dev files are read
            together.
        predictions: Score these answers of any other system (TSV, JSONL, or one a line) instead of asking a run.
        out: Where the prediction rows go (default: the run's predictions folder, under the question file's name; with
            a hash of the questions where that name holds other questions).
        text: Also write the answers as plain text, one a line, as the course hands them in.
        alternatives: Also keep this many other answers with their probabilities.
        answerer: Ask in this way, not the run's own: direct, greedy, memory, recite, zero-shot, or a plugin's. Its rows
            get a folder of their own, which no report reads; the run's threshold was not made for it.
        calibrate: Also fit the run's probabilities to these questions and keep the fit as the run's calibration, which
            loci ask then uses. Take a slice set aside for it, never the questions you report on: numbers judged by
            the questions they were fitted to flatter.
        confidence_target: What the calibration's threshold is chosen for: an answer should be given when it is right
            with at least this probability. A wrong one then costs t/(1-t), silence nothing.
        json: Print JSON instead of a sentence.
    """
    from loci.answering.answerer import ANSWERERS, make_answerer
    from loci.answering.asked_file import read_asked
    from loci.api import Evaluation, Run
    from loci.cli.output import print_json
    from loci.data.prompts import I_DONT_KNOW
    from loci.evaluation.rows import rows_file, write_rows
    from loci.files import write_text
    from loci.text.layout import find_split
    from loci.training.run import PREDICTIONS

    if (run is None) == (predictions is None):
        raise LociError("give either a run to ask or --predictions FILE to score")
    other = ""
    if answerer is not None:
        ANSWERERS[answerer]  # an unknown one is named before anything is read
        other = answerer.replace("/", "-")
        if calibrate:
            raise LociError("a calibration belongs to the run's own way of answering", remedy="leave out --answerer")
    for wanted, what in (
        (calibrate, "calibrated"),
        (alternatives, "asked for alternatives"),
        (other, "asked in another way"),
    ):
        if wanted and run is None:
            raise LociError(f"only a run can be {what}", remedy="give the run, without --predictions")
    together = questions.is_dir() and bool(find_split(questions, "dev"))
    asked = read_asked(questions, split="dev" if together else None)
    if run is not None and out is None:
        several = together and asked.path == questions
        name = f"{questions.resolve().name}_dev" if several else (asked.path or questions).stem
        out = rows_file(run / PREDICTIONS / other, name, asked.hash)
    _require_free(questions, predictions, out, text)
    replaced = out is not None and out.exists()
    if predictions is not None:
        from loci.evaluation.external_predictions import read_external

        found = Evaluation(tuple(read_external(predictions, asked)))
        if out is not None:
            write_rows(out, found.rows)
    else:
        from loci.answering.parts import InParts
        from loci.cli.progress import ProgressBar
        from loci.training.checkpoint import load_model
        from loci.training.distributed import Group

        assert run is not None
        assert out is not None
        loaded, kept = load_model(run), out.with_name(f".{out.name}.parts")
        chosen = make_answerer(loaded, name=answerer)
        with (
            Group.join() as group,
            ProgressBar() as bar,
            InParts(chosen, loaded, group=group, folder=kept, told=bar.told_by(group)) as asking,
        ):
            found = Run(loaded).evaluate(asked, alternatives=alternatives, answerer=asking)
            if group.first:
                write_rows(out, found.rows)
        if not group.first:
            return
    if text is not None:
        said = (I_DONT_KNOW if row.abstained else row.prediction for row in found.rows)
        write_text(text, "".join(answer.replace("\n", " ") + "\n" for answer in said))
    fitted = _calibrate(run, loaded, asked, found.rows, confidence_target) if calibrate and run is not None else None
    if json:
        calibration = {"calibration": fitted.as_dict()} if fitted is not None else {}
        print_json({**_figures(found), "predictions": out, "replaced": replaced, **calibration})
        return
    print(*_sentences(found), sep="\n")
    if out is not None:
        print(f"rows: {out}" + (" (replaced)" if replaced else ""))
    if fitted is not None:
        print(_sentence(fitted))


def _figures(found: Evaluation) -> dict[str, Any]:
    from loci.evaluation.metrics import by_relation
    from loci.evaluation.outcomes import outcomes

    rate = found.accuracy
    result: dict[str, Any] = {"questions": len(found.rows), "scored": rate.n, "correct": rate.successes}
    if rate.n:
        result |= {"accuracy": rate.value, "low": rate.low, "high": rate.high}
    if len(own := by_relation(found.rows)) > 1:
        result["relations"] = {name: {"scored": one.n, "correct": one.successes} for name, one in own.items()}
    result |= {"withheld": sum(row.abstained for row in found.rows), "probabilities": found.probabilities}
    if found.answered is not None and found.accuracy_if_answered is not None:
        given = found.accuracy_if_answered
        result["answered"] = found.answered.successes
        result |= {"answered_scored": given.n, "answered_correct": given.successes, "outcomes": outcomes(found.rows)}
    return result


def _sentences(found: Evaluation) -> Iterator[str]:
    from loci.evaluation.metrics import by_relation
    from loci.evaluation.outcomes import outcomes

    rate, worth, silent = found.accuracy, found.probabilities, sum(row.abstained for row in found.rows)
    if rate.n:
        yield f"exact match: {rate.successes} of {rate.n} = {rate}" + (f"; withheld: {silent}" if silent else "")
    else:
        yield f"{len(found.rows)} answers; the file has no expected answers to score them by"
    if rate.n and len(own := by_relation(found.rows)) > 1:
        yield from (f"  {name}: {one.successes} of {one.n} = {one}" for name, one in own.items())
    if unread := sum(answer.silence == "unreadable" for answer in found.answers):
        yield f"could not be read: {unread} (loci ask says why)"
    if found.answered is not None:
        became, told = outcomes(found.rows), f"{found.answered.successes} of {found.answered.n}"
        if rate.n:
            yield f"best answer right, given or not: {became.right.successes} of {became.right.n} = {became.right}"
            told += f"; rightly {became.answered_rightly}, wrongly {became.answered_wrongly}"
        yield f"answered at its threshold of {found.answers[0].threshold:.2f}: {told}"
        if became.silences:
            reasons = (f"{reason} {why.rate.successes}" for reason, why in became.silences.items())
            yield f"silent: {became.silent.successes} of {became.silent.n}, {', '.join(reasons)}"
    if worth is not None:
        yield (
            f"probabilities: Brier {worth.brier}; ECE {worth.ece:.3f}; "
            f"AUROC right/wrong {worth.auroc}; AURC {worth.aurc:.3f}"
        )


def _calibrate(run: Path, loaded: LoadedModel, asked: Questions, rows: Sequence[Row], level: float) -> RunCalibration:
    from loci.answering.confidence import write_calibration
    from loci.evaluation.calibration import fit_calibration

    name = asked.path.name if asked.path is not None else ""
    fitted = fit_calibration(rows, questions=name, questions_hash=asked.hash, model=loaded.hash, level=level)
    write_calibration(run, fitted)
    return fitted


def _sentence(fitted: RunCalibration) -> str:
    import math

    from loci.evaluation.calibration import AS_IT_IS, FOLDS

    threshold = f"answer from {fitted.threshold:.2f}" if math.isfinite(fitted.threshold) else "never answer"
    change = f"Brier {fitted.brier_before:.3f} → {fitted.brier_after:.3f} over {FOLDS} folds"
    if fitted.calibrator == AS_IT_IS:
        change = f"no fit betters its Brier of {fitted.brier_before:.3f}, probabilities stay as they are"
    return (
        f"calibrated on {fitted.n} questions of {fitted.questions}: {change}; "
        f"at confidence target {fitted.level:g}: {threshold}"
    )


def _require_free(questions: Path, predictions: Path | None, out: Path | None, text: Path | None) -> None:
    """Nothing that is read may be written over, nothing twice, and of what is there only rows are replaced."""
    from loci.evaluation.rows import read_rows

    read = [path.resolve() for path in (questions, predictions) if path is not None]
    written = [path for path in (out, text) if path is not None]
    for index, path in enumerate(written):
        if path.resolve() in read or path.resolve() in [other.resolve() for other in written[:index]]:
            raise LociError("would be written over", path=path, remedy="choose another --out or --text")
    if text is not None and text.exists():
        raise LociError("is there already", path=text, remedy="remove it, or choose another --text")
    if out is not None and out.exists():
        try:
            read_rows(out)
        except LociError:
            raise LociError("is there already and holds no rows", path=out, remedy="choose another --out") from None
