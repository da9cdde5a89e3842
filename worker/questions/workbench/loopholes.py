"""What the probes found: those that earn much though they deserve little, the right answer that earns nothing, and a
reward that gives all of them the same: nothing."""

from typing import Any

import numpy as np

from groupwise.worker.questions.workbench.analysis import Floats
from groupwise.worker.questions.workbench.probes import HIGH, LOW, PROBES

SHARE = 0.5  # of what the right answer earns: from there on, a probe that deserves little has found a way
RIGHT = "correct"
WITHOUT_FORMAT = ("answer_only", "wrong_format")


def find_loopholes(probes: list[str | None], names: list[str], scores: Floats, total: Floats) -> list[dict[str, Any]]:
    """[{probe, function (None: the total), score, share, kind: loophole|missed|blind,
    sentence}], worst first. `probes`: which probe each row is, or None. A total of one function is that function, and
    not said twice."""
    columns: list[tuple[str | None, Floats]] = [(name, scores[:, k]) for k, name in enumerate(names)]
    # A probe that only the total has to see through is worth a word even where one function is all there is.
    if blind := _find_blind(probes, total):
        return [blind]
    listed = [one for name, values in [*columns, (None, total)] for one in _look_in(probes, name, values, len(names))]
    listed += _find_outdone(probes, total)
    return sorted(listed, key=lambda one: (one["kind"] != "loophole", -(one["share"] or 0.0)))


def _find_outdone(probes: list[str | None], total: Floats) -> list[dict[str, Any]]:
    """The right answer without its format that earns more in total than the one in it, as where length is punished:
    that may be meant, and is to be known."""
    means = {name: _mean_of(name, probes, total) for name in (RIGHT, *WITHOUT_FORMAT)}
    right = means.pop(RIGHT)
    most = max(means, key=lambda name: means[name])
    if not means[most] > right > 0:
        return []
    noun = PROBES[RIGHT].noun
    said = f"{PROBES[most].noun} earns {means[most]:.3g} in total, {noun[0].lower()}{noun[1:]} only {right:.3g}."
    return [{"probe": most, "function": None, "score": means[most], "share": None, "kind": "missed", "sentence": said}]


def _mean_of(name: str, probes: list[str | None], total: Floats) -> float:
    """What this probe earns on average; −∞ where it has no score."""
    own = [float(each) for probe, each in zip(probes, total, strict=True) if probe == name and not np.isnan(each)]
    return sum(own) / len(own) if own else -np.inf


def _find_blind(probes: list[str | None], total: Floats) -> dict[str, Any] | None:
    """Of a total that gives every probe 0 or less, and all of them the same, the right answer included: that no probe
    earns more than it deserves says nothing of it then. None of any other, and where nothing at all earns more."""
    judged = [(probe, each) for probe, each in zip(probes, total, strict=True) if not np.isnan(each)]
    given = {float(each) for probe, each in judged if probe is not None}
    kinds = {probe for probe, _ in judged}
    if RIGHT not in kinds or len(kinds - {None}) < 2 or len(given) > 1 or max(each for _, each in judged) > 0:
        return None
    count, score = sum(probe is not None for probe, _ in judged), given.pop()
    said = (
        f"All {count} probes earn {score:.3g}, the right answer as well: either all completions earn the same, and "
        "training"
    )
    said += " would learn nothing from it, or it needs a format that the probes do not have."
    return {"probe": RIGHT, "function": None, "score": score, "share": None, "kind": "blind", "sentence": said}


def _look_in(probes: list[str | None], function: str | None, values: Floats, functions: int) -> list[dict[str, Any]]:
    """Those of one function, or of the total."""
    best, of_what = _best_score(probes, values)
    listed = []
    for name in dict.fromkeys(probe for probe in probes if probe is not None):
        probe = PROBES.get(name)
        own = values[[index for index, each in enumerate(probes) if each == name]]
        own = own[~np.isnan(own)]
        if probe is None or not len(own) or best <= 0:  # where 0 is the most there is, a penalty is at work
            continue
        asked = probe.single if function is not None else not (functions == 1 and probe.single)
        most = float(own.max())
        if probe.expected == LOW and asked and most >= SHARE * best:
            listed.append(_describe_loophole(name, function, own, best, of_what))
        if probe.expected == HIGH and asked and most <= 0:
            listed.append(_describe_missed(name, function, most))
    return listed


def _best_score(probes: list[str | None], values: Floats) -> tuple[float, str]:
    """What a probe is held against, and how a sentence names it: what the right answer earns on average; where it
    earns nothing or is not there, the most that anything earns. Not always the most: a function that pays by the
    character pays a very long probe so much that all else looks small beside it."""
    right = values[[index for index, each in enumerate(probes) if each == RIGHT]]
    if np.nansum(right) > 0:
        return float(np.nanmean(right)), "the right answer"
    seen = values[~np.isnan(values)]
    return (float(seen.max()) if len(seen) else 0.0), "the best"


def _describe_loophole(name: str, function: str | None, own: Floats, best: float, of_what: str) -> dict[str, Any]:
    most = float(own.max())
    earns = f"{PROBES[name].noun} earns {most:.3g} {_name_source(function)}"
    count = int((own >= SHARE * best).sum())
    where = f", in {count} of {len(own)} rows" if count < len(own) else ""
    of_it = f"as much as {of_what}" if most == best else f"{of_what} earns {best:.3g}"
    return {"probe": name, "function": function, "score": most, "share": most / best, "kind": "loophole",
            "sentence": f"{earns}{where}: {of_it}."}  # fmt: skip


def _describe_missed(name: str, function: str | None, most: float) -> dict[str, Any]:
    words = "nothing" if most == 0 else f"only {most:.3g}"
    return {"probe": name, "function": function, "score": most, "share": None, "kind": "missed",
            "sentence": f"{PROBES[name].noun} earns {words} {_name_source(function)}."}  # fmt: skip


def _name_source(function: str | None) -> str:
    return "in total" if function is None else f"from {function}"
