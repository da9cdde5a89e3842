"""Of a pasted training script stays what its functions need; the rest becomes comments, line by line."""

from __future__ import annotations

import pytest

from groupwise.storage.library.rewards.strip_script import keep_only, stand_ins


def commented(code: str) -> list[int]:
    """The lines, from 1, that became comments; all others are as they were."""
    before, after = code.split("\n"), keep_only(code).split("\n")
    assert len(before) == len(after)
    assert all(new in (old, f"# {old}") for old, new in zip(before, after, strict=True))
    return [n for n, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]


REWARD = "def reward(completions, **kwargs):\n    return [score(c) for c in completions]\n"


CASES: dict[str, tuple[str, list[int]]] = {
    "what is not used goes, imports too": (
        "import trl\ntrl.setup()\n" + REWARD, [1, 2],
    ),
    "what is used stays, and what that needs": (
        "import re\nP = re.compile('a')\nscore = P.findall\nrun()\n" + REWARD, [4],
    ),
    "what changes a used name stays": (
        "score = make()\nscore.depth = 3\nscore.table['a'] = 1\nrun()\n" + REWARD, [4],
    ),
    "a guarded import stays": (
        "try:\n    from a import score\nexcept ImportError:\n    score = len\nrun()\n" + REWARD, [5],
    ),
    "the main part goes, all its lines": (
        REWARD + "\nif __name__ == '__main__':\n    a = f(\n        1)\n    g(a)\n", [4, 5, 6, 7],
    ),
    "a default is a use": (
        "n = g()\nx = g()\ndef reward(completions, a=n):\n    return a\n", [2],
    ),
    "a helper of the script alone goes": (
        "run()\ndef score(c):\n    return size(c)\ndef size(c):\n    text = len(c)\n    return text\n"
        "def text(c):\n    return size(c)\n\n" + REWARD, [1, 7, 8],
    ),
    "decorators and annotations are uses": (
        "run()\ndef timed(f):\n    return f\nclass Kind:\n    pass\n"
        "@timed\ndef score(c: Kind):\n    return 1.0\n" + REWARD, [1],
    ),
    "what makes reward functions stays, with its helpers": (
        "run()\nscore = len\ndef near(c):\n    return 1.0\ndef other(c):\n    return 1.0\n"
        "def make(n):\n    def inner(completions, **kwargs):\n        return [near(c) for c in completions]\n"
        "    return inner\n" + REWARD, [1, 5, 6],
    ),
    "helpers alone are no script": (
        "import functools\n@functools.lru_cache(maxsize=9)\ndef idle(c):\n    return 1.0\nscore = len\n" + REWARD, [],
    ),
    "docstring and future imports stay": (
        '"""Words."""\nfrom __future__ import annotations\nrun()\n' + REWARD, [3],
    ),
    "nothing is done where nothing runs": (
        "import trl\nX = 1\n" + REWARD, [],
    ),
    "a shared line stays": (
        "score = len; run()\n" + REWARD, [],
    ),
    "no function, nothing to go by": (
        "run()\n", [],
    ),
    "no Python": (
        "run()\ndef reward(:\n", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_only_what_the_functions_need_stays(kind: str) -> None:
    script, lines = CASES[kind]
    assert commented(script) == lines
    assert commented(keep_only(script)) == []


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("import re, torch", "import re  # torch"),
        ("import torch as t, os.path, re as r", "import os.path, re as r  # torch as t"),
        ("from a import torch, os, re as r", "from a import os, re as r  # torch"),
    ],
)
def test_of_names_imported_together_those_that_are_used_stay(line: str, left: str) -> None:
    """As it was seen: torch stayed, as it stood on the line of re."""
    script = f"{line}\nrun()\ndef reward(completions, **kwargs):\n    return [os, re, r, completions]\n"
    kept = keep_only(script)
    assert kept.split("\n")[:2] == [left, "# run()"] and keep_only(kept) == kept
    assert keep_only(script.replace("run()", "")).startswith(line)


def test_what_is_written_in_place_of_a_tokenizers_tokens_is_told() -> None:
    script = (
        "tokenizer = AutoTokenizer.from_pretrained('a')\nEND = tokenizer.eos_token\n"
        "def reward(completions, **kwargs):\n    return [c.endswith(END) for c in completions]\n"
    )
    kept = keep_only(script)
    assert 'END = "<eos_token>"' in kept and stand_ins(script, kept) == ["eos_token"]
    assert stand_ins(kept, kept) == []


def test_a_function_that_is_asked_for_by_name_counts_whatever_it_looks_like() -> None:
    script = f"run()\ndef odd(samples):\n    return [1.0]\nscore = len\n{REWARD}"
    assert "\n# def odd" in keep_only(script) and "\ndef odd" in keep_only(script, "odd")
