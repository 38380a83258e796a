"""A small untrained run on a small world's alphabet, for the commands that look into runs."""

import torch

from loci.model import GPT, GPTConfig
from loci.text.vocab import Vocab
from loci.training.checkpoint import save_checkpoint

ALPHABET = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ.,?"


def make_run(folder, answerer="direct", **changes):
    vocab = Vocab.from_text(ALPHABET)
    config = GPTConfig(len(vocab), block_size=64, n_layer=2, n_head=2, n_embd=16).replace(**changes)
    model = GPT(config, generator=torch.Generator().manual_seed(0))
    about = {"recipe": {"answerer": answerer}}
    save_checkpoint(folder, model, vocab, about=about)
    return folder
