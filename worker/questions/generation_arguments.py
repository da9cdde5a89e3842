"""What of generation_kwargs the engine that generates does not know: it would be taken, and do nothing."""

import ast
import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.storage.spec.words.setting_names import meant_name
from groupwise.worker.capabilities import extras

ARGUMENTS = "training.generation_kwargs"
# What TRL passes to GenerationConfig by itself, and cannot be given twice (trl/trainer/grpo_trainer.py).
_TRLS = {"disable_compile": "is set by TRL."}


def generation_problems(given: dict[str, Any]) -> tuple[list[Problem], dict[str, Any]]:
    """The problems of the arguments, and the settings without what is wrong with them. `given`: what nothing was found
    about yet."""
    arguments = given.get("generation_kwargs")
    if not isinstance(arguments, dict) or not arguments:
        return [], given
    vllm = bool(given.get("use_vllm"))
    taken = _taken_by_vllm() if vllm else _taken_by_transformers()
    if not taken:
        return [], given
    owned = {} if vllm else _TRLS
    wrong = [name for name in arguments if name not in taken or name in owned]
    engine = "vLLM's SamplingParams" if vllm else "transformers' GenerationConfig"
    found = [_problem(str(name), arguments, taken, engine, owned) for name in wrong]
    right = {name: value for name, value in arguments.items() if name not in wrong}
    return found, {**{name: value for name, value in given.items() if name != "generation_kwargs"},
                   **({"generation_kwargs": right} if right else {})}  # fmt: skip


def _problem(
    name: str, arguments: dict[str, Any], taken: frozenset[str], engine: str, owned: dict[str, str]
) -> Problem:
    path = f"{ARGUMENTS}.{name}" if "." not in name else ARGUMENTS
    remove = Fix(f"Remove {name}", {}, (path if len(arguments) > 1 else ARGUMENTS,))
    if name in owned:
        return Problem(path, owned[name], fixes=(remove,))
    close = meant_name(name, taken, arguments)
    message = f"{engine} has no “{name}”: it would do nothing."
    if not close:
        return Problem(path, message, fixes=(remove,))
    rename = Fix(f"Rename it to {close}", {f"{ARGUMENTS}.{close}": arguments[name]}, (path,))
    return Problem(path, f"{message} Did you mean “{close}”?", fixes=(rename, remove))


@cache
def _taken_by_transformers() -> frozenset[str]:
    from transformers import GenerationConfig

    return frozenset(name for name in vars(GenerationConfig()) if not name.startswith("_"))


@cache
def _taken_by_vllm() -> frozenset[str]:
    """The fields of SamplingParams, read in its source: importing vLLM takes long, and wants a GPU. Empty where it is
    not installed, or its source is not where it was."""
    spec = importlib.util.find_spec("vllm") if extras.is_installed("vllm") else None
    source = Path(spec.origin).with_name("sampling_params.py") if spec and spec.origin else None
    return fields_in_source(source.read_text(encoding="utf-8")) if source and source.is_file() else frozenset()


def fields_in_source(source: str, name: str = "SamplingParams") -> frozenset[str]:
    """The public fields that a class declares in this source; none where there is no such class."""
    tree = parse_module(source)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name]
    declared = [line.target for node in classes for line in node.body if isinstance(line, ast.AnnAssign)]
    return frozenset(one.id for one in declared if isinstance(one, ast.Name) and not one.id.startswith("_"))
