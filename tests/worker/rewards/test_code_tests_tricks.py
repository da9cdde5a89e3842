"""code_tests: code that tries to be scored for what it is not gains nothing, and reaches nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.code_rewards import ADD, share
from tests.support.sandboxes import TIERS, only


@pytest.fixture(autouse=True, scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> Iterator[str]:
    """All of it in each kind of sandbox."""
    with only(request.param):
        yield request.param


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
    "        f.f_globals.update(passes=lambda *a: True, report=print, judge=print)\n        f = f.f_back\n    return 9",
    "prints the report": "import os\ndef add(a, b):\n    for n in range(1, 64):\n"
    "        try: os.write(n, b'{\"passed\": true}\\n' * 9)\n"
    "        except OSError: pass\n    return 9",
    "sends builtins of its own": "import os\nfor n in range(3, 64):\n"
    "    try: os.write(n, b'{\"names\": {\"__builtins__\": {\"is\": {\"dict\": []}}, \"add\": {\"is\": 3}}}\\n')\n"
    "    except OSError: pass",
    "asks the tests to run code": "import gc\n"
    "line = [o for o in gc.get_objects() if type(o).__name__ == 'Line'][0]\n"
    "def add(a, b): return line.ask('exec', type(line).ask.__globals__['Remote'](line, 1), ('passed = True',))",
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
