"""Every kind of question between app and worker: a right one passes, each field of another type is refused in words by
who asks and by who answers, and an answer of another version is told from one of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import question_status
from groupwise.app.pages.rewards import asking
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages import completions, functions, kinds, score
from groupwise.storage.registry.messages.build import BuildAnswer
from groupwise.storage.registry.messages.message import Answer, Ask, Message, Misfit, Part, Progress, misfit_of
from groupwise.storage.registry.messages.problem import Failed, messages_of
from groupwise.storage.spec.spec import LONGEST_CALL
from groupwise.storage.spec.words.problem import Fix, Problem
from groupwise.worker.questions import server
from tests.support.asking import put
from tests.support.runs import make_spec

SPEC = make_spec().model_dump()
PARTS = {part: SPEC[part] for part in ("data", "model", "training")}
FUNCTION = {"name": "reads", "code": "def reads(completions): …", "parameters": {"a": 1}, "weight": 2.0, "timeout": 1.5,
            "network": False}  # fmt: skip
COMPLETION = {"text": "4", "tokens": 1, "truncated": False, "ids": [7], "probe": None, "expected": "any", "about": ""}
GROUP = {"row": 0, "prompt": "2+2?", "columns": {"answer": "4"}, "completions": [COMPLETION], "step": 3, "group": 1}
ASKED: dict[str, dict[str, Any]] = {
    "preview": {"data": SPEC["data"], "model": SPEC["model"], "row": 3},
    "check_data": {"data": SPEC["data"], "model": SPEC["model"], "longest_completion": 64, "all": True,
                   "answer_read": True},
    "build": {"spec": SPEC},
    "model": {"model": SPEC["model"]},
    "call_rewards": {"data": SPEC["data"], "model": SPEC["model"],
                     "functions": [{"place": "rewards.0", "function": FUNCTION, "version": None}]},
    "try": {"text": "name: a"},
    "completions": {"spec": PARTS, "from": "typed", "rows": [0, 2], "size": 4, "run": "a", "step": 7, "tags": ["b"],
                    "typed": [{"row": 0, "text": "4"}]},
    "score": {"functions": [FUNCTION], "groups": [GROUP], "scale_rewards": "batch",
              "multi_objective_aggregation": "normalize_then_sum", "columns": ["answer"]},
    "rescore": {"run": "a", "functions": [FUNCTION], "weights": {"reads": 0.5}, "instead": "reads",
                "scale_rewards": "none",
                "multi_objective_aggregation": "sum_then_normalize"},
}  # fmt: skip
WRONG: tuple[Any, ...] = (None, True, 7, 1.5, "x", [], ["x"], {}, {"x": 1})
FREE = {"training", "parameters", "columns"}  # mappings whose values may be anything


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the fields of a payload are, also those within others; not within what holds anything."""
    if isinstance(value, dict) and (not path or path[-1] not in FREE):
        for name, inner in value.items():
            yield (*path, name)
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*path, number))


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """A copy with something else at this place."""
    copy = json.loads(json.dumps(value))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return copy


def like(one: Any, other: Any) -> bool:
    """Whether two values have one type in JSON, a whole number being a number."""
    numbers = {int, float}
    return type(one) is type(other) or (type(one) in numbers and type(other) in numbers)


def refused(kind: str, payload: Any) -> list[tuple[tuple[Any, ...], Any, Misfit]]:
    """(place, value, why) of each value of another type that is refused."""
    found = []
    for place in places(payload):
        for wrong in WRONG:
            try:
                kinds.question(kind, changed(payload, place, wrong))
            except Misfit as error:
                found.append((place, wrong, error))
    return found


def test_there_is_an_example_of_each_kind() -> None:
    assert set(ASKED) == set(kinds.KINDS) == {*server.KINDS, questions.TRY}


@pytest.mark.parametrize("kind", ASKED)
def test_a_right_question_comes_back_as_it_was_asked(kind: str, registry_home: Path) -> None:
    asked = kinds.question(kind, ASKED[kind])
    assert json.loads(json.dumps(asked.as_dict())) == json.loads(json.dumps(ASKED[kind]))
    stored = questions.get_question(questions.ask_question(asked))
    assert stored is not None and stored.kind == kind and stored.read_question() == asked


@pytest.mark.parametrize("kind", ASKED)
def test_each_wrong_type_of_each_field_is_refused_in_words_by_who_asks(kind: str) -> None:
    names = {place[0] for place, _, _ in refused(kind, ASKED[kind])}
    assert names == set(ASKED[kind])
    for place, wrong, error in refused(kind, ASKED[kind]):
        assert str(error).endswith(".") and "\n" not in str(error), (place, wrong)
        assert "pydantic" not in str(error) and "Input" not in str(error), str(error)
        assert error.field, (place, wrong)


@pytest.mark.parametrize("kind", server.KINDS)
def test_and_by_who_answers_with_the_same_words(kind: str, registry_home: Path) -> None:
    for place, wrong, error in refused(kind, ASKED[kind]):
        answer = server.answer_question(kind, changed(ASKED[kind], place, wrong))
        assert (answer["error"], answer["field"]) == (str(error), error.field)
        assert answer["problems"][0]["level"] == "blocking"


@pytest.mark.parametrize("kind", ASKED)
def test_what_is_taken_in_spite_of_its_type_is_meant_so(kind: str) -> None:
    """None where there need not be one, a whole number for a number, and TRL's booleans for scale_rewards."""
    ways = {(*place, repr(wrong)) for place, wrong, _ in refused(kind, ASKED[kind])}
    for place in places(ASKED[kind]):
        given: Any = ASKED[kind]
        for step in place:
            given = given[step]
        for wrong in WRONG:
            if like(given, wrong) or wrong is None or (*place, repr(wrong)) in ways:
                continue
            taken = place[-1] in ("scale_rewards", "holdout", "rows", "prompt", "revision", "code") or given is None
            assert taken, (place, wrong)


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("payload", [None, 7, "x", [], [{}]], ids=repr)
def test_what_is_no_mapping_is_refused_too(kind: str, payload: Any) -> None:
    with pytest.raises(Misfit, match="mapping"):
        kinds.question(kind, payload)


@pytest.mark.parametrize("kind", ASKED)
def test_a_field_that_there_is_not_is_refused(kind: str) -> None:
    with pytest.raises(Misfit, match="“more” is not part of this question"):
        kinds.question(kind, {**ASKED[kind], "more": 1})


@pytest.mark.parametrize(
    ("kind", "path", "most", "beyond"),
    [
        ("score", ("functions",), [{**FUNCTION, "name": f"f{n}"} for n in range(functions.MOST_FUNCTIONS)],
         [{**FUNCTION, "name": f"f{n}"} for n in range(functions.MOST_FUNCTIONS + 1)]),
        ("score", ("functions", 0, "code"), "x" * functions.MOST_CODE, "x" * (functions.MOST_CODE + 1)),
        ("score", ("functions", 0, "timeout"), LONGEST_CALL, LONGEST_CALL + 1),
        ("score", ("groups",), [GROUP] * score.MOST_GROUPS, [GROUP] * (score.MOST_GROUPS + 1)),
        ("score", ("groups", 0, "completions"), [COMPLETION] * score.MOST_SCORED,
         [COMPLETION] * (score.MOST_SCORED + 1)),
        ("completions", ("typed",), [{"text": "x"}] * completions.MOST_TYPED,
         [{"text": "x"}] * (completions.MOST_TYPED + 1)),
        ("completions", ("typed", 0, "text"), "x" * completions.LONGEST_TYPED,
         "x" * (completions.LONGEST_TYPED + 1)),
        ("completions", ("rows",), completions.MOST_ROWS, completions.MOST_ROWS + 1),
        ("completions", ("rows",), [0] * completions.MOST_ROWS, [0] * (completions.MOST_ROWS + 1)),
        ("completions", ("size",), completions.MOST_SIZE, completions.MOST_SIZE + 1),
        ("preview", ("row",), 10**12, 10**12 + 1), ("preview", ("row",), 0, -1),
        ("check_data", ("longest_completion",), 1, 0),
    ],
)  # fmt: skip
def test_limits_hold_at_the_limit(kind: str, path: tuple[Any, ...], most: Any, beyond: Any) -> None:
    kinds.question(kind, changed(ASKED[kind], path, most))
    with pytest.raises(Misfit) as caught:
        kinds.question(kind, changed(ASKED[kind], path, beyond))
    assert caught.value.field and ".".join(map(str, path)).startswith(caught.value.field)
    assert len(str(caught.value)) < 300


def test_who_makes_one_wrongly_hears_the_same_words() -> None:
    with pytest.raises(ValidationError) as caught:
        completions.Typed(text="x" * (completions.LONGEST_TYPED + 1))
    assert str(misfit_of(caught.value)).startswith("“text” should have at most 20,000 characters; it has ")


@pytest.mark.usefixtures("no_worker")
def test_a_page_is_told_in_a_sentence(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "ensure_worker", lambda: False)
    sent = {"completions": put("completions", {**ASKED["completions"], "size": "4"}), "functions": [{"name": "format"}]}
    with pytest.raises(Unanswerable, match="no longer kept"):
        asking.ask_workbench("score", sent)


# --- answers


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("said", [{}, [], 7, "x", {"problems": 7}, {"groups": [{}]}, {"error": 7}], ids=repr)
def test_an_answer_of_another_form_is_said_to_be_one(kind: str, said: Any) -> None:
    assert kinds.answer(kind, said) == Failed(error=kinds.UNKNOWN)


def test_what_a_newer_worker_adds_to_an_answer_is_left_out(registry_home: Path) -> None:
    class Newer(BuildAnswer):
        seconds: float

    asked = put("build", ASKED["build"])
    questions.answer_question(asked, Newer(problems=[], seconds=1.0))
    found = questions.get_question(asked)
    assert found is not None and found.answer == {"problems": [], "seconds": 1.0}
    assert found.read_answer() == BuildAnswer(problems=[])
    assert question_status.read_answer({"question": asked}) == {"answer": {"problems": []}}


def test_a_fix_that_leads_somewhere_still_does_so_on_the_page() -> None:
    """A button “Open mine in Rewards” came without its address, and did nothing."""
    open_it = Fix("Open mine in Rewards", {}, leads=True, page="/rewards?name=mine&line=3")
    choose = Fix("Choose another file", {}, leads=True)
    remove = Fix("Remove it", {}, ("rewards.0",))
    problem = Problem("rewards.0.name", "“mine” cannot be loaded.", fixes=(open_it, choose, remove))
    said = json.loads(json.dumps(BuildAnswer(problems=messages_of([problem])).as_dict()))
    assert BuildAnswer.from_plain(said).problems[0].problem() == problem
    for address in ("javascript:alert(1)", "//elsewhere.net", "https://elsewhere.net", "/x\n"):
        said["problems"][0]["fixes"][0]["page"] = address
        with pytest.raises(Misfit):
            BuildAnswer.from_plain(said)


def test_a_kind_that_there_is_not_is_refused_and_its_answer_unknown() -> None:
    with pytest.raises(Misfit, match="no such question"):
        kinds.question("moon", {})
    assert kinds.answer("moon", {"a": 1}) == Failed(error=kinds.UNKNOWN)


def all_models(base: type[Message] = Message) -> Iterator[type[Message]]:
    for model in base.__subclasses__():
        if model.__module__.startswith("groupwise."):
            yield model
            yield from all_models(model)


def test_all_are_frozen_strict_and_made_when_they_are_first_used() -> None:
    models = set(all_models())
    assert {Ask, Answer, Progress, Failed} <= models and len(models) > 50
    for model in models:
        config = model.model_config
        assert config.get("frozen") and config.get("strict") and config.get("defer_build"), model
        assert config.get("extra") == ("ignore" if not issubclass(model, Part) else "forbid"), model
