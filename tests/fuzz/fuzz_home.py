"""The folder every case starts from: a world, a run with checkpoints, a sample of each data format, and smaller files.

Made once by the server; a case works on a copy. Knows nothing of damage.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import json
from pathlib import Path

FORMAT_SAMPLES = {
    "text": "Ana Lima. Ana Lima was born in Porto. She lives in St. Ives.\nRui Paz. He was born in Faro .\n\n# Bo Berg\n"
    "Bo Berg (born 3 May 1900) was a poet.\nHer sister, Mrs. J. E. P. Aldous, was born in Sheffield.\n",
    "tsv": "Where was Ana Lima born?\tPorto\nWhere was Rui Paz born?\tFaro\nWhere was Zé Ohm born?\t\n",
    "headed tsv": "question\tsubject\trelation\tanswer\nWho wrote Emma?\tEmma\tauthor\tJane Austen\nWho wrote It?\tIt\tauthor\tX\n",
    "popqa": 'id\tsubj\tprop\tobj\tquestion\tpossible_answers\n1\tEmma\tauthor\tAusten\tWho wrote Emma?\t["Austen", "J. Austen"]\n',
    "csv": 'question;relation;answers\nWho wrote Emma?;author;"[""Austen"", ""J. Austen""]"\n"Who; if any?";author;"[""X""]"\n',
    "json": '[{"question": "Where was Ana born?", "answers": ["Porto", "Oporto"]}, {"question": "Where was Bo born?", "answers": []}]\n',
    "jsonl": '{"question": "Where was Ana born?", "answer": "Porto", "subject": "Ana"}\n{"question": "Who?", "answers": ["x"]}\n',
    "csv documents": 'title,text\nAna Lima,"Ana Lima was born in Porto. She sings,\nand more."\nBo,Bo is.\n',
    "documents": '{"title": "Ana Lima", "text": "Ana Lima was born in Porto. She sings.\\nMore."}\n{"title": "Bo", "text": "Bo is."}\n',
    "documents with questions": '{"title": "Ana", "text": "Ana was born in Porto.", "question": "Where was Ana born?", "answer": "Porto"}\n'
    '{"title": "Bo", "text": "Bo is.", "subject": "Bo", "relation": "year", "answer": 1900}\n',
    "google-re": '{"sub_label": "Ana", "obj_label": "Porto", "pred": "/people/person/place_of_birth", "evidences": '
    '[{"considered_sentences": ["Ana was born in Porto."]}], "masked_sentences": ["Ana was born in [MASK]."]}\n',
}
SUFFIXES = {
    "text": ".txt",
    "tsv": ".tsv",
    "headed tsv": ".tsv",
    "popqa": ".tsv",
    "csv": ".csv",
    "csv documents": ".csv",
    "json": ".json",
}
CONLLU = (
    "# text = I don't go\n1\tI\tI\tPRON\t_\t_\t4\tnsubj\t_\t_\n2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_\n"
    "3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_\n4\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n4.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n\n"
    "1\tAna\t_\t_\t_\t_\t2\tnsubj:pass\t_\t_\n2\twas\t_\t_\t_\t_\t0\troot\t_\t_\n"
)


def format_file(name: str) -> str:
    """Where the home folder has the sample of a format."""
    return f"formats/{name.replace(' ', '-')}{SUFFIXES.get(name, '.jsonl')}"


def furnish(home: Path) -> None:
    """Write everything a case may read into an empty folder."""
    import torch

    from loci.evaluation.rows import Row, write_rows
    from loci.interop.course_notes import note_how_made
    from loci.interop.params_file import write_params
    from loci.pipeline import carry_out
    from loci.pipeline.labels_file import write_labels
    from loci.text.questions import Questions
    from loci.text.world import WorldSpec, write_world
    from loci.training.plan import MixtureComponent, Recipe, Stage
    from loci.training.reports import CheckpointPolicy
    from loci.training.sources import TrainingData

    torch.set_num_threads(1)
    for name, sample in FORMAT_SAMPLES.items():
        file = home / format_file(name)
        file.parent.mkdir(exist_ok=True)
        file.write_text(sample, encoding="utf-8")
    write_world(WorldSpec(people=20, outside=0.1), home / "world", conllu=True)
    data = TrainingData.read(home / "world")
    model = {"n_layer": 1, "n_head": 2, "n_embd": 16, "block_size": 128}
    stages = (
        Stage("pretrain", (MixtureComponent("corruption-2024"),), steps=2, batch_size=4, optimiser="muon"),
        Stage("finetune", (MixtureComponent("question-answer", source="questions"),), steps=2, batch_size=4),
    )
    recipe = Recipe("tiny", model, stages)
    carry_out(recipe, data, home / "run", checkpoints=CheckpointPolicy(every_steps=1))
    # One that was stopped half-way: there is something to go on with.
    stopped = iter((False, False, True, True, True, True))
    carry_out(
        recipe, data, home / "half", checkpoints=CheckpointPolicy(every_steps=1), should_stop=lambda: next(stopped)
    )
    owner = {"process": 1, "host": "elsewhere", "started": "2026-01-01T00:00:00+00:00"}
    (home / "half" / ".lock.json").write_text(json.dumps(owner), encoding="utf-8")  # of a process that was killed
    rows = [
        Row("Where was Ana born?", "Porto", ("Porto",), "Ana", 0.9, (("Faro", 0.1),), group="pt", split="held-out"),
        Row("Where was Bo born?", "Oslo", ("Rome",), "Bo", 0.4, abstained=True, silence="unsure", split="taught"),
    ]
    for name in ("rows.jsonl", "rows.parquet") if importlib.util.find_spec("pyarrow") else ("rows.jsonl",):
        write_rows(home / name, rows)
    write_rows(home / "run" / "predictions" / "birth_dev.jsonl", rows)
    (home / "asked.tsv").write_text("Where was Ana born?\tPorto\nWhere was Bo born?\tRome\n", encoding="utf-8")
    (home / "theirs.tsv").write_text(
        "Where was Ana born?\tPorto\t0.5\nWhere was Bo born?\tRome\t0.25\n", encoding="utf-8"
    )
    (home / "groups.tsv").write_text('Ana\tpt\n{"name": "Bo", "origin": "no"}\n', encoding="utf-8")
    (home / "bank.conllu").write_text(CONLLU, encoding="utf-8")
    (home / "own").mkdir()
    (home / "own" / "relations.toml").write_text(
        'wrote = "Who wrote {subject}?"\nborn = ["Where was {subject} born?"]\n'
    )
    (home / "own" / "train.tsv").write_text(
        "Who wrote Emma?\tJane Austen\nWhere was Ana born?\tPorto\n", encoding="utf-8"
    )
    write_labels(data.questions or Questions.from_pairs([]), home / "pseudo_labels.tsv")
    write_params(home / "tiny.params", {"tok_emb.weight": torch.zeros(5, 4), "pos_emb": torch.ones(1, 4, 4)})
    note_how_made(home / "tiny.params", variant="vanilla", year=2021, corpus="wiki.txt", vocabulary="ab", name="x")
    (home / "recipe.json").write_text(json.dumps(dataclasses.asdict(recipe)), encoding="utf-8")
    _results(home)


def _results(home: Path) -> None:
    """What experiments keep, a calibration, and an answer of a server."""
    from loci.answering import ask
    from loci.answering.confidence import Isotonic, RunCalibration, Temperature, write_calibration
    from loci.experiments.growth.memorizing import grow
    from loci.experiments.trials import Hooks, Stopped, open_folder
    from loci.training.checkpoint import load_model

    open_folder(home / "experiment", "abstain", {"seeds": 1, "quick": True})
    model = load_model(home / "run").hash
    fit, line = Temperature(1.5), Isotonic((0.1, 0.9), (0.0, 1.0))
    write_calibration(home / "run", RunCalibration(fit, fit, line, 0.5, 0.4, model, "dev.tsv", "ab", 9, 3, 0.2, 0.1))
    answer = ask.load(home / "run").ask("Where was Ana Lima born?")
    (home / "answer.json").write_text(json.dumps(answer.as_dict()), encoding="utf-8")
    one = {
        "part": "p",
        "name": "n",
        "recipe": "r",
        "shows": "s",
        "asked": "dev",
        "asked_hash": "h",
        "seed": 0,
        "budget": 1.0,
    }
    more = {
        "parameters": 9,
        "characters": 9,
        "reading_loss": 1.5,
        "funnel": [["all", 2, 2]],
        "labels": [1, 2],
        "faithful": None,
    }
    (home / "recall" / "predictions").mkdir(parents=True)
    (home / "recall" / "result.json").write_text(json.dumps({**one, **more}), encoding="utf-8")
    (home / "recall" / "predictions" / "recall.jsonl").write_bytes((home / "rows.jsonl").read_bytes())
    names = (
        "language_loss",
        "parse",
        "parse_distance",
        "trees",
        "taught",
        "recall",
        "recall_n",
        "characters_per_second",
    )
    (home / "measured.json").write_text(
        json.dumps({"condition": "c", "seed": 0, **dict.fromkeys(names, 1)}), encoding="utf-8"
    )
    with contextlib.suppress(Stopped):  # one step, then its state
        grow(12, 16, 8, 0, 1, home / "growth.safetensors", Hooks(should_stop=iter((False, True)).__next__))
    _large(home)
    _elsewhere(home)


def _large(home: Path) -> None:
    """What is made of a corpus too large for memory, and of a model too large for one process."""
    import warnings

    import torch

    from loci.files import sha256_file
    from loci.text import question_store, questions
    from loci.text.compiling import compile_corpus
    from loci.training.checkpoint import TrainingState, load_model
    from loci.training.distributed import Group
    from loci.training.shards import save_shards

    (home / "large").mkdir()
    text = home / "large" / "wiki.txt"
    text.write_bytes((home / "world" / "wiki.txt").read_bytes())
    compile_corpus(text, home / "large" / "wiki.txt.compiled", sha256_file(text))
    asked = home / "large" / "train.tsv"
    asked.write_text("Where was Bo Lind born?\tOslo\nWhere was Ida Moss born?\tLund\n", encoding="utf-8")
    before = question_store.LARGE, vars(questions)["PACKED_FROM"]
    vars(question_store)["LARGE"] = vars(questions)["PACKED_FROM"] = 1
    questions.Questions.read(asked)
    vars(question_store)["LARGE"], vars(questions)["PACKED_FROM"] = before
    loaded = load_model(home / "run")
    with warnings.catch_warnings(action="ignore"):  # that one process alone writes
        save_shards(
            home / "sharded",
            loaded.model,
            loaded.vocab,
            about={"recipe": loaded.config["recipe"]},
            state=TrainingState(1, 2, 4),
            tensors={"random": torch.get_rng_state()},
            group=Group(),
        )


def _elsewhere(home: Path) -> None:
    """Models of other tools."""
    import pickle

    import torch

    from loci.interop.exchange import export_run

    export_run(home / "run", "hf", home / "hf")
    (home / "nano").mkdir()
    sizes = {"n_layer": 1, "n_head": 1, "n_embd": 4, "block_size": 8, "vocab_size": 3}
    torch.save({"model_args": sizes, "model": {"transformer.wte.weight": torch.zeros(3, 4)}}, home / "nano" / "ckpt.pt")
    (home / "nano" / "meta.pkl").write_bytes(pickle.dumps({"stoi": {"a": 0, "b": 1, "c": 2}}))
