"""What reward code may not do, each tried from inside: in both tiers, as this user and as an ordinary one.

Everything is met by real processes. An ordinary user's run has a Python of its own, as the one that runs the tests may
lie where only root can read.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.sandboxes import NOBODY, Way, living, ways

MARK = (4 << 30) + 3  # bytes of address space: with our process's number in it, nobody else's sandbox has this limit
GOOD = "def score(completions, **kwargs):\n    return [1.0] * len(completions)\n"


@pytest.fixture(params=ways())
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    tier, nobody = request.param
    return Way(tier, nobody, monkeypatch)


@pytest.fixture
def secret(way: Way) -> Iterator[Path]:
    """A file in a data home of the user who makes the sandbox: pytest's own folders are closed to another user."""
    home = Path(tempfile.mkdtemp(prefix="sandbox-secret-"))
    file = home / "secret"
    file.write_text("canary")
    if way.nobody:
        os.chown(home, NOBODY, NOBODY)
        os.chown(file, NOBODY, NOBODY)
    way.environment["GROUPWISE_HOME"] = str(home)
    yield file
    shutil.rmtree(home)


def test_an_innocent_function_works(way: Way):
    assert way.scores(GOOD, rows=3)[0]["values"] == [1.0, 1.0, 1.0]


def test_it_cannot_read_who_else_is_on_the_machine(way: Way):
    assert way.worked("open('/etc/passwd').read()", "open('/etc/shadow').read()") == []


def test_it_cannot_read_or_list_the_data_home(way: Way, secret: Path):
    place = str(secret.parent)
    assert way.worked(f"open({str(secret)!r}).read()", f"import os\nos.listdir({place!r})") == []


def test_it_cannot_read_the_users_home(way: Way):
    home = str(Path.home())
    files = (f"{home}/.bashrc", f"{home}/.profile", f"{home}/.ssh/id_rsa", f"{home}/.cache/huggingface/token")
    assert way.worked(*(f"open({file!r}).read()" for file in files)) == []


def test_it_gets_none_of_our_environment(way: Way):
    way.environment["HF_TOKEN"] = "hf_canary"
    code = """
        import os
        def score(completions, **rest):
            print(sorted(os.environ.items()))
            print(open("/proc/self/environ").read())
            return [0.0]
    """
    printed = way.scores(code)[0]["out"]
    assert "PATH" in printed and "canary" not in printed


def test_it_cannot_read_another_processs_environment(way: Way):
    way.environment["HF_TOKEN"] = "hf_canary"
    code = """
        import os
        def score(completions, **rest):
            found = []
            for pid in range(1, 40000):
                try:
                    found.append(open(f"/proc/{pid}/environ").read())
                except OSError:
                    pass
            return [float(sum("canary" in text for text in found))]
    """
    assert way.scores(code)[0]["values"] == [0.0]


def test_it_cannot_connect_anywhere(way: Way):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        attempt = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"
        doors = [f"import socket\nsocket.socket(socket.{family})" for family in ("AF_UNIX", "AF_NETLINK", "AF_PACKET")]
        assert way.worked(attempt, *doors) == []
        assert way.worked(attempt, *doors, network=True) == []  # what that is for: see test_sandbox_network


def test_only_a_function_that_may_use_the_network_gets_the_judges_key(way: Way):
    way.environment["OPENAI_API_KEY"] = "sk-canary"
    code = "import os\ndef score(completions, **rest):\n    return [float('OPENAI_API_KEY' in os.environ)]\n"
    assert way.scores(code)[0]["values"] == [0.0]
    assert way.scores(code, network=True)[0]["values"] == [1.0]


def test_it_cannot_start_processes(way: Way):
    attempts = (
        "if not os.fork():\n    os._exit(0)", "subprocess.run(['/usr/bin/true'])",
        "os.execv('/usr/bin/true', ['true'])", "os.posix_spawn('/usr/bin/true', ['true'], {})",
        "multiprocessing.Process(target=print).start()",
    )  # fmt: skip
    assert way.worked(*(f"import multiprocessing, os, subprocess\n{attempt}" for attempt in attempts)) == []


def test_a_refused_process_is_explained(way: Way):
    code = "import subprocess\ndef score(completions, **rest):\n    subprocess.run(['true'])\n"
    failure = way.scores(code)[0]["failures"][0]
    assert "cannot start processes" in failure["message"] and failure["line"] == 3


def test_a_bomb_of_threads_is_ended_and_the_next_call_works(way: Way):
    code = """
        import threading, time
        def score(completions, **rest):
            threading.stack_size(32768)
            while True:
                try:
                    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
                except (RuntimeError, MemoryError):
                    time.sleep(0.01)
    """
    bomb, after = way.scores(code, GOOD, timeout=2)
    assert bomb["statuses"] in (["error"], ["timeout"])  # ended for its threads, or held below the limit by the kernel
    assert bomb["took"] < 3 and after["statuses"] == ["ok"]


def test_a_bomb_of_memory_is_refused_and_the_next_call_works(way: Way):
    bomb, after = way.scores("def score(completions, **rest):\n    return [len(bytearray(1 << 33))]\n", GOOD)
    assert bomb["statuses"] == ["error"] and "memory" in bomb["failures"][0]["message"]
    assert after["values"] == [1.0]


def test_memory_that_is_no_address_space_is_refused_too(way: Way):
    assert way.worked("import os\nos.memfd_create('x')", "import mmap\nmmap.mmap(-1, 1 << 33)") == []


def test_it_cannot_write_outside(way: Way, secret: Path):
    places = (f"{secret.parent}/made", str(secret), "/etc/made", "/usr/made", "/code/made", "/made", os.__file__)
    assert way.worked(*(f"open({place!r}, 'a').write('x')" for place in places)) == []
    assert secret.read_text() == "canary" and not (secret.parent / "made").exists()


def test_nothing_below_proc_opens_for_writing(way: Way):
    """Opened only, never written to. What is there is listed outside too: within Landlock most of it cannot be."""
    folders = ["/proc", "/proc/self"]
    outside = [f"/proc/sys/{path}" for path in ("kernel/core_pattern", "vm/drop_caches", "kernel/sysrq")]
    code = f"""
        import os
        def score(completions, **rest):
            walks = [os.walk(folder) for folder in {folders!r}]
            below = [os.path.join(top, name) for walk in walks for top, _, names in walk for name in names]
            for path in below + {[*outside, "/proc/sysrq-trigger", "/proc/self/mem", "/proc/self/oom_score_adj"]!r}:
                if not os.path.islink(path):
                    try:
                        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                        print(path)
                    except OSError:
                        pass
            return [float(len(below))]
    """
    for network in (False, True):
        answer = way.scores(code, network=network)[0]
        assert answer["out"] == "" and answer["values"][0] > 10, answer


def test_when_memory_runs_out_it_is_the_first_to_go_and_cannot_change_that(way: Way):
    code = """
        def score(completions, **rest):
            try:
                open("/proc/self/oom_score_adj", "w").write("0")
            except OSError:
                pass
            return [float(open("/proc/self/oom_score_adj").read())]
    """
    assert way.scores(code)[0]["values"] == [1000.0]


def test_it_cannot_change_a_files_mode_owner_time_or_length(way: Way, secret: Path):
    before = secret.stat()
    file = repr(str(secret))
    calls = (
        f"chmod({file}, 0o777)", f"truncate({file}, 0)", f"utime({file})", f"chown({file}, 0, 0)", f"unlink({file})",
        f"rename({file}, {file} + '2')", f"mkdir({file} + 'd')", f"symlink({file}, {file} + 'l')",
    )  # fmt: skip
    assert way.worked(*(f"import os\nos.{call}" for call in calls)) == []
    after = secret.stat()
    assert (before.st_mode, before.st_mtime, before.st_size) == (after.st_mode, after.st_mtime, after.st_size)


def test_temporary_files_end_where_their_memory_does(way: Way):
    code = """
        def score(completions, **rest):
            written = 0
            try:
                for number in range(10):
                    with open(f"/tmp/{number}", "wb", buffering=0) as file:
                        for _ in range(60):
                            written += file.write(bytes(1 << 20))
            except OSError:
                pass
            return [written / (1 << 20)]
    """
    megabytes = way.scores(code)[0]["values"][0]
    assert 32 <= megabytes <= 64 if way.tier == "bubblewrap" else megabytes == 0


def test_it_cannot_signal_us_or_anyone(way: Way):
    with subprocess.Popen(["sleep", "60"], user=NOBODY if way.nobody else None) as victim:
        answer = way.scores(
            f"""
            import os, signal
            def score(completions, **rest):
                for pid in ({victim.pid}, {os.getpid()}, os.getppid(), -1):
                    try:
                        if pid:
                            os.kill(pid, signal.SIGKILL)
                    except OSError:
                        pass
                return [1.0]
            """
        )
        assert answer[0]["statuses"] == ["ok"] and victim.poll() is None
        victim.kill()


def test_it_cannot_make_namespaces_or_trace(way: Way):
    libc = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    calls = ("unshare(0x10000000)", "ptrace(16, 1, 0, 0)", "prctl(1, 0, 0, 0, 0)", "setuid(0)")
    assert way.worked(*(f"{libc}if libc.{call} < 0:\n    raise OSError(ctypes.get_errno())" for call in calls)) == []


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("os._exit(0)", "exit status 0"), ("ctypes.string_at(0)", "SIGSEGV"), ("os.abort()", "crashed"),
        ("sys.exit(3)", "SystemExit"), ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)  # fmt: skip
def test_a_function_that_ends_its_process_has_no_score_and_the_next_call_works(way: Way, end: str, words: str):
    code = f"""
        import ctypes, os, sys
        def score(completions, **rest):
            {end}
    """
    first, second = way.scores(code, GOOD)
    assert first["statuses"] == ["error"] and first["values"] == [None]
    assert second["statuses"] == ["ok"]
    assert words in first["failures"][0]["message"]


@pytest.mark.parametrize("forever", ["while True: pass", "time.sleep(60)", "print('x' * 1000)\n"])
def test_a_function_that_takes_too_long_is_killed_within_a_second(way: Way, forever: str):
    code = f"import time\ndef score(completions, **rest):\n    while True:\n        {forever}\n"
    first, second = way.scores(code, GOOD, timeout=1.0)
    assert first["statuses"] == ["timeout"] and 1.0 <= first["took"] < 2.0
    assert second["statuses"] == ["ok"]


def test_what_it_writes_to_our_channel_is_its_error(way: Way):
    code = """
        import os
        def score(completions, **rest):
            for descriptor in range(3, 256):
                try:
                    os.write(descriptor, b"{} junk that is longer than a header")
                except OSError:
                    pass
            return [1.0] * len(completions)
    """
    first, second = way.scores(code, GOOD)
    assert first["statuses"] == ["error"] and "wrote to Groupwise's own channel" in first["failures"][0]["message"]
    assert second["statuses"] == ["ok"]


def test_a_function_that_replaces_what_python_has_is_told_to_remove_that(way: Way):
    code = """
        import builtins
        def score(completions, **rest):
            builtins.len = lambda what: 1
            return [1.0 for _ in completions]
    """
    first, second = way.scores(code, GOOD)
    assert first["statuses"] == ["error"] and "Remove what" in first["failures"][0]["message"], first
    assert second["statuses"] == ["ok"]


def test_a_reply_that_it_forges_is_its_error(way: Way):
    body = json.dumps({"values": [1e9], "statuses": ["ok"], "failures": [], "extras": {}, "metrics": {}, "call": "x"})
    code = f"""
        import os, struct
        def score(completions, **rest):
            body = {body!r}.encode()
            for descriptor in range(3, 256):
                try:
                    os.write(descriptor, struct.pack(">4sI", b"GRPW", len(body)) + body)
                except OSError:
                    pass
            return [1.0]
    """
    assert way.scores(code)[0]["statuses"] == ["error"]


def test_closing_every_descriptor_is_its_error(way: Way):
    code = "import os\ndef score(completions, **rest):\n    os.closerange(0, 256)\n    return [1.0]\n"
    first, second = way.scores(code, GOOD)
    assert first["statuses"] == ["error"] and second["statuses"] == ["ok"]


def test_nothing_survives(way: Way):
    mark = MARK + os.getpid() % 100_000 * 10
    code = """
        import signal, threading, time
        def score(completions, **rest):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            threading.Thread(target=time.sleep, args=(60,)).start()
            return [1.0]
    """
    way.scores(code, limits={"memory": mark})
    way.scores("def score(completions, **rest):\n    while True: pass\n", timeout=0.5, limits={"memory": mark})
    wait_until(lambda: living(mark) == set())  # killed at once; the kernel takes its namespaces down after that


def test_nothing_survives_us(way: Way):
    """Killed in the midst of a call, so that nobody closes anything."""
    mark = MARK + os.getpid() % 100_000 * 10 + 1
    job = {"calls": [{"code": "def score(completions):\n    while True: pass\n", "batch": {"completions": [""]},
                      "timeout": 60}], "network": False, "limits": {"memory": mark}}  # fmt: skip
    with subprocess.Popen(way.command(), stdin=subprocess.PIPE, env={**os.environ, **way.variables()}) as process:
        assert process.stdin
        process.stdin.write(json.dumps(job).encode())
        process.stdin.close()
        wait_until(lambda: len(living(mark)) > 0)
        process.send_signal(signal.SIGKILL)
    wait_until(lambda: living(mark) == set())


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
