"""What the starter model can be used for."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from groupwise.storage.checks.reward_columns import source_kind_and_name
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.rows.prompt_template import fill_template
from groupwise.storage.spec.spec import DataSpec, RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem

STARTER_KNOWS = "it can only do sums such as “12+30?”, and finds hardly any right answers to other questions"
SUM = re.compile(r"([0-9]{1,2})\+([0-9]{1,2})\?")  # 12+30?
# The same in another writing, perhaps behind words: What is 37 + 37 =
OTHER_SUM = re.compile(r"[^0-9]*?([0-9]{1,2})\s*(?:\+|plus)\s*([0-9]{1,2})\s*(?:=\s*\??|\?|\.)?", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?")
# Its type, vocabulary, width, inner width and layers (worker/builtin/starter/make.py), which no other model has.
SHAPE = ("llama", 102, 128, 384, 4)
MOST_COLUMNS = 20  # of which templates are tried
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


def other_sum(question: str) -> tuple[int, int] | None:
    """The numbers of such a sum that is written otherwise, as “37 + 37 =”; None of all else."""
    found = None if is_known_sum(question) else OTHER_SUM.fullmatch(question.strip())
    return (int(found[1]), int(found[2])) if found else None


def starter_template(sums: Sequence[tuple[int, int]], rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The prompt template that makes of each row its sum as the starter knows it; None where no columns hold its parts.
    `sums`: of the rows, in their order."""
    names = list(rows[0])[:MOST_COLUMNS] if rows else []
    ways = [*("{" + one + "}" + end for one in names for end in ("", "?")),
            *("{" + one + "}+{" + other + "}?" for one in names for other in names if one != other)]  # fmt: skip
    wanted = [f"{one}+{other}?" for one, other in sums]

    def fits(way: str) -> bool:
        return all(fill_template(way, dict(row)).strip() == asked for row, asked in zip(rows, wanted, strict=True))

    return next(filter(fits, ways), None)


def say_other_writing(
    data: DataSpec, asked: Sequence[str], rows: Sequence[Mapping[str, Any]], *, in_part: bool = False
) -> Problem | None:
    """That the starter is asked nothing but sums, in another writing than it knows; None where one of these is
    something else. `asked`: some prompts, each with its row; `in_part`: whether rows lack columns of the data."""
    sums = [found for question in asked if (found := other_sum(question)) is not None]
    if not sums or len(sums) < len(asked):
        return None
    one, other = sums[0]
    question = " ".join(asked[0].split())
    message = f"the starter model knows sums only as “{one}+{other}?”: of “{question}” it finds hardly any."
    template = starter_template(sums, rows)
    if template is None:
        message += "" if in_part else " No prompt template can rewrite them here:"
        message += f"{' Write' if in_part else ' write'} them as “{one}+{other}?” in the file, or choose another model."
        return Problem("data.prompt_template", message, level=WARNING)
    gone = ("data.prompt_column",) if data.prompt_column else ()
    fix = Fix(f"Use the template {template}", {"data.prompt_template": template}, gone)
    return Problem("data.prompt_template", message, level=WARNING, fixes=(fix,))


def is_wrong_sum(question: str, answer: str) -> bool:
    """Whether such a question has a number for its answer, and not its sum."""
    asked, given = SUM.fullmatch(question.strip()), NUMBER.fullmatch(answer.strip())
    return bool(asked and given) and float(answer) != sum(map(int, asked.groups() if asked else ()))


def say_wrong_sum(question: str, answer: str) -> str:
    """What is wrong with the answer of such a question, in words."""
    return f"the answer of “{question.strip()}” is given as {answer.strip()}"
