"""A Loci model as a model of the transformers library: what `trust_remote_code` loads.

`loci export --to hf` cuts these classes and the model's own out of our sources into one `modeling_loci.py`. Nothing
here is imported by Loci itself.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import PretrainedConfig, PreTrainedModel
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import CausalLMOutput

from loci.model.config import GPTConfig
from loci.model.gpt import GPT


class LociConfig(PretrainedConfig):  # type: ignore[misc]
    """The fields of Loci's own config, under `loci`."""

    model_type = "loci"

    def __init__(self, loci: dict[str, Any] | None = None, **kwargs: Any):
        self.loci = loci or {}
        for theirs, ours in (("vocab_size", "vocab_size"), ("hidden_size", "n_embd"), ("num_hidden_layers", "n_layer")):
            setattr(self, theirs, self.loci.get(ours))
        self.num_attention_heads = self.loci.get("n_head")
        super().__init__(**kwargs)


class LociForCausalLM(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """Logits of the next character, and `generate`."""

    config_class = LociConfig
    main_input_name = "input_ids"

    def __init__(self, config: LociConfig):
        super().__init__(config)
        with torch.device("cpu"):  # also where transformers begins without memory: some tables are worked out here
            self.model = GPT(GPTConfig(**config.loci))
        for module in self.model.modules():
            module._non_persistent_buffers_set.clear()  # transformers fills only what the file holds, so it holds all
        self.post_init()

    def _init_weights(self, module: torch.nn.Module) -> None:
        """The model has begun as it should."""

    def get_input_embeddings(self) -> torch.nn.Module:
        """The embedding of the characters."""
        return self.model.tok_emb

    def get_output_embeddings(self) -> torch.nn.Module:
        """The head."""
        return self.model.head

    def prepare_inputs_for_generation(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """The whole text each time: there is no cache here. A model with a limit sees the newest characters."""
        limit = self.model.limit or input_ids.shape[1]
        mask = None if attention_mask is None else attention_mask[:, -limit:]
        return {"input_ids": input_ids[:, -limit:], "attention_mask": mask}

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, labels: Tensor | None = None, **kwargs: Any
    ) -> CausalLMOutput:
        """Logits at every position; a prompt may have padding before it or after it."""
        shift = None
        if attention_mask is not None and not bool(attention_mask.all()):
            # A model that looks back only never sees what stands behind a text, so padding goes there.
            first = attention_mask.int().argmax(1, keepdim=True)
            places = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
            input_ids = input_ids.gather(1, (places + first) % input_ids.shape[1])
            shift = (places - first) % input_ids.shape[1]
        logits = self.model(input_ids).logits
        if shift is not None:
            logits = logits.gather(1, shift[..., None].expand_as(logits))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten())
        return CausalLMOutput(loss=loss, logits=logits)
