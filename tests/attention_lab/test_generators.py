import numpy as np
import pytest
import torch

from loci.attention_lab.repetition_sweep import make_material, model_generator, ngram_generator, read_lines
from loci.errors import LociError
from loci.generation.sampling import GREEDY, Sampler
from loci.model import GPT, GPTConfig
from loci.text.vocab import Vocab

LINES = ["the cat sat on the mat", "the dog ran to the log", "a man had a hat"] * 3


def rng():
    return np.random.default_rng(0)


def test_lines_are_read_without_blanks_and_windows_ends(tmp_path):
    (tmp_path / "t.txt").write_bytes(b"one\r\n\r\n  \ntwo")
    assert read_lines(tmp_path / "t.txt") == ["one", "two"]
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("absent", "no such file"),
        ("empty.txt", "no text"),
        ("bytes.txt", "not text"),
        ("", "is a folder"),
    ):
        with pytest.raises(LociError, match=message):
            read_lines(tmp_path / name)


def test_material_counts_what_the_vocabulary_knows():
    vocab = Vocab.from_text("".join(LINES))  # no line end
    material = make_material([*LINES, "Zürich"], 4, rng(), vocab=vocab)
    assert len(material.texts) == len(LINES)
    assert len(material.beginnings) == 4
    assert all(any(line.startswith(start) for line in LINES) for start in material.beginnings)
    own = make_material(LINES, 12, rng(), prompt="the ")
    assert len(own.texts) == 1
    assert set(own.beginnings) == {"the "}
    with pytest.raises(LociError, match="knows no line"):
        make_material(["Zürich"], 1, rng(), vocab=vocab)


def test_pieces_are_as_long_as_what_is_written():
    material = make_material(LINES, 1, rng())
    pieces = material.pieces(20)
    assert {len(piece) for piece in pieces} == {20}
    assert len(pieces) == len(material.texts[0]) // 20
    assert material.pieces(10_000) == []


def test_writers_continue_every_prompt_and_repeat_themselves():
    material = make_material(LINES, 3, rng())
    config = GPTConfig(len(material.vocab), block_size=16, n_layer=1, n_head=1, n_embd=8)
    model = GPT(config, generator=torch.Generator().manual_seed(0)).eval()
    for write in (ngram_generator(material, 2, 40, seed=1), model_generator(material, model, 40, seed=1)):
        for sampler in (GREEDY, Sampler()):
            texts = write(sampler)
            assert [len(text) for text in texts] == [40] * 3
            assert write(sampler) == texts
