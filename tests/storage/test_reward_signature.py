"""What is read from a reward function's code without running it: its arguments, parameters, and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.library.rewards.signature import Analysis, analyse, problems_for
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING

BUILT_IN = sorted((Path(__file__).parents[2] / "worker" / "builtin" / "rewards").glob("[a-z]*.py"))
BODY = "\n    return [1.0 for _ in completions]\n"


def said(analysis: Analysis) -> str:
    return " | ".join(problem.message for problem in analysis.problems)


def parameters(arguments: str, docstring: str = "") -> dict[str, dict[str, Any]]:
    code = f'def f(completions, *, {arguments}, **kwargs):\n    """{docstring}"""{BODY}'
    return {each["name"]: each for each in analyse(code).functions[0].parameters}


# The styles of TRL's documentation.
STYLES = {
    "a column": ("def f(completions, ground_truth, **kwargs):", ["completions", "ground_truth"]),
    "prompts and ids": ("def f(prompts, completions, completion_ids, **kwargs):",
                        ["prompts", "completions", "completion_ids"]),
    "completions alone": ("def f(completions, **kwargs):", ["completions"]),
    "trainer state": ("def f(completions, trainer_state, **kwargs):", ["completions", "trainer_state"]),
    "logging": ("def f(completions, log_extra, log_metric, **kwargs):", ["completions", "log_extra", "log_metric"]),
    "logging, if there is any": ("def f(completions, log_extra=None, *, trainer_state=None, **kwargs):",
                                 ["completions", "log_extra", "trainer_state"]),
    "async": ("async def f(prompts, completions, task, **kwargs):", ["prompts", "completions", "task"]),
    "annotated": ("def f(completions: list[list[dict]], solution: list[str], **kwargs) -> list[float | None]:",
                  ["completions", "solution"]),
    "another name of the rest": ("def f(completions, **rest):", ["completions"]),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_the_documentation_passes_without_a_complaint(style: str):
    head, arguments = STYLES[style]
    analysis = analyse(head + BODY)
    assert analysis.problems == []
    (function,) = analysis.functions
    assert (function.name, function.arguments, function.parameters) == ("f", arguments, [])
    assert function.takes_rest and function.is_async == head.startswith("async")
    assert problems_for(function, {"ground_truth", "task", "solution"}) == []


def test_a_default_before_a_star_is_said_to_make_no_parameter():
    analysis = analyse("def f(completions, most: int = 20, answer=None, **kwargs):" + BODY)
    (problem,) = analysis.problems
    assert (problem.level, problem.line, problem.column) == (ADVICE, 1, 20)
    assert "write it after a *: (completions, *, most: int = 20, **kwargs)." in problem.message
    assert analysis.functions[0].parameters == []


@pytest.mark.parametrize("path", BUILT_IN, ids=lambda path: path.stem)
def test_the_built_in_functions_read_well(path: Path):
    code = path.read_text(encoding="utf-8")
    analysis = analyse(code, path.stem)
    assert [problem for problem in analysis.problems if problem.level != ADVICE] == []
    assert [function.name for function in analysis.functions] == [path.stem]
    assert [function.name for function in analyse(code).functions] == [path.stem]  # and none of its helpers
    assert analysis.functions[0].help.endswith(".")


def test_a_module_with_helpers_classes_and_imports_gives_its_reward_functions_only():
    code = f'''
import re
try:
    import numpy as np
except ImportError:
    np = None

class Parser:
    def reward(self, completions, **kwargs):
        return [0.0]

def texts(completions):
    return [each[0]["content"] for each in completions]

def second(completions, answer, **kwargs):
    """Compares.

    At length."""
    import math
    return [float(text == right) for text, right in zip(texts(completions), answer)]

async def first(completions, **kwargs):{BODY}
if __name__ == "__main__":
    def third(completions, **kwargs):{BODY.replace(chr(10), chr(10) + "    ")}
'''
    functions = analyse(code).functions
    assert [(each.name, each.help, each.is_async) for each in functions] == [
        ("second", "Compares.", False), ("first", "", True),
    ]  # fmt: skip
    assert functions[0].line == 15


def test_a_name_picks_one_function_whatever_it_looks_like():
    code = f"def a(completions, **kwargs):{BODY}\ndef b(texts, **kwargs):{BODY}"
    assert [each.name for each in analyse(code, "b").functions] == ["b"]
    missing = analyse(code, "aa")
    assert missing.functions == [] and "does not define a function “aa”. Did you mean “a”?" in said(missing)


def test_of_two_definitions_the_last_counts_and_overloads_do_not():
    code = f"""
from typing import overload
@overload
def f(completions: str) -> float: ...
def f(completions, old, **kwargs):{BODY}
def f(completions, new, **kwargs):{BODY}"""
    (function,) = analyse(code).functions
    assert function.arguments == ["completions", "new"]


def test_a_decorated_function_is_read_and_one_that_is_cached_is_refused():
    assert analyse(f"@tool(x=1)\ndef f(completions, **kwargs):{BODY}").problems == []
    analysis = analyse(f"@functools.lru_cache(maxsize=None)\ndef f(completions, **kwargs):{BODY}")
    assert "lru_cache needs arguments that can be hashed" in said(analysis) and analysis.problems[0].line == 1


# code → what is said, and in which line
WRONG = {
    "f = lambda completions, **kw: [1]": ("“f” is a lambda. Make it a def", 1),
    "import functools\ndef g(a, completions): return a\nf = functools.partial(g, 1)": ("functools.partial. Make it", 3),
    "def make(scale):\n    def f(completions, **kw):\n        return [scale]\n    return f":
        ("made inside of make()", 2),
    "class A:\n    def f(self, completions, **kw):\n        return [1]": ("stands in the class A", 2),
    "x = 1": ("There is no function here. A reward function begins def my_reward(completions, **kwargs):", 1),
    "": ("There is no function here", 1),
    "\n\ndef f(words):\n    return 1": ("No function here takes completions", 3),
    "def f(completions):" + BODY: ("has to end its arguments with **kwargs", 1),
    "def f(completions, /, **kwargs):" + BODY: ("take the / out", 1),
    "def f(completions, *rest, **kwargs):" + BODY: ("*rest stays empty", 1),
    "def f(prompt, completions, **kwargs):" + BODY: ("TRL gives “prompts”, a list, not “prompt”", 1),
    "def f(self, completions, **kwargs):" + BODY: ("belongs to a class's method", 1),
    "def f(completions, **kwargs):\n    pass": ("“f” returns nothing", 1),
    "def f(completions, **kwargs):\n    return": ("This returns nothing", 2),
    "def f(completions, **kwargs):\n    return 0.5": ("as in [0.5 for _ in completions]", 2),
    "def f(completions, **kwargs):\n    return -1": ("This returns -1", 2),
    "def f(completions, **kwargs):\n    return True": ("This returns True", 2),
    "def f(completions, **kwargs):\n    return 'good'": ("This returns a text", 2),
    "def f(completions, **kwargs):\n    return [1.0]": ("This returns 1 score, however many", 2),
    "def f(completions, **kwargs):\n    return {'a': 1}": ("This returns a dict", 2),
    "def f(completions, **kwargs):\n    return (1 for c in completions)": ("This returns a generator", 2),
    "def f(completions, **kwargs):\n    yield 1.0": ("uses yield", 2),
    "def f(completions, **kwargs):\n    log_metric('a', 1)\n    return [1 for c in completions]":
        ("uses log_metric and does not take it", 2),
    "def f(completions, **kwargs):" + BODY + "return 3": ("“return” stands outside of any function", 3),
    "def f(completions, **kwargs):" + BODY + "trainer = GRPOTrainer(1)\ntrainer.train()":
        ("GRPOTrainer(…) would run each time", 3),
    "from .tools import x\ndef f(completions, **kwargs):" + BODY: ("Relative imports don't work here", 1),
    "import requests\ndef f(completions, **kwargs):" + BODY: ("requests uses the network", 1),
    "def f(completions, **kwargs)\n    return 1": ("This is not Python: expected ':'", 1),
    "def f(completions, **kwargs):\n    if (completions[0:\n        return 1": ("This is not Python: '[' was never", 2),
    "def f(completions, **kwargs):\nreturn 1": ("This is not Python: expected an indented block", 2),
    "x = 1\0": ("This is not Python: source code string cannot contain null bytes", 1),
    "(" * 3000: ("too many nested parentheses", 1),
    "-" * 60000 + "1": ("nested too deeply", 1),
    "x = '\ud800'": ("This is not Python", 1),
    "def f(completions, *, x=" + "1+" * 900 + "1, **kwargs):" + BODY: ("nested too deeply", 1),
}  # fmt: skip


@pytest.mark.parametrize("code", WRONG, ids=lambda code: repr(code[:60]))
def test_what_is_wrong_is_said_with_its_line(code: str):
    words, line = WRONG[code]
    found = [problem for problem in analyse(code).problems if words in problem.message]
    assert found and found[0].line == line and found[0].column >= 1
    assert found[0].level in (BLOCKING, WARNING, ADVICE)


@pytest.mark.parametrize(
    "ending",
    ["return scores", "return [1.0] * len(completions)", "return list(map(len, completions))", "return np.zeros(3)",
     "return [*map(len, completions)]", "raise NotImplementedError", "return a if b else c", "return await g()",
     "if not completions:\n        return []\n    return scores"],
)  # fmt: skip
def test_what_may_well_be_a_list_is_not_complained_about(ending: str):
    assert analyse(f"async def f(completions, **kwargs):\n    scores = 1\n    {ending}\n").problems == []


def test_returns_of_functions_inside_are_their_own():
    code = "def f(completions, **kwargs):\n    def g(x):\n        return 1\n    return [g(c) for c in completions]"
    assert analyse(code).problems == []


def test_columns_count_characters_though_a_tree_counts_bytes():
    (problem,) = analyse("def f(größe, ü, prompt, **kwargs):\n    return [1 for _ in größe]").problems
    assert (problem.line, problem.column) == (1, 17)


def test_a_column_that_the_data_does_not_give_is_named_with_the_one_that_was_meant():
    function = analyse(f"def f(\n    completions,\n    anser,\n    *, level=1, **kwargs):{BODY}").functions[0]
    asked, hidden = problems_for(function, {"answer", "prompt", "level"})
    assert asked.message == "“f” takes “anser”, which this dataset does not have. Did you mean “answer”?"
    assert (asked.line, asked.column, asked.level) == (3, 5, BLOCKING)
    assert "The parameter “level” hides" in hidden.message and hidden.level == WARNING
    assert problems_for(function, None) == []


def test_a_parameters_kinds_come_from_its_annotation_and_its_default():
    found = parameters(
        "a=1, b=1.5, c=True, d='x', e=('u', 'v'), f={'k': [1]}, g=None, h: float = 2, i: int | None = None, "
        "j: Optional[str] = None, k: Literal['s', 'm'] = 's', l: 'list[str]' = (), m: Any = 3, n: Foo = None, "
        "o: Literal['s', None] = None, p: int | Literal['auto'] = 'auto', q: Annotated[int, 'x'] = 1, r: str = None, "
        "s={'b', 'a'}, t: typing.Sequence[int] = [1], u=-1"
    )
    assert {name: each["types"] for name, each in found.items()} == {
        "a": ["int"], "b": ["float"], "c": ["bool"], "d": ["str"], "e": ["list"], "f": ["dict"], "g": [],
        "h": ["float"],
        "i": ["int", "none"], "j": ["str", "none"], "k": ["str"], "l": ["list"], "m": [], "n": [],
        "o": ["str", "none"], "p": ["int", "str"], "q": ["int"], "r": ["str", "none"], "s": ["list"], "t": ["list"],
        "u": ["int"],
    }  # fmt: skip
    assert {name: each["choices"] for name, each in found.items() if each["choices"]} == {"k": ["s", "m"], "o": ["s"]}
    defaults = {name: each["default"] for name, each in found.items()}
    assert defaults["e"] == ["u", "v"] and defaults["s"] == ["a", "b"] and defaults["u"] == -1
    assert all(each["adjustable"] for each in found.values())


@pytest.mark.parametrize("default", ["math.pi", "len('x')", "b'x'", "...", "1e999", "{1: 2}", "'\\ud800'", "2 * 3"])
def test_a_default_that_a_spec_cannot_say_is_shown_and_not_adjustable(default: str):
    (found,) = parameters(f"x: float = {default}").values()
    assert found["default"].replace('"', "'") in (default, "1e309", "3.14") and not found["adjustable"]
    assert found["types"] == []


def test_only_keyword_only_arguments_with_a_default_are_parameters():
    code = f"def f(completions, tag='x', *, needed, log_metric=None, trainer_state=None, most=3, **kwargs):{BODY}"
    (function,) = analyse(code).functions
    assert [each["name"] for each in function.parameters] == ["most"]
    assert function.arguments == ["completions", "needed", "log_metric", "trainer_state"]


@pytest.mark.parametrize(
    "docstring",
    # Google, TRL, numpy, Sphinx, a plain list.
    ["Sum.\n\n    Args:\n        most: The most that counts,\n            in words.\n        other: No.\n    ",
     "Sum.\n\n    Args:\n        most (`int`, *optional*, defaults to `3`):\n            The most that "
     "counts, in words.\n    ",
     "Sum.\n\n    Parameters\n    ----------\n    most : int\n        The most that counts, in words.\n    ",
     "Sum.\n\n    :param most: The most that counts, in words.\n    :param int other: No.\n    ",
     "Sum.\n\n    - `most`: The most that counts, in words.\n    "],
)  # fmt: skip
def test_a_parameters_help_comes_from_the_docstring(docstring: str):
    assert parameters("most=3", docstring)["most"]["help"] == "The most that counts, in words."
