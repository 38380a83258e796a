"""The card of an exported model: what it is, what taught it, how good it is, what it makes up.

Every figure comes from rows in the run's folder, with its interval and the people it is about. What was not measured is
said to be so. Knows nothing of where the card is used.
"""

from __future__ import annotations

from pathlib import Path

from loci import __version__
from loci.errors import LociError
from loci.evaluation.abstention import abstention_rate
from loci.evaluation.comparison.entries import taught_by
from loci.evaluation.metrics import by_split, exact_match, wilson
from loci.evaluation.rows import HELD_OUT, TAUGHT, UNKNOWABLE, Row, read_rows, split_of, with_splits
from loci.training.checkpoint import LoadedModel
from loci.training.run import PREDICTIONS, RunInfo, read_run, run_folder

_ABOUT = {
    TAUGHT: "people the train questions name",
    HELD_OUT: "people it only read about",
    "unstated": "people it read about whose lines do not tell",
    "never-read": "people nobody wrote about",
}
_SAME = "Loci computes the same logits, up to rounding"


def model_card(loaded: LoadedModel, architecture: str | None) -> str:
    """The text of README.md."""
    home = run_folder(loaded.path)
    info = read_run(home) if home is not None else None
    config = loaded.model.config
    point = f"{config.attention} attention, {config.positions} positions, {config.trunk} trunk"
    name = info.path.resolve().name if info is not None else loaded.path.resolve().name
    kind = f"the `{architecture}` architecture" if architecture else "its own `modeling_loci.py` (`trust_remote_code`)"
    trust = "" if architecture else ", trust_remote_code=True"
    return f"""---
library_name: transformers
pipeline_tag: text-generation
tags: [loci, character-level, closed-book]
---

# {name}

A character-level GPT that answers questions from its weights alone. Trained and exported with Loci {__version__}.

- {loaded.model.n_parameters():,} parameters: {config.n_layer} layers, {config.n_head} heads, {config.n_embd} wide
- {point}; {len(loaded.vocab)} characters, trained on texts of up to {config.block_size}
- {kind}; {_SAME}
- weights: `{loaded.hash}`; answers by: `{loaded.answerer}`

## How to ask it

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("DIR"{trust})
model = AutoModelForCausalLM.from_pretrained("DIR"{trust})
prompt = tokenizer("{_example(loaded)}⁇", return_tensors="pt")
print(tokenizer.decode(model.generate(**prompt)[0]))
```

A prompt is the question and the mask `⁇`; the answer ends with another `⁇`.{_reciting(loaded)}

## What taught it

{_data(loaded, info)}

## How good it is

{_figures(info)}

## Limits

- It always says something. `generate` knows no "I don't know": Loci's own answerer withholds answers below a threshold.
{_makes_up(info)}
- It knows nothing but its text, and only the question forms it was taught: {_forms(loaded)}
- It was made to study how small models remember. It is no source of facts about people.
"""


def _example(loaded: LoadedModel) -> str:
    return loaded.relations[0].templates[0].ask("Ada Moss")


def _forms(loaded: LoadedModel) -> str:
    return "; ".join(template.text for relation in loaded.relations for template in relation.templates)


def _reciting(loaded: LoadedModel) -> str:
    if loaded.answerer != "recite":
        return ""
    return " This one recites before it answers: `python answer.py QUESTION` does both steps."


def _data(loaded: LoadedModel, info: RunInfo | None) -> str:
    if info is None:
        return f"- corpus: sha256 `{loaded.corpus_hash or 'not recorded'}`; the run's folder was not there"
    files = [
        f"- {name}: `{Path(path).name if (path := info.data.get(name)) else 'in memory'}`, sha256 `{digest}`"
        for name in ("corpus", "questions")
        if (digest := info.data.get(f"{name}_hash"))
    ]
    steps = ", ".join(step.name for step in info.recipe.steps)
    recipe = f"- recipe: `{info.recipe.name}` (steps: {steps}; seed {info.recipe.seed}). {info.recipe.note}".rstrip()
    return "\n".join([*files, recipe, f"- begun: {info.created}"])


def _rows(info: RunInfo | None) -> dict[str, list[Row]]:
    """The run's own rows by the people they are about."""
    found: list[Row] = []
    if info is None:
        return {}
    for file in sorted((info.path / PREDICTIONS).glob("*.jsonl")):
        told = split_of(file.stem)
        try:
            found += with_splits(read_rows(file), told, taught_by(info.data, told))
        except LociError:
            continue  # a broken file is no reason to keep the weights back; its figures are then missing
    return by_split(found)


def _figures(info: RunInfo | None) -> str:
    lines = [
        f"| {split}: {_ABOUT.get(split, 'as named by the user')} | {exact_match(rows)} |"
        for split, rows in _rows(info).items()
        if split not in UNKNOWABLE and any(row.answers for row in rows)
    ]
    if not lines:
        return "Not measured. `loci evaluate RUN --questions FILE` before the export puts figures here."
    head = "Exact match with its 95 % interval, from the rows in the run's folder (one training, one seed).\n"
    return "\n".join([head, "| asked about | exact match |", "|---|---|", *lines])


def _makes_up(info: RunInfo | None) -> str:
    told = []
    for split, rows in _rows(info).items():
        if split in UNKNOWABLE:
            said = wilson(sum(not row.silent for row in rows), len(rows))
            told.append(f"- Asked about {_ABOUT[split]}, it made an answer up for {said}, with Loci's threshold.")
        elif split == HELD_OUT and any(row.answers for row in rows):
            told.append(f"- Asked about {_ABOUT[split]}, it withheld {abstention_rate(rows)}.")
    if not any("made an answer up" in line for line in told):
        told.append("- How often it makes up an answer about people nobody wrote about was not measured.")
    return "\n".join(told)
