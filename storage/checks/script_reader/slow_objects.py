"""An object of the script whose method is a reward, and that loads or trains something when it is made: its class comes
along, and so it would do that in the sandbox."""

import ast
from collections.abc import Iterator

from groupwise.storage.checks.script_reader.members import class_member
from groupwise.storage.checks.script_reader.values import Class, Function, Made

# By the last part of what is called.
_SLOW = {
    "from_pretrained": "loads a tokenizer or a model", "pipeline": "loads a model", "load_model": "loads a model",
    "SentenceTransformer": "loads a model", "CrossEncoder": "loads a model", "LLM": "loads a model",
    "hf_hub_download": "downloads a file", "snapshot_download": "downloads a model",
    "load_dataset": "loads a dataset",
}  # fmt: skip
WITHOUT_NETWORK = "A reward runs without network, so that fails or takes long: take it out of the class first."


def slow_words(owner: Made) -> tuple[str, ast.Call] | None:
    """What the making of an object does that takes long, and the call that does it; None where nothing is seen."""
    if owner.cls is None:
        return None
    for call in _calls_of(owner.cls, "__init__", set()):
        name = _called_name(call)
        if does := "makes a trainer" if name.endswith("Trainer") else _SLOW.get(name):
            return does, call
    return None


def _calls_of(cls: Class, method: str, seen: set[str]) -> Iterator[ast.Call]:
    """The calls in a method, and in those of the same object that it calls."""
    found = class_member(cls, method)
    if not isinstance(found, Function) or method in seen:
        return
    seen.add(method)
    for node in ast.walk(found.node):
        if isinstance(node, ast.Call):
            yield node
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "self":
                yield from _calls_of(cls, node.func.attr, seen)


def _called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
