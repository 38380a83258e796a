"""The registry of commands: name, group, one line. A new command is one file next to this one and one line here.

The module of a command has a function of the command's name (dashes as underscores) whose signature is its flags.
Nothing is imported until its command is called, so that `loci --help` answers at once. A plugin may add a command whose
module is anywhere: `COMMANDS.add("mine", Command("plugins", "what it does", module="my_package.mine"))`.
"""

from __future__ import annotations

from typing import NamedTuple

from loci.registry import Registry


class Command(NamedTuple):
    """A row of `loci --help`, and where the command lives."""

    group: str
    line: str
    module: str | None = None
    """The module of the function; default: the file of the command's name in `loci.cli`."""


COMMANDS: Registry[Command] = Registry("command")
for _name, *_row in (
    ("demo", "start", "train on the embedded world, ask about held-out people, write a report", "loci.cli.experiment"),
    ("learn", "start", "a folder of text and a few questions in, a run that answers out"),
    ("world", "data", "write a synthetic world: people, sentences about them, questions, gold parses"),
    ("check", "data", "diagnose a corpus or question file, and repair it"),
    ("train", "model", "carry out a recipe and keep the run"),
    ("evaluate", "model", "ask a run a file of questions and score the answers"),
    ("consolidate", "model", "put together the checkpoints that several processes wrote a part of each"),
    ("runs", "model", "list the runs of a folder"),
    ("sample", "model", "let a run continue a prompt"),
    ("cost", "model", "parameters, FLOPs and bytes of a variant, layer by layer, from formulas"),
    ("ask", "knowledge", "ask a run: answer, probability, I don't know, and the lines that support it"),
    ("report", "knowledge", "compare runs on one page: accuracy, selective prediction, fabrication, bias, evidence"),
    ("web", "start", "open the web lab: a local page to ask, look and play"),
    ("experiment", "lab", "carry out an experiment: taught silence, shaped attention, names against facts"),
    ("lab", "lab", "the written exercises on attention, made runnable: tables and figures"),
    ("heads", "lab", "do a run's attention heads follow the syntax of a treebank?"),
    ("look", "lab", "see inside one answer: attention, rollout, logit lens, causal tracing, on one page"),
    ("repetition", "lab", "loops and repetition against temperature and every other setting of the sampler"),
    ("export", "exchange", "write a run for Hugging Face, ONNX, TransformerLens or the course's scripts"),
    ("import", "exchange", "make a run of a Hugging Face folder or a nanoGPT checkpoint"),
    ("doctor", "machine", "cores, threads, speed, memory, versions, missing parts, and what to do about each"),
    ("bench", "machine", "run the benchmarks of a checkout: ratios measured in one run, with their spread"),
    ("course", "course", "the course's own commands: pretrain, finetune, evaluate, london, dataset, import, export"),
):
    COMMANDS.add(_name, Command(*_row))
