"""Reward from reasoning-gym's own scorer of the task that a row comes from."""

import ast
import dataclasses
import functools
import json
import re
import sys
from collections.abc import Callable
from typing import Any

NEEDS = ["reasoning_gym"]

# Where the library's scorers call eval() or sympy's parse_expr() on what the model wrote, which would run it as code.
EVALUATES = {"string_insertion", "spiral_matrix", "binary_matrix", "n_queens"}
PARSES = {"countdown", "puzzle24", "simple_integration", "intermediate_integration", "polynomial_multiplication"}
FUNCTIONS = {"sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log",
             "ln", "sqrt", "Abs", "abs"}  # fmt: skip
# A formula: numbers of a sensible size, letters for unknowns, signs. Powers are small and of small depth: none is
# endless.
TOKEN = re.compile(
    r"\s+|[0-9]{1,12}(?:\.[0-9]{1,12})?(?![0-9.A-Za-z_])|(?P<name>[A-Za-z]+)(?![0-9A-Za-z_])(?P<call>\s*\()?|[()+/=,-]"
    r"|\*\*\s*(?:-?[0-9]{1,3}(?![0-9.])|\(\s*-?[0-9]{1,3}\s*(?:/\s*[0-9]{1,3}\s*)?\)|[A-Za-z](?![0-9A-Za-z_(]))"
    r"(?!\s*\*\*)|\*(?!\*)"
)
OF_A_POWER = re.compile(r"\)\s*\*\*\s*(?![0-9](?![0-9]))")  # (…)**12: a power of what may be a power
LONGEST = 500  # characters of a formula, 20,000 of any answer


def gym_score(
    completions: list, answer: list, metadata: list | None = None, question: list | None = None, **kwargs: object
) -> list[float | None]:
    """What reasoning-gym's own scorer of the task gives the completion's answer, 0 to 1.

    The answer is the text of the last <answer>…</answer>, or the whole completion where it opens no such tag; a tag
    that is never closed is no answer. An answer that the scorer cannot read gets 0. A row that is not from
    reasoning-gym gets None: the reward does not apply. Parameters that change how a task is scored are those that the
    row was made with, as its metadata says.
    """
    rows = zip(
        completions, answer, metadata or [None] * len(completions), question or [""] * len(completions), strict=True
    )
    return [score(given_answer(text_of(completion)), right, about, asked) for completion, right, about, asked in rows]


def score(given: str | None, right: object, about: object, asked: object = "") -> float | None:
    """The score of one answer, given its row's answer and metadata (JSON text)."""
    metadata: dict = json.loads(about) if isinstance(about, str) and about.startswith("{") else {}
    task = metadata.get("source_dataset")
    if not task:
        return None
    if given is None or len(given) > 20_000 or (task in PARSES and given != right and not is_formula(given)):
        return 0.0
    if task in ("arc_agi", "rearc"):  # JSON made lists of their boards, which are compared as tuples
        metadata = {**metadata, "output": tuple(map(tuple, metadata["output"]))}
    scorer = scorer_of(task, json.dumps(parameters_of(task, metadata.pop("parameters", None))))
    try:
        return float(scorer(answer=given, entry={"question": asked, "answer": right, "metadata": metadata}))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError):
        return 0.0  # not an answer to this task at all


def parameters_of(task: str, given: object) -> dict:
    """The parameters of a row's task among those of its run, which may be a mixture of tasks."""
    parameters = given if isinstance(given, dict) else {}
    parts = parameters.get("datasets")
    if isinstance(parts, list):
        configs = [part.get("config") for part in parts if isinstance(part, dict) and part.get("name") == task]
        parameters = configs[0] if configs and isinstance(configs[0], dict) else {}
    return parameters


@functools.cache
def scorer_of(task: str, parameters: str) -> Callable[..., float]:
    """reasoning-gym's scorer of a task with these parameters (JSON text), made safe: where it would eval() an answer,
    it reads plain values only."""
    import reasoning_gym

    scorer = reasoning_gym.get_score_answer_fn(task)
    if parameters != "{}":
        dataset = scorer.__self__
        try:
            scorer = type(dataset)(config=configured(dataset.config, json.loads(parameters))).score_answer
        except Exception:  # tasks refuse a config in ways of their own; no rows are made with one, so it is not ours
            scorer = dataset.score_answer
    if task in EVALUATES:
        vars(sys.modules[type(scorer.__self__).__module__])["eval"] = ast.literal_eval
    return scorer


def configured(config: Any, parameters: dict) -> Any:
    """A task's default config with these parameters, as far as each is one of its settings."""
    names = {field.name for field in dataclasses.fields(config) if field.init} - {"size", "seed"}
    changes = {name: like(getattr(config, name), value) for name, value in parameters.items() if name in names}
    return dataclasses.replace(config, **changes)


def like(default: object, value: object) -> object:
    """A parameter's value where it is of its default's kind, or a mapping for a config of its own; else the default:
    what JSON cannot say (tuples, dates) is for making rows, and no scorer reads it."""
    if dataclasses.is_dataclass(default) and isinstance(value, dict):
        return configured(default, value)
    both_numbers = isinstance(default, (int, float)) and isinstance(value, (int, float))
    if isinstance(default, bool) == isinstance(value, bool) and (both_numbers or isinstance(value, type(default))):
        return value
    return default


def is_formula(text: str) -> bool:
    """Whether a text is plain mathematics that is safe to have parsed."""
    if len(text) > LONGEST or OF_A_POWER.search(text) or len(re.findall(r"\)\s*\*\*", text)) > 3:
        return False
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if not found:
            return False
        name = found["name"] or ""
        if len(name) > 1 and name not in FUNCTIONS | {"pi"} or (found["call"] and name not in FUNCTIONS):
            return False
        place = found.end()
    return True


def given_answer(text: str) -> str | None:
    """What a completion gives as its answer; None where its tag is never closed."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        return text[start + len("<answer>") : text.find("</answer>", start)].strip()
    return None if is_opened(text, "<answer>") else text.strip()


def is_opened(text: str, tag: str) -> bool:
    """Whether a text opens this tag, or ends within the opening one: `<answe`."""
    return tag in text or text.endswith(tuple(tag[:end] for end in range(3, len(tag))))


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
