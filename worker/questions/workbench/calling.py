"""Calls reward functions as TRL does: what ships in this process, one's own in the sandbox, which stays warm from one
question to the next."""

import ast
import hashlib
import json
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.worker.builtin import shipped
from groupwise.worker.questions.workbench.request import Refused
from groupwise.worker.sandbox import client

KEPT = 12  # sandboxes that stay warm; the one that was used longest ago goes first
# What lets a function reach an argument that it does not name.
_REFLECTION = {"locals", "vars", "globals", "eval", "exec", "inspect", "sys"}


@dataclass(frozen=True)
class Rows:
    """The completions of one call, in TRL's shape: parallel lists."""

    prompts: list[Any]
    completions: list[Any]
    ids: list[list[int]] | None
    columns: dict[str, list[Any]] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    def batch(self) -> dict[str, Any]:
        """Give the keyword arguments of a call."""
        given = {**self.columns, "prompts": self.prompts, "completions": self.completions, "trainer_state": self.state}
        return given if self.ids is None else {**given, "completion_ids": self.ids}


def chat(prompt: Any, text: str) -> Any:
    """A completion as TRL gives it to functions: a message where the prompt is messages, else text."""
    return text if isinstance(prompt, str) else [{"role": "assistant", "content": text}]


class Caller:
    """One reward function that can be called. Made anew for each question; its sandbox is not."""

    def __init__(self, function: Function) -> None:
        self.function = function
        path = shipped.REWARDS / f"{function.name}.py"
        self.code = path.read_text(encoding="utf-8") if function.code is None else function.code
        self._needs = visible_arguments(self.code, function.name)
        self._source: client.Scorer | None = None

    def needs(self, name: str) -> bool:
        """Whether the function can see an argument of this name."""
        return self._needs is None or name in self._needs

    def is_read(self) -> bool:
        """Whether its code was read before, so that the next call only calls it."""
        return self.function.code is None or _key_of(self.function)[0] in _warm

    def score(self, rows: Rows, timeout: float | None = None) -> client.Result:
        """One call. What the function cannot see is not sent. Raises Refused where it cannot be called at all."""
        batch = {name: values for name, values in rows.batch().items() if name == "completions" or self.needs(name)}
        if self._source is None:
            self._source = _source(self.function)
        return self._source.score(self.function.name, batch, timeout or self.function.timeout)


def visible_arguments(code: str, name: str) -> set[str] | None:
    """The arguments that a function can see, by reading it: those it names, as long as nothing touches its **rest;
    None where that cannot be told (then it gets everything)."""
    try:
        tree = parse_module(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [
        node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]
    if len(found) != 1 or found[0].decorator_list:
        return None
    whole, arguments = found[0], found[0].args
    used = {node.id for node in ast.walk(whole) if isinstance(node, ast.Name)}
    if used & _REFLECTION or (arguments.kwarg is not None and arguments.kwarg.arg in used):
        return None
    return {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


_warm: OrderedDict[str, client.Scorer] = OrderedDict()


def _key_of(function: Function) -> tuple[str, bool, list[int]]:
    """What two functions share that one source can score with; whether it is trusted, and the ports it may reach."""
    trusted = function.code is not None and registry.is_trusted()
    ports = judge_ports.open_ports() if function.network else []
    said = json.dumps(
        [function.name, function.code, function.parameters, function.network, ports, trusted], default=str
    )
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest(), trusted, ports


def _source(function: Function) -> client.Scorer:
    """What scores with this function: kept where it is the same code with the same parameters."""
    key, trusted, ports = _key_of(function)
    if key not in _warm:
        _warm[key] = _make_caller(function, trusted, ports)
        while len(_warm) > KEPT:
            _warm.popitem(last=False)[1].close()
    _warm.move_to_end(key)
    return _warm[key]


def _make_caller(function: Function, trusted: bool, ports: list[int]) -> client.Scorer:
    if function.code is None:
        loaded = shipped.load_file(shipped.REWARDS / f"{function.name}.py", function.name)
        return client.in_process(loaded, function.parameters)
    try:
        if trusted:
            return client.in_process(_load_trusted(function), function.parameters)
        code = client.Code(function.name, function.code, function.parameters)
        return client.Host([code], network=function.network, ports=ports)
    except client.NoSandbox as error:
        raise Refused(str(error), "functions") from error


def _load_trusted(function: Function) -> Callable[..., Any]:
    """One's own function in this process, as a run has it where the worker was started to trust such code."""
    with tempfile.TemporaryDirectory(prefix="trusted-") as place:
        path = Path(place) / f"{function.name}.py"
        path.write_text(function.code or "", encoding="utf-8", errors="replace")
        try:
            return shipped.load_file(path, function.name)
        except Exception as error:  # it is anyone's code
            raise Refused(
                f"“{function.name}” cannot be loaded: {type(error).__name__}: {error}", "functions"
            ) from error
