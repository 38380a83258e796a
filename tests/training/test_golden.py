"""Nothing changes results silently: twenty steps of the course's recipe against stored losses and a plain loop."""

import math

import pytest
import torch
import torch.nn.functional as F

from loci.data.example import IGNORED
from loci.model import GPT, GPTConfig
from loci.pipeline import carry_out
from loci.recipes import DataShape
from loci.recipes.course import COURSE_MODEL, FIXES, finetune_stage, pretrain_stage
from loci.text.corpus import Corpus
from loci.text.questions import Questions
from loci.text.world import WorldSpec, write_world
from loci.training.loss import next_character_loss
from loci.training.optim import make_optimisers
from loci.training.plan import Recipe
from loci.training.run import read_metrics
from loci.training.sources import TrainingData, make_stream

#: Written when a batch went through the model as one part. Pretraining, then finetuning, without dropout.
GOLDEN = (
    4.482361,
    4.273366,
    4.077351,
    3.814891,
    4.630415,
    3.588743,
    3.402451,
    3.338278,
    3.198887,
    3.149704,
    3.23826,
    3.02131,
    3.008068,
    3.112601,
    3.475694,
    3.520364,
    3.32091,
    3.384048,
    3.237892,
    3.30293,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden") / "world"
    write_world(WorldSpec(people=90, seed=5), folder)
    return TrainingData(Corpus.read(folder), Questions.read(folder / "birth_places_train.tsv"))


@pytest.fixture(scope="module")
def recipe(data):
    """The published recipe, schedule included, in a model and batches small enough for a test; what dropout draws is
    held by tests/model/test_kernels.py."""
    shape = DataShape(len(data.corpus), len(data.questions))
    changes = ["model.n_layer=2", "model.n_embd=64", "pretrain.steps=14", "finetune.steps=6"]
    changes += ["pretrain.batch_size=32", "finetune.batch_size=32"]  # the last batch of a pass is short
    changes += ["model.embd_pdrop=0", "model.attn_pdrop=0", "model.resid_pdrop=0"]
    # The stored losses are those of the usual decay, rate and questions; the course's own are held in tests/interop.
    stages = (pretrain_stage(shape, year=2024, fix=FIXES), finetune_stage(shape, fix=FIXES))
    return Recipe("course-2024", COURSE_MODEL, stages).override(changes)


@pytest.fixture(scope="module")
def losses(data, recipe, tmp_path_factory):
    run = tmp_path_factory.mktemp("golden") / "run"
    carry_out(recipe, data, run)
    return [row["loss"] for row in read_metrics(run)]


def plain_losses(recipe, data, *, faithful):
    """The published loop in the plainest words. `faithful` adds the house's own order of floating-point sums."""
    config = GPTConfig.from_dict({**recipe.model, "vocab_size": len(data.vocab)})
    model = GPT(config, generator=torch.Generator().manual_seed(recipe.seed)).train()
    found = []
    for index, stage in enumerate(recipe.stages):
        torch.manual_seed(recipe.seed * 1000 + index)
        stream = make_stream(stage, index, recipe, data, config.block_size)
        linear = [m.weight for m in model.modules() if isinstance(m, torch.nn.Linear)]
        others = [p for p in model.parameters() if all(p is not w for w in linear)]
        groups = [{"params": linear, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        (optimiser,) = (
            make_optimisers(model, stage) if faithful else [torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.95))]
        )
        tokens = 0
        for step in range(stage.steps):
            batch = stream.batch(step)
            x, y = torch.from_numpy(batch.x), torch.from_numpy(batch.y)
            tokens += len(x) * (config.block_size - 1)
            if tokens < 512 * 20:
                rate = tokens / (512 * 20)
            else:
                done = (tokens - 512 * 20) / (stage.final_tokens - 512 * 20)
                rate = max(0.1, 0.5 * (1 + math.cos(math.pi * done)))
            if faithful:
                loss = next_character_loss(model, x, y).total
            else:
                loss = F.cross_entropy(model(x).logits.flatten(0, 1), y.flatten(), ignore_index=IGNORED)
            model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for group in optimiser.param_groups:
                group["lr"] = stage.lr * rate
            optimiser.step()
            found.append(loss.item())
    return found


def test_the_course_recipe_gives_the_losses_it_always_gave(losses):
    assert len(losses) == len(GOLDEN) == 20
    assert losses == pytest.approx(GOLDEN, rel=1e-4)


def test_the_loop_is_the_plain_loop_to_the_last_bit(recipe, data, tmp_path):
    """Each batch in one part: another order of sums rounds differently."""
    carry_out(recipe.override(["pretrain.accumulate=1", "finetune.accumulate=1"]), data, tmp_path / "run")
    assert [row["loss"] for row in read_metrics(tmp_path / "run")] == plain_losses(recipe, data, faithful=True)


def test_the_loop_is_the_published_loop(losses, recipe, data):
    """With logits everywhere and the textbook optimiser: the sums are the same, their rounding is not."""
    assert losses == pytest.approx(plain_losses(recipe, data, faithful=False), rel=1e-4)
