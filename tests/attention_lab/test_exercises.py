import dataclasses
import json
from typing import Any

import pytest
import torch

from loci.attention_lab.catalogue import EXERCISES
from loci.attention_lab.exercises.result import ArcPanel, LabSettings, MatrixPanel, Panel
from loci.attention_lab.qk_spectra import cut_rank, dot_layers, folding_error, qk_spectra
from loci.attention_lab.short_runs import short_run, unit_variance_scores
from loci.errors import LociError
from loci.model import GPT, GPTConfig
from loci.model.folding import fold, unfold
from loci.text.vocab import Vocab
from loci.training.checkpoint import save_checkpoint


def carry_out(name, settings):
    return EXERCISES[name].run(settings)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_gives_a_table_and_panels_and_repeats_itself(name):
    result = carry_out(name, LabSettings(seed=3))
    assert result.rows
    assert result.panels
    assert result.findings
    json.dumps([EXERCISES[name].to_dict(), dataclasses.asdict(result)])
    assert EXERCISES[name].symbols
    assert EXERCISES[name].formulas
    assert carry_out(name, LabSettings(seed=3)) == result


def test_copying_and_averaging_measure_what_the_formula_says():
    for row in carry_out("copying", LabSettings()).rows:
        assert row[4] == "yes"
    for n, share, _, _, left in carry_out("averaging", LabSettings()).rows:
        assert left == pytest.approx(min(share, (n - 2) / n), abs=1e-6)


def test_noise_measures_what_the_formula_says():
    for _, _, variance, drawn, near, near_drawn in carry_out("noisy-keys", LabSettings()).rows:
        assert drawn == pytest.approx(variance, abs=0.01)
        assert near_drawn == pytest.approx(near, abs=0.03)


def test_heads_measure_what_the_formula_says_and_two_vary_less_than_one():
    rows = carry_out("heads", LabSettings()).rows
    handout = [row for row in rows if row[0] == 2]
    assert len(handout) == 10
    for _, _, _, closed, simulated, *_ in handout:
        assert simulated == pytest.approx(closed, rel=0.15)
    by_beta = {(beta, heads): simulated for _, beta, heads, _, simulated, *_ in handout}
    assert all(by_beta[beta, 2] < by_beta[beta, 1] / 4 for beta in (2.0, 4.0, 8.0, 16.0, 32.0))


def test_solve_takes_requests_and_says_why_not():
    answer = carry_out("solve", LabSettings(inputs="a, b", outputs="1=b, 2=a"))
    assert "c_1 = b; c_2 = a" in answer.findings[1]
    impossible = carry_out("solve", LabSettings(inputs="a, a", outputs="1=a, 2=b"))
    assert "No attention head whatsoever" in impossible.findings[1]
    assert not impossible.rows
    with pytest.raises(LociError, match="no position 5"):
        carry_out("solve", LabSettings(inputs="a", outputs="5=a"))


def test_parse_draws_the_chosen_sentence(tmp_path):
    path = tmp_path / "two.conllu"
    columns = ["_"] * 10
    words = [("Go", "0", "root"), ("He", "2", "nsubj"), ("ran", "0", "root")]
    blocks = []
    for sentence in (words[:1], words[1:]):
        rows = []
        for number, (form, head, relation) in enumerate(sentence, start=1):
            columns[0], columns[1], columns[6], columns[7] = str(number), form, head, relation
            rows.append("\t".join(columns))
        blocks.append("\n".join(rows) + "\n")
    path.write_text("\n".join(blocks))
    result = carry_out("parse", LabSettings(conllu=path, sentence=2))
    assert isinstance(result.panels[0], ArcPanel)
    assert result.panels[0].parse.text == "He ran"
    assert isinstance(result.panels[1], MatrixPanel)
    for number, message in ((3, "has 2 sentences, not 3"), (0, "count from 1")):
        with pytest.raises(LociError, match=message):
            carry_out("parse", LabSettings(conllu=path, sentence=number))


def test_unknown_exercises_are_refused():
    with pytest.raises(LociError, match="unknown exercise 'magic'"):
        carry_out("magic", LabSettings())


def tiny(**changes):
    config = GPTConfig(13, block_size=24, n_layer=2, n_head=2, n_embd=16).replace(**changes)
    model = GPT(config, generator=torch.Generator().manual_seed(0)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(
                torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel())), alpha=0.2
            )
    return model


IDS = torch.arange(12)[None]


def test_spectra_are_those_of_the_folded_model():
    model = tiny()
    spectra = qk_spectra(model)
    assert spectra.shape == (2, 2, 8)
    trunk: Any = fold(model).trunk
    layer = trunk.layers[1].attn
    whole = torch.cat((layer.fold, layer.pull[:, None]), dim=1)
    assert spectra[1] == pytest.approx(torch.linalg.svdvals(whole)[:, :8].detach().numpy(), rel=1e-4)


def test_folding_a_run_moves_its_logits_by_rounding_or_says_why_not():
    said = folding_error(tiny())
    assert all(float(number) < 1e-3 for number in said.removesuffix(".").rpartition("at most ")[2].split(", "))
    assert "cannot be folded: folding needs queries and keys that meet unrotated" in folding_error(
        tiny(positions="rope")
    )


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_cutting_is_folding_and_unfolding_to_that_rank(rank):
    model = tiny()
    with torch.no_grad():
        cut = cut_rank(model, rank)(IDS).logits
        torch.testing.assert_close(cut, unfold(fold(model), rank)(IDS).logits, atol=1e-4, rtol=1e-4)
        if rank == 8:
            torch.testing.assert_close(cut, model(IDS).logits, atol=1e-4, rtol=1e-4)
    assert (qk_spectra(cut_rank(model, rank))[..., rank:] < 1e-5).all()


def test_cutting_to_nothing_leaves_even_attention_and_works_with_rotary_positions():
    model = tiny(positions="rope")
    with torch.no_grad():
        trace = cut_rank(model, 0)(IDS, trace=True).trace
    # Zero key weights: only the key bias is left, turned by distance.
    assert all(torch.isfinite(weights).all() for weights in trace)
    whole = cut_rank(model, 8)
    with torch.no_grad():
        torch.testing.assert_close(whole(IDS).logits, model(IDS).logits, atol=1e-4, rtol=1e-4)


def test_models_without_queries_and_keys_are_refused():
    with pytest.raises(LociError, match="no query and key matrices"):
        qk_spectra(tiny(attention="folded"))
    with pytest.raises(LociError, match="rank 0 to 8, not 9"):
        cut_rank(tiny(), 9)


def test_folding_of_a_run_and_recall_by_rank(tmp_path):
    vocab = Vocab.from_text("abcdefgh ?")
    config = GPTConfig(len(vocab), block_size=64, n_layer=2, n_head=2, n_embd=16)
    save_checkpoint(tmp_path / "run", GPT(config, generator=torch.Generator().manual_seed(0)), vocab, about={})
    (tmp_path / "q.tsv").write_text("abc?\tde\nfgh?\tab\n")
    result = carry_out("folding", LabSettings(run=tmp_path / "run", questions=tmp_path / "q.tsv"))
    assert "Effective rank" in result.findings[1]
    assert result.panels[-1].title.startswith("Answers still right")
    assert result.panels[-1].curves[0].x == (0, 1, 2, 4, 8)


def test_short_runs_learn_and_start_at_unit_variance():
    losses = short_run(1.0, 0, steps=12, people=20)
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    assert losses == short_run(1.0, 0, steps=12, people=20)
    model = GPT(GPTConfig(11, n_layer=1, n_head=1, n_embd=64))
    unit_variance_scores(model, torch.Generator().manual_seed(0))
    layer = dot_layers(model)[0]
    x = torch.randn(500, 64, generator=torch.Generator().manual_seed(1))
    queries, keys, _ = layer.qkv(x).split(layer.widths, dim=-1)
    assert queries.var().item() == pytest.approx(1, rel=0.1)
    assert keys.var().item() == pytest.approx(1, rel=0.1)


def test_training_effect_panel(monkeypatch):
    monkeypatch.setattr("loci.attention_lab.short_runs.short_run", lambda beta, seed: [3.0 - beta] * 20)
    result = carry_out("temperature", LabSettings(train=True))
    panel = result.panels[-1]
    assert isinstance(panel, Panel)
    assert panel.curves[1].y[-1] == pytest.approx(2)
    assert "2.000 ± 0.000 with β = 1." in result.findings[-1]
