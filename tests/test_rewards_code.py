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


# Classes whose objects are plain data, too; and functions that are given objects.
POINTS = """
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple
class Point(NamedTuple):
    x: int
    y: int
@dataclass(frozen=True)
class Item:
    price: int
    def __mul__(self, number): return Item(self.price * number)
    def __neg__(self): return Item(-self.price)
class Level(IntEnum):
    LOW = 1
class Bag(list):
    def put(self, item): self.append(item)
class Opened:
    state = "new"
    def __enter__(self): self.state = "open"; return self
    def __exit__(self, kind, error, trace): self.state = kind.__name__ if kind else "closed"; return True
class Word(str): pass
def swapped(point): return Point(point.y, point.x)
def total(items): return sum(item.price for item in items)
def name(level): return level.name
def walk(node):
    found = []
    while node:
        found.append(node.value)
        node = node.next
    return found
def renamed(thing): thing.title = "new"
def word(): return Word("a")
"""
WAITS = """
import asyncio
async def later(x):
    await asyncio.sleep(0.01)
    return x + 1
async def fails(): raise ValueError("no")
async def numbers():
    for n in range(3): yield n
async def all_of(waiting): return [await each for each in waiting]
async def told(listener): return await listener(2)
async def stuck(): await asyncio.sleep(99)
class Box:
    def __init__(self): self.queue = asyncio.Queue()
    async def put(self, item): await self.queue.put(item)
    async def take(self): return await self.queue.get()
    async def __aenter__(self): return self
    async def __aexit__(self, *error): await self.put("left")
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
    "is a list equal to everything": "class Liar(list):\n    __eq__ = lambda s, o: True\n"
    "    __ne__ = lambda s, o: False\ndef add(a, b): return Liar()",
    "is an enum equal to everything": "import enum\nclass Liar(enum.IntEnum):\n    A = 9\n"
    "    __eq__ = lambda s, o: True\n    __hash__ = lambda s: 3\ndef add(a, b): return Liar.A",
    "comes to something equal to everything": "class Liar:\n    __eq__ = lambda s, o: True\n    __hash__ = None\n"
    "    def __await__(self):\n        yield\nasync def add(a, b): return Liar()",
    "has an event loop of its own mind": "import asyncio\nclass Done:\n    done = result = lambda s: True\n"
    "asyncio.BaseEventLoop.create_task = lambda *a: Done()\n"
    "asyncio.BaseEventLoop.run_until_complete = lambda *a: True\nasync def add(a, b): return 9",
    "crashes": "import ctypes\ndef add(a, b): return ctypes.string_at(0)",
}  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_gains_nothing(trick: str):
    assert share(TRICKS[trick]) == 0.0
    if "async def" in TRICKS[trick]:
        assert share(TRICKS[trick], [test.replace("add", "await add") for test in ADD]) == 0.0


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("abs = lambda x: 0\ndef add(a, b): return 9", "assert abs(add(1, 2) - 3) < 1e-6"),
        ("class Zero:\n    __sub__ = __rsub__ = lambda s, o: 0\ndef add(a, b): return Zero()",
         "assert abs(add(1, 2) - 3) < 1e-6"),
        ("class math:\n    isclose = staticmethod(lambda *a: True)\ndef add(a, b): return 9",
         "assert math.isclose(add(1, 2), 3)"),
        ("def check(*a): pass\ndef add(a, b): return 9", "def check(candidate):\n    assert candidate(1, 2) == 3\n"),
        ("abs = lambda x: 0\ndef f(a): return 9", "def check(candidate):\n    assert abs(candidate(1) - 3) < 1\n"),
        ("def abs(x): return 0\ndef round(x, n): return 9", "assert abs(round(2.567, 2) - 2.57) < 1e-6"),
        ("def abs(x): return 0", "assert abs(round(2.567, 2) - 2.57) < 1e-6"),
        ("def sorted(x): return [1, 2]\ndef f(x): return x", "from solution import f\nassert sorted(f([2])) == [1, 2]"),
        ("x = 1", ["assert sum([1, 2]) == 3", "assert sum([]) == 0"]),
        ("def sum(x): return 3", "def sum(x):\n    return x\nassert sum(4) == 3"),
    ],
)  # fmt: skip
def test_the_tests_use_their_own_functions_and_not_the_codes(code: str, test: str):
    assert share(code, test) == 0.0


OWN = "class Own:\n    title = 'old'\n    def right(self, x):\n        return x == 3\nown = Own()\n"


@pytest.mark.parametrize(
    "change",
    [
        "own.right = lambda x: True",
        "own.__class__.right = lambda s, x: True",
        "del own.right",
        "own.right.__func__.__globals__['passes'] = print",
        "own.right.__code__ = (lambda s, x: True).__code__",
        "type(own).right = lambda s, x: True",
    ],
)
def test_an_object_of_the_tests_keeps_what_its_class_defines(change: str):
    code = f"def use(own):\n    {change}\n    return 9"
    swallowed = f"def use(own):\n    try: {change}\n    except BaseException: pass\n    return 9"
    for each in (code, swallowed):  # both the error and the silence
        assert share(each, f"{OWN}assert own.right(use(own))") == 0.0


@pytest.mark.parametrize(
    "test", ["with use() as it:\n    assert it.value == 3", "async with use() as it:\n    assert it.value == 3"]
)
def test_a_with_block_cannot_hide_that_a_test_fails(test: str):
    code = """
class use:
    value = 9
    def __enter__(self): return self
    def __exit__(self, *error): return True
    async def __aenter__(self): return self
    async def __aexit__(self, *error): return True
"""
    assert share(code, test) == 0.0
    assert share(code.replace("9", "3"), test) == 1.0


@pytest.mark.parametrize(
    "tests",
    [
        ["assert swapped(Point(1, 2)) == Point(2, 1) == (2, 1)", "assert swapped(Point(1, 2)) != (1, 2)",
         "x, y = swapped(Point(1, 2))\nassert (x, y) == (2, 1)", "assert swapped(Point(1, 2)).x == 2",
         "assert isinstance(Point(1, 2), tuple) and isinstance(Point(1, 2), Point)",
         "assert {Point(1, 2): 3}[1, 2] == 3"],
        ["assert total([Item(1), Item(2)]) == 3", "assert {Item(1), Item(1)} == {Item(1)}",
         "assert {Item(1): 2}[Item(1)] == 2",
         "assert Item(2) * 3 == Item(6) and -Item(1) == Item(-1)", "assert Item.__name__ == 'Item'"],
        ["assert not isinstance(Item(1), Point) and not isinstance(3, Item)", "assert total({Item(1): 0}) == 1"],
        ["assert name(Level.LOW) == 'LOW' and Level.LOW == 1 and Level(1) is Level.LOW"],
        ["bag = Bag()\nbag.put(1)\nassert bag == [1] and len(bag) == 1 and list(bag) == [1]", "assert Bag([1]) != [2]"],
        ["with Opened() as it:\n    assert it.state == 'open'\nassert it.state == 'closed'",
         "try:\n    with Opened() as it:\n        raise KeyError\nexcept KeyError:\n    assert it.state == 'KeyError'"],
        ["class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next\n"
         "assert walk(Node(1, Node(2))) == [1, 2]"],
        ["class Thing:\n    title = 'old'\nthing = Thing()\nrenamed(thing)\nassert thing.title == 'new'"],
        ["import collections\nassert total(map(Item, range(3))) == 3", "assert total(Item(n) for n in range(3)) == 3"],
        ["assert word() == 'a'"],
    ],
)  # fmt: skip
def test_tests_use_objects_of_the_codes_classes_and_of_their_own(tests: list[str]):
    assert share(POINTS, tests) == 1.0


@pytest.mark.parametrize(
    "tests",
    [
        ["import asyncio\nassert asyncio.run(later(1)) == 2", "assert await later(1) == 2"],
        "async def test_later():\n    assert await later(1) == 2\n"
        "def test_it():\n    assert asyncio.run(later(2)) == 3",
        "async def check(candidate):\n    async with candidate() as box:\n        await box.put(1)\n"
        "    assert [await box.take(), await box.take()] == [1, 'left']",
        ["try:\n    await fails()\n    assert False\nexcept ValueError as error:\n    assert str(error) == 'no'"],
        ["assert [n async for n in numbers()] == [0, 1, 2]", "assert await all_of([later(1), later(2)]) == [2, 3]"],
        ["async def heard(x): return x * 2\nassert await told(heard) == 4"],
        ["box = Box()\nassert await asyncio.gather(box.take(), box.put(3)) == [3, None]"],
        ["try:\n    await asyncio.wait_for(stuck(), 0.1)\n    assert False\nexcept asyncio.TimeoutError:\n    pass"],
    ],
)  # fmt: skip
def test_tests_of_async_functions(tests: Any):
    assert share(WAITS, tests) == 1.0


@pytest.mark.parametrize(
    ("name", "code", "tests", "given"),
    [
        ("sum", "return a + b", ["assert sum(1, 2) == 3", "assert sum(-1, 1) == 0"], {}),
        ("sum", "return a + b", "def check(candidate):\n    assert candidate(1, 2) == sum([1, 2])", {}),
        ("sum", "return a + b", "def check(candidate):\n    assert candidate(1, 2) == 3", {"entry_point": ["sum"]}),
        ("max", "return a * b", ["assert abs(max(2, 3) - 6) < 1e-6"], {}),
        ("max", "return a * b", ["assert max(len([0]), int('3')) == 3"], {"entry_point": ["max"]}),
        ("abs", "return a * b", ["assert abs(max(2, 3), 1) == 3"], {"entry_point": ["abs"]}),
        ("sorted", "return a + b", "from solution import sorted\ndef test_it():\n    assert sorted(1, 2) == 3", {}),
    ],
)
def test_a_function_with_a_name_of_pythons_own_is_the_codes(name: str, code: str, tests: Any, given: dict[str, Any]):
    assert share(f"def {name}(a, b):\n    {code}", tests, **given) == 1.0
    assert share(f"def {name}(a, b):\n    return 9", tests, **given) == 0.0


def test_the_code_signals_nobody_by_way_of_a_file():
    tries = [("F_SETOWN", 1), ("F_SETSIG", 9), ("F_SETLEASE", 0), ("F_NOTIFY", 0)]
    code = f"""
import fcntl, os
def refused():
    found = []
    file = open(os.__file__)
    for name, value in {tries!r}:
        try:
            fcntl.fcntl(file, getattr(fcntl, name), value)
        except PermissionError:
            found.append(name)
    for request in (0x8901, 0x8902):
        try:
            fcntl.ioctl(file, request, b"1234")
        except PermissionError:
            found.append(request)
    return found
def flags(): return fcntl.fcntl(0, fcntl.F_GETFL) >= 0
"""
    everything = [*(name for name, _ in tries), 0x8901, 0x8902]
    assert share(code, [f"assert refused() == {everything!r}", "assert flags()"]) == 1.0


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
        ("import os\ndef seen(): return [sorted(os.environ), os.path.exists('/etc/passwd'), "
         f"os.path.exists({__file__!r})]",
         ["assert seen()[1:] == [False, False] and not {'GROUPWISE_HOME', 'HF_TOKEN'} & set(seen()[0])"]),
        ("import os\ndef kernel(): return [os.path.exists(path) for path in ('/proc', '/sys')]",
         ["assert kernel() == [False, False]"]),
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
