"""All kinds of question, with what is asked and what is answered: how the registry's rows are read."""

from typing import Any

from groupwise.storage.registry.messages.build import BuildAnswer, BuildQuestion
from groupwise.storage.registry.messages.call_rewards import CallRewardsAnswer, CallRewardsQuestion
from groupwise.storage.registry.messages.completions import CompletionsAnswer, CompletionsQuestion
from groupwise.storage.registry.messages.data_checks import CheckDataAnswer, CheckDataQuestion
from groupwise.storage.registry.messages.dry_run import TryAnswer, TryQuestion
from groupwise.storage.registry.messages.message import Answer, Ask, Misfit
from groupwise.storage.registry.messages.model import ModelAnswer, ModelQuestion
from groupwise.storage.registry.messages.preview import PreviewAnswer, PreviewQuestion
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.registry.messages.rescore import RescoreAnswer, RescoreQuestion
from groupwise.storage.registry.messages.score import ScoreAnswer, ScoreQuestion

KINDS: dict[str, tuple[type[Ask], type[Answer]]] = {
    asked.kind: (asked, answered)
    for asked, answered in (
        (PreviewQuestion, PreviewAnswer), (CheckDataQuestion, CheckDataAnswer), (BuildQuestion, BuildAnswer),
        (ModelQuestion, ModelAnswer), (TryQuestion, TryAnswer), (CompletionsQuestion, CompletionsAnswer),
        (ScoreQuestion, ScoreAnswer), (RescoreQuestion, RescoreAnswer), (CallRewardsQuestion, CallRewardsAnswer),
    )
}  # fmt: skip
UNKNOWN = "The worker and the dashboard have different versions. Restart both, and try again."


def question(kind: str, payload: Any) -> Ask:
    """The question that a row of this kind holds. Raises Misfit."""
    if kind not in KINDS:
        raise Misfit("There is no such question.", "")
    return KINDS[kind][0].from_plain(payload)


def answer(kind: str, said: Any) -> Answer:
    """The answer that a row of this kind holds; Failed where there is none, or it has not the form of this version."""
    try:
        if kind not in KINDS or (isinstance(said, dict) and "error" in said):
            return Failed.from_plain(said)
        return KINDS[kind][1].from_plain(said)
    except Misfit:
        return Failed(error=UNKNOWN)
