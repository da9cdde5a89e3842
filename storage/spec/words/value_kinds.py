"""Whether a value can stand at the setting that a name may have meant: a whole number is no list, a word no number. A
name that sounds alike is offered only where it can. Pure."""

import re
import types
from collections.abc import Collection, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from groupwise.storage.spec.words.foreign_letters import as_english
from groupwise.storage.spec.words.misfits import meant_truth
from groupwise.storage.spec.words.setting_names import ELSEWHERE, UNDER_TRAINING

Kinds = Collection[str]  # as the worker publishes them, and “word”: a text of a few; none: not known
_PLAIN = {bool: "bool", int: "int", float: "float", str: "str", dict: "dict", list: "list"}
_WORDS = ("loss_type", "lr_scheduler_type", "optim", "save_strategy", "eval_strategy", "hub_model_id")
_TEXTS = ("run_name", "project")
_TRUTHS = ("bf16", "fp16", "use_vllm", "gradient_checkpointing", "push_to_hub", "use_rslora", "use_dora")
# Of settings that are a library's, as far as they are placed without it.
_OF_LIBRARIES: dict[str, Kinds] = {
    **dict.fromkeys(UNDER_TRAINING, ("float",)),
    **dict.fromkeys(("r", "lora_alpha", "lora_dropout"), ("float",)),
    **dict.fromkeys(_WORDS, ("word",)), **dict.fromkeys(_TEXTS, ("str",)), **dict.fromkeys(_TRUTHS, ("bool",)),
    **dict.fromkeys(("target_modules", "modules_to_save"), ("list", "word")),
    "report_to": ("list", "word"), "scale_rewards": ("bool", "word"),
}  # fmt: skip


def can_mean(typed: str, name: str, value: Any, kinds: Kinds) -> bool:
    """Whether `typed` can mean a name of which the value can be; of the same letters, or as others call it, it is that
    name."""
    plain = as_english(typed).replace("-", "_")
    is_name = ELSEWHERE.get(plain) == name or plain.replace("_", "") == name.casefold().replace("_", "")
    return is_name or can_be(value, kinds)


def can_be(value: Any, kinds: Kinds) -> bool:
    """Whether a value is of one of these kinds, or is put right with one click: a number that is a text, a list of
    one. What says nothing can be anything."""
    if value is None or not kinds:
        return True
    if isinstance(value, bool):
        return "bool" in kinds or "str" in kinds
    if isinstance(value, (int, float)):
        return bool({"int", "float", "str"} & set(kinds))
    if isinstance(value, str):
        is_number = bool({"int", "float"} & set(kinds)) and re.search(r"\d", value) is not None
        is_truth = "bool" in kinds and meant_truth(value) is not None
        return is_number or is_truth or bool({"str", "word"} & set(kinds))
    if isinstance(value, list):
        return "list" in kinds or (len(value) == 1 and can_be(value[0], kinds))
    return "dict" in kinds


def kinds_of_published(field: Mapping[str, Any]) -> Kinds:
    """Of a field as the worker publishes it: {types, choices}. Of a few texts no other value is one."""
    given = [kind for kind in field.get("types") or () if kind != "none"]
    kinds = ["word" if kind == "str" and field.get("choices") else kind for kind in given]
    return [*kinds, *(["word"] if "list" in kinds else [])]  # of one text a list is made


def kinds_of_library(name: str) -> Kinds:
    """Of a setting of TRL's or PEFT's that is known without them; none of any other."""
    return _OF_LIBRARIES.get(name, ())


def kinds_of_class(annotation: Any) -> Kinds:
    """Of the annotation of a spec's own field; none where it takes anything."""
    origin = get_origin(annotation)
    if origin is Literal:
        return ("word",)
    if origin in (Union, types.UnionType):
        return [kind for one in get_args(annotation) if one is not type(None) for kind in kinds_of_class(one)]
    if hasattr(annotation, "__metadata__"):
        return kinds_of_class(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return ("dict",)
    kind = _PLAIN.get(origin or annotation)
    if kind == "list" and get_args(annotation) == (str,):
        return "list", "word"
    return (kind,) if kind else ()
