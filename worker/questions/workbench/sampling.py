"""What a model writes to some prompts, sampled in groups as its training would, on the processor; the model stays
loaded."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupwise.storage.home import paths
from groupwise.storage.registry.messages.completions import SAMPLING
from groupwise.storage.spec.spec import ModelSpec
from groupwise.worker.builtin import models
from groupwise.worker.capabilities import hardware
from groupwise.worker.data import sources
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions.workbench.request import Refused

AT_ONCE = 32  # completions that are generated side by side
PATIENCE = 200.0  # seconds after which what is there is taken: the question server gives a question up at 300
FREE_SHARE = 0.7  # of the free memory that the weights may take

Say = Callable[[int, int, int, int], None]  # completions done, of how many; tokens of the longest, of at most how many


@dataclass
class Loaded:
    """A model that is loaded. `ends`: the token ids that end a completion."""

    model: Any
    tokenizer: Any
    ends: list[int]


@dataclass(frozen=True)
class Sampled:
    """A completion, its token ids with the end mark, and whether it was cut off before one."""

    text: str
    ids: list[int]
    truncated: bool


_warm: dict[str, Loaded] = {}


def is_warm(spec: ModelSpec) -> bool:
    """Whether the model is loaded that this spec asks for."""
    return spec.model_dump_json() in _warm


def load_once(spec: ModelSpec) -> Loaded:
    """The model, loaded once for as long as it is the one that is asked. Raises Refused."""
    key = spec.model_dump_json()
    if key not in _warm:
        _warm.clear()  # before the next is loaded: two may not fit
        _warm[key] = _load(spec)
    return _warm[key]


def _load(spec: ModelSpec) -> Loaded:
    from transformers.utils import logging as chatter

    chatter.disable_progress_bar()  # the log is read by people
    attention = spec.attn_implementation if "flash" not in (spec.attn_implementation or "") else None
    plain = spec.model_copy(update={"quantization": None, "attn_implementation": attention})
    try:
        elsewhere = spec.id != "starter" and not paths.expand_home(spec.id).exists()
        with sources.offline(elsewhere and not sources.hub_answers()):
            _refuse_too_large(Path(models.place(plain)))
            model, tokenizer = models.load_model(plain, use_cpu=True)
    except Refused:
        raise
    except models.NoModel as error:
        said = str(error)
        raise Refused(f"{said[:1].upper()}{said[1:]}", "model.id") from error
    except Exception as error:  # a missing folder, no network, a damaged file: each library has its own
        reason = (str(error).splitlines() or [type(error).__name__])[0][:300].rstrip(".")
        raise Refused(f"The model “{spec.id}” cannot be loaded: {reason}.", "model.id") from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    declared = model.generation_config.eos_token_id
    ends = declared if isinstance(declared, list) else [] if declared is None else [declared]
    if tokenizer.eos_token_id not in ends:  # as TRL has it: every end that the model declares, and the tokenizer's
        ends = [tokenizer.eos_token_id, *ends]
    return Loaded(model.eval(), tokenizer, [end for end in ends if end is not None])


def _refuse_too_large(folder: Path) -> None:
    size = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    free = hardware.free_memory()
    if free and size > FREE_SHARE * free:
        raise Refused(
            f"The model's weights are {size / 1e9:.1f} GB and {free / 1e9:.1f} GB of memory are free here, where it "
            "would run on the processor. Take completions of a past run, or type some.", "model.id",
        )  # fmt: skip


def generation(training: dict[str, Any]) -> dict[str, Any]:
    """What a spec's training settings say about sampling, with GRPOConfig's defaults."""
    from trl import GRPOConfig

    fields = GRPOConfig.__dataclass_fields__
    return {name: fields[name].default if training.get(name) is None else training[name] for name in SAMPLING}


def sample(found: Loaded, prompts: list[Any], size: int, training: dict[str, Any], say: Say) -> list[list[Sampled]]:
    """`size` completions of each prompt (text or messages), as GRPOTrainer._generate_single_turn makes them; those
    that were not begun when the time was up are left out. Raises Refused where the settings cannot be used."""
    import torch

    torch.manual_seed(int.from_bytes(os.urandom(7)))  # a hand is forked: each would draw the same
    settings = generation(training)
    until = time.monotonic() + PATIENCE
    ids = [_ids(found, prompt, settings["chat_template_kwargs"] or {}) for prompt in prompts]
    flat = [one for one in ids for _ in range(size)]
    done: list[Sampled] = []
    try:
        config = _config(found, settings)
        while len(done) < len(flat) and time.monotonic() < until:
            count = len(done)

            def say_more(ended: int, tokens: int, count: int = count) -> None:
                say(count + ended, len(flat), tokens, config.max_new_tokens)

            say_more(0, 0)
            done += _generate(found, flat[count : count + AT_ONCE], config, until, say_more)
    except (TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:300].rstrip(".")
        raise Refused(f"The model cannot sample with these settings: {reason}.", "training") from error
    return [done[n * size : (n + 1) * size] for n in range(len(prompts))]


def _ids(found: Loaded, prompt: Any, template: dict[str, Any]) -> list[int]:
    try:
        if isinstance(prompt, str):
            return list(found.tokenizer(text=prompt)["input_ids"])
        made = found.tokenizer.apply_chat_template(
            prompt, add_generation_prompt=True, tokenize=True, return_dict=True, **template
        )
        return list(made["input_ids"])
    except Exception as error:  # a template is a program of the model's makers: it can fail in any way
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
        message = f"the model's chat template cannot format this prompt: {reason}"
        raise DataError(message, "data.prompt_template") from error


def _config(found: Loaded, settings: dict[str, Any]) -> Any:
    """As GRPOTrainer.__init__ of TRL 1.16 builds it."""
    from transformers import GenerationConfig

    return GenerationConfig(
        **{
            "max_new_tokens": settings["max_completion_length"],
            "do_sample": True,
            "pad_token_id": found.tokenizer.pad_token_id,
            "bos_token_id": found.tokenizer.bos_token_id,
            "eos_token_id": found.ends,
            **{name: settings[name] for name in ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")},
            "cache_implementation": settings["cache_implementation"],
            **(settings["generation_kwargs"] or {}),
        },
        disable_compile=True,
    )


def _watch(prompt: int, ends: list[int], say: Callable[[int, int], None]) -> Callable[..., Any]:
    """A stopping criterion that stops nothing: after each token it says how many completions have ended, and how many
    tokens there are. `prompt`: how many of them are the prompt's."""
    import torch

    def look(ids: Any, scores: Any, **_: Any) -> Any:
        written = ids[:, prompt:]
        ended = torch.isin(written, torch.tensor(ends)).any(dim=1)
        say(int(ended.sum()), int(written.shape[1]))
        return torch.zeros(len(ids), dtype=torch.bool)

    return look


def _generate(
    found: Loaded, prompts: list[list[int]], config: Any, until: float, say: Callable[[int, int], None]
) -> list[Sampled]:
    import torch
    from transformers import StoppingCriteriaList

    padded = found.tokenizer.pad({"input_ids": prompts}, padding=True, padding_side="left", return_tensors="pt")
    model = found.model
    model.generation_config = config  # else what the model itself prefers would fill in what is not set
    config.max_time = max(until - time.monotonic(), 1.0)
    with torch.inference_mode():
        whole = model.generate(
            input_ids=padded["input_ids"], attention_mask=padded["attention_mask"], generation_config=config,
            stopping_criteria=StoppingCriteriaList([_watch(padded["input_ids"].shape[1], found.ends, say)]),
        )  # fmt: skip
    return [_cut_at_end(found, row.tolist()) for row in whole[:, padded["input_ids"].shape[1] :]]


def _cut_at_end(found: Loaded, ids: list[int]) -> Sampled:
    """Up to and with the first end; the count and the mark are those that a run records (worker.training.capture)."""
    end = next((place for place, token in enumerate(ids) if token in found.ends), None)
    ids = ids if end is None else ids[: end + 1]
    text = found.tokenizer.decode(ids, skip_special_tokens=True)
    ended = {*found.ends, found.tokenizer.pad_token_id}
    return Sampled(str(text), ids, not ids or ids[-1] not in ended)
