"""Answers “what do these functions make of these completions?”: scores, totals, advantages, and what stands out."""

import time
from typing import Any

import numpy as np

from groupwise.storage.analysis import best_possible, tie_words
from groupwise.storage.library.rewards.builder import TRACED
from groupwise.storage.library.right import code_tells_right
from groupwise.storage.record import group_metrics
from groupwise.storage.record.group_metrics import SOLVED
from groupwise.storage.registry import progress
from groupwise.storage.registry.messages.completions import Completion, Group
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.registry.messages.score import (
    SHOWN_CELL,
    SHOWN_FAILURES,
    SHOWN_OUT,
    SHOWN_TRACE,
    ScoreAnswer,
    ScoreQuestion,
)
from groupwise.storage.spec.spec import RewardSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker.questions.workbench import analysis, loopholes, request, tries, words
from groupwise.worker.questions.workbench.alike_failures import AlikeFailures
from groupwise.worker.questions.workbench.calling import Caller, Rows, chat
from groupwise.worker.sandbox import client
from groupwise.worker.sandbox.limits import Limits

QUICK = 8  # completions that are scored before anybody could read how far it is
# A run before its first step, for functions that look.
STATE = {"global_step": 0, "max_steps": 1, "epoch": 0.0}


def answer_score(question: ScoreQuestion) -> ScoreAnswer:
    """Each completion's scores, total and advantage; each function's; what stands out, in words. Raises Refused."""
    request.refuse_unknown(question.functions)
    begun = time.perf_counter()
    functions, groups = question.functions, question.groups
    scale = question.scale_rewards or "group"
    together = question.multi_objective_aggregation or "sum_then_normalize"
    rows = _rows(groups, question.columns or [])
    results = []
    for done, function in enumerate(functions):
        caller = Caller(function)
        progress.report(
            _waits_for(function, done, len(functions), rows, is_read=caller.is_read()), done, len(functions),
            at_once=function.network or len(rows.completions) > QUICK or not caller.is_read(),
        )  # fmt: skip
        results.append(caller.score(rows))
    tries.keep_tries(functions, groups, results)
    scores = np.array([[np.nan if value is None else value for value in one.values] for one in results]).T
    found = _weigh(groups, functions, scores.astype(np.float64), scale, together)
    return ScoreAnswer.from_plain({
        "groups": _describe_groups(groups, functions, results, found),
        "functions": [
            _function(function, result, groups, values)
            for function, result, values in zip(functions, results, found["counting"].T, strict=True)
        ],
        "ties": found["ties"], "highest": found["highest"], "agreement": found["agreement"],
        "loopholes": found["loopholes"], "sentences": _sentences(functions, results, found, rows),
        "seconds": time.perf_counter() - begun,
    })  # fmt: skip


def _waits_for(function: Function, done: int, functions: int, rows: Rows, *, is_read: bool) -> str:
    if function.name == TRACED:  # the builder's blocks, on the rows beside them
        return "Scoring the rows…"
    which = f" ({done + 1} of {functions} functions)" if functions > 1 else ""
    slow = ", which may ask a judge over the network" if function.network else ""
    count = count_words(len(rows.completions), "completion")
    if not is_read:
        most = f"at most {Limits().load:g} s"
        return f"Reading the code of {function.name} ({most}), then scoring {count} with it{which}{slow}."
    return f"Scoring {count} with {function.name}{which}{slow}."


def _rows(groups: list[Group], names: list[str]) -> Rows:
    """All completions as one call. Every column that a group has; those asked for by name are there in any case."""
    known = dict.fromkeys([*names, *(name for group in groups for name in group.columns)])
    pairs = [(group, one) for group in groups for one in group.completions]
    return Rows(
        prompts=[group.prompt for group, _ in pairs],
        completions=[chat(group.prompt, one.text) for group, one in pairs],
        ids=[_ids(one) for _, one in pairs],
        columns={name: [group.columns.get(name) for group, _ in pairs] for name in known},
        state=STATE,
    )


def _ids(completion: Completion) -> list[int]:
    """Where only the number of tokens is known, so many zeros: their length is what most functions ask for."""
    if completion.ids is not None:
        return completion.ids
    return [0] * (completion.tokens or 0)


def _weigh(
    groups: list[Group], functions: list[Function], scores: analysis.Floats, scale: str, together: str
) -> dict[str, Any]:
    """Totals and advantages of all; everything about groups only of those that are no probes, where there are any:
    the completions of a probe group were never written together."""
    sizes = [len(group.completions) for group in groups]
    starts = np.cumsum([0, *sizes[:-1]])
    weights = np.array([1.0 if one.weight is None else one.weight for one in functions])
    total = analysis.total_rewards(scores, weights)
    probes = [one.probe for group in groups for one in group.completions]
    of_probes = np.array([all(one.probe for one in group.completions) for group in groups])
    advantages = np.zeros(len(scores))
    kinds: list[str | None] = [None] * len(groups)
    ties, _ = analysis.ties(np.zeros(0), np.zeros(0, np.int64))
    most, teller = _most_of(functions, weights), _tells_right(functions)
    for probing in (True, False):
        which = np.flatnonzero(of_probes == probing)
        if not len(which):
            continue
        inside = np.repeat(of_probes == probing, sizes)
        local = np.cumsum([0, *(sizes[number] for number in which[:-1])])
        advantages[inside] = analysis.advantages(scores[inside], weights, local, scale, together)
        right = [] if teller is None else analysis.right_of_groups(scores[inside, teller], local, SOLVED)
        found, its_kinds = analysis.ties(total[inside], local, most, right)
        for number, kind in zip(which, its_kinds, strict=True):
            kinds[number] = kind
        ties = ties if probing else found
    real = np.ones(len(scores), bool) if of_probes.all() else ~np.repeat(of_probes, sizes)
    names = [one.name for one in functions]
    return {
        "highest": _say_top(most, total[real]),
        "total": total, "advantages": advantages, "kinds": kinds, "ties": ties, "starts": starts, "real": real,
        "counting": scores[real], "agreement": analysis.agreement(names, scores[real], weights),
        "loopholes": loopholes.find_loopholes(probes, names, scores, total),
    }  # fmt: skip


def _most_of(functions: list[Function], weights: analysis.Floats) -> float | None:
    """The most that a completion can earn of these; None where that is not known."""
    given = [best_possible.most_given(one.name, one.code) for one in functions]
    return best_possible.most_weighed(list(zip(map(float, weights), given, strict=True)))


def _tells_right(functions: list[Function]) -> int | None:
    """Which of these says what is right, as a run with them would have it, and is known to give 1 where it is: it
    compares with the answer, or is made of blocks that look at a column. None: none does."""
    target = group_metrics.target([
        RewardSpec(name=one.name, weight=1.0 if one.weight is None else one.weight) for one in functions
    ])  # fmt: skip
    if target is None:
        return None
    place = [one.name for one in functions].index(target[0])
    code = functions[place].code
    tells = target[0] in group_metrics.OF_ANSWERS if code is None else code_tells_right(target, code)
    return place if tells else None


def _say_top(most: float | None, totals: analysis.Floats) -> str:
    """What groups are called whose completions all earned the most of these, which can be no more, or is not known."""
    seen = totals[~np.isnan(totals)]
    return tie_words.TOP if most is not None or not len(seen) else tie_words.say_top(float(seen.max()), None)


def _describe_groups(
    groups: list[Group], functions: list[Function], results: list[client.Result], found: dict[str, Any]
) -> list[dict[str, Any]]:
    """Each group with `tie`, each completion with scores, total and advantage; without the token ids, which whoever
    asks has."""
    shown = []
    for group, start, kind in zip(groups, found["starts"], found["kinds"], strict=True):
        completions = []
        for place, one in enumerate(group.completions, int(start)):
            scores = {
                function.name: {"value": result.values[place], "status": result.statuses[place]}
                for function, result in zip(functions, results, strict=True)
            }
            completions.append({
                **one.model_dump(exclude_unset=True, exclude={"ids"}), "scores": scores,
                "total": analysis.json_number(found["total"][place]), "advantage": float(found["advantages"][place]),
            })  # fmt: skip
        about = group.model_dump(exclude_unset=True, exclude={"completions"})
        shown.append({**about, "tie": kind, "completions": completions})
    return shown


def _function(
    function: Function, result: client.Result, groups: list[Group], values: analysis.Floats
) -> dict[str, Any]:
    """What one function made of them, as messages.score.FunctionScores has it."""
    mean, std = analysis.mean_and_std(values)
    edges = analysis.edges(values)
    places = [(g, i) for g, group in enumerate(groups) for i in range(len(group.completions))]

    def place(row: int | None) -> dict[str, Any]:
        group, index = (None, None) if row is None else places[row]
        return {"group": group, "index": index}

    failures = AlikeFailures(SHOWN_FAILURES, SHOWN_TRACE)
    failures.add(result, place)
    return {
        "name": function.name, "weight": 1.0 if function.weight is None else function.weight, "mean": mean, "std": std,
        "none": result.statuses.count("none"),
        "errors": words.count_failed(result.statuses),
        "seconds": result.seconds, "out": result.out[:SHOWN_OUT],
        "extras": {str(name)[:80]: [_cell(value) for value in values] for name, values in result.extras.items()},
        "metrics": result.metrics, "histogram": {"edges": edges, "counts": analysis.count_in_bins(values, edges)},
        "failures": failures.first_of_each(),
    }  # fmt: skip


def _cell(value: Any) -> Any:
    return value[:SHOWN_CELL] if isinstance(value, str) else value


def _sentences(functions: list[Function], results: list[client.Result], found: dict[str, Any], rows: Rows) -> list[str]:
    """What failed leads: all else is said of the rest."""
    real = np.flatnonzero(found["real"])
    failed, own = [], []
    for function, result, values in zip(functions, results, found["counting"].T, strict=True):
        statuses = [result.statuses[place] for place in real]
        failed += words.about_failures(function.name, statuses)
        is_chat = all(isinstance(one, list) for one in rows.completions)
        own += words.about_function(function.name, values, statuses, function.code if is_chat else None)
    loopholes_said = [one["sentence"] for one in found["loopholes"]]
    agreement = words.about_agreement(found["agreement"])
    return [*failed, *words.about_ties(found["ties"], found["highest"]), *loopholes_said, *own, *agreement]
