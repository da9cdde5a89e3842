"""Reward from one or several trained reward models, on this machine or from the hub."""

import functools
import math
import os
import statistics
from collections.abc import Sequence
from typing import Any, Literal

NEEDS_PARAMETERS = [["models"]]
COMBINE: dict[str, Any] = {"mean": statistics.fmean, "min": min, "median": statistics.median}


def reward_model(
    prompts: list,
    completions: list,
    *,
    models: Sequence[str] = (),
    combine: Literal["mean", "min", "median"] = "mean",
    max_length: int = 2048,
    batch_size: int = 8,
    **kwargs: object,
) -> list[float | None]:
    """What a trained reward model, or several together, give the prompt with the completion.

    A reward model is a sequence classifier with one label, in safetensors; no code of its own is run. A chat is
    put through the model's own chat template, anything else is joined as text, as TRL does. Several models make an
    ensemble, which is harder to please by accident; their scores are combined as they are, so they should be on one
    scale. Of a text that is too long, the end is kept. A score that is not finite is None.

    Args:
        models: folders or hub ids, such as [Skywork/Skywork-Reward-V2-Qwen3-0.6B].
        combine: how several models' scores become one: mean, min (the most doubtful counts) or median.
        max_length: tokens of prompt and completion that are read.
        batch_size: how many texts are scored at once.
    """
    names = [models] if isinstance(models, str) else list(models or [])
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise ValueError("models must name at least one reward model: a folder, or a hub id.")
    if combine not in COMBINE:
        raise ValueError(f"combine must be mean, min or median, not {combine!r}.")
    for name, value in (("max_length", max_length), ("batch_size", batch_size)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1, not {value!r}.")
    if not completions:
        return []
    judged = [judge(name, prompts, completions, max_length, batch_size) for name in names]
    scores: list[float | None] = []
    for values in zip(*judged, strict=True):
        scores.append(float(COMBINE[combine](values)) if all(map(math.isfinite, values)) else None)
    return scores


def judge(name: str, prompts: list, completions: list, max_length: int, batch_size: int) -> list[float]:
    """One model's score of each completion."""
    import torch

    model, tokenizer = loaded(os.path.expanduser(name))
    limit = min(max_length, getattr(model.config, "max_position_embeddings", None) or max_length)
    texts = [text_for(tokenizer, prompt, completion) for prompt, completion in zip(prompts, completions, strict=True)]
    scores: list[float] = []
    for start in range(0, len(texts), batch_size):
        tokens = tokenizer(
            texts[start : start + batch_size], return_tensors="pt", padding=True, truncation=True, max_length=limit,
            padding_side="right", add_special_tokens=False,
        )  # fmt: skip
        inputs = {key: tokens[key].to(model.device) for key in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            scores += model(**inputs).logits[:, 0].float().tolist()
    return scores


@functools.cache
def loaded(name: str) -> tuple[Any, Any]:
    """A reward model and its tokenizer, kept for the next call. Raises ValueError where it is no reward model."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, about = AutoModelForSequenceClassification.from_pretrained(
        name, num_labels=1, use_safetensors=True, trust_remote_code=False, output_loading_info=True,
        ignore_mismatched_sizes=True,
    )  # fmt: skip
    # transformers fills with chance what is missing or of another size, and says so only in the log
    wrong = sorted(about["missing_keys"]) + sorted(key for key, *_ in about["mismatched_keys"])
    if wrong:
        raise ValueError(f"models: {name} is not a trained reward model with one score: it has no {wrong[0]} for it.")
    tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, truncation_side="left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = tokenizer.pad_token_id
    return model.to(device_for(model)).eval(), tokenizer


def device_for(model: Any) -> str:
    """A GPU with room for the model and as much again to work with, beside the training; else the CPU."""
    import torch

    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    return "cuda" if torch.cuda.is_available() and torch.cuda.mem_get_info()[0] > 2 * size else "cpu"


def text_for(tokenizer: Any, prompt: object, completion: object) -> str:
    """Prompt and completion as the reward model reads them."""
    if isinstance(prompt, list) and isinstance(completion, list) and tokenizer.chat_template:
        messages = [{**message, "content": message.get("content") or ""} for message in prompt + completion]
        return str(tokenizer.apply_chat_template(messages, tokenize=False))
    return plain(prompt) + plain(completion) or tokenizer.eos_token or " "  # nothing at all cannot be scored


def plain(messages: object) -> str:
    """A text as it is, and a chat as what it says."""
    if isinstance(messages, list):
        return "\n".join(str(message.get("content") or "") for message in messages)
    return str(messages)
