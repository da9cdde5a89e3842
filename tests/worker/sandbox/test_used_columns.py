"""Which columns a function can reach: never fewer than it can."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.worker.sandbox import used_columns

EVERY = None
HEAD = "def f(completions, *, k=1, **kwargs):\n    "


@pytest.mark.parametrize(
    ("code", "needs"),
    [
        ("def f(completions, answer): ...", ["completions", "answer"]),
        (HEAD + "return [k for c in completions]", ["completions", "k"]),
        (HEAD + "return 'kwargs'[k]", EVERY),  # no use of them, but it takes no risk
        (HEAD + "return kwargs['answer']", ["completions", "k", "answer"]),
        (HEAD + "return kwargs.get('answer', kwargs['other'])", ["completions", "k", "answer", "other"]),
        (HEAD + "return kwargs[k]", EVERY),
        (HEAD + "return kwargs.get(k)", EVERY),
        (HEAD + "return kwargs.pop('answer')", EVERY),
        (HEAD + "return kwargs['answer'], kwargs", EVERY),
        (HEAD + "return list(kwargs)", EVERY),
        (HEAD + "return [x for x in range(3) for y in kwargs]", EVERY),
        (HEAD + "return lambda: kwargs['answer']", EVERY),
        (HEAD + "return other(**kwargs)", EVERY),
        (HEAD + "return locals()", EVERY),
        (HEAD + "return eval('kwargs')", EVERY),
        (HEAD + "import sys; return sys._getframe().f_locals", EVERY),
        (HEAD + "kwargs = {}; return k, kwargs", EVERY),
        ("def f(*completions, **kwargs): ...", EVERY),
        ("f = print", EVERY),
        ("import functools\ndef g(completions, **kwargs): ...\nf = functools.partial(g)", EVERY),
    ],
)
def test_what_a_function_can_reach(code: str, needs: list[str] | None):
    space: dict[str, Any] = {}
    exec(code, space)  # noqa: S102
    assert used_columns.needs(space["f"]) == needs
