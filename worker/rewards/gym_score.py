"""Reward from reasoning-gym's own scorer of the task that a row comes from."""

import ast
import functools
import json
import re
import sys
from collections.abc import Callable

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

    The answer is the text of the last <answer>…</answer>, or the whole completion where it has no such tags. An
    answer that the scorer cannot read gets 0. A row that is not from reasoning-gym gets None: the reward does not
    apply. Parameters that change how a task is scored are taken at their defaults.
    """
    rows = zip(
        completions, answer, metadata or [None] * len(completions), question or [""] * len(completions), strict=True
    )
    return [score(given_answer(text_of(completion)), right, about, asked) for completion, right, about, asked in rows]


def score(given: str, right: object, about: object, asked: object = "") -> float | None:
    """The score of one answer, given its row's answer and metadata (JSON text)."""
    metadata: dict = json.loads(about) if isinstance(about, str) and about.startswith("{") else {}
    task = metadata.get("source_dataset")
    if not task:
        return None
    if len(given) > 20_000 or (task in PARSES and given != right and not is_formula(given)):
        return 0.0
    if task in ("arc_agi", "rearc"):  # JSON made lists of their boards, which are compared as tuples
        metadata = {**metadata, "output": tuple(map(tuple, metadata["output"]))}
    scorer = scorer_of(task)
    try:
        return float(scorer(answer=given, entry={"question": asked, "answer": right, "metadata": metadata}))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, SyntaxError, TypeError, ValueError):
        return 0.0  # not an answer to this task at all


@functools.cache
def scorer_of(task: str) -> Callable[..., float]:
    """reasoning-gym's scorer of a task, made safe: where it would eval() an answer, it reads plain values only."""
    import reasoning_gym

    scorer = reasoning_gym.get_score_answer_fn(task)
    if task in EVALUATES:
        vars(sys.modules[type(scorer.__self__).__module__])["eval"] = ast.literal_eval
    return scorer


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


def given_answer(text: str) -> str:
    """What a completion gives as its answer."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        text = text[start + len("<answer>") : text.find("</answer>", start)]
    return text.strip()


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
