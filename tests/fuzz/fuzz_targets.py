"""What is fuzzed: every reader of files and every command, in one registry. A new one is one line here.

`test_registered.py` holds this table against the registry of data formats, the table of commands, and every module that
reads JSON. Knows nothing of processes and limits.
"""

from __future__ import annotations

import importlib.util
import io
import shlex
from pathlib import Path
from typing import Any

from fuzz_commands import LINES
from fuzz_home import FORMAT_SAMPLES, format_file, furnish
from fuzz_kinds import Command, Reader

from loci.errors import LociError
from loci.registry import Registry

__all__ = ["TARGETS", "furnish"]

TARGETS: Registry[Reader | Command] = Registry("fuzz target")


def _format(name: str) -> None:
    """Three readings of one data format: as a corpus, as questions, and by the check that repairs."""
    from loci.text.corpus import Corpus
    from loci.text.diagnosis import diagnose
    from loci.text.questions import Questions
    from loci.text.repair import write_repaired

    def check(path: Path) -> None:
        found = diagnose(path)
        if any(file.clean is not None for file in found.files):
            write_repaired(found, path.parent / "clean")

    TARGETS.add(f"corpus {name}", Reader(format_file(name), Corpus.read))
    TARGETS.add(f"questions {name}", Reader(format_file(name), Questions.read))
    TARGETS.add(f"check {name}", Reader(format_file(name), check))


def _load_run(file: Path) -> None:
    """All that is read of a run before it answers, from whatever file of it was damaged."""
    from loci.answering import ask
    from loci.answering.confidence import confidence_of
    from loci.training.checkpoint import checkpoints, load_state
    from loci.training.run import describe, read_metrics, read_run, run_folder

    home = next(folder for folder in file.parents if folder.name in ("run", "half"))
    read_metrics(home)
    describe(read_run(home))
    asker = ask.load(home)
    confidence_of(asker.loaded)
    asker.ask("Where was Ana Lima born?")
    for folder in checkpoints(home):
        load_state(folder)
    run_folder(file.parent)


def _go_on(file: Path) -> None:
    """Resume a run of which one file was damaged."""
    from loci.pipeline import carry_out
    from loci.training.run import read_run
    from loci.training.sources import TrainingData

    home = file.parents[2] if file.parent.name.startswith("step-") else file.parent
    carry_out(read_run(home).recipe, TrainingData.read(home.parent / "world"), home, resume=True)


def _recipe(file: Path) -> None:
    from loci.files import read_struct
    from loci.training.plan import recipe_from_dict

    read = read_struct(file, dict[str, Any], remedy="-")
    try:
        recipe_from_dict(read)
    except LociError as error:  # a recipe has no file of its own; who reads it adds that
        raise LociError(error.message, path=file, remedy="-") from None


def _answer(file: Path) -> None:
    from loci.answering import remote

    class Opener:
        """A server that says what the file says."""

        def open(self, request: object, timeout: float) -> io.BytesIO:
            return io.BytesIO(file.read_bytes())

    vars(remote)["build_opener"] = lambda *handlers: Opener()  # this process is ours
    remote.Server("http://127.0.0.1:1").ask_all("run", ["Where?"])


def _mapped(file: Path) -> None:
    """A compiled corpus of which one file was damaged, read through."""
    from loci.text.compiled import read_large

    corpus = read_large(file.parent.with_name("wiki.txt"))
    assert corpus is not None
    for line in corpus:
        _ = (line.text, line.length, line.ids(corpus.vocab), corpus.about(line.subject))
    _ = (list(corpus.by_subject), corpus.repeated, corpus.filled, corpus.raw)


def _kept_questions(file: Path) -> None:
    """Kept questions of which one file was damaged, gone through."""
    from loci.text import question_store, questions

    vars(question_store)["LARGE"] = vars(questions)["PACKED_FROM"] = 1  # this process is ours
    asked = questions.Questions.read(file.parent.with_name("train.tsv"))
    _ = (list(asked), asked[0], asked.subjects, asked.hash, asked.characters, asked.by_relation(), asked.answered)


def _growing(file: Path) -> None:
    """Go on with one size of the experiment on growth, whose state was damaged."""
    from loci.experiments.growth.memorizing import grow
    from loci.experiments.trials import Hooks

    grow(12, 16, 8, 0, 1, file, Hooks())


def _readers() -> None:
    from loci.answering.parts import _kept
    from loci.attention_lab.parses import read_conllu
    from loci.evaluation.comparison.artifacts import read_groups, read_places
    from loci.evaluation.comparison.entries import read_entries
    from loci.evaluation.external_predictions import read_external
    from loci.evaluation.rows import read_rows
    from loci.experiments.recall.result import read_result
    from loci.experiments.shaping.result import Measured
    from loci.experiments.trials import keep_world, open_folder
    from loci.files import read_struct
    from loci.interop.course_folds import write_folds
    from loci.interop.course_notes import how_made
    from loci.interop.course_overwriting import require_replaceable
    from loci.interop.hf_import import import_hf
    from loci.interop.nanogpt_import import import_nanogpt
    from loci.interop.params_file import read_params
    from loci.pipeline.labelers.read_lines import _kept as read_kept_labels
    from loci.pipeline.labels_file import read_labels
    from loci.text.questions import Questions
    from loci.text.relations import read_relations
    from loci.text.world import WorldSpec, write_world
    from loci.training.shards import consolidate
    from loci.web.trainings import read_new_metrics

    step, half = "checkpoints/step-00000004", "checkpoints/step-00000003"
    for name in ("run.json", "manifest.json", "metrics.jsonl", "calibration.json", "final/config.json"):
        TARGETS.add(f"run {name}", Reader(f"run/{name}", _load_run, ("loci.answering.confidence",)))
    for name in ("final/model.safetensors", "final/manifest.json", f"{step}/state.json", f"{step}/state.safetensors"):
        TARGETS.add(
            f"run {name}",
            Reader(
                f"run/{name}",
                _load_run,
                ("loci.manifest", "loci.training.checkpoint"),
            ),
        )
    for name in (f"{half}/state.json", f"{half}/state.safetensors", "run.json", ".lock.json", "metrics.jsonl"):
        TARGETS.add(f"resume {name}", Reader(f"half/{name}", _go_on, ("loci.training.run", "loci.training.lock")))
    for name in ("corpus.json", "ids.npy", "offsets.npy", "subject_offsets.npy", "by_key.npy"):
        TARGETS.add(f"compiled {name}", Reader(f"large/wiki.txt.compiled/{name}", _mapped, ("loci.text.mapped",)))
    for name in ("questions.json", "told.npy", "told_offsets.npy", "columns.npy"):
        TARGETS.add(f"kept {name}", Reader(f"large/train.tsv.compiled/{name}", _kept_questions, ("loci.text.mapped",)))
    for name in ("shard-00001-model-00001-of-00001.safetensors", "state.json"):
        shards = Reader(f"sharded/{name}", lambda file: consolidate(file.parent), ("loci.training.shards",))
        TARGETS.add(f"sharded {name[:5]}", shards)
    TARGETS.add("rows", Reader("rows.jsonl", read_rows, ("loci.evaluation.rows",)))
    if importlib.util.find_spec("pyarrow"):
        TARGETS.add("rows in columns", Reader("rows.parquet", read_rows))
    TARGETS.add("rows compared", Reader("rows.jsonl", lambda file: read_entries([file])))
    asked = Questions.from_pairs([("Where was Ana born?", "Porto"), ("Where was Bo born?", "Rome")])
    for name in ("theirs.tsv", "rows.jsonl"):
        TARGETS.add(f"external {name}", Reader(name, lambda file: read_external(file, asked)))
    kept_labels = lambda file: list(read_kept_labels(file, "x"))  # noqa: E731
    TARGETS.add("labels", Reader("pseudo_labels.tsv", read_labels, ("loci.pipeline.labels_file",)))
    TARGETS.add("labels half", Reader("rows.jsonl", kept_labels, ("loci.pipeline.labelers.read_lines",)))
    folds = Reader(
        "world/birth_places_train.tsv",
        lambda file: write_folds(file, file.parent / "folds", 1),
        ("loci.interop.course_folds",),
    )
    TARGETS.add("folds", folds)
    TARGETS.add("groups", Reader("groups.tsv", read_groups, ("loci.evaluation.comparison.artifacts",)))
    TARGETS.add("places", Reader("world/people.jsonl", read_places))
    TARGETS.add("relations", Reader("own/relations.toml", read_relations, ("loci.text.relations",)))
    TARGETS.add("treebank", Reader("bank.conllu", read_conllu, ("loci.attention_lab.parses",)))
    TARGETS.add("treebank of a world", Reader("world/wiki.conllu", read_conllu))
    TARGETS.add("params", Reader("tiny.params", read_params, ("loci.interop.params_file",)))
    how = Reader(
        "tiny.params.course.json", lambda file: how_made(file.with_name("tiny.params")), ("loci.interop.course_notes",)
    )
    TARGETS.add("note", how)
    over = ("loci.interop.course_overwriting",)
    TARGETS.add("params to be replaced", Reader("tiny.params", require_replaceable, over))
    TARGETS.add("recipe", Reader("recipe.json", _recipe, ("loci.training.plan", "loci.training.plain_data")))
    kept = ("loci.experiments.trials",)
    TARGETS.add(
        "kept experiment",
        Reader("experiment/experiment.json", lambda file: open_folder(file.parent, "abstain", {}), kept),
    )
    spec = WorldSpec(people=20, outside=0.1)
    TARGETS.add("kept world", Reader("world/world.json", lambda file: keep_world(spec, file.parent)))
    again = Reader(
        "world/world.json", lambda file: write_world(spec, file.parent, force=True), ("loci.text.world.writer",)
    )
    TARGETS.add("kept world replaced", again)
    TARGETS.add(
        "kept recall",
        Reader("recall/result.json", lambda file: read_result(file.parent), ("loci.experiments.recall.result",)),
    )
    TARGETS.add(
        "kept shaping",
        Reader(
            "measured.json",
            lambda file: read_struct(file, Measured, remedy="-"),
            ("loci.experiments.shaping.run", "loci.experiments.growth.run"),
        ),
    )
    TARGETS.add("kept growth", Reader("growth.safetensors", _growing, ("loci.experiments.growth.memorizing",)))
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        TARGETS.add(
            f"hf {name}", Reader(f"hf/{name}", lambda file: import_hf(file.parent), ("loci.interop.hf_import",))
        )
    nano = ("loci.interop.nanogpt_import",)
    for name in ("ckpt.pt", "meta.pkl"):
        TARGETS.add(f"nanogpt {name}", Reader(f"nano/{name}", lambda file: import_nanogpt(file.parent), nano))
    TARGETS.add("kept answers", Reader("answer.json", lambda file: _kept(file, 1), ("loci.answering.parts",)))
    TARGETS.add("server answer", Reader("answer.json", _answer, ("loci.answering.remote",), place="message"))
    TARGETS.add(
        "web metrics",
        Reader(
            "run/metrics.jsonl",
            lambda file: read_new_metrics(file.parent, 0),
            ("loci.web.trainings", "loci.web.library"),
        ),
    )


for _name in FORMAT_SAMPLES:
    _format(_name)
_readers()
for _number, _line in enumerate(LINES.strip().splitlines()):
    _words = tuple(shlex.split(_line))
    _stop = float(_words[0]) if _words[0].isdigit() else None
    _words = _words[_stop is not None :]
    TARGETS.add(f"command {_words[0]} {_number}", Command(_words, _stop))
