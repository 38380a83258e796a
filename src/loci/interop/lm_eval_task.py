"""A task of lm-evaluation-harness from a file of questions, so that any model can be asked what a run is asked.

Writes a folder: `questions.jsonl` (what `datasets` reads), the task's YAML, and the few lines that compare an answer
with the accepted ones, to the letter. Needs neither the harness nor Loci to be used.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from loci.errors import LociError
from loci.files import atomic_folder, write_text
from loci.text.questions import Questions

TASK = "loci_questions"
_YAML = """task: {task}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answers[0]}}}}"
process_results: !function scoring.process_results
generation_kwargs:
  until: ["\\n"]
  do_sample: false
  max_gen_toks: 32
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1
"""


def process_results(doc: dict[str, list[str]], results: list[str]) -> dict[str, float]:
    """1 if the first line of what was said is one of the accepted answers, composed accents or not; else 0."""
    import unicodedata

    said, *_ = results[0].strip().split("\n")
    forms = {unicodedata.normalize("NFC", answer) for answer in doc["answers"]}
    return {"exact_match": float(unicodedata.normalize("NFC", said) in forms)}


def write_task(questions: str | Path | Questions, folder: str | Path, *, name: str = TASK) -> Path:
    """Make the task's folder; give it to the harness as `include_path`."""
    found = questions if isinstance(questions, Questions) else Questions.read(questions)
    rows = [{"question": question.text, "answers": list(question.answers)} for question in found if question.answers]
    if not rows:
        raise LociError("no question has an answer, so nothing can be scored", path=found.path)
    folder = Path(folder).absolute()
    if folder.exists():
        raise LociError("exists already", path=folder, remedy="choose another folder")
    with atomic_folder(folder) as temporary:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_text(temporary / "questions.jsonl", lines)
        write_text(temporary / f"{name}.yaml", _YAML.format(task=name, data=folder / "questions.jsonl"))
        program = f"from __future__ import annotations\n\n\n{inspect.getsource(process_results)}"
        write_text(temporary / "scoring.py", f'"""How an answer is judged: to the letter."""\n\n{program}')
    return folder
