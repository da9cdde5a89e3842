"""“What is this model?”"""

from typing import Any, ClassVar

from groupwise.storage.registry.messages.message import Answer, Ask
from groupwise.storage.registry.messages.problem import ProblemMessage
from groupwise.storage.spec.spec import ModelSpec


class ModelQuestion(Ask):
    """About the model that a spec names."""

    kind: ClassVar[str] = "model"
    model: ModelSpec


class ModelAnswer(Answer):
    """facts: what is known of the model, by name; what is not known is not there, or None.

    Of its files: those of storage.library.models.model_facts. tokens: that the tokenizer knows; eos, pad: their text;
    chat: whether it has a chat template; system_role: what that makes of a system prompt (used, ignored or refused);
    lora_targets: what PEFT takes by itself. download (bytes), gated: of one at the hub.
    """

    facts: dict[str, Any]
    problems: list[ProblemMessage]
