"""How much faster generation is than the published `sample`, with the same weights in the same run.

The published loop reads the whole prefix again for every character, one text at a time. Each row of the table times two
ways in turns and gives the median ratio with its range over the repeats. Both ways do the same work but in one row,
which says so: the published evaluation always writes 32 characters, where Loci stops when the answer has ended. Weights
are random and never end an answer by themselves, so answers that end are held to the list of answers. Where only a part
of the slow way is run, its time is scaled up, and the row says so.

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
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import tyro
from rich.console import Console
from rich.table import Table

from loci.data.objectives import question_prompt
from loci.generation import Trie, generate, score_candidates
from loci.model import GPT, GPTConfig
from loci.text.questions import Questions
from loci.text.vocab import MASK_ID, Vocab
from loci.text.world import WorldSpec
from loci.text.world.population import people

COURSE_DEV = Path(__file__).resolve().parents[2] / "shared" / "data" / "course" / "birth_dev.tsv"
PUBLISHED_STEPS = 32
"""The published evaluation writes this many characters for every question, whatever they are."""
VOCAB_SIZE = 256


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of each repeat, the slow way scaled up where only a part of it was run."""

    what: str
    slow: str
    slow_seconds: list[float]
    loci_seconds: list[float]
    target: float | None = None
    """What the project set out to reach; None where it set nothing."""
    note: str = ""

    @property
    def ratios(self) -> list[float]:
        """How many times faster Loci was, repeat by repeat."""
        return [slow / fast for slow, fast in zip(self.slow_seconds, self.loci_seconds, strict=True)]


@dataclass(frozen=True)
class Bench:
    """How much is measured, how often, and by which clock."""

    quick: bool
    repeats: int
    clock: Callable[[], float]

    def seconds(self, work: Callable[[], Any]) -> float:
        """How long some work takes."""
        begin = self.clock()
        work()
        return self.clock() - begin

    def in_turns(self, slow: Callable[[], Any], fast: Callable[[], Any], scale: float = 1) -> dict[str, list[float]]:
        """Both ways, alternating, after one run of the fast way to warm up."""
        fast()
        pairs = [(scale * self.seconds(slow), self.seconds(fast)) for _ in range(self.repeats)]
        return {"slow_seconds": [pair[0] for pair in pairs], "loci_seconds": [pair[1] for pair in pairs]}


@torch.no_grad()
def published_sample(model: GPT, prompt: Sequence[int], steps: int) -> list[int]:
    """The published way: the whole prefix, logits everywhere, the last one's likeliest id, and again."""
    ids = torch.tensor([list(prompt)])
    for _ in range(steps):
        logits = model(ids[:, -model.config.block_size :]).logits
        likeliest = logits[:, -1].softmax(-1).topk(1).indices
        ids = torch.cat((ids, likeliest), dim=1)
    return ids[0, len(prompt) :].tolist()


def questions_and_answers() -> tuple[list[str], list[str], str]:
    """The course's dev questions where they are, else those of a world of the same size."""
    if COURSE_DEV.is_file():
        asked = Questions.read(COURSE_DEV)
        return [q.text for q in asked], sorted({q.answer for q in asked if q.answer}), "course dev questions"
    world = list(people(WorldSpec(people=500)))
    texts = [f"Where was {person.name} born?" for person in world]
    return texts, sorted({person.birthplace for person in world}), "questions of a world"


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


def many_questions(bench: Bench) -> list[Row]:
    texts, answers, source = questions_and_answers()
    vocab = make_vocab(texts, answers)
    model = make_model()
    prompts = [question_prompt(vocab, text) for text in texts]
    part = 10 if bench.quick else 40
    some = prompts[:: len(prompts) // part][:part]
    scale = len(prompts) / len(some)
    note = f"slow way: {len(some)} of {len(prompts)}, scaled"

    def slow() -> None:
        for prompt in some:
            published_sample(model, prompt, PUBLISHED_STEPS)

    constraint = Trie([vocab.encode(answer) for answer in answers], stop_id=MASK_ID)
    same = bench.in_turns(slow, lambda: generate(model, prompts, max_new=PUBLISHED_STEPS), scale)
    ending = bench.in_turns(
        slow, lambda: generate(model, prompts, max_new=PUBLISHED_STEPS, constraint=constraint), scale
    )
    alike = bench.in_turns(
        lambda: generate(model, some, max_new=PUBLISHED_STEPS, constraint=constraint, use_cache=False, batch_size=1),
        lambda: generate(model, prompts, max_new=PUBLISHED_STEPS, constraint=constraint),
        scale,
    )
    what = f"{len(prompts)} {source}"
    unequal = f"{note}; unequal work: only Loci stops at the end, held to the list of answers"
    return [
        Row(f"{what}, 32 characters each", "one at a time, 32 steps", **same, target=40, note=note),
        Row(f"{what}, until the answer ends", "one at a time, until it ends", **alike, target=40, note=note),
        Row(f"{what}, until the answer ends", "one at a time, always 32 steps", **ending, target=40, note=unequal),
    ]


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
    from transformers import GPT2Config, GPT2LMHeadModel

    config = model.config
    other = GPT2LMHeadModel(
        GPT2Config(
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
    import transformers

    transformers.logging.set_verbosity_error()
    texts, answers, source = questions_and_answers()
    vocab = make_vocab(texts, answers)
    model, length = make_model(block_size=640), 128 if bench.quick else 512
    other = as_transformers(model)
    prompt = list(range(2, 34))
    ids = torch.tensor([prompt])
    with torch.no_grad():
        torch.testing.assert_close(other(ids).logits, model(ids).logits, atol=1e-4, rtol=1e-4)

    def theirs(batch: torch.Tensor, mask: torch.Tensor, steps: int) -> torch.Tensor:
        with torch.inference_mode():
            return other.generate(
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
            theirs(left_padded, (left_padded != 0).long(), PUBLISHED_STEPS)

    many = bench.in_turns(batched, lambda: generate(model, prompts, max_new=PUBLISHED_STEPS))
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
        threads: Threads of torch (default: its own choice).
        clock: What is counted. With one thread, processor time leaves out what else the machine is doing.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    console = Console(stderr=json)
    bench = Bench(quick, repeats, time.perf_counter if clock == "wall" else time.process_time)
    rows = [one_long_text(bench), *many_questions(bench), whole_lists(bench)]
    if importlib.util.find_spec("transformers") is not None:
        rows += against_transformers(bench)
    else:
        console.print("transformers is not installed: no comparison with its generate")
    if json:
        print(json_format.dumps([{**asdict(row), "ratios": row.ratios} for row in rows], ensure_ascii=False))
        return
    table = Table("what", "the other way", "s", "Loci, s", "times faster (range)", "asked for", "")
    for row in rows:
        ratio = f"{statistics.median(row.ratios):.1f} ({min(row.ratios):.1f}–{max(row.ratios):.1f})"
        slow, fast = (statistics.median(times) for times in (row.slow_seconds, row.loci_seconds))
        table.add_row(
            row.what,
            row.slow,
            f"{slow:.2f}",
            f"{fast:.2f}",
            ratio,
            "" if row.target is None else f"≥ {row.target:g}",
            row.note,
        )
    console.print(table)
    counted = f"{clock} time, {torch.get_num_threads()} threads, torch {torch.__version__}"
    console.print(f"median of {repeats} repeats; {counted}")


if __name__ == "__main__":
    tyro.cli(main)
