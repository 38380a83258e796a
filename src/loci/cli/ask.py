"""Ask a run: the answer with its probability, rivals, "I don't know", and the lines of the corpus that speak for it.

examples:
  loci ask run "Where was Alfred Mele born?"
  loci ask run "Where was Alfred Mele born?" "Where did he die?" --threshold 0.8
  loci ask run "Delta Desk"                      all it was taught to answer: one question for each relation
  loci ask run --file questions.tsv --json       many questions: with a bar, goes on when stopped, or under torchrun
  loci ask run "Where was she born?" --history conversation.txt
  loci ask run "Where was Alfred Mele born?" --server http://127.0.0.1:8137
  loci ask run                                   a prompt: one question after the other, tab completes names
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from loci.errors import LociError

LONGEST = 10**6
"""Characters of a question from standard input."""

if TYPE_CHECKING:
    from rich.console import Console

    from loci.answering.answer import Answer
    from loci.answering.answerer import Answerer
    from loci.text.questions import Questions
    from loci.text.relations import Relation
    from loci.training.checkpoint import LoadedModel
    from loci.training.distributed import Group


def ask(
    run: Path,
    questions: Annotated[tuple[str, ...], tyro.conf.arg(metavar="[QUESTION ...]")] = (),
    /,
    *,
    file: Path | None = None,
    history: Path | None = None,
    threshold: float | None = None,
    corpus: Path | None = None,
    template: str | None = None,
    candidates: Path | None = None,
    alternatives: int = 3,
    lines: int = 3,
    json: bool = False,
    server: str | None = None,
    token: str | None = None,
) -> None:
    """Ask questions.

    Args:
        run: The run to ask, or one of its checkpoints.
        questions: One question or several, answered in order; he, she or they means the last subject named before.
            A bare subject is asked in every relation. Without any, questions are taken from a prompt, or from
            standard input.
        file: A file of questions, after those of the command line.
        history: Earlier questions and answers, one a line: not answered, but he, she or they may refer to them.
        threshold: Say "I don't know" below this probability (default: the run's own).
        corpus: Where evidence is looked for (default: the corpus the run remembers).
        template: The form of the questions, like "Where did {subject} die?" (default: the run's own).
        candidates: Consider only the answers in this file, one a line, each scored exactly.
        alternatives: How many rivals of the answer to show.
        lines: How many lines of the corpus to show; of more than 512 questions only lines about the subject.
        json: Print JSON instead of text.
        server: Ask a `loci web` server at this address; RUN is then the name it shows.
        token: What the server asks for (default: the environment's LOCI_TOKEN).
    """
    from rich.console import Console

    from loci.answering.ask import load
    from loci.answering.asked_file import read_asked
    from loci.cli.output import print_json_list
    from loci.cli.prompt import prompt
    from loci.training.distributed import Group

    if files := [text for text in questions if os.path.isfile(text)]:  # which takes a text of any length
        raise LociError("is a file, not a question", path=files[0], remedy=f"loci ask {run} --file {files[0]}")
    prompting = not questions and file is None and sys.stdin.isatty()
    if not questions and file is None and not prompting:
        questions = tuple(_piped())
        if not questions:
            remedy = 'loci ask RUN "Where was Alfred Mele born?", or --file FILE'
            raise LociError("nothing is asked", remedy=remedy)
    options: dict[str, Any] = {"threshold": threshold, "alternatives": alternatives, "lines": lines}
    said = _lines(history) if history is not None else []
    about: dict[str, object] = {"run": run}
    remarks: Sequence[str] = ()
    subjects: Sequence[str] = ()
    relations: Sequence[Relation] = ()
    put: Callable[[Sequence[str] | Questions, Sequence[str]], list[Answer]]
    stack, group = contextlib.ExitStack(), Group()
    if server is not None:
        from loci.answering.remote import Server

        _only_local({"--corpus": corpus, "--template": template, "--candidates": candidates})
        there = Server(server, token or os.environ.get("LOCI_TOKEN"))
        put = lambda asked, before: there.ask_all(str(run), asked, history=before, **options)  # noqa: E731
        about["server"] = server
        more = read_asked(file) if file is not None else ()
    else:
        loaded = load(run, corpus=corpus, template=template)
        allowed = [line for line in map(str.strip, _lines(candidates)) if line] if candidates is not None else None
        if file is not None:
            options["through"] = _in_parts(stack, group := stack.enter_context(Group.join()), run, loaded.loaded)
        put = lambda asked, before: loaded.ask_all(asked, history=before, candidates=allowed, **options)  # noqa: E731
        remarks, subjects = loaded.remarks, loaded.subjects
        relations = loaded.loaded.relations if loaded.loaded.config.get("relations") else ()
        calibrated = loaded.confidence.calibrator is not None
        about |= {"model": loaded.loaded.hash, "calibrated": calibrated, "remarks": remarks}
        more = read_asked(file, relations=loaded.loaded.relations) if file is not None else ()
    console = Console(highlight=False)
    if prompting:

        def answer_one(text: str) -> None:
            for found in put(questions_about(text, relations), said):
                said.append(found.question)
                _show(console, found, relation=len(relations) > 1)

        _remark(remarks)
        prompt(answer_one, subjects)
        return
    questions = tuple(one for text in questions for one in questions_about(text, relations))
    with stack:
        answers = put(questions, said)
        if more:
            answers += put(more, [*said, *(answer.question for answer in answers)])
    if not group.first:
        return
    if json:
        print_json_list(about, "answers", (answer.as_dict() for answer in answers))
        return
    _remark(remarks)
    # What a server's run was taught only its answers tell.
    several = len({relation.name for relation in relations} | {answer.relation for answer in answers} - {None}) > 1
    for number, answer in enumerate(answers):
        if number:
            console.print()
        _show(console, answer, relation=several)


def _remark(remarks: Sequence[str]) -> None:
    for remark in remarks:
        print(f"loci ask: {remark}", file=sys.stderr)


def _piped() -> Iterator[str]:
    """The lines of standard input that say anything; one without an end is not waited for."""
    while line := sys.stdin.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise LociError("standard input: a line has no end", remedy="write one question on each line")
        if line.strip():
            yield line.strip()


def _in_parts(
    stack: contextlib.ExitStack, group: Group, run: Path, loaded: LoadedModel
) -> Callable[[Answerer], Answerer]:
    """A file of questions is answered in parts, which are kept with the run until all are there."""
    from loci.answering.parts import InParts
    from loci.cli.progress import ProgressBar
    from loci.training.run import PREDICTIONS, run_folder

    home, bar = run_folder(run), stack.enter_context(ProgressBar())
    # A run that nobody may write to is asked as well; what is stopped then begins anew.
    folder = home / PREDICTIONS / ".ask.parts" if home is not None and os.access(home, os.W_OK) else None
    return lambda answerer: stack.enter_context(
        InParts(answerer, loaded, group=group, folder=folder, told=bar.told_by(group))
    )


def questions_about(text: str, relations: Sequence[Relation]) -> list[str]:
    """A bare subject is asked in every relation's own form; any other text is asked as it stands."""
    from loci.answering.subject import is_bare, understand

    meant = understand(text, relations)
    if not relations or meant.relation is not None or meant.subject is None or not is_bare(text, meant.subject):
        return [text]
    return list(dict.fromkeys(relation.ask(meant.subject) for relation in relations))


def _only_local(given: Mapping[str, object]) -> None:
    named = [flag for flag, value in given.items() if value is not None]
    if named:
        raise LociError(f"{', '.join(named)} cannot be used with --server", remedy="leave that out, or ask a local run")


def _lines(path: Path) -> list[str]:
    from loci.text.source import load_sound

    return load_sound(path).lines()


def _show(console: Console, answer: Answer, *, relation: bool = False) -> None:
    """Print an answer; `relation` also names what it takes the question to ask."""
    from rich.padding import Padding
    from rich.text import Text

    from loci.answering.answer import share

    def line(text: Text, indent: int) -> None:
        console.print(Padding(text, (0, 0, 0, indent), expand=False))

    question = Text(answer.question, style="bold")
    if answer.pronoun:
        question.append(f"  ({answer.pronoun}: {answer.subject})", style="dim")
    if relation and answer.relation:
        question.append(f"  {answer.relation}", style="not bold dim")
    line(question, 0)
    said = Text(answer.said, style="bold green" if answer.known else "bold yellow")
    line(said.append(f"  {answer.why}", style="not bold default"), 2)
    if answer.silence is not None and len(answer.reason_probabilities) > 1:
        reasons = (f"{reason} {share(p)}" for reason, p in answer.reason_probabilities.items())
        line(Text(", ".join(reasons), style="dim"), 2)
    if answer.alternatives:
        line(Text(f"or {answer.others}", style="dim"), 2)
    if answer.recited is not None:
        line(Text("it recites: ", style="dim").append(answer.recited, style="italic not dim"), 2)
    if answer.standing is not None:
        line(Text(answer.standing, style="" if answer.in_corpus else "yellow"), 2)
    signs = "" if console.is_terminal and not console.no_color else "«»"  # where no colour can mark the place
    for found in answer.evidence:
        text = Text(f"{found.where}: ", style="dim")
        for piece, marked in found.segments():
            if marked:
                text.append(f"{signs[:1]}{piece}{signs[1:]}", style="not dim black on bright_yellow")
            else:
                text.append(piece, style="not dim")
        line(text, 4)
