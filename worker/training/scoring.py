"""A run's reward functions as TRL calls them: what ships runs in this process, one's own apart from it, in the sandbox.

None of them can end a training: what fails gives no score (never 0), and a note that says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.spec.spec import RewardSpec
from groupwise.worker.builtin import shipped
from groupwise.worker.data.source_rows import ROW
from groupwise.worker.sandbox import client

PRINTED = 2000  # characters of what a call prints that go to the run's log


@dataclass
class Note:
    """What one function's calls came to since it was last asked: a status per completion, and why some have none.

    Each failure: {row (None: all), source_row (of the data, from 0; None: not known), message, line,
    traceback}.
    """

    function: str
    statuses: list[str] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)


class Scorer:
    """One reward function, called as TRL calls any: keyword lists of equal length in, a score or None for each out."""

    def __init__(self, reward: RewardSpec, scores: Callable[[str, dict[str, Any], float], client.Result]) -> None:
        self.__name__ = reward.name
        self._timeout = reward.timeout
        self._scores = scores
        self._note = Note(reward.name)

    def __call__(
        self, /, *, trainer_state: Any = None, log_extra: Any = None, log_metric: Any = None, **batch: Any
    ) -> list[float | None]:
        # self is by position only: a column may be called so
        first, rows, places = len(self._note.statuses), len(batch["completions"]), batch.pop(ROW, None)
        if trainer_state is not None:
            batch["trainer_state"] = trainer_state
        result = self._scores(self.__name__, batch, self._timeout)
        if result.out:
            print(f"{self.__name__}: {result.out[:PRINTED]}{_say_cut(result)}", flush=True)
        self._note.statuses += result.statuses
        self._note.failures += [_as_event_row(failure, first, places) for failure in result.failures]
        for column, values in result.extras.items():
            if log_extra is not None and len(values) == rows:
                log_extra(column, values)
        for name, value in result.metrics.items():
            if log_metric is not None:
                log_metric(name, value)
        return list(result.values)

    def take(self) -> Note:
        """What happened since this was last asked."""
        note, self._note = self._note, Note(self.__name__)
        return note


def _say_cut(result: client.Result) -> str:
    """How much a call printed beyond what goes to the log, where that is known: of a flood it is not."""
    if len(result.out) <= PRINTED:
        return ""
    flooded = any(one.message == client.FLOODED for one in result.failures)
    most = client.Limits().output >> 10
    return f"\n… cut: {f'more than {most} KB' if flooded else f'{len(result.out):,} characters'} in all."


def _as_event_row(failure: client.Failure, first: int, places: list[int] | None) -> dict[str, Any]:
    row = None if failure.row is None else failure.row + first
    place = places[failure.row] if places and failure.row is not None else None
    return {
        "row": row,
        "source_row": place,
        "message": failure.message,
        "line": failure.line,
        "traceback": failure.traceback,
    }


class Scorers:
    """All reward functions of a training, in order; one's own share a host, those that may use the network another."""

    def __init__(self, rewards: list[RewardSpec], folder: RunFolder) -> None:
        """Raises client.NoSandbox where there are functions of one's own and no sandbox, OSError where the run's copy
        of one is gone, and shipped.ShippedError for a copy of a built-in one that can no longer run."""
        self._hosts: list[Any] = []
        trusted = registry.is_trusted()
        own: dict[bool, list[client.Code]] = {False: [], True: []}
        sources: dict[str, Any] = {}
        for reward in rewards:
            path = folder.rewards / f"{reward.name}.py"
            if shipped.is_shipped(path) or trusted:
                sources[reward.name] = client.in_process(shipped.load_file(path, reward.name), reward.parameters)
            else:
                shipped.refuse_changed(path)
                code = client.Code(reward.name, path.read_text(encoding="utf-8"), reward.parameters)
                own[library.may_use_network(reward.name, code.code)].append(code)
        for network, codes in own.items():
            if codes:
                self._hosts.append(client.Host(codes, network=network, ports=judge_ports.open_ports()))
                sources |= dict.fromkeys((code.name for code in codes), self._hosts[-1])
        self.functions = [Scorer(reward, sources[reward.name].score) for reward in rewards]

    def take(self) -> list[Note]:
        """The notes on the last calls, which are then gone from here."""
        return [function.take() for function in self.functions]

    def close(self) -> None:
        """End the hosts."""
        for host in self._hosts:
            host.close()
