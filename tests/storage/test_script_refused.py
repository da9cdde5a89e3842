"""Texts that are no script, or a hostile one: refused with a sentence, soon, and nothing of them is run."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.spec.words.problem import SpecError
from tests.support.foreign_scripts import COMMAND_LINE, GSM8K, OPEN_R1_MAIN, UNSLOTH, notebook, without_closing
from tests.support.runs import make_spec
from tests.support.scripts import COURSE, QUICKSTART, VLLM

BAD = [
    ("x = = 1", "This is not Python: invalid syntax.", 1),
    ("\nimport trl\n!pip install trl\nx = = 1", "This is not Python: invalid syntax.", 4),
    ("%%capture\nimport trl", "not a GRPO script", None),
    ("a = 1\nprint 'x'\n", "This is Python 2, it seems", 2),
    ("try:\n  pass\nexcept E, e:\n  pass", "This is Python 2, it seems", 3),
    ("a\nb\0", "NUL byte", 2),
    ('{"cells": [], "nbformat": 4}', "The notebook has no code cells.", None),
    ('{"cells": [{"cell_type": "code", "source": "x = 1"', "is not valid JSON: it is damaged or was cut off", 1),
    ('{"cells": ' + "[" * 100_000, "is not valid JSON: it is damaged or was cut off", None),
    ('{"cells": 3}', "The notebook has no code cells.", None),
    (notebook("x = 1", "y = ="), "Code cell 2, line 1: This is not Python: invalid syntax.", None),
    (notebook(*["x = 1"] * 5001), "more than 5,000 code cells", None),
    ("# " + "x" * 300_000, "larger than 256 KB", None),
    ("a = " + "(" * 300 + ")" * 300, "too many nested parentheses", 1),
    ("a = " + "-" * 100_000 + "1", "nested too deeply", None),
    ("a = " + "a+" * 60_000 + "a", "nested too deeply", None),
    ("a = '\ud800'", "cannot be read", None),
    ("", "not a GRPO script", None),
    ("print('hello')", "not a GRPO script", None),
    ("name: a-run\nmodel: x y", "not Python", 2),
    ("accelerate launch train.py --learning_rate 1e-5", "a shell command, not Python: import “train.py”, which it", 1),
    (
        "#!/bin/bash\nset -e\nexport A=1\nA=0 torchrun --nproc 2 \\\n  src/grpo.py --beta=1 --x 2\n",
        "import “src/grpo.py”, which it runs. Set its options (--beta, --x) here afterwards.",
        3,
    ),
    ("python train.py\n", "import “train.py”, which it runs.", 1),
    ("trl grpo --config a.yaml --beta 1", "import “a.yaml”, which it runs. Set its options (--beta)", 1),
    ("#!/bin/sh\n./all.sh --x", "import the script or recipe that it runs", 2),
    ("python = = 'x.py'", "This is not Python: invalid syntax.", 1),
]


@pytest.mark.parametrize(("script", "words", "line"), BAD, ids=[row[1][:24] + str(row[2]) for row in BAD])
def test_what_is_no_script_is_refused_with_a_sentence(script: str, words: str, line: int | None):
    began = time.monotonic()
    with pytest.raises(SpecError) as caught:
        from_script(script)
    (problem,) = caught.value.problems
    assert words in problem.message and problem.line == line
    assert time.monotonic() - began < 20


def test_names_that_stand_for_names_cannot_explode():
    doubling = "\n".join(f"a{n + 1} = f'{{a{n}}}{{a{n}}}'\nb{n + 1} = [b{n}, b{n}]" for n in range(40))
    began = time.monotonic()
    raw, notes = from_script(f"a0 = 'xxxxxxxx'\nb0 = 1\n{doubling}\nGRPOConfig(run_name=a40, x=b40)")
    assert raw["training"] == {} and len(without_closing(notes)) == 5, notes
    assert time.monotonic() - began < 30  # 2 to the 40th would never end


def test_nothing_of_a_script_is_run(tmp_path):
    mark = tmp_path / "ran"
    raw, _ = from_script(f"import os\nopen({str(mark)!r}, 'w')\nGRPOConfig(seed=os.system('touch {mark}'), beta=0.1)")
    assert raw["training"] == {"beta": 0.1} and not mark.exists()


WORDS = [
    re.findall(r"\w+|\W", script)
    for script in (
        QUICKSTART,
        COURSE,
        VLLM,
        GSM8K,
        UNSLOTH,
        OPEN_R1_MAIN,
        COMMAND_LINE,
        to_script(make_spec(stages=[{}])),
    )
]
OTHERS = ["None", "1", "0.5", "x", "[]", "{}", "''", "f()", "{**x}", "[*y]", "1e999", "lambda r: r", "'a'['b']"]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WORDS), st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(OTHERS)), max_size=4))
def test_a_script_that_was_tampered_with_is_read_or_refused(words: list[str], changes: list[tuple[int, str]]):
    places = [index for index, word in enumerate(words) if re.fullmatch(r"\w+", word)]
    changed = list(words)
    for place, other in changes:
        changed[places[place % len(places)]] = other
    try:
        raw, notes = from_script("".join(changed))
    except SpecError:
        return
    assert isinstance(raw["name"], str) and all(isinstance(note, str) for note in notes)


def test_a_second_line_that_python_names_is_that_of_its_cell_too() -> None:
    with pytest.raises(SpecError) as error:
        from_script(notebook("x = 1\ny = 2", "a = 1\nif a:\nb = 2\n"))
    [problem] = error.value.problems
    said = "expected an indented block after 'if' statement in code cell 2, line 2."
    assert problem.message == f"Code cell 2, line 3: This is not Python: {said}"
