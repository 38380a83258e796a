"""The script that goes with an exported model that recites: cut out of `hf_answering` and what it uses."""

from __future__ import annotations

from loci.answering.confidence import confidence_of
from loci.interop.model_source import Name, model_source
from loci.training.checkpoint import LoadedModel

_HEADER = """Ask this model: python answer.py "Where was Ada Moss born?"

It recites what it remembers of the subject and reads that, as `loci ask` does. Written by `loci export --to hf`."""


def answer_script(loaded: LoadedModel) -> str:
    """A program that answers as the run does, with the run's question forms, length limit and threshold."""
    confidence = confidence_of(loaded)
    known, worth = confidence.familiarity, loaded.config.get("recalled")
    values = {
        "FORMS": tuple(
            (template.text, relation.longest, tuple(sorted(relation.joiners)))
            for relation, template in sorted(
                ((relation, template) for relation in loaded.relations for template in relation.templates),
                key=lambda pair: -pair[1].fixed,  # of two forms that fit, the longer one is meant
            )
        ),
        "LIMIT": loaded.model.limit,
        "FAMILIARITY": None if known is None else (known.gate, known.slope, known.intercept, known.most),
        "RECALLED": None if worth is None else (worth["slope"], worth["intercept"]),
        "THRESHOLD": confidence.threshold if confidence.calibrator is None else 0.0,
    }
    program = model_source([Name("loci.interop.hf_answering", "main")], {}, _HEADER, values=values)
    return f'{program}\n\nif __name__ == "__main__":\n    main()\n'
