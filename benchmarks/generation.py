"""How much faster generation is than the published `sample`, with the same weights in the same run.

The published loop reads the whole prefix again for every character, one text at a time. Each row of the table times two
ways in turns and gives the median ratio with its range over the repeats. Where only a part of the slow way is run, its
time is scaled up, and the row says so.

The course's dev questions are asked of a model that has first been taught the train questions for about a minute
(`_asking.teach`: fixed seed and steps), so that answers end by themselves. Three rows: both ways write 32 characters;
both stop where the answer ends; and the published evaluation as it is, which always writes 32 and cuts the answer out,
against ours, which stops. The last one is unequal work for the same result: all answers are compared, the row says
how many are the same, and the script fails where one is not. Without the course's files only the first row is
measured, on the questions of a world and random weights.

What a profile says (torch.profiler, one thread, the 500 questions in batches of 128, until the answers end): half of
the time is in the matrix products of the blocks, a quarter in attention, the rest in copies, GELU, norms and writing to
the cache; choosing ids is a few per cent. Two parts taken out in turn (medians of three, one thread): without the
shared beginning the same questions take 10 to 20 % longer; letting finished rows leave makes no difference that
could be measured here.

    python benchmarks/generation.py [--quick] [--json] [--repeats 3] [--threads N] [--clock processor]
"""

from __future__ import annotations

import importlib.util
import json as json_format
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import torch
import tyro
from rich.console import Console

from _asking import BRIEF, COURSE, DEV, SMALL, missing, published_answers, published_sample, teach
from _ratios import Bench, Row, print_table
from loci import machine
from loci.answering.direct import ANSWER_LENGTH
from loci.data.prompts import question_prompt
from loci.evaluation.asking import ask_rows
from loci.generation import generate, score_candidates
from loci.model import GPT, GPTConfig
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec
from loci.text.world.population import people
from loci.training.checkpoint import LoadedModel

VOCAB_SIZE = 256


def questions_and_answers() -> tuple[list[str], list[str], str]:
    """The course's dev questions where they are, else those of a world of the same size."""
    if (COURSE / DEV).is_file():
        asked = Questions.read(COURSE / DEV)
        return [q.text for q in asked], sorted({q.answer for q in asked if q.answer}), "course dev questions"
    world = list(people(WorldSpec(people=500)))
    texts = [f"Where was {person.name} born?" for person in world]
    return texts, sorted({person.birth_place.name for person in world}), "questions of a world"


def make_model(**changes: Any) -> GPT:
    config = GPTConfig(vocab_size=VOCAB_SIZE, **changes)
    return GPT(config, generator=torch.Generator().manual_seed(0)).eval()


def one_long_text(bench: Bench) -> Row:
    model, length = make_model(block_size=640), 128 if bench.quick else 512
    prompt = list(range(2, 34))
    times = bench.in_turns(
        lambda: published_sample(model, prompt, length), lambda: generate(model, [prompt], max_new=length)
    )
    return Row(f"{length} characters, one text", "prefix read again", **times, target=5)


def many_questions(bench: Bench, console: Console) -> list[Row]:
    if absent := missing():
        console.print(
            f"the course's {', '.join(absent)} not found in ../shared/data/course: no model can be taught to end "
            "its answers, and the rows that need one are left out"
        )
        texts, answers, source = questions_and_answers()
        vocab = make_vocab(texts, answers)
        prompts = [question_prompt(vocab, text).tolist() for text in texts]
        return [equal_steps(bench, make_model(), prompts, source)]
    changes = SMALL if bench.quick else BRIEF
    console.print(f"teaching the model that is asked: {changes['finetune.steps']} steps on the train questions")
    loaded = teach(changes)
    asked = Questions.read(COURSE / DEV)[:: 10 if bench.quick else 1]
    prompts = [question_prompt(loaded.vocab, question.text).tolist() for question in asked]
    source = "course dev questions"
    return [
        equal_steps(bench, loaded.model, prompts, source),
        both_ending(bench, loaded.model, prompts, source),
        as_published(bench, loaded, asked, source),
    ]


def some_of(bench: Bench, number: int) -> tuple[slice, float, str]:
    """Which of so many questions the slow way answers in each repeat, by what its time is multiplied, and a note."""
    part = min(number, 10 if bench.quick else 40)
    return slice(0, number // part * part, number // part), number / part, f"slow way: {part} of {number}, scaled"


def equal_steps(bench: Bench, model: GPT, prompts: list[list[int]], source: str) -> Row:
    some, scale, note = some_of(bench, len(prompts))

    def slow() -> None:
        for prompt in prompts[some]:
            published_sample(model, prompt, ANSWER_LENGTH)

    times = bench.in_turns(slow, lambda: generate(model, prompts, max_new=ANSWER_LENGTH), scale)
    what = f"{len(prompts)} {source}, {ANSWER_LENGTH} characters each"
    return Row(what, f"one at a time, {ANSWER_LENGTH} steps", **times, target=None, note=f"equal work; {note}")


def both_ending(bench: Bench, model: GPT, prompts: list[list[int]], source: str) -> Row:
    some, scale, note = some_of(bench, len(prompts))
    until: dict[str, Any] = {"max_new": ANSWER_LENGTH, "stop_id": MASK_ID}
    times = bench.in_turns(
        lambda: generate(model, prompts[some], use_cache=False, batch_size=1, **until),
        lambda: generate(model, prompts, **until),
        scale,
    )
    what = f"{len(prompts)} {source}, until the answer ends"
    return Row(what, "one at a time, until it ends", **times, target=None, note=f"equal work; {note}")


def as_published(bench: Bench, loaded: LoadedModel, asked: Questions, source: str) -> Row:
    """The whole evaluation, answers included; the published one goes through all questions once, to compare them."""
    some, scale, note = some_of(bench, len(asked))
    begin = bench.clock()
    published = published_answers(loaded, asked)
    whole = bench.clock() - begin
    times = bench.in_turns(
        lambda: published_answers(loaded, asked[some]), lambda: ask_rows(loaded, asked, answerer="greedy"), scale
    )
    ours = [row.prediction for row in ask_rows(loaded, asked, answerer="greedy")]
    same = sum(theirs.text == mine for theirs, mine in zip(published, ours, strict=True))
    ended = sum(answer.ended for answer in published)
    once = whole / statistics.median(times["loci_seconds"])
    return Row(
        f"{len(asked)} {source}, until the answer ends",
        f"as published: one at a time, always {ANSWER_LENGTH} steps",
        **times,
        target=40,
        note=f"{same} of {len(asked)} answers the same, {ended} ended by themselves, mean length "
        f"{statistics.mean(map(len, ours)):.1f}; {note} (all {len(asked)} once: {once:.1f} times)",
        same_answers=same == len(asked),
    )


def whole_lists(bench: Bench) -> Row:
    texts, answers, _ = questions_and_answers()
    vocab = make_vocab(texts, answers)
    model = make_model()
    candidates = [vocab.encode(answer).tolist() for answer in answers]
    prompts = [question_prompt(vocab, text).tolist() for text in texts[: 4 if bench.quick else 16]]
    slow_prompts = prompts[: 1 if bench.quick else 2]

    def slow() -> None:
        for prompt in slow_prompts:
            rows = [torch.tensor([*prompt, *candidate]) for candidate in candidates]
            for begin in range(0, len(rows), 128):
                batch = torch.nn.utils.rnn.pad_sequence(rows[begin : begin + 128], batch_first=True)
                with torch.inference_mode():
                    model(batch).logits.log_softmax(-1)

    times = bench.in_turns(
        slow,
        lambda: score_candidates(model, prompts, candidates, stop_id=MASK_ID),
        len(prompts) / len(slow_prompts),
    )
    note = f"slow way: {len(slow_prompts)} of {len(prompts)}, scaled"
    what = f"exact scores, {len(prompts)} questions × {len(candidates)} answers"
    return Row(what, "every pair read whole", **times, note=note)


def make_vocab(texts: Sequence[str], answers: Sequence[str]) -> Vocab:
    vocab = Vocab.from_text("".join(texts) + "".join(answers))
    assert len(vocab) <= VOCAB_SIZE
    return vocab


def as_transformers(model: GPT) -> Any:
    """The same weights in the GPT-2 class of transformers."""
    transformers: Any = importlib.import_module("transformers")
    config = model.config
    other = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=config.vocab_size,
            n_positions=config.block_size,
            n_embd=config.n_embd,
            n_layer=config.n_layer,
            n_head=config.n_head,
            activation_function="gelu",
            tie_word_embeddings=False,
            bos_token_id=None,
            eos_token_id=None,
        )
    ).eval()
    ours = model.state_dict()
    theirs: dict[str, torch.Tensor] = {
        "transformer.wte.weight": ours["tok_emb.weight"],
        "transformer.wpe.weight": ours["positions.pos_emb"][0],
        "transformer.ln_f.weight": ours["ln_f.weight"],
        "transformer.ln_f.bias": ours["ln_f.bias"],
        "lm_head.weight": ours["head.weight"],
    }
    names = {"ln1": "ln_1", "ln2": "ln_2", "attn.qkv": "attn.c_attn", "attn.proj": "attn.c_proj"}
    names |= {"mlp.up": "mlp.c_fc", "mlp.down": "mlp.c_proj"}
    for layer in range(config.n_layer):
        for our_name, their_name in names.items():
            weight = ours[f"trunk.blocks.{layer}.{our_name}.weight"]
            theirs[f"transformer.h.{layer}.{their_name}.weight"] = weight.T if weight.ndim == 2 else weight
            theirs[f"transformer.h.{layer}.{their_name}.bias"] = ours[f"trunk.blocks.{layer}.{our_name}.bias"]
    other.load_state_dict(theirs)
    return other


def against_transformers(bench: Bench) -> list[Row]:
    transformers: Any = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    texts, answers, source = questions_and_answers()
    vocab = make_vocab(texts, answers)
    model, length = make_model(block_size=640), 128 if bench.quick else 512
    other = as_transformers(model)
    prompt = list(range(2, 34))
    ids = torch.tensor([prompt])
    with torch.no_grad():
        torch.testing.assert_close(other(ids).logits, model(ids).logits, atol=1e-4, rtol=1e-4)

    def theirs(batch: torch.Tensor, mask: torch.Tensor, steps: int) -> None:
        with torch.inference_mode():
            other.generate(
                batch, attention_mask=mask, max_new_tokens=steps, min_new_tokens=steps, do_sample=False, pad_token_id=0
            )

    one = bench.in_turns(
        lambda: theirs(ids, torch.ones_like(ids), length), lambda: generate(model, [prompt], max_new=length)
    )
    prompts = [question_prompt(vocab, text).tolist() for text in texts]
    prompts = sorted(prompts, key=len)[:: 10 if bench.quick else 1]
    batches = [prompts[begin : begin + 256] for begin in range(0, len(prompts), 256)]

    def batched() -> None:
        for batch in batches:
            rows = torch.nn.utils.rnn.pad_sequence([torch.tensor(row[::-1]) for row in batch], batch_first=True)
            left_padded = rows.flip(1)
            theirs(left_padded, (left_padded != 0).long(), ANSWER_LENGTH)

    many = bench.in_turns(batched, lambda: generate(model, prompts, max_new=ANSWER_LENGTH))
    slow = f"transformers {transformers.__version__}"
    return [
        Row(f"{length} characters, one text", slow, **one, target=1),
        Row(f"{len(prompts)} {source}, 32 characters each", slow, **many, target=1),
    ]


def main(
    quick: bool = False,
    json: bool = False,
    repeats: int = 3,
    threads: int | None = None,
    clock: Literal["wall", "processor"] = "wall",
) -> None:
    """Measure and print.

    Args:
        quick: Small sizes, to see that it works.
        json: Print JSON instead of a table.
        repeats: How often each comparison is made.
        threads: Threads of torch (default: one per usable core).
        clock: What is counted. With one thread, processor time leaves out what else the machine is doing.
    """
    torch.set_num_threads(threads or machine.usable_cores())
    console = Console(stderr=json)
    bench = Bench(quick, repeats, time.perf_counter if clock == "wall" else time.process_time)
    rows = [one_long_text(bench), *many_questions(bench, console), whole_lists(bench)]
    if importlib.util.find_spec("transformers") is not None:
        rows += against_transformers(bench)
    else:
        console.print("transformers is not installed: no comparison with its generate")
    if json:
        print(json_format.dumps([{**asdict(row), "ratios": row.ratios} for row in rows], ensure_ascii=False))
    else:
        print_table(rows, console)
        counted = f"{clock} time, {torch.get_num_threads()} threads, torch {torch.__version__}"
        console.print(f"median of {repeats} repeats; {counted}")
    if any(row.same_answers is False for row in rows):
        sys.exit("the two ways gave different answers: what they took cannot be compared")


if __name__ == "__main__":
    tyro.cli(main)
