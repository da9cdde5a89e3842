"""Whether a run's reward functions can score at all, before it is launched with them: one's own load where they would
run, in a sandbox; those that ship take the parameters they are given."""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from groupwise.storage.checks.reward_columns import without_reward
from groupwise.storage.checks.reward_settings import find_level_length
from groupwise.storage.checks.values import value_fault
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from groupwise.storage.spec.words.problem import Fix, Problem, then_words, told_later
from groupwise.storage.spec.words.setting_names import meant_name
from groupwise.worker.builtin import shipped
from groupwise.worker.sandbox import client

LONGEST = 10.0  # seconds a function's imports may take here; a run waits longer

# Those that were seen to load. What failed is tried again: the package may have been installed since.
_loaded: set[tuple[str, str, bool]] = set()


def reward_problems(spec: RunSpec) -> list[Problem]:
    """The reward functions that cannot score in any call, each with its reason: a package that is missing, parameters
    that do not go together. One's own are left out where no sandbox can be made or code is trusted: then they are not
    run here."""
    found: list[Problem] = []
    for place, part in _parts(spec):
        for index in range(len(part.rewards)):
            said = [*_problems(part, index)]
            said += _said_then(said, part, index)
            found += [one.move(f"{place}{{}}".format) for one in said]
    return found


def _said_then(problems: list[Problem], spec: RunSpec, index: int) -> list[Problem]:
    """What is to be warned of only once refused parameters are left at their defaults, or others set, which the buttons
    offer."""
    reward, path = spec.rewards[index], f"rewards.{index}"
    fixes = [fix for one in problems for fix in one.fixes[:1]]
    gone = [path.rpartition(".")[2] for fix in fixes for path in fix.removed]
    put = {path.rpartition(".")[2]: value for fix in fixes for path, value in fix.settings.items()}
    rest = {name: value for name, value in reward.parameters.items() if name not in gone} | put
    if rest == reward.parameters or find_level_length(reward, spec.training, path):
        return []
    level = find_level_length(reward.model_copy(update={"parameters": rest}), spec.training, path)
    if level is None:
        return []
    about = replace(level, subject=f"“{reward.name}”", fixes=())
    causes = [f"“{name}” of “{reward.name}”" for name in dict.fromkeys((*gone, *put))]
    return [replace(about, message=told_later(about, causes))]


def _parts(spec: RunSpec) -> Iterator[tuple[str, RunSpec]]:
    """The run, and each stage with rewards of its own, as specs; and what the paths of their rewards begin with."""
    by_stage = spec.by_stage() if spec.stages else []
    if not spec.stages or any(stage.rewards is None for stage in spec.stages):
        yield "", spec
    for number, (stage, part) in enumerate(zip(spec.stages, by_stage, strict=True)):
        if stage.rewards is not None:
            yield f"stages.{number}.", part


def _problems(spec: RunSpec, index: int) -> list[Problem]:
    reward = spec.rewards[index]
    if reward.name in shipped.shipped_names(shipped.REWARDS):
        return _refused_parameters(reward, f"rewards.{index}")
    failure = None if registry.is_trusted() else _failure(reward.name, reward.version)
    if failure is None:
        return []
    line = f", line {failure.line}" if failure.line else ""
    message = f"“{reward.name}” cannot be loaded: {failure.message.rstrip('.')}{line}."
    asked = {"name": reward.name} | ({"line": failure.line} if failure.line else {})
    asked |= {"version": reward.version} if reward.version else {}
    edit = Fix(f"Open {reward.name} in Rewards", {}, leads=True, page=f"/rewards?{urlencode(asked)}")
    return [Problem(f"rewards.{index}.name", message, fixes=(edit, *without_reward(spec, index)))]


def _refused_parameters(reward: RewardSpec, path: str) -> list[Problem]:
    """What a function that ships says to its parameters. It looks at them before it looks at completions, so that
    none are needed to ask."""
    refusals: list[tuple[str, list[str]]] = []
    rest = _of_right_types(reward)
    while said := _refusal(reward.name, rest):
        refusals.append((said, names_in_order(rest, said)))
        if not refusals[-1][1]:
            break
        # one refusal hides the next: it is asked again without what this one is about
        rest = {name: value for name, value in rest.items() if name not in refusals[-1][1]}
    refused = [_refused(reward, f"{path}.parameters", said, blamed, rest) for said, blamed in refusals]
    return [*refused, *_refused_by_meant_names(reward.name, rest, path, {said for said, _ in refusals})]


def _refused_by_meant_names(name: str, rest: dict[str, Any], path: str, told: set[str]) -> list[Problem]:
    """What it says once misspelt parameters are renamed, at the whole of them: at the one of that name another thing
    is said. `rest`: those that nothing is said of."""
    names = [one.name for one in shipped.describe_reward(name).parameters]
    meant = {given: meant_name(given, names, rest) for given in rest if given not in names}
    said = _refusal(name, {meant.get(given) or given: value for given, value in rest.items()})
    misspelt = [f"“{given}” of “{name}”" for given, one in meant.items() if one]
    words = f"{then_words(misspelt)}“{name}” would fail on every completion: {said}"
    return [Problem(f"{path}.parameters", words)] if any(meant.values()) and said and said not in told else []


def _of_right_types(reward: RewardSpec) -> dict[str, Any]:
    """The parameters without those of a wrong type, which is said where types are checked: nothing is refused with
    them, and what is would not come to sight."""
    types = {one.name: one.types for one in shipped.describe_reward(reward.name).parameters}
    return {
        name: value for name, value in reward.parameters.items()
        if not value_fault(value, {"types": types.get(name)})
    }  # fmt: skip


def names_in_order(parameters: dict[str, Any], said: str) -> list[str]:
    """The parameters that a sentence names, as it does."""
    named = {name: found.start() for name in parameters if (found := re.search(rf"\b{re.escape(name)}\b", said))}
    return sorted(named, key=lambda name: named[name])


def _refused(reward: RewardSpec, path: str, said: str, blamed: list[str], rest: dict[str, Any]) -> Problem:
    """`rest`: the parameters that nothing is said of."""
    at = f"{path}.{blamed[0]}" if blamed else path
    unset = _defaults_named(reward, said)
    defaults = "".join(f" {value} is the default of “{name}”." for name, value in unset.items())
    message = f"“{reward.name}” would fail on every completion: {said}{defaults}"
    fixes = (*_below(reward, path, blamed, rest, unset), *_without(reward, path, blamed, rest))
    return Problem(at, message, fixes=fixes)


def _defaults_named(reward: RewardSpec, said: str) -> dict[str, int]:
    """The parameters that a sentence names and nobody set, with their defaults, where these are whole numbers in it."""
    unset = {one.name: one.default for one in shipped.describe_reward(reward.name).parameters
             if one.name not in reward.parameters and type(one.default) is int}  # fmt: skip
    return {name: unset[name] for name in names_in_order(unset, said) if re.search(rf"\b{unset[name]}\b", said)}


def _below(
    reward: RewardSpec, path: str, blamed: list[str], rest: dict[str, Any], unset: dict[str, int]
) -> Iterator[Fix]:
    """A value for what nobody set, half of the one that was set beside it, where that is enough: then what was written
    stays."""
    written = [reward.parameters[name] for name in blamed]
    for name in unset:
        half = next((value // 2 for value in written if type(value) is int and value > 0), None)
        if half is not None and not _refusal(reward.name, {**rest, **reward.parameters, name: half}):
            yield Fix(f"Set {name} to {half}", {f"{path}.{name}": half})


def _without(reward: RewardSpec, path: str, blamed: list[str], rest: dict[str, Any]) -> tuple[Fix, ...]:
    """The defaults of as few of these parameters as are enough."""
    for number in range(1, len(blamed) + 1):
        gone = blamed[:number]
        others = {**rest, **{name: reward.parameters[name] for name in blamed if name not in gone}}
        if not _refusal(reward.name, others):
            removed = tuple(f"{path}.{name}" for name in gone)
            return (Fix(f"Use the default of {' and '.join(gone)}", {}, removed),)
    return ()


def _refusal(name: str, parameters: dict[str, Any]) -> str:
    """The sentence with which a function that ships refuses these parameters; empty where it takes them."""
    about = shipped.describe_reward(name)
    if not all(any(parameters.get(one) for one in names) for names in about.given):
        return ""  # said where what must be given is looked for
    function = shipped.load_file(shipped.REWARDS / f"{name}.py", name)
    columns = [parameters.get(one.name, one.default) for one in about.parameters if one.name in about.columns]
    no_rows: dict[str, Any] = {
        column: [] for column in ("prompts", *_asked(function), *columns) if isinstance(column, str)
    }
    try:
        function(**{**no_rows, **parameters})
    except ValueError as error:
        return str(error)
    except Exception:  # of another kind: a value of the wrong type, said where types are checked; a missing package
        return ""
    return ""


def _asked(function: Callable[..., Any]) -> list[str]:
    """The arguments that must be given."""
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.default is one.empty and one.kind is not one.VAR_KEYWORD]


def _failure(name: str, version: str | None) -> client.Failure | None:
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
