"""Reward functions as Groupwise calls them: in a resident sandbox, or, where the code is trusted, right here."""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from groupwise.worker.sandbox import contract, launch, network_probe, results, tiers, wire
from groupwise.worker.sandbox.limits import Limits
from groupwise.worker.sandbox.process import JUNK, Broken, Capture, Process
from groupwise.worker.sandbox.proxy_process import ProxyProcess
from groupwise.worker.sandbox.results import Failure, Result
from groupwise.worker.sandbox.syscall_filter import NoFilter
from groupwise.worker.sandbox.tiers import NoSandbox

FLOODED = f"It printed more than the {Limits().output >> 10} KB of a call that are kept: the rest is left out."
RAISE_IT = "A longer timeout can be set beside the function's weight."
STATE = ("global_step", "max_steps", "epoch")  # what of the trainer's state a sandboxed function is given
_JSON_PROBLEMS = (TypeError, ValueError, RecursionError)


@dataclass(frozen=True)
class Code:
    """A function's source, in which `name` is defined, and the values of its parameters."""

    name: str
    code: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class _Loaded:
    """What is wrong with a function's code, or None; and the columns it can make use of, None for all."""

    problem: dict[str, Any] | None
    needs: frozenset[str] | None

    def of(self, batch: dict[str, Any]) -> dict[str, Any]:
        return batch if self.needs is None else {name: batch[name] for name in batch.keys() & self.needs}


def _read_loaded(reply: dict[str, Any]) -> _Loaded:
    problem, needs = reply.get("problem"), reply.get("needs")
    if problem is not None and not (isinstance(problem, dict) and "message" in problem):
        raise results.NotAReply("no word of the code")
    return _Loaded(problem, frozenset(map(str, needs)) if isinstance(needs, list) else None)


class Scorer(Protocol):
    """What a Host and `in_process` have in common."""

    def score(self, name: str, batch: dict[str, Any], timeout: float) -> Result:
        """Call a function with a batch; see `Host.score`."""

    def close(self) -> None:
        """End what is held for it."""


class Host:
    """A resident sandbox with some functions in it, each named differently. Calls from several threads take turns.

    With `network` they reach the network by way of a proxy, and of this machine just `ports` (see
    storage.registry.judge_ports).

    Raises NoSandbox when this machine can make none. After a call that took too long, or that ended its process, the
    next one starts another; so it does where the process was killed since the last call, as when memory ran out: that
    is no call's fault.
    """

    def __init__(
        self, codes: Iterable[Code], *, network: bool = False, ports: Collection[int] = (), limits: Limits | None = None
    ) -> None:
        self._codes: dict[str, Code] = {}
        for code in codes:
            if code.name in self._codes:
                raise ValueError(f"two functions are named {code.name!r}")
            self._codes[code.name] = code
        self._ports, self._limits = ports if network else None, limits or Limits()
        self._lock = threading.Lock()
        self._tier = tiers.choose_tier()
        self._loaded: dict[str, _Loaded] = {}  # of this process
        self._process: Process | None = self._start()

    def score(self, name: str, batch: dict[str, Any], timeout: float = 10.0) -> Result:
        """Call one function with a batch: column → list, "completions" among them, and perhaps "trainer_state".

        Never raises for what the function does: that is in the result. It is killed within a second after `timeout`
        (seconds). Reading its code, before its first call, has `Limits.load` seconds of its own.
        """
        rows, began = len(batch["completions"]), time.monotonic()
        with self._lock:
            printed: list[str] = []
            try:
                process = self._ready_process()
                loaded = self._load(process, self._codes[name], printed)
                if loaded.problem is not None:
                    return results.check_reply(contract.failed_reply(rows, loaded.problem), rows, "".join(printed), 0.0)
                began = time.monotonic()
                reply = _ask(process, name, loaded.of(batch), rows, timeout)
                printed.append(process.take_printed())
                result = results.check_reply(reply, rows, "".join(printed), time.monotonic() - began)
                return _with_flood_note(result) if process.has_overflowed else result
            except (Broken, results.NotAReply) as error:
                return self._broken_result(error, rows, printed, time.monotonic() - began)
            except (NoSandbox, wire.NotAFrame) as error:
                return results.failed_result(rows, "error", Failure(None, f"It could not be called: {error}"))

    def problem(self, name: str) -> Failure | None:
        """Why no call of a function can score: its code, once it is loaded. None where it loads, or takes too long for
        that to be known. Raises NoSandbox."""
        with self._lock:
            try:
                found = self._load(self._ready_process(), self._codes[name], []).problem
            except (Broken, results.NotAReply) as error:
                broken = self._broken_result(error, 1, [], 0.0)
                return broken.failures[0] if broken.statuses == ["error"] else None
        return None if found is None else results.check_reply(contract.failed_reply(1, found), 1, "", 0.0).failures[0]

    def close(self) -> None:
        """End the sandbox. Another call would start it again."""
        with self._lock:
            self._end()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> Process:
        problem = None if self._ports is None else network_probe.network_problem(self._tier)
        if problem is not None:
            raise NoSandbox(f"A function that may use the network cannot run here: {problem}")
        try:
            proxy = None if self._ports is None else ProxyProcess(self._ports)
            return Process(self._tier, self._limits, proxy=proxy)
        except (launch.CannotStart, NoFilter, OSError) as error:
            raise NoSandbox(f"The sandbox could not be started: {error}") from error

    def _ready_process(self) -> Process:
        if self._process is not None and self._process.has_ended():
            self._end()
        if self._process is None:
            self._process = self._start()
        return self._process

    def _load(self, process: Process, code: Code, printed: list[str]) -> _Loaded:
        """What a function's code came to; each process reads it once."""
        if code.name not in self._loaded:
            question = {"name": code.name, "code": code.code, "parameters": code.parameters}
            try:
                self._loaded[code.name] = _read_loaded(process.ask(question, self._limits.load))
            except Broken as broken:
                raise Broken(broken.status, f"While its code was being loaded: {broken}") from broken
            printed.append(process.take_printed())
        return self._loaded[code.name]

    def _broken_result(self, error: Exception, rows: int, printed: list[str], seconds: float) -> Result:
        """The result of a call whose process is of no more use."""
        status, message = (error.status, str(error)) if isinstance(error, Broken) else ("error", JUNK)
        if self._process is not None:
            printed.append(self._process.take_printed())
        self._end()
        return results.failed_result(rows, status, Failure(None, message), "".join(printed), seconds)

    def _end(self) -> None:
        process, self._process = self._process, None
        self._loaded = {}
        if process is not None:
            process.end()


def _with_flood_note(result: Result) -> Result:
    """With a failure that touches no score."""
    return replace(result, failures=[*result.failures, Failure(None, FLOODED)])


def _ask(process: Process, name: str, batch: dict[str, Any], rows: int, timeout: float) -> dict[str, Any]:
    """The reply to a call. Raises Broken, and where it took too long says what can be done."""
    try:
        return _call_in(process, name, batch, rows, timeout)
    except Broken as broken:
        if broken.status == "timeout":
            raise Broken("timeout", f"{broken} {RAISE_IT}") from broken
        raise


def _call_in(process: Process, name: str, batch: dict[str, Any], rows: int, timeout: float) -> dict[str, Any]:
    question: dict[str, Any] = {"name": name, "rows": rows, "seconds": timeout, "withheld": {}}
    if "trainer_state" in batch and not isinstance(batch["trainer_state"], dict):
        batch = {**batch, "trainer_state": {key: getattr(batch["trainer_state"], key, None) for key in STATE}}
    try:
        return process.ask({**question, "batch": batch}, timeout)
    except _JSON_PROBLEMS:
        plain, withheld = _json_columns(batch)
        return process.ask({**question, "batch": plain, "withheld": withheld}, timeout)


def _json_columns(batch: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The columns that JSON can hold, arrays as lists; and for each of the others why it is left out."""
    plain: dict[str, Any] = {}
    withheld: dict[str, str] = {}
    for name, column in batch.items():
        try:
            plain[name] = wire.as_json(column)
        except _JSON_PROBLEMS as error:
            withheld[name] = f"The column cannot be handed to a sandboxed function: {str(error)[:200]}."
    return plain, withheld


class _InProcess:
    """See `in_process`."""

    def __init__(self, function: Callable[..., Any], parameters: dict[str, Any]) -> None:
        self._function, self._parameters = function, parameters

    def score(self, name: str, batch: dict[str, Any], timeout: float = 10.0) -> Result:
        rows, began = len(batch["completions"]), time.monotonic()
        columns = {key: list(value) if isinstance(value, list) else value for key, value in batch.items()}
        with _capture_output() as out:
            reply = contract.call(self._function, columns, self._parameters, rows, timeout)
        result = results.check_reply(reply, rows, out.text(), time.monotonic() - began)
        return _with_flood_note(result) if out.left_out else result

    def close(self) -> None:
        """Do nothing: no process is held."""


def in_process(function: Callable[..., Any], parameters: dict[str, Any]) -> Scorer:
    """A function of Groupwise's own, or trusted code, called right here with a Host's interface.

    Nothing enforces its timeout: Python cannot interrupt a call from within. What it does to the process, it does.
    """
    return _InProcess(function, parameters)


_CAPTURING = threading.Lock()


@contextlib.contextmanager
def _capture_output() -> Iterator[Capture]:
    """What is printed meanwhile, its first 64 KB. There is one standard output: two calls take turns."""
    capture = Capture(Limits().output)
    with _CAPTURING, contextlib.redirect_stdout(_Writer(capture)):
        yield capture


class _Writer(io.TextIOBase):
    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def write(self, text: str) -> int:
        self._capture.take(text.encode("utf-8", "replace"))
        return len(text)
