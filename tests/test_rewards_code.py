"""code_tests: right code passes, wrong code and every trick fails, and nothing of it reaches this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.rewards import FOLDER, both_shapes, load, module, score

ADD = ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]
RIGHT = "def add(a, b):\n    return a + b"
STACK = """
class Empty(LookupError): pass
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self):
        if not self.items: raise Empty("nothing there")
        return self.items.pop()
    def __len__(self): return len(self.items)
    def __eq__(self, other): return self.items == other.items
"""


def share(code: str, tests: Any = ADD, **given: Any) -> float | None:
    """The share of tests that this code passes."""
    return score("code_tests", code, tests=[tests], partial=True, **{"timeout": 60, **given})


@both_shapes
@pytest.mark.parametrize(
    ("text", "reward"),
    [
        (f"Here it is:\n```python\n{RIGHT}\n```\nDone.", 1.0),
        (f"```python\ndef add(a, b): return 0\n```\nNo, better:\n```py\n{RIGHT}\n```", 1.0),
        (f"<think>add()</think><answer>{RIGHT}</answer>", 1.0),
        (RIGHT, 1.0),
        ("def add(a, b): return 3", 0.0),
        ("def add(a, b) return", 0.0),
        ("", 0.0),
        ("I cannot.", 0.0),
        ("\x00\ud800", 0.0),
    ],
)
def test_right_code_passes_and_wrong_code_fails(text: str, reward: float, shape: str):
    assert score("code_tests", text, shape, tests=[ADD], timeout=60) == reward


def test_partial_credit_is_the_share_of_tests():
    assert share("def add(a, b): return 3") == 0.5


TRICKS = {
    "exits": "import os\nos._exit(0)",
    "exits politely": "raise SystemExit(0)",
    "exits in the test": "import os\ndef add(a, b): os._exit(0)",
    "raises SystemExit in the test": "def add(a, b): raise SystemExit(0)",
    "is equal to everything": "class Liar:\n    __eq__ = lambda s, o: True\n    __hash__ = None\n"
    "def add(a, b): return Liar()",
    "is a number equal to everything": "class add(int):\n    def __new__(c, a, b): return int.__new__(c, 7)\n"
    "    __eq__ = lambda s, o: True\n    __hash__ = None",
    "breaks AssertionError": "import builtins\nbuiltins.AssertionError = None\ndef add(a, b): return 9",
    "catches it in a trace": "import sys\nsys.settrace(lambda *a: None)\nsys.excepthook = print\n"
    "def add(a, b): return 9",
    "looks through frames": "import sys\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n"
    "        f.f_globals.update(passes=lambda *a: True, report=print)\n        f = f.f_back\n    return 9",
    "prints the report": "import os\ndef add(a, b):\n    for n in range(1, 64):\n"
    "        try: os.write(n, b'{\"passed\": true}\\n' * 9)\n"
    "        except OSError: pass\n    return 9",
    "sends builtins of its own": "import os\nfor n in range(3, 64):\n"
    "    try: os.write(n, b'{\"names\": {\"__builtins__\": {\"is\": {\"dict\": []}}, \"add\": {\"is\": 3}}}\\n')\n"
    "    except OSError: pass",
    "asks the tests to run code": "import gc, __main__\n"
    "line = [o for o in gc.get_objects() if type(o).__name__ == 'Line'][0]\n"
    "def add(a, b): return line.ask('exec', __main__.Remote(line, 1), ('passed = True',))",
    "gives a module a name that is code": "import types\nprinter = types.ModuleType('os\\nraise SystemExit #')\n"
    "def add(a, b): return 9",
    "nests without end": "def add(a, b):\n    x = []\n    for _ in range(100000): x = [x]\n    return x",
    "answers with a flood": "def add(a, b): return 'x' * (1 << 28)",
    "starts processes": "import os\ndef add(a, b):\n    os.fork()\n    return a + b",
    "starts programs": "import subprocess\ndef add(a, b):\n    subprocess.run(['true'])\n    return a + b",
    "wants memory": "def add(a, b):\n    x = b'1' * (1 << 34)\n    return a + b",
    "wants memory that is no file": "import os\ndef add(a, b):\n    os.memfd_create('x')\n    return a + b",
    "fills the disk": "def add(a, b):\n    open('/tmp/x', 'wb').write(b'1' * (1 << 28))\n    return a + b",
    "writes outside": "def add(a, b):\n    open('/usr/x', 'w')\n    return a + b",
    "calls out": "import socket\ndef add(a, b):\n    socket.create_connection(('127.0.0.1', 22), 1)\n    return a + b",
    "crashes": "import ctypes\ndef add(a, b): return ctypes.string_at(0)",
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_gains_nothing(trick: str):
    assert share(TRICKS[trick]) == 0.0


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("abs = lambda x: 0\ndef add(a, b): return 9", "assert abs(add(1, 2) - 3) < 1e-6"),
        ("class Zero:\n    __sub__ = __rsub__ = lambda s, o: 0\ndef add(a, b): return Zero()",
         "assert abs(add(1, 2) - 3) < 1e-6"),
        ("class math:\n    isclose = staticmethod(lambda *a: True)\ndef add(a, b): return 9",
         "assert math.isclose(add(1, 2), 3)"),
        ("def check(*a): pass\ndef add(a, b): return 9", "def check(candidate):\n    assert candidate(1, 2) == 3\n"),
    ],
)  # fmt: skip
def test_the_tests_use_their_own_functions_and_not_the_codes(code: str, test: str):
    assert share(code, test) == 0.0


def test_an_endless_loop_ends_with_its_time_and_keeps_what_was_passed():
    started = time.monotonic()
    code = "def add(a, b):\n    while a < 0: pass\n    return a + b"
    assert share(code, timeout=5) == 0.5
    assert time.monotonic() - started < 30


def test_a_flood_of_prints_goes_nowhere():
    assert share("print('x' * (1 << 24))\ndef add(a, b):\n    print('x' * (1 << 24))\n    return a + b") == 1.0


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        (RIGHT, "import math\nthree = 3\nassert add(1, 2) == three\nfor i in range(3):\n    assert add(i, i) == 2 * i\n"
                "assert math.isclose(add(.1, .2), .3)"),
        (RIGHT, '["assert add(1, 2) == 3", "assert add(2, 2) == 4"]'),
        (RIGHT, "def test_add():\n    assert add(1, 2) == 3\n"),
        (RIGHT, "METADATA = {}\ndef check(candidate):\n    assert candidate(1, 2) == 3\n"),
        (RIGHT, ["import math", "assert add(1, 2) == 3"]),
        (STACK, ["s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2 and len(s) == 1 and s.items == [1]",
                 "try:\n    Stack().pop()\n    assert False\nexcept LookupError as e:\n    assert 'nothing' in str(e)",
                 "try:\n    Stack().pop()\n    assert False\nexcept Empty:\n    pass",
                 "a, b = Stack(), Stack()\na.push(1)\nassert a != b\nb.push(1)\nassert a == b"]),
        ("def order(items): items.sort()", ["items = [3, 1]\norder(items)\nassert items == [1, 3]"]),
        ("def count(n):\n    for i in range(n): yield i", ["assert list(count(3)) == [0, 1, 2]"]),
        ("def apply(f, x): return f(x)", ["assert apply(lambda v: v + 1, 3) == 4"]),
        ("def power(n): return 2 ** n", ["assert power(20000) == 2 ** 20000"]),
        ("def all_of():\n    return [1.5, 'é', None, True, (1, {2}), {3: b'4'}, 1j, float('inf')]",
         ["assert all_of() == [1.5, 'é', None, True, (1, {2}), {3: b'4'}, 1j, float('inf')]"]),
        ("import datetime, fractions\ndef two(): return fractions.Fraction(1, 2), datetime.date(2024, 2, 29)",
         ["import datetime, fractions\nassert two() == (fractions.Fraction(1, 2), datetime.date(2024, 2, 29))"]),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nLIMIT = [1, 2]",
         ["p = P(1)\nassert (p.x, p.y) == (1, 2)\np.x = 5\nassert p.x == 5\nassert str(p) == 'P(x=5, y=2)'",
          "assert LIMIT == [1, 2]"]),
        ("import threading\ndef add(a, b):\n    out = []\n    t = threading.Thread(target=lambda: out.append(a + b))\n"
         "    t.start()\n    t.join()\n    return out[0]", ADD),
        ("import os\ndef seen(): return [sorted(os.environ), os.path.exists('/etc/passwd'), os.path.exists('/home')]",
         ["assert seen()[1:] == [False, False] and not {'GROUPWISE_HOME', 'HF_TOKEN'} & set(seen()[0])"]),
    ],
)  # fmt: skip
def test_tests_of_every_kind(code: str, tests: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    assert share(code, tests) == 1.0


def test_the_rows_entry_point_is_the_candidate():
    code = f"{RIGHT}\ndef helper(a, b):\n    return 0"
    check = "def check(candidate):\n    assert candidate(1, 2) == 3\n"
    assert share(code, check, entry_point=["add"]) == 1.0
    assert share(code, check) == 0.0


@pytest.mark.parametrize("tests", [None, "", [], "[]", "x = 1", "assert ("])
def test_a_row_that_tests_nothing_gets_none(tests: Any):
    assert share(RIGHT, tests) is None


def test_the_column_has_the_name_it_is_given():
    batch = {"completions": [RIGHT, RIGHT], "test_list": [ADD, None], "concurrency": 2}
    assert load("code_tests")(**batch, column="test_list", timeout=60) == [1.0, None]


def test_several_at_once_leave_nothing_behind():
    codes = [RIGHT, "while True: pass", "import os\nos._exit(0)"] * 2
    scores = load("code_tests")(completions=codes, tests=[ADD] * 6, timeout=8, concurrency=4)
    assert scores == [1.0, 0.0, 0.0] * 2
    assert not [pid for pid in children() if "solution" in pid or "bwrap" in pid]


def children() -> list[str]:
    """The commands of this process's children."""
    import psutil

    return [" ".join(child.cmdline()) for child in psutil.Process().children(recursive=True)]


def test_without_a_sandbox_it_refuses_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="apt install bubblewrap"):
        share(RIGHT)


def test_a_sandbox_that_does_not_work_is_refused_with_its_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(RuntimeError, match="No permissions to create a new namespace"):
        share(RIGHT)


def test_the_filter_is_made_of_whole_instructions():
    assert len(module("code_tests").seccomp()) % 8 == 0


ALONE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("code_tests", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
right, tests = "def add(a, b): return a + b", ["assert add(1, 2) == 3"]
print(module.code_tests([right, "def add(a, b): return 0"], tests=[tests, tests], timeout=60))
"""


def test_it_works_in_a_virtual_environment(tmp_path: Path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    command = [tmp_path / "venv/bin/python", "-c", ALONE, FOLDER / "code_tests.py"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.stdout == "[1.0, 0.0]\n", told.stderr


def test_it_works_for_an_ordinary_user():
    """As nobody, with the system's interpreter, which everybody can read. Who is not root has seen it above."""
    python = shutil.which("python3", path="/usr/bin")
    if os.getuid() != 0 or python is None:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".py") as copy:
        copy.write((FOLDER / "code_tests.py").read_text(encoding="utf-8"))
        copy.flush()
        os.chmod(copy.name, 0o644)
        told = subprocess.run(
            [python, "-c", ALONE, copy.name], user=65534, group=65534, extra_groups=[], cwd="/",
            env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        )  # fmt: skip
    assert told.stdout == "[1.0, 0.0]\n", told.stderr
