"""What the starter model can be used for."""

import re

from groupwise.storage.checks.reward_columns import source_kind_and_name
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec

STARTER_KNOWS = "it knows only sums such as “12+30?”, and finds hardly any right answers to other questions"
SUM = re.compile(r"([0-9]{1,2})\+([0-9]{1,2})\?")  # 12+30?
NUMBER = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?")
# Its type, vocabulary, width, inner width and layers (worker/builtin/starter/make.py), which no other model has.
SHAPE = ("llama", 102, 128, 384, 4)
WRONG = 0.5  # of the sums that have an answer: from which on the answers look wrong, and not a slip or two


def is_from_starter(model: str, facts: ModelFacts | None) -> bool:
    """Whether a model is the starter or was trained from it, which its files tell wherever a run saved them."""
    if model == "starter" or facts is None:
        return model == "starter"
    return (facts.model_type, facts.vocab, facts.hidden, facts.intermediate, facts.layers) == SHAPE


def is_beyond_starter(spec: RunSpec, facts: ModelFacts | None) -> bool:
    """Whether the starter, or what was trained from it, is asked what it was not made for: anything but the built-in
    tasks. Such a run ends with hardly any answer right."""
    kind, name = source_kind_and_name(spec.data)
    return kind != "task" and bool(name.strip()) and is_from_starter(spec.model.id, facts)


def is_known_sum(question: str) -> bool:
    """Whether a question is of the kind that the starter was made on (worker/builtin/tasks/arithmetic.py)."""
    return SUM.fullmatch(question.strip()) is not None


def is_wrong_sum(question: str, answer: str) -> bool:
    """Whether such a question has a number for its answer, and not its sum."""
    asked, given = SUM.fullmatch(question.strip()), NUMBER.fullmatch(answer.strip())
    return bool(asked and given) and float(answer) != sum(map(int, asked.groups() if asked else ()))


def say_wrong_sum(question: str, answer: str) -> str:
    """What is wrong with the answer of such a question, in words."""
    return f"the answer of “{question.strip()}” is given as {answer.strip()}"
