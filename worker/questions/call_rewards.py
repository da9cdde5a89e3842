"""Whether the functions of one's own score anything in a run, and tell right from wrong: each is called once, in a
sandbox, with the parameters it is given, on a few rows of the data and completions made for them. What cannot be told
so is not said."""

import functools
import hashlib
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from groupwise.storage.library.rewards import signature
from groupwise.storage.library.rewards.constant_score import constant_score
from groupwise.storage.library.rewards.message_lists import AS_TEXT, MESSAGES, takes_messages_for_text
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.call_rewards import CallRewardsAnswer, CallRewardsQuestion, PlacedFunction
from groupwise.storage.registry.messages.completions import SpecPart
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec.spec import ModelSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions.build_rewards import LONGEST, names_in_order
from groupwise.worker.questions.tells_apart import (
    ANSWER,
    LOOKS_FOR_MORE,
    Pair,
    Scores,
    gets_answer,
    is_same_for_all,
    say_same_for_all,
    say_tells_none,
)
from groupwise.worker.questions.workbench import ids, probes, rows
from groupwise.worker.questions.workbench.calling import Rows, chat
from groupwise.worker.questions.workbench.score import STATE
from groupwise.worker.sandbox import client

ROWS = 2
MADE = ("correct", "wrong_answer")  # of the probes, for each row; where it has no answer, what says something
SAYS_NOTHING_OF_IT = "Let me think about this step by step."
SECONDS = 3.0  # that a call may take here
IN_ALL = 20.0  # seconds for all functions; those that come after are not called
KEPT = 256  # calls of which it is known what came of them
LOGGED = ("log_extra", "log_metric")  # that every call gets beside the columns


@dataclass(frozen=True)
class Came:
    """What came of a call: its first failure, if one of the completions has no score for it; whether it is `mute`: None
    for all of them; whether it is `slow`: it took longer than it may here; and its `scores`; none: nothing is known."""

    failure: client.Failure | None = None
    mute: bool = False
    slow: bool = False
    scores: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Call:
    """The arguments of a call, as TRL gives them: with a right and a wrong completion of each row, and (`varied`) with
    all that are made for it, empty and long ones among them; of rows with an answer those that are right and wrong; the
    column that is mapped as answer; whether completions are messages."""

    batch: dict[str, Any]
    varied: Callable[[], dict[str, Any]]
    pairs: list[Pair]
    answer: str | None
    chats: bool


FINE = Came()  # or nothing can be told
_known: OrderedDict[str, Came] = OrderedDict()


def answer_call_rewards(question: CallRewardsQuestion) -> CallRewardsAnswer:
    """A warning of each function that fails on completions made for the first rows, scores none of them, gives right
    and wrong ones the same, or all of them."""
    if registry.is_trusted():  # then code of one's own runs in no sandbox, and only in a run
        return CallRewardsAnswer(problems=[])
    try:
        call = _make_call(question)
    except DataError:  # said of the data
        return CallRewardsAnswer(problems=[])
    until, found = time.monotonic() + IN_ALL, list[Problem]()
    for one in question.functions:
        if time.monotonic() < until and not _lacks_columns(one.function, call.batch):
            found += _problems_of_call(one, call)
    return CallRewardsAnswer(problems=messages_of(found))


def _make_call(question: CallRewardsQuestion) -> Call:
    """One call with what is made for the first rows. Raises DataError."""
    found = rows.find_rows(SpecPart(data=question.data, model=question.model), ROWS)
    made = [probes.make_probes(row.columns.get(ANSWER), probes.tags_of(row.prompt)) for row in found]
    texts = [[each.get(name, SAYS_NOTHING_OF_IT) for name in MADE] for each in made]
    batch = _make_batch(found, texts, question.model)
    every = [[*each.values(), SAYS_NOTHING_OF_IT] for each in made]
    varied = functools.partial(_make_batch, found, every, question.model)
    pairs = [
        Pair(each["answer_only"], right, wrong, at * len(MADE))
        for at, (each, (right, wrong)) in enumerate(zip(made, texts, strict=True))
        if MADE[0] in each
    ]
    return Call(batch, varied, pairs, question.data.answer_column, not isinstance(found[0].prompt, str))


def _make_batch(found: list[rows.Row], texts: list[list[str]], model: ModelSpec) -> dict[str, Any]:
    """A call's arguments: for each row these completions."""
    written = [(row, text) for row, some in zip(found, texts, strict=True) for text in some]
    count = ids.counter(model)
    return Rows(
        prompts=[row.prompt for row, _ in written],
        completions=[chat(row.prompt, text) for row, text in written],
        ids=[count(text) or [0] * len(text.split()) for _, text in written],
        columns={name: [row.columns.get(name) for row, _ in written] for name in found[0].columns},
        state=STATE,
    ).batch()


def _lacks_columns(function: Function, batch: dict[str, Any]) -> bool:
    """Whether it cannot be called with this data: that is said where columns are checked."""
    found = signature.analyse(function.code or "", function.name).functions
    return not found or not {*found[0].arguments} <= {*batch, *LOGGED, *function.parameters}


def _problems_of_call(one: PlacedFunction, call: Call) -> list[Problem]:
    came = _call_once(one.function, call.batch)
    if came.failure is not None:
        return [_say_failure(one, call, came, came.failure)]
    made = count_words(len(call.batch["completions"]), "sample completion")
    if came.slow:
        said = f"did not answer within {SECONDS:g} s when it was called with {made}. Does a loop in it end?"
    elif came.mute:
        said = f"returned None for all of the {made} that it was called with, of the first {ROWS} rows. Without scores "
        said += "nothing is learned."
    elif constant_score(one.function.code or "", one.function.name) is not None:
        return []  # as its code says so: told without a call (storage/checks/rewards.py)
    elif came.scores and gets_answer(one.function, call.answer):
        said = say_tells_none(one.function, call.pairs, came.scores, call.chats)
    else:
        said = _say_all_the_same(one.function, call, came.scores)
    if not said:
        return []
    message = f"“{one.function.name}” {said}"
    return [Problem(f"{one.place}.name", message, level=WARNING, fixes=(_open_in_rewards(one),))]


def _say_all_the_same(function: Function, call: Call, scores: Scores) -> str:
    """What is said of one that gives all completions the same score: as its code takes messages for text, or whatever
    they are. “” where it does not, or gives 0 or less: it may want a format that none of them has."""
    if not is_same_for_all(scores):
        return ""
    if _takes_messages_for_text(function, call, scores):
        return say_same_for_all(scores, MESSAGES)
    varied = _call_once(function, call.varied()).scores if (scores[0] or 0.0) > 0 else ()
    return say_same_for_all(varied, LOOKS_FOR_MORE) if is_same_for_all(varied) else ""


def _takes_messages_for_text(function: Function, call: Call, scores: Scores) -> bool:
    """Whether its code is seen to, and what it has scored is no reason to doubt it."""
    seen = call.chats and takes_messages_for_text(function.code or "", function.name)
    given = [score for score in scores if score is not None]
    return seen and (not given or is_same_for_all(given))


def _say_failure(one: PlacedFunction, call: Call, came: Came, failure: client.Failure) -> Problem:
    function, batch = one.function, call.batch
    named = next(iter(names_in_order(function.parameters, failure.message)), None)
    line = f", line {failure.line}" if failure.line else ""
    made = count_words(len(batch["completions"]), "sample completion")
    message = f"“{function.name}” failed when it was called with {made}: {_in_a_line(failure.message)}{line}."
    message += f" {AS_TEXT}" if _takes_messages_for_text(function, call, came.scores) else ""
    opens = _open_in_rewards(one, failure.line)
    if named is None:
        return Problem(f"{one.place}.name", message, level=WARNING, fixes=(opens,))
    path = f"{one.place}.parameters.{named}"
    rest = {name: value for name, value in function.parameters.items() if name != named}
    default = Fix(f"Use the default of {named}", {}, (path,))
    helps = _call_once(function.model_copy(update={"parameters": rest}), batch).failure is None
    return Problem(path, message, level=WARNING, fixes=(*((default,) if helps else ()), opens))


def _open_in_rewards(one: PlacedFunction, line: int | None = None) -> Fix:
    name = one.function.name
    asked = {"name": name} | ({"line": line} if line else {}) | ({"version": one.version} if one.version else {})
    return Fix(f"Open {name} in Rewards", {}, leads=True, page=f"/rewards?{urlencode(asked)}")


def _in_a_line(message: str) -> str:
    return re.sub(r"\s+", " ", message).strip().rstrip(".")[:400]


def _call_once(function: Function, batch: dict[str, Any]) -> Came:
    """What came of a call, also of the same one before, which is kept."""
    said = json.dumps([function.code, function.name, function.parameters, batch], default=str)
    key = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    if key not in _known:
        code, limits = client.Code(function.name, function.code or "", function.parameters), client.Limits(load=LONGEST)
        try:
            with client.Host([code], limits=limits) as host:
                if host.problem(function.name) is not None:  # said where it is loaded; a package may be installed since
                    return FINE
                result = host.score(function.name, batch, SECONDS)
        except client.NoSandbox:  # said without a worker
            return FINE
        failed = "error" in result.statuses
        failure = next((one for one in result.failures if failed and _is_of_error(one, result.statuses)), None)
        came = set(result.statuses)
        if came == {"timeout"}:
            return Came(slow=True)  # not kept: what else the machine does may be why
        _known[key] = Came(failure, mute=came == {"none"}, scores=tuple(result.values))
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return _known[key]


def _is_of_error(failure: client.Failure, statuses: list[str]) -> bool:
    return failure.row is None or statuses[failure.row] == "error"
