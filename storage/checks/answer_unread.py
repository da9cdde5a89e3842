"""Reward functions of which none looks at the answer that rows have: told by their code before the launch,
as the doctor tells it of a run (storage/analysis/doctor/form_alone.py). Pure."""

import re
from collections.abc import Collection, Iterator, Mapping

from groupwise.storage.checks.reward_columns import TASK_COLUMNS, source_kind_and_name
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards.form_alone import looks_at_form_alone, say_form_alone
from groupwise.storage.record.group_metrics import OF_ANSWERS
from groupwise.storage.spec.spec import RewardSpec, RunSpec, placed_rewards
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem

_NAMED = re.compile(r"\banswers?\b")


def check_answer_read(
    spec: RunSpec, offer: Offer, columns: Collection[str] | None, *, staged: bool
) -> Iterator[Problem]:
    """`columns`: those that the preview has seen. Of a stage with nothing but functions that ship nothing is said:
    another has others."""
    counting = [(n, one) for n, one in enumerate(spec.rewards) if one.weight != 0 or one.schedule]
    own = [n for n, one in counting if (offer.function(one.name, one.version) or {}).get("own")]
    if not counting or (staged and not own) or not _is_answered(spec, columns):
        return
    if not all(_reads_no_column(one, offer) for _, one in counting):
        return
    place = (own or [counting[0][0]])[0]
    words = f"no reward reads the answer. {say_form_alone([one.name for _, one in counting])}"
    yield Problem(f"rewards.{place}.name", words, level=WARNING, fixes=_compare_too(spec, offer))


def is_answer_read(spec: RunSpec, own_code: Mapping[str, str]) -> bool:
    """Whether a reward function reads the row's answer: one that ships and compares with it, or one of a person's own
    in whose code it is named. `own_code`: that of each, by name."""
    names = [reward.name for _, reward in placed_rewards(spec)]
    return any(name in OF_ANSWERS or _NAMED.search(own_code.get(name, "")) for name in names)


def _is_answered(spec: RunSpec, columns: Collection[str] | None) -> bool:
    there = TASK_COLUMNS.get(source_kind_and_name(spec.data)[0], columns or ())
    return spec.data.answer_column in there


def _reads_no_column(reward: RewardSpec, offer: Offer) -> bool:
    code = (offer.function(reward.name, reward.version) or {}).get("code") or ""
    return reward.name not in OF_ANSWERS and looks_at_form_alone(code, reward.name)


def _compare_too(spec: RunSpec, offer: Offer) -> tuple[Fix, ...]:
    name = "correctness"
    listed = next((n for n, one in enumerate(spec.rewards) if one.name == name), None)
    if listed is not None:
        return (Fix(f"Give {name} weight 1", {f"rewards.{listed}.weight": 1.0}),)
    added = {f"rewards.{len(spec.rewards)}": {"name": name, "weight": 1.0}}
    return (Fix(f"Also reward {name}", added),) if name in offer.rewards else ()
