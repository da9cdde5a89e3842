"""Answers “what do these functions make of these completions?”: scores, totals, advantages, and what stands out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from groupwise.storage.registry import progress
from groupwise.worker.questions.workbench import analysis, loopholes, request, words
from groupwise.worker.questions.workbench.calling import Caller, Rows, chat
from groupwise.worker.questions.workbench.request import Function, Refused, failure
from groupwise.worker.sandbox import client

MOST_GROUPS, MOST_ROWS = 256, 4096
SHOWN_OUT, SHOWN_FAILURES, SHOWN_TRACE, SHOWN_CELL = 8000, 40, 4000, 2000
# A run before its first step, for functions that look.
STATE = {"global_step": 0, "max_steps": 1, "epoch": 0.0}

Group = dict[str, Any]


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """{groups, functions, ties, agreement, loopholes, sentences, seconds}; see the parts below for their keys."""
    try:
        return _answer(payload)
    except Refused as error:
        return failure(error)


def _answer(payload: dict[str, Any]) -> dict[str, Any]:
    begun = time.perf_counter()
    functions = request.functions(payload)
    if not functions:
        raise Refused("Choose at least one function.", "functions")
    groups = _groups(payload)
    scale = request.scale(payload.get("scale_rewards"))
    together = request.aggregation(payload.get("multi_objective_aggregation"))
    rows = _rows(groups, payload.get("columns"))
    results = []
    for done, function in enumerate(functions):
        said = f"Waiting for {function.name}."
        progress.say({"done": done, "total": len(functions), "sentence": said}, at_once=function.network)
        results.append(_called(Caller(function), rows))
    scores = np.array([[np.nan if value is None else value for value in one.values] for one, _ in results]).T
    found = _weighed(groups, functions, scores.astype(np.float64), scale, together)
    return {
        "groups": _shown(groups, functions, results, found),
        "functions": [
            _function(function, *result, groups, values)
            for function, result, values in zip(functions, results, found["counting"].T, strict=True)
        ],
        "ties": found["ties"], "agreement": found["agreement"], "loopholes": found["loopholes"],
        "sentences": _sentences(functions, results, found), "seconds": time.perf_counter() - begun,
    }  # fmt: skip


def _groups(payload: dict[str, Any]) -> list[Group]:
    """The groups of a question, as COMPLETIONS answers them. Raises Refused."""
    groups = payload.get("groups")
    if not isinstance(groups, list) or not 1 <= len(groups) <= MOST_GROUPS:
        raise Refused(f"There should be from 1 to {MOST_GROUPS} groups of completions.", "groups")
    for number, group in enumerate(groups):
        _check(group, f"groups.{number}")
    if sum(len(group["completions"]) for group in groups) > MOST_ROWS:
        raise Refused(f"At most {MOST_ROWS:,} completions at once.", "groups")
    return groups


def _check(group: Any, at: str) -> None:
    if not isinstance(group, dict):
        raise Refused("A group should have a prompt and completions.", at)
    if not isinstance(group.get("prompt"), (str, list)):
        raise Refused("A prompt should be text or messages.", f"{at}.prompt")
    if not isinstance(group.get("columns") or {}, dict):
        raise Refused("The columns of a group should be named values.", f"{at}.columns")
    completions = group.get("completions")
    if not isinstance(completions, list) or not completions:
        raise Refused("A group needs at least one completion.", f"{at}.completions")
    for number, one in enumerate(completions):
        if not isinstance(one, dict) or not isinstance(one.get("text"), str):
            raise Refused("A completion should have a text.", f"{at}.completions.{number}.text")


def _rows(groups: list[Group], names: Any) -> Rows:
    """All completions as one call. Every column that a group has; those asked for by name are there in any case."""
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise Refused("The columns should be a list of names.", "columns")
    known = dict.fromkeys([*(names or []), *(name for group in groups for name in group.get("columns") or {})])
    pairs = [(group, one) for group in groups for one in group["completions"]]
    return Rows(
        prompts=[group["prompt"] for group, _ in pairs],
        completions=[chat(group["prompt"], one["text"]) for group, one in pairs],
        ids=[_ids(one) for _, one in pairs],
        columns={name: [(group.get("columns") or {}).get(name) for group, _ in pairs] for name in known},
        state=STATE,
    )


def _ids(completion: dict[str, Any]) -> list[int]:
    """Where only the number of tokens is known, so many zeros: their length is what most functions ask for."""
    ids, tokens = completion.get("ids"), completion.get("tokens")
    if isinstance(ids, list):
        return ids
    return [0] * (tokens if isinstance(tokens, int) and 0 <= tokens <= 10**6 else 0)


def _called(caller: Caller, rows: Rows) -> tuple[client.Result, float]:
    begun = time.perf_counter()
    return caller.score(rows), time.perf_counter() - begun


def _weighed(
    groups: list[Group], functions: list[Function], scores: analysis.Floats, scale: str, together: str
) -> dict[str, Any]:
    """Totals and advantages of all; everything about groups only of those that are no probes, where there are any:
    the completions of a probe group were never written together."""
    sizes = [len(group["completions"]) for group in groups]
    starts = np.cumsum([0, *sizes[:-1]])
    weights = np.array([1.0 if one.weight is None else one.weight for one in functions])
    total = analysis.totals(scores, weights)
    probes = [one.get("probe") for group in groups for one in group["completions"]]
    of_probes = np.array([all(one.get("probe") for one in group["completions"]) for group in groups])
    advantages = np.zeros(len(scores))
    kinds: list[str | None] = [None] * len(groups)
    ties, _ = analysis.ties(np.zeros(0), np.zeros(0, np.int64))
    for probing in (True, False):
        which = np.flatnonzero(of_probes == probing)
        if not len(which):
            continue
        inside = np.repeat(of_probes == probing, sizes)
        local = np.cumsum([0, *(sizes[number] for number in which[:-1])])
        advantages[inside] = analysis.advantages(scores[inside], weights, local, scale, together)
        found, its_kinds = analysis.ties(total[inside], local)
        for number, kind in zip(which, its_kinds, strict=True):
            kinds[number] = kind
        ties = ties if probing else found
    counting = scores if of_probes.all() else scores[~np.repeat(of_probes, sizes)]
    names = [one.name for one in functions]
    return {
        "total": total, "advantages": advantages, "kinds": kinds, "ties": ties, "starts": starts, "counting": counting,
        "real": np.ones(len(scores), bool) if of_probes.all() else ~np.repeat(of_probes, sizes),
        "agreement": analysis.agreement(names, counting, weights),
        "loopholes": loopholes.found(probes, names, scores, total),
    }  # fmt: skip


def _shown(groups: list[Group], functions: list[Function], results: list[Any], found: dict[str, Any]) -> list[Group]:
    """Each group with `tie` (why it teaches nothing, or None), each completion with scores, total and advantage;
    without the token ids, which whoever asks has."""
    shown = []
    for group, start, kind in zip(groups, found["starts"], found["kinds"], strict=True):
        completions = []
        for place, one in enumerate(group["completions"], int(start)):
            scores = {
                function.name: {"value": result.values[place], "status": result.statuses[place]}
                for function, (result, _) in zip(functions, results, strict=True)
            }
            completions.append({
                **{name: value for name, value in one.items() if name != "ids"}, "scores": scores,
                "total": analysis.plain(found["total"][place]), "advantage": float(found["advantages"][place]),
            })  # fmt: skip
        shown.append({**group, "tie": kind, "completions": completions})
    return shown


def _function(
    function: Function, result: client.Result, seconds: float, groups: list[Group], values: analysis.Floats
) -> dict[str, Any]:
    """{name, weight, mean, std, none, errors, seconds, out, extras, metrics, histogram: {edges, counts}, failures:
    [{group, index, message, line, traceback}]}. A failure with no group is the whole call's. `errors` counts what
    timed out too."""
    mean, std = analysis.mean_and_std(values)
    edges = analysis.edges(values)
    places = [(g, i) for g, group in enumerate(groups) for i in range(len(group["completions"]))]
    failures = []
    for one in result.failures[:SHOWN_FAILURES]:
        group, index = (None, None) if one.row is None else places[one.row]
        failures.append({"group": group, "index": index, "message": one.message, "line": one.line,
                         "traceback": one.traceback[-SHOWN_TRACE:]})  # fmt: skip
    return {
        "name": function.name, "weight": 1.0 if function.weight is None else function.weight, "mean": mean, "std": std,
        "none": result.statuses.count("none"),
        "errors": result.statuses.count("error") + result.statuses.count("timeout"),
        "seconds": seconds, "out": result.out[:SHOWN_OUT],
        "extras": {str(name)[:80]: [_cell(value) for value in values] for name, values in result.extras.items()},
        "metrics": result.metrics, "histogram": {"edges": edges, "counts": analysis.counted(values, edges)},
        "failures": failures,
    }  # fmt: skip


def _cell(value: Any) -> Any:
    return value[:SHOWN_CELL] if isinstance(value, str) else value


def _sentences(functions: list[Function], results: list[Any], found: dict[str, Any]) -> list[str]:
    real = np.flatnonzero(found["real"])
    own = [
        sentence
        for function, (result, _), values in zip(functions, results, found["counting"].T, strict=True)
        for sentence in words.about_function(function.name, values, [result.statuses[place] for place in real])
    ]
    loopholes_said = [one["sentence"] for one in found["loopholes"]]
    return [*words.about_ties(found["ties"]), *loopholes_said, *own, *words.about_agreement(found["agreement"])]
