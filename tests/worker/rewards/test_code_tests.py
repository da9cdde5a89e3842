"""code_tests: right code passes, wrong code and every trick fails, and nothing of it reaches this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.code_rewards import ADD, RIGHT, share
from tests.support.rewards import both_shapes, load, score
from tests.support.sandboxes import TIERS, command_of, only

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


@pytest.fixture(autouse=True, scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    """All of it in each kind of sandbox."""
    with only(request.param):
        yield request.param


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
    ],
)  # fmt: skip
def test_tests_of_every_kind(code: str, tests: Any):
    assert share(code, tests) == 1.0


def test_the_code_sees_nothing_of_this_machine(tier: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_TOKEN", "hf_canary")
    code = """
import os
def variables(): return sorted(os.environ)
def can_open(*paths): return [path for path in paths if opened(path)]
def there_are(*paths): return [path for path in paths if os.path.exists(path)]
def opened(path):
    try: os.close(os.open(path, os.O_RDONLY))
    except OSError: return False
    return True
"""
    private = f"'/etc/passwd', {__file__!r}, '/sys', '/proc', '/proc/1/stat', '/proc/self/status', '/proc/cpuinfo'"
    tests = ["assert not {'GROUPWISE_HOME', 'HF_TOKEN'} & set(variables())", f"assert can_open({private}) == []"]
    # Landlock cannot hide that a file is there.
    hidden = [f"assert there_are({private}) == []"] if tier == "bubblewrap" else []
    assert share(code, tests + hidden) == 1.0


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
    before = set(children())  # of dashboards that many files' tests share
    codes = [RIGHT, "while True: pass", "import os\nos._exit(0)"] * 2
    scores = load("code_tests")(completions=codes, tests=[ADD] * 6, timeout=8, concurrency=4)
    assert scores == [1.0, 0.0, 0.0] * 2
    left = [command for pid, command in children() if (pid, command) not in before]
    assert not [command for command in left if "sandbox" in command or "bwrap" in command]


def children() -> list[tuple[int, str]]:
    """(id, command) of this process's children, but for the browser of other tests."""
    import psutil

    commands = [(child.pid, command_of(child)) for child in psutil.Process().children(recursive=True)]
    return [(pid, command) for pid, command in commands if "chrom" not in command]
