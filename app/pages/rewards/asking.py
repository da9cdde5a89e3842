"""What the Rewards page asks the worker: completions to try functions on, their scores, a run's history scored anew."""

import re
from typing import Any

from pydantic import ValidationError

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import view
from groupwise.app.pages.rewards import functions, sources
from groupwise.app.ui.live import Payload, text
from groupwise.storage.home import paths
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.completions import (
    LONGEST_TYPED,
    MARKUP,
    MOST_ROWS,
    MOST_SIZE,
    MOST_STEP,
    MOST_TAGS,
    MOST_TYPED,
    SOURCES,
    TAG_NAME,
    CompletionsAnswer,
    CompletionsQuestion,
    SpecPart,
    Typed,
)
from groupwise.storage.registry.messages.functions import SCALES, Function
from groupwise.storage.registry.messages.message import FARTHEST, Ask, Misfit, misfit_of
from groupwise.storage.registry.messages.rescore import RescoreQuestion
from groupwise.storage.registry.messages.score import ScoreQuestion
from groupwise.storage.spec.answer_numbers import parameters_for
from groupwise.storage.spec.spec import DataSpec

GONE = "These completions are no longer kept."


def ask_columns(sent: Payload) -> int:
    """Ask which columns the data has; the question's id."""
    spec = sources.spec_with_data(text(sent, "data", 300_000))
    return _put_question(view.about_data(spec), sent)


def ask_completions(sent: Payload) -> int:
    """Ask for completions: of the model, of a run, typed, or probes. Raises Unanswerable."""
    kind = text(sent, "from")
    if kind not in SOURCES:
        raise Unanswerable("Choose where the completions come from.")
    source = text(sent, "data", 300_000)
    # a run's own completions are not made of rows
    first = (sources.source_spec if kind == "run" else sources.spec_with_data)(source).by_stage()[0]
    payload: dict[str, Any] = {
        "spec": SpecPart(data=first.data, model=first.model, training=first.training),
        "source": kind,
        "rows": _read_rows(sent.get("rows")),
        "size": _whole_number(sent.get("size"), 8, MOST_SIZE),
    }
    if kind == "run":
        payload |= _run_and_step(sent)
    if kind == "probes":
        payload["tags"] = _read_tags(sent.get("tags"))
    if kind == "typed":
        payload["typed"] = _read_typed_completions(sent.get("typed"))
    return _put_question(CompletionsQuestion(**payload), sent)


def ask_score(sent: Payload) -> int:
    """Ask for the scores of the completions that an earlier question brought. Raises Unanswerable."""
    asked = questions.get_question(_whole_number(sent.get("completions"), 0, 2**62, least=0))
    question, answer = (asked.read_question(), asked.read_answer()) if asked is not None else (None, None)
    if not isinstance(question, CompletionsQuestion) or not isinstance(answer, CompletionsAnswer):
        raise Unanswerable(GONE)
    training = question.spec.training
    return _put_question(
        ScoreQuestion(
            functions=_as_called(functions.read_functions(sent.get("functions")), question.spec.data),
            groups=answer.groups,
            scale_rewards=_read_scale(sent) or training.get("scale_rewards"),
            multi_objective_aggregation=training.get("multi_objective_aggregation"),
            columns=sorted({name for group in answer.groups for name in group.columns}),
        ),
        sent,
    )


def ask_rescore(sent: Payload) -> int:
    """Ask for a run's stored completions to be scored anew. Raises Unanswerable."""
    run, scale, instead = _run_id(sent), _read_scale(sent), text(sent, "instead") or None
    of = _as_called(functions.read_functions(sent.get("functions")), sources.source_spec(f"run:{run}").data)
    return _put_question(RescoreQuestion(run=run, functions=of, instead=instead, scale_rewards=scale), sent)


def _as_called(listed: list[Function], data: DataSpec) -> list[Function]:
    """Functions with the parameters that a run on this data calls them with."""

    def called(one: Function) -> dict[str, Any]:
        return one.parameters if one.code else parameters_for(one.name, one.parameters, data.answer_numbers)

    return [one.model_copy(update={"parameters": called(one)}) for one in listed]


def _read_tags(sent: Any) -> list[str]:
    """Names of tags that may be a format's; none of what is no list of such."""
    listed = [one for one in sent if isinstance(one, str)] if isinstance(sent, list) else []
    return [one for one in listed if re.fullmatch(TAG_NAME, one) and one.lower() not in MARKUP][:MOST_TAGS]


KINDS = {"columns": ask_columns, "completions": ask_completions, "score": ask_score, "rescore": ask_rescore}


def ask_workbench(kind: str, sent: Payload) -> int:
    """Ask; the question's id. Raises Unanswerable."""
    if kind not in KINDS:
        raise Unanswerable("There is no such question.")
    try:
        return KINDS[kind](sent)
    except ValidationError as error:
        raise Unanswerable(str(misfit_of(error))) from error
    except Misfit as error:  # another version asked for the completions
        raise Unanswerable(GONE) from error


def _put_question(question: Ask, sent: Payload) -> int:
    worker_process.wake_worker()
    return questions.ask_question(
        question, topic=f"{text(sent, 'topic', 40)}:{question.kind}" if sent.get("topic") else ""
    )


def _run_and_step(sent: Payload) -> dict[str, Any]:
    step = sent.get("step")
    known = isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= MOST_STEP
    return {"run": _run_id(sent), "step": step if known else None}


def _run_id(sent: Payload) -> str:
    name = text(sent, "run")
    try:
        folder = paths.run_folder(name)
    except ValueError as error:
        raise Unanswerable("Choose a run.") from error
    if not folder.db.is_file():
        raise Unanswerable(f"Nothing is recorded of the run “{name[:80]}”.")
    return name


def _read_typed_completions(sent: Any) -> list[Typed]:
    """What was typed, with its rows. Raises Unanswerable where there is none, or more than can be read."""
    listed = [one for one in sent if isinstance(one, dict)] if isinstance(sent, list) else []
    found = [
        Typed(row=_whole_number(one.get("row"), 0, FARTHEST, least=0), text=str(one.get("text") or "")[:LONGEST_TYPED])
        for one in listed[:MOST_TYPED]
    ]
    if not found:
        raise Unanswerable("Type or paste at least one completion.")
    return found


def _read_rows(sent: Any) -> int | list[int]:
    """How many rows, or which, counted from 0. Raises Unanswerable where none of a list is a row."""
    if not isinstance(sent, list):
        return _whole_number(sent, 4, MOST_ROWS)
    numbers = [_whole_number(each, -1, FARTHEST, least=-1) for each in sent[:MOST_ROWS]]
    found = list(dict.fromkeys(each for each in numbers if each >= 0))
    if not found:
        raise Unanswerable("Choose at least one row.")
    return found


def _read_scale(sent: Payload) -> Any:
    """None: as the settings of the data, or of the run, have it."""
    asked = text(sent, "scale_rewards")
    return asked if asked in SCALES else None


def _whole_number(value: Any, default: int, most: int, *, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    return min(max(value, least), most)
