"""What of a reward function's settings in a spec does not fit: its parameters, and how its weight changes. Pure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from groupwise.storage.checks.values import fixes_of_value, value_fault
from groupwise.storage.library.rewards import signature
from groupwise.storage.spec.rows.units import say_unit
from groupwise.storage.spec.spec import AdaptSpec, RewardSpec, RunSpec
from groupwise.storage.spec.words.number_words import are_words, count_words
from groupwise.storage.spec.words.problem import ADVICE, WARNING, Fix, Problem
from groupwise.storage.spec.words.setting_names import meant_name

LEVEL_UP_TO = 64  # tokens: `low` of the function that ships (worker/builtin/rewards/length.py)
USUAL_LONGEST = 256  # GRPOConfig's default max_completion_length


def check_settings(spec: RunSpec, index: int, about: dict[str, Any]) -> Iterator[Problem]:
    """Check the settings of the spec's function at this place. `about`: what is known of the function
    (storage.library.capabilities); its parameters are held against nothing where that is nothing."""
    reward, path = spec.rewards[index], f"rewards.{index}"
    if about.get("parameters") is not None:
        fields = {one["name"]: one for one in about["parameters"]}
        yield from _parameters(reward, path, fields, str(about.get("code") or ""))
    if level := find_level_length(reward, spec.training, path):
        yield level
    if any(one.weight for one in spec.rewards):  # else nothing is learned at all, which is said of all of them
        yield from _weight(reward, path)
    yield from _schedule(reward, path, spec.training.get("max_steps"))
    if reward.adapt is not None:
        yield from _adapt(reward, path, reward.adapt)


def _parameters(reward: RewardSpec, path: str, fields: dict[str, dict[str, Any]], code: str) -> Iterator[Problem]:
    """`code`: the function's own."""
    for name, value in reward.parameters.items():
        place = f"{path}.parameters.{name}"
        if name not in fields:
            close = meant_name(name, fields, reward.parameters)
            hint = f" Did you mean “{close}”?" if close else _say_what_it_has(reward.name, name, fields, code)
            message = f"“{reward.name}” has no parameter “{name}”.{hint}"
            yield Problem(place, message, fixes=_renamed_or_removed(reward, path, name, close))
        elif wrong := value_fault(value, fields[name]):
            yield say_unit(Problem(place, wrong, fixes=fixes_of_value(place, value, fields[name])), value)


def say_no_parameter(problem: Problem, entry: Mapping[str, Any], about: Mapping[str, Any] | None) -> Problem:
    """The problem of a setting of a reward function's `entry` that there is none of, by what is known of the function
    (storage.library.capabilities): a name that it takes no parameter by is not to be moved under those. Any other
    problem as it is."""
    place, _, name = problem.field.rpartition(".")
    moves = [fix for fix in problem.fixes if _names_in(fix.settings.get(f"{place}.parameters")) == [name]]
    if not moves or about is None or about.get("parameters") is None:
        return problem
    fields = [one["name"] for one in about["parameters"]]
    if name in fields:
        return problem
    close = meant_name(name, fields)
    if close is None:
        hint = _say_what_it_has(entry["name"], name, fields, str(about.get("code") or ""))
        rest = tuple(fix for fix in problem.fixes if fix not in moves)
        return replace(problem, message=f"“{entry['name']}” has no parameter “{name}”.{hint}", fixes=rest)
    [value] = moves[0].settings[f"{place}.parameters"].values()
    move = Fix(f"Move it under parameters as {close}", {f"{place}.parameters": {close: value}}, moves[0].removed)
    message = f"“{entry['name']}” takes “{close}”, which belongs under parameters."
    return replace(problem, message=message, fixes=(move, *(fix for fix in problem.fixes if fix not in moves)))


def _names_in(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _say_what_it_has(function: str, name: str, fields: Collection[str], code: str) -> str:
    written = signature.plain_arguments(code, function).get(name)  # before any *
    if written:
        return (
            " It has an argument of this name, but only those after a * are parameters. Under Rewards, write "
            f"def {function}(completions, *, {written}, **kwargs)."
        )
    return f" It has {', '.join(fields)}." if fields else " It has none."


def find_level_length(reward: RewardSpec, training: Mapping[str, Any], path: str) -> Problem | None:
    """That `length` gives everything the same, as no completion can be longer than where it begins to tell lengths
    apart: then it teaches nothing. None where it does not, or is another function. `path`: the function's place."""
    low, mode = reward.parameters.get("low", LEVEL_UP_TO), reward.parameters.get("mode", "shorter")
    longest = training.get("max_completion_length", USUAL_LONGEST)
    if reward.name != "length" or mode not in ("shorter", "longer") or not isinstance(low, int):
        return None
    high = reward.parameters.get("high")
    if isinstance(high, int) and high <= low:  # it refuses these, which is said
        return None
    if not isinstance(longest, int) or isinstance(longest, bool) or not 1 < longest <= low:
        return None
    fix = Fix(
        f"length scores from {longest // 2} to {longest} tokens",
        {f"{path}.parameters.low": longest // 2, f"{path}.parameters.high": longest},
    )
    unset = "" if "low" in reward.parameters else " (the default of “low”)"
    message = (
        f"gives every completion {1 if mode == 'shorter' else 0}: up to {low:,} tokens{unset} all earn the same, and "
        f"none is longer than {longest:,} (Max completion length). It can tell no completions apart."
    )
    return Problem(f"{path}.name", message, level=WARNING, fixes=(fix,))


def _weight(reward: RewardSpec, path: str) -> Iterator[Problem]:
    """What a weight means that no one may have meant, where it stays."""
    if reward.schedule or reward.adapt is not None or reward.weight > 0:
        return
    if reward.weight == 0:  # no fix: it is what the diagnostics propose for one that tells nothing apart
        message = f"at weight 0 “{reward.name}” is only recorded, and not trained on."
        yield Problem(f"{path}.weight", message, level=ADVICE)
        return
    message = f"a weight below 0 trains away from what “{reward.name}” scores high."
    yield Problem(f"{path}.weight", message, level=ADVICE, fixes=(Fix("Weight 1", {f"{path}.weight": 1.0}),))


def _renamed_or_removed(reward: RewardSpec, path: str, name: str, close: str | None) -> tuple[Fix, ...]:
    """All parameters are put anew: a name that there is none of may hold a dot, which would lead a path elsewhere."""

    def under(other: str | None) -> dict[str, Any]:
        renamed = {other if key == name else key: value for key, value in reward.parameters.items()}
        return {key: value for key, value in renamed.items() if key is not None}

    rename = [Fix(f"Rename it to {close}", {f"{path}.parameters": under(close)})] if close else []
    return (*rename, Fix("Remove it", {f"{path}.parameters": under(None)}))


def _schedule(reward: RewardSpec, path: str, max_steps: Any) -> Iterator[Problem]:
    points = reward.schedule
    if points and reward.adapt is not None:
        fixes = (
            Fix("Follow the schedule", {}, (f"{path}.adapt",)), Fix("Follow success", {}, (f"{path}.schedule",)),
        )  # fmt: skip
        yield Problem(f"{path}.adapt", "cannot be given together with a schedule.", fixes=fixes)
    if any(before.step >= after.step for before, after in pairwise(points)):
        by_step = {point.step: point for point in points}
        ordered = [by_step[step].model_dump() for step in sorted(by_step)]
        message = "should have each step once, and the steps in ascending order."
        label = "Put them in order" if len(by_step) == len(points) else "Keep the last point of each step, in order"
        yield Problem(f"{path}.schedule", message, fixes=(Fix(label, {f"{path}.schedule": ordered}),))
    elif points and isinstance(max_steps, int) and 0 < max_steps < points[-1].step:
        there = f"there {are_words(max_steps)} only {count_words(max_steps, 'step')}"
        message = f"goes on to step {points[-1].step}, but {there}."
        yield Problem(f"{path}.schedule", message, level=WARNING)


def _adapt(reward: RewardSpec, path: str, adapt: AdaptSpec) -> Iterator[Problem]:
    """Whether the thresholds are apart, the factors go up and down, and the weight lies within its bounds."""
    usual = AdaptSpec()
    if adapt.low >= adapt.high:
        fix = _fix(path, {"low": usual.low, "high": usual.high})
        message = f"should be below high ({adapt.high:g}), the rate above which the weight falls."
        yield Problem(f"{path}.adapt.low", message, fixes=(fix,))
    if adapt.up < 1:
        fix = _fix(path, {"up": usual.up})
        yield Problem(f"{path}.adapt.up", "should be at least 1: the weight is multiplied by it to rise.", fixes=(fix,))
    if adapt.down > 1:
        fix = _fix(path, {"down": usual.down})
        yield Problem(
            f"{path}.adapt.down", "should be at most 1: the weight is multiplied by it to fall.", fixes=(fix,)
        )  # fmt: skip
    least, most = min(usual.least, reward.weight), max(usual.most, reward.weight)
    if adapt.least > adapt.most:
        fix = _fix(path, {"least": least, "most": most})
        yield Problem(f"{path}.adapt.least", f"should not be above most ({adapt.most:g}).", fixes=(fix,))
    elif not adapt.least <= reward.weight <= adapt.most:
        within = min(max(reward.weight, adapt.least), adapt.most)
        fixes = (Fix(f"Begin at {within:g}", {f"{path}.weight": within}), _fix(path, {"least": least, "most": most}))
        message = f"should begin within the bounds of its changes, {adapt.least:g} to {adapt.most:g}."
        yield Problem(f"{path}.weight", message, fixes=fixes)


def _fix(path: str, values: dict[str, float]) -> Fix:
    words = " and ".join(f"{value:g}" for value in values.values())
    return Fix(f"Use {words}", {f"{path}.adapt.{name}": value for name, value in values.items()})
