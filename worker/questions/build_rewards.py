"""Whether one's own reward functions load where they would run: in a sandbox, before a run is launched with them."""

from groupwise.storage.checks.reward_columns import without_reward
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.spec.problem import Problem
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.builtin import shipped
from groupwise.worker.sandbox import client

LONGEST = 10.0  # seconds a function's imports may take here; a run waits longer

# Those that were seen to load. What failed is tried again: the package may have been installed since.
_loaded: set[tuple[str, str, bool]] = set()


def reward_problems(spec: RunSpec) -> list[Problem]:
    """The reward functions that cannot score in any call, each with its reason: a package that is missing, say. Nothing
    where no sandbox can be made or code is trusted: then it is not run here."""
    if registry.is_trusted():
        return []
    found = []
    for index, reward in enumerate(spec.rewards):
        failure = _failure(reward.name, reward.version)
        if failure is not None:
            line = f", line {failure.line}" if failure.line else ""
            message = f"“{reward.name}” cannot be loaded: {failure.message.rstrip('.')}{line}."
            found.append(Problem(f"rewards.{index}.name", message, fixes=without_reward(spec, index)))
    return found


def _failure(name: str, version: str | None) -> client.Failure | None:
    if name in shipped.shipped_names(shipped.REWARDS):
        return None
    try:
        kept = library.get_reward(name, version)
        key = (name, kept.hash, kept.network)
        if key in _loaded:
            return None
        code, limits = client.Code(name, kept.code), client.Limits(load=LONGEST)
        with client.Host([code], network=kept.network, ports=judge_ports.open_ports(), limits=limits) as host:
            failure = host.problem(name)
    except (library.LibraryError, client.NoSandbox):  # said without a worker
        return None
    if failure is None:
        _loaded.add(key)
    return failure
