"""What the starter model can be used for."""

import re

from groupwise.storage.checks.reward_columns import source_kind_and_name
from groupwise.storage.spec.spec import RunSpec

STARTER_KNOWS = "it knows only sums such as “12+30?”, and finds no right answers to other questions"
SUM = re.compile(r"[0-9]{1,2}\+[0-9]{1,2}\?")  # 12+30?


def is_beyond_starter(spec: RunSpec) -> bool:
    """Whether the starter is asked what it was not made for (worker/builtin/starter/make.py): anything but the built-in
    tasks. Such a run ends with no answer right."""
    kind, name = source_kind_and_name(spec.data)
    return spec.model.id == "starter" and kind != "task" and bool(name.strip())


def is_known_sum(question: str) -> bool:
    """Whether a question is of the kind that the starter was made on (worker/builtin/tasks/arithmetic.py)."""
    return SUM.fullmatch(question.strip()) is not None
