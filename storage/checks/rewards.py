"""What of a spec's reward functions keeps a run from being launched: those there are none of, and those that cannot run
here. Pure."""

import re
from collections.abc import Iterator
from typing import Any

from groupwise.storage.checks.known_rewards import known_by_name, library_of
from groupwise.storage.checks.reward_columns import with_name, without_reward
from groupwise.storage.checks.reward_settings import check_settings
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards.constant_score import constant_score
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from groupwise.storage.spec.words.number_words import count_part, count_words
from groupwise.storage.spec.words.problem import ADVICE, WARNING, Fix, Problem, nearest_name
from groupwise.storage.spec.words.setting_names import is_slip

FEW = 10  # names that are all listed
ALIKE = 0.7  # of two names: short_good is not meant by long_good
_AROUND_NAMES = re.compile(r"^(get|reward)_|_(reward|rewards|func|fn|score)(_func|_fn|_function)?$")


def check_rewards(spec: RunSpec, offer: Offer) -> list[Problem]:
    """Every problem, those that block and those worth knowing."""
    found: list[Problem] = []
    seen: set[str] = set()
    for index, reward in enumerate(spec.rewards):
        if reward.name in seen:
            fixes = without_reward(spec, index)
            found.append(Problem(f"rewards.{index}.name", f"“{reward.name}” is listed twice.", fixes=fixes))
        elif offer.rewards and offer.function(reward.name, reward.version) is None:
            found.append(_unknown(spec, index, offer))
        else:
            found += _check_known(spec, index, offer)
        seen.add(reward.name)
    if spec.data.source.startswith("gym:") and "gym_score" in offer.rewards and "gym_score" not in seen:
        fix = Fix("Add gym_score", {f"rewards.{len(spec.rewards)}": {"name": "gym_score", "weight": 1.0}})
        message = "gym_score, the task's own scorer, decides best which answers are right."
        found.append(Problem("rewards", message, level=ADVICE, fixes=(fix,)))
    return found


WRITE = Fix("Write it in Rewards", {}, leads=True, page="/rewards?new=1")


def _unknown(spec: RunSpec, index: int, offer: Offer) -> Problem:
    """A function that is not there, or not in this version."""
    reward, path = spec.rewards[index], f"rewards.{index}"
    saved = [version["hash"] for version in offer.versions.get(reward.name, [])]
    if reward.version is not None and (saved or reward.name in offer.rewards):
        return _no_such_version(reward, path, saved, known=reward.name in offer.rewards)
    if saved:
        message = (
            f"“{reward.name}” was deleted from your library, or renamed. Its last saved version can still be used."
        )
        fixes = (Fix("Use its last version", {f"{path}.version": saved[0]}), *without_reward(spec, index))
        return Problem(f"{path}.name", message, fixes=fixes)
    others = [name for name in offer.rewards if name not in {each.name for each in spec.rewards}]
    if theirs := _of_other_libraries(spec, index, others):
        return theirs
    close = _near_name(reward.name, others)
    near = close or _near_name(reward.name, list(offer.rewards))
    meant = f" Did you mean “{near}”?{'' if close else ' It is listed already.'}" if near else ""
    listed = f" There are {', '.join(offer.rewards)}." if len(offer.rewards) <= FEW else " Write it under Rewards."
    message = f"there is no reward function “{reward.name}”.{meant or listed}"
    use = [Fix(f"Use {close}", {f"{path}.name": close})] if close else []
    if not near and len(spec.rewards) == 1:  # any other in its place would be a guess
        return Problem(f"{path}.name", message, fixes=(WRITE,))
    more = [fix for fix in _take_out(spec, index, others) if fix.label not in {one.label for one in use}]
    return Problem(f"{path}.name", message, fixes=(*use, *more))


def _near_name(name: str, others: list[str]) -> str | None:
    """The function that was probably meant, also where the name is written as TRL's are: fromat_reward is format. One
    of a word more, my_format, is somebody's own."""
    for typed in (name, _AROUND_NAMES.sub("", name)):
        slips = [one for one in others if is_slip(typed.casefold(), one.casefold())]
        if near := nearest_name(typed, slips, ALIKE):
            return near
    return None


def _of_other_libraries(spec: RunSpec, index: int, others: list[str]) -> Problem | None:
    """Of the name of one of TRL's functions or open-r1's, what an import makes of those: where it was read is not
    known here, and one's own may be called so. None of any other name."""
    reward, path = spec.rewards[index], f"rewards.{index}"
    known = known_by_name(reward.name)
    if known is None or known.name not in others:
        return None
    settings: dict[str, Any] = {f"{path}.name": known.name}
    settings |= {f"{path}.parameters": known.parameters} if known.parameters and not reward.parameters else {}
    theirs = library_of(reward.name)
    message = (
        f"there is no reward function “{reward.name}” here. If it is your own, paste its code under Rewards. If it is "
        f"{theirs}’s, the built-in “{known.name}” does the same."
    )
    fixes = (Fix(f"Use {known.name}", settings), WRITE, *_take_out(spec, index, []))
    if not reward.name.endswith("_reward") and not reward.name.startswith("get_"):  # a word that anybody may use
        fixes = (WRITE, fixes[0], *fixes[2:])
    return Problem(f"{path}.name", f"{message} {known.note}".rstrip(), fixes=fixes)


def _take_out(spec: RunSpec, index: int, others: list[str]) -> tuple[Fix, ...]:
    """Without this reward; another in its place where it is the only one."""
    if len(spec.rewards) > 1:
        return (Fix("Remove it", {}, (f"rewards.{index}",)),)
    if not others:
        return ()
    name = "format" if "format" in others else others[0]
    return (Fix(f"Use {name}", {f"rewards.{index}": with_name(spec.rewards[index], name)}, fallback=True),)


def _no_such_version(reward: RewardSpec, path: str, saved: list[str], *, known: bool) -> Problem:
    assert reward.version is not None  # the caller saw it
    begun = [one for one in saved if one.startswith(reward.version)]
    message = f"your library has no version {reward.version} of “{reward.name}”."
    use = [Fix(f"Use {one}", {f"{path}.version": one}) for one in begun[:1]]
    newest, last = Fix("Use the newest", {}, (f"{path}.version",)), {f"{path}.version": saved[0] if saved else None}
    return Problem(f"{path}.version", message, fixes=(*use, newest if known else Fix("Use its last", last)))


def _check_known(spec: RunSpec, index: int, offer: Offer) -> Iterator[Problem]:
    reward, path = spec.rewards[index], f"rewards.{index}"
    about = offer.function(reward.name, reward.version) or {}
    fixes = without_reward(spec, index)
    if reward.version is not None and about and not about.get("own"):
        message = f"is not used: “{reward.name}” ships with Groupwise."
        yield Problem(f"{path}.version", message, level=WARNING, fixes=(Fix("Remove it", {}, (f"{path}.version",)),))
    for missing in _missing(reward.name, about, offer):
        yield Problem(f"{path}.name", missing, fixes=fixes)
    for names in about.get("given") or []:
        if not any(reward.parameters.get(name) for name in names):
            message = f"“{reward.name}” cannot score without {' or '.join(names)}: set it in its settings."
            yield Problem(f"{path}.parameters.{names[0]}", message, fixes=fixes)
    yield from _place(reward, f"{path}.name", about, offer, fixes)
    yield from _failed_try(spec, index, about, offer)
    yield from _constant(spec, index, about)
    yield from check_settings(spec, index, about)


def _failed_try(spec: RunSpec, index: int, about: dict[str, Any], offer: Offer) -> Iterator[Problem]:
    """Of one's own function, in the version that would be used, that it failed when it was last tried."""
    name, limit = spec.rewards[index].name, spec.launch.reward_failures
    tried = offer.failed_tries.get((name, about.get("hash", ""))) if about.get("own") else None
    if tried is None:
        return
    why = f": “{tried.error}”" if tried.error else ""
    on = count_part(tried.failed, tried.of, "completion")
    failed = f"“{name}” failed on {on} when it was last tried{why}."
    then = "A completion that it fails on gets no score from it."
    if limit and tried.failed == tried.of:
        then = f"A run in which it fails in {count_words(limit, 'call')} in a row fails."
    message = f"{failed} {then} Edit it under Rewards."
    yield Problem(f"rewards.{index}.name", message, level=WARNING)


def _constant(spec: RunSpec, index: int, about: dict[str, Any]) -> Iterator[Problem]:
    """Of one's own function that counts, that its code gives every completion one score."""
    reward = spec.rewards[index]
    counts = reward.weight != 0 or bool(reward.schedule)
    score = constant_score(about.get("code") or "", reward.name) if about.get("own") and counts else None
    if score is None:
        return
    message = (
        f"“{reward.name}” gives every completion {score:g}. A run learns only from scores that differ: edit "
        "it under Rewards, or remove it."
    )
    yield Problem(f"rewards.{index}.name", message, level=WARNING, fixes=without_reward(spec, index))


def _missing(name: str, about: dict[str, Any], offer: Offer) -> Iterator[str]:
    """The optional packages that a function needs and that are not installed."""
    for package in about.get("needs") or []:
        if package not in offer.extras:
            yield f"“{name}” needs {package}, which is not installed here: pip install {package}"


def _place(
    reward: RewardSpec, field: str, about: dict[str, Any], offer: Offer, fixes: tuple[Fix, ...]
) -> Iterator[Problem]:
    """Where a function runs, and whom it speaks to."""
    if about.get("own") and offer.trusted:
        message = f"“{reward.name}” runs without a sandbox: Groupwise was started with --trust-reward-code."
        yield Problem(field, message, level=ADVICE)
    elif about.get("own") and offer.sandbox.get("name") == "none":
        message = f"“{reward.name}” is your own code and cannot run here. {offer.sandbox.get('sentence', '')}".rstrip()
        yield Problem(field, message, fixes=fixes)
    elif about.get("sandbox") and offer.sandbox.get("name") == "none":
        said = offer.sandbox.get("sentence", "")
        message = f"“{reward.name}” runs what the model writes, and cannot run here. {said}".rstrip()
        yield Problem(field, message, fixes=fixes)
    elif about.get("own") and about.get("network") and offer.sandbox.get("network"):
        message = f"“{reward.name}” may use the network and cannot run here: {offer.sandbox['network']}"
        yield Problem(field, message, fixes=fixes)
    if about.get("network"):
        where = reward.parameters.get("base_url")
        to = f"to {where}" if isinstance(where, str) and where else "to the endpoint that it calls"
        message = f"“{reward.name}” may use the network: it sends what the model writes {to}."
        yield Problem(field, message, level=WARNING)
