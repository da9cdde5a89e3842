"""“What is this model?”"""

from __future__ import annotations

from typing import ClassVar, Literal

from groupwise.storage.registry.messages.message import Answer, Ask, Message
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.spec import ModelSpec


class ModelQuestion(Ask):
    kind: ClassVar[str] = "model"
    model: ModelSpec


class ModelFacts(Message):
    """What is known of a model; what is not known is not there, or None.

    folder … base, only_bin: of its files, as storage.library.models.model_facts has them; bytes: of the weights.
    tokens: that the tokenizer knows; eos, pad: their text; chat: whether it has a chat template; system_role: what that
    makes of a system prompt; lora_targets: what PEFT takes by itself. download (bytes), gated: of one at the hub.
    """

    folder: str = ""
    model_type: str = ""
    architectures: list[str] = []
    parameters: int | None = None
    counted: bool = False
    dtype: str | None = None
    bytes: int = 0
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    max_position: int | None = None
    tied: bool = False
    experts: int | None = None
    experts_used: int | None = None
    modules: list[str] = []
    has_tokenizer: bool = False
    has_chat_template: bool = False
    weights: str = ""
    missing: list[str] = []
    quantized: str | None = None
    needs_code: bool = False
    adapter: bool = False
    base: str | None = None
    causal: bool | None = None
    only_bin: bool = False
    tokens: int | None = None
    eos: str | None = None
    pad: str | None = None
    chat: bool | None = None
    system_role: Literal["used", "ignored", "refused"] | None = None
    lora_targets: list[str] | None = None
    download: int | None = None
    gated: bool | None = None


class ModelAnswer(Answer):
    facts: ModelFacts
    problems: list[ProblemMessage]
