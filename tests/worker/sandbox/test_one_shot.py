"""One program in a sandbox of its own: what a model wrote is run, fed, cut, ended and forgotten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from groupwise.worker.sandbox.one_shot import run_fresh
from tests.support.sandboxes import Way, ways


@pytest.fixture(params=ways())
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    tier, nobody = request.param
    return Way(tier, nobody, monkeypatch)


def run(way: Way, script: str, timeout: float = 10.0, **more: Any) -> dict[str, Any]:
    return way.do({"script": script, "timeout": timeout, **more})[0]


def test_a_program_reads_prints_and_exits(way: Way):
    ran = run(
        way, "import sys\nprint(input(), sys.argv, __name__)\nprint('e', file=sys.stderr)\nsys.exit(3)", stdin="hi\n"
    )
    assert (ran["status"], ran["out"], ran["err"], ran["problem"]) == (3, "hi ['main.py'] __main__\n", "e\n", None)


def test_an_exception_is_told_as_python_would(way: Way):
    ran = run(way, "def f():\n    return 1 / 0\nf()\n")
    assert ran["status"] == 1 and "ZeroDivisionError" in ran["err"]
    assert 'File "main.py", line 2, in f' in ran["err"] and "sandbox" not in ran["err"]


def test_a_program_that_takes_too_long_is_killed(way: Way):
    ran = run(way, "print('begun', flush=True)\nwhile True: pass", timeout=0.5)
    assert ran["status"] is None and ran["problem"] == "timeout" and ran["out"] == "begun\n" and ran["seconds"] < 1.5


def test_it_may_do_no_more_than_a_reward_function(way: Way):
    attempts = (
        "open('/etc/passwd')",
        "socket.socket()",
        "os.fork()",
        "os.execv('/usr/bin/true', ['x'])",
        "open('/x', 'w')",
    )
    script = "import os, socket\n" + "".join(
        f"try:\n    {a}\n    print('did')\nexcept OSError: pass\n" for a in attempts
    )
    ran = run(way, script)
    assert ran["status"] == 0 and ran["out"] == ""


def test_crashes_and_floods_are_told(way: Way):
    assert run(way, "import ctypes\nctypes.string_at(0)")["status"] == -11
    flood = run(way, "while True: print('x' * 100000)", timeout=1.0)
    assert flood["problem"] == "timeout" and len(flood["out"]) < 66_000


@pytest.mark.parametrize("size", [0, 10 << 20])
def test_input_of_any_length_whether_read_or_not(size: int):
    assert run_fresh("import sys\nprint(len(sys.stdin.read()))", "x" * size).out == f"{size}\n"
    assert run_fresh("print(1)", "x" * size).out == "1\n"


def test_nothing_stays_from_one_run_to_the_next():
    assert run_fresh("open('/tmp/left', 'w')").status == 0
    assert run_fresh("import os\nprint(os.path.exists('/tmp/left'))").out == "False\n"


def test_a_syntax_error_is_the_programs():
    ran = run_fresh("def f(:\n")
    assert ran.status == 1 and "SyntaxError" in ran.err


def test_several_run_at_once():
    with ThreadPoolExecutor(4) as pool:
        assert [ran.out for ran in pool.map(run_fresh, [f"print({n})" for n in range(8)])] == [
            f"{n}\n" for n in range(8)
        ]
