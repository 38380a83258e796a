"""The page of the experiment on strangers. Knows the result, not how it came about."""

from __future__ import annotations

from collections.abc import Mapping

from loci.evaluation.json_data import to_json
from loci.evaluation.outcomes import Outcomes
from loci.experiments.strangers.result import StrangersResult
from loci.report.parts import QUICK_NOTE, Report, Section, Table, interval


def strangers_report(result: StrangersResult) -> Report:
    """Words and tables."""
    held_out = result.people["held-out people"]
    size = f"{result.parameters:,} parameters, {result.characters / 1e6:.1f} M characters."
    return Report(
        title="Whom it knows, and whom it answers about",
        subtitle=QUICK_NOTE if result.quick else f"{result.run}: {size}",
        cards=[
            ("held-out: right", held_out.right, f"everybody, also where silent: {interval(held_out.right)}"),
            ("held-out: answered rightly", held_out.answered_rightly, interval(held_out.answered_rightly)),
            *((f"{kind}: answered", one.answered, interval(one.answered)) for kind, one in result.strangers.items()),
        ],
        sections=[
            Section(
                "Everybody",
                [
                    _people("asked about", result.people),
                    "*Right* counts the best answer also where the run is silent. AUROC of the probability, right "
                    f"against wrong, held-out people: {result.right_or_wrong}; expected calibration error: "
                    f"{result.ece:.3f}.",
                ],
            ),
            Section(
                "Strangers",
                [
                    Table(
                        ["names", "answered", "AUROC"],
                        [[kind, one.answered, one.auroc] for kind, one in result.strangers.items()],
                        "Names nobody wrote about. *AUROC*: how often a held-out person whom the run is right about is "
                        "more familiar than a stranger. Names of other origins and left-out people neither teach nor "
                        "choose anything.",
                    )
                ],
            ),
            Section(
                "Other words, typing errors",
                [
                    _people("question", result.wordings),
                    "*Blind* wordings were written before their author looked at the rules that understand questions. "
                    "*Another question* asks what the run was not taught: every answer given counts as wrong.",
                ],
            ),
        ],
        numbers=to_json(result),
    )


def _people(label: str, groups: Mapping[str, Outcomes]) -> Table:
    return Table(
        [label, "right", "answered rightly", "answered wrongly", "right if answered", "silent", "silent because"],
        [
            [
                *(name, one.right, one.answered_rightly, one.answered_wrongly, one.right_if_answered, one.silent),
                ", ".join(f"{reason}: {own.rate.successes}" for reason, own in one.silences.items()) or "–",
            ]
            for name, one in groups.items()
        ],
        "Shares with 95 % Wilson intervals.",
    )
