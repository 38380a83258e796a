"""The table of commands: name, group, one line. The command line grows by one row here and one file beside it.

Each module has a function of the command's name (dashes as underscores) whose signature is the command's flags. Nothing
is imported until its command is called, so that `loci --help` answers at once.
"""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (group, one line)
    "demo": ("start", "train on the embedded world, ask about held-out people, write a report"),
    "world": ("data", "write a synthetic world: people, sentences about them, questions, gold parses"),
    "check": ("data", "diagnose a corpus or question file, and repair it"),
    "train": ("model", "carry out a recipe and keep the run"),
    "evaluate": ("model", "ask a run a file of questions and score the answers"),
    "runs": ("model", "list the runs of a folder"),
    "sample": ("model", "let a run write on from a prompt"),
    "cost": ("model", "parameters, FLOPs and bytes of a variant, layer by layer, from formulas"),
    "ask": ("knowledge", "ask a run: answer, probability, I don't know, and the lines that speak for it"),
    "report": ("knowledge", "compare runs on one page: accuracy, trust, fabrication, bias, evidence"),
    "experiment": ("lab", "carry out an experiment: taught silence, shaped attention, names against facts"),
    "lab": ("lab", "the written exercises on attention, made runnable: tables and figures"),
    "heads": ("lab", "do a run's attention heads follow the syntax of a treebank?"),
    "look": ("lab", "see inside one answer: attention, rollout, logit lens, causal tracing, on one page"),
    "repetition": ("lab", "loops and repetition against temperature and every other knob of the sampler"),
    "doctor": ("machine", "cores, threads, speed, memory, versions, missing parts, and what to do about each"),
    "bench": ("machine", "run the benchmarks of a checkout: ratios measured in one run, with their spread"),
    "course": ("course", "the course's own commands: pretrain, finetune, evaluate, london, dataset, import, export"),
}
