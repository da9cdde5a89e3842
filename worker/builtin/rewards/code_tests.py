"""Reward for code that passes the row's unit tests, each completion in fresh sandboxes of its own.

The model's code and the tests run in two sandboxes that share nothing but a line of JSON messages: the tests call the
model's functions from afar, get plain values back and compare those themselves. So code that exits, catches the
tests' errors, changes builtins, looks through the tests' frames or prints that all is well gains nothing: it has to
give the right values. What remains possible: to know the tests' values by heart, and to attack the kernel.
"""

import ast
import builtins
import collections.abc
import concurrent.futures
import contextlib
import datetime
import decimal
import enum
import fractions
import functools
import importlib.util
import json
import linecache
import operator
import os
import pathlib
import platform
import re
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import types
from typing import Any

NEEDS_PROGRAMS = ["bwrap"]
NEEDS_COLUMNS = ["column"]
LONGEST = 200_000  # characters of code
# The part of this file that is handed to the sandboxes, and what it imports.
BEGINS, ENDS = "# --- inside ---\n", "# --- outside ---\n"
PACKAGES = (
    "ast", "builtins", "collections.abc", "datetime", "decimal", "enum", "fractions", "functools", "importlib.util",
    "json", "operator", "os", "pathlib", "resource", "socket", "sys", "types",
)  # fmt: skip


def code_tests(
    completions: list,
    tests: list | None = None,
    entry_point: list | None = None,
    *,
    column: str = "tests",
    partial: bool = False,
    timeout: float = 10.0,
    memory: int = 1024,
    concurrency: int = 4,
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's Python code passes its row's tests, else 0.

    The code is the last fenced block, else the text of the last <answer>…</answer>, else all of the completion. The
    row's tests are a list of texts, each a test such as "assert add(1, 2) == 3", or one text: each statement with an
    assertion is a test, or each function test_…, or its function check(candidate), which gets the function that the
    row's entry_point names (as in HumanEval). A row without tests gets None. Tests see the names that the code
    defines. Of those that are Python's own (len, sum) they see only the one that they test: the entry_point, or where
    they call no function but Python's own, the one that all of them call. Async functions and tests work as in
    asyncio.run. What a function returns is compared as plain data; objects of the code's own classes can be used, but
    are never equal to plain data, unless they are a list, tuple, dict, set or enum, too. Needs bubblewrap: without
    it, it refuses.

    Args:
        column: the column that holds the tests.
        partial: give the share of tests passed; false: all or nothing.
        timeout: seconds for all tests of one completion.
        memory: MiB that the code may use.
        concurrency: how many completions are tested at once; never more than there are cores.
    """
    given = tests if column == "tests" else kwargs.get(column)
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"column must name a column with tests; there is no {column!r}.")
    limits = {"timeout": (timeout, 3600), "memory": (memory, 1 << 20), "concurrency": (concurrency, 99)}
    for name, (value, most) in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= most:
            raise ValueError(f"{name} must be more than 0 and at most {most}, not {value!r}.")
    points = entry_point or [None] * len(completions)
    rows = list(zip([code_in(text_of(each)) for each in completions], map(cases, given), points, strict=True))
    if any(wanted and code for code, wanted, _ in rows):
        require_sandbox()
    with concurrent.futures.ThreadPoolExecutor(max(1, min(int(concurrency), os.cpu_count() or 1))) as pool:
        return list(pool.map(lambda row: score(row[0], row[1], row[2], partial, float(timeout), int(memory)), rows))


def cases(tests: object) -> list[str] | str:
    """A row's tests: a list of texts, or one text. A text that is a JSON list is that list."""
    if isinstance(tests, str) and tests.lstrip().startswith("["):
        with contextlib.suppress(ValueError):  # Python may begin with a bracket, too
            tests = json.loads(tests)
    if isinstance(tests, (list, tuple)):
        return [str(test) for test in tests if str(test).strip()]
    return "" if tests is None else str(tests).strip()


def code_in(text: str) -> str:
    """The code of a completion."""
    lines = list(re.finditer(r"^[ \t]*```.*$", text, re.MULTILINE))
    if len(lines) >= 2:
        opening, closing = lines[len(lines) // 2 * 2 - 2 : len(lines) // 2 * 2]
        return text[opening.end() : closing.start()].strip("\n")
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        text = text[start + len("<answer>") : text.find("</answer>", start)]
    return text if text.strip() else ""


def score(code: str, wanted: Any, point: object, partial: bool, timeout: float, memory: int) -> float | None:
    """What one completion gets; None where there is nothing to test with."""
    if not wanted:
        return None
    if not code or len(code) > LONGEST:
        return 0.0
    reports = run(code, {"tests": wanted, "entry_point": str(point) if point else None}, timeout, memory)
    total = next((report["tests"] for report in reports if "tests" in report), 0)
    if not total or {"alive": True} not in reports:  # no tests in it, or a sandbox that never got under way
        return None
    passed = sum(report.get("passed") is True for report in reports)
    return passed / total if partial else float(passed == total)


def run(code: str, job: dict, timeout: float, memory: int) -> list[dict]:
    """What the tests report, line by line, up to their end or the time's."""
    mine, theirs = socket.socketpair()
    with mine, theirs, tempfile.TemporaryFile() as reports:
        player = start("player", {"code": code}, theirs, subprocess.DEVNULL, timeout, memory)
        tester = start("tester", job, mine, reports, timeout, memory)
        mine.close()
        theirs.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # what was passed until then stays passed
            tester.wait(timeout)
        for process in (player, tester):
            process.kill()
            process.wait()
        reports.seek(0)
        lines = reports.read(1 << 20).split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


def start(role: str, job: dict, line: socket.socket, out: Any, timeout: float, memory: int) -> subprocess.Popen:
    """One side in a fresh sandbox of its own: no network, no files but the interpreter's, an empty environment."""
    reading, writing = os.pipe()
    os.write(writing, seccomp())
    os.close(writing)
    with tempfile.TemporaryFile() as told:
        told.write(json.dumps({**job, "line": line.fileno(), "memory": memory, "seconds": int(timeout) + 1}).encode())
        told.seek(0)
        try:
            return subprocess.Popen(
                [*sandbox(reading), sys.executable, "-I", "-B", "-c", f"{inside()}\n{role}()"],
                stdin=told, stdout=out, stderr=subprocess.DEVNULL, env={}, pass_fds=(line.fileno(), reading),
            )  # fmt: skip
        finally:
            os.close(reading)


@functools.cache
def inside() -> str:
    """This file's part that runs in the sandboxes, as text. Raises RuntimeError where the file is gone."""
    whole = "".join(linecache.getlines(code_tests.__code__.co_filename))
    if BEGINS not in whole:
        raise RuntimeError("code_tests cannot read its own file, of which a part runs in the sandbox.")
    imports = "".join(f"import {name}\n" for name in PACKAGES)
    return f"{imports}from typing import Any\n{whole.rpartition(BEGINS)[2].rpartition(ENDS)[0]}"


def sandbox(filter_fd: int) -> list[str]:
    """The command that starts a program in the sandbox; `filter_fd` holds the filter of system calls."""
    places = [place for place in sorted({sys.prefix, sys.base_prefix}) if not f"{place}/".startswith("/usr/")]
    parts = [f"{place}/{part}" for place in places for part in ("bin", "lib", "lib64", "pyvenv.cfg")]
    binds = [["--ro-bind-try", part, part] for part in parts]
    for name in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(name):
            binds.append(["--symlink", os.readlink(name), name])
        elif os.path.isdir(name):
            binds.append(["--ro-bind", name, name])
    return [
        shutil.which("bwrap") or "bwrap", "--unshare-all", "--uid", "65534", "--gid", "65534", "--hostname", "code",
        "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv", "--setenv", "PATH", "/usr/bin",
        "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8", "--setenv", "OMP_NUM_THREADS", "1",
        "--setenv", "OPENBLAS_NUM_THREADS", "1", "--ro-bind", "/usr", "/usr",
        "--size", str(16 << 20), "--tmpfs", "/tmp",
        "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", *[word for bind in binds for word in bind],
        "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/",
        "--chdir", "/tmp", "--seccomp", str(filter_fd), "--",
    ]  # fmt: skip


def seccomp() -> bytes:
    """A filter that refuses new processes (threads are fine), files without a size limit, signals by way of a file,
    and roads into the kernel that no test needs; as classic BPF, (operation, jump if true, jump if false, value)
    each."""
    calls = {  # fork, vfork, memfd_create, ptrace, unshare, mount, userfaultfd, io_uring_setup by number; then clone,
        "x86_64": (0xC000003E, [57, 58, 319, 101, 272, 165, 323, 425], 56, 72, 16),  # fcntl and ioctl
        "aarch64": (0xC00000B7, [279, 117, 97, 40, 282, 425], 220, 25, 29),
    }.get(platform.machine())
    allow, refuse, unknown = (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x00050026)
    steps: list[tuple[int, int, int, int]] = [allow]
    if calls:
        architecture, refused, clone, fcntl, ioctl = calls
        steps = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), refuse, (0x20, 0, 0, 0), (0x35, 0, 1, 0x40000000), refuse]
        for number in refused:
            steps += [(0x15, 0, 1, number), refuse]
        # F_SETOWN, F_SETSIG, F_SETOWN_EX; F_SETLEASE, F_SETDELEG, F_NOTIFY; FIOSETOWN, SIOCSPGRP
        for number, requests in ((fcntl, (8, 10, 15, 1024, 1040, 1026)), (ioctl, (0x8901, 0x8902))):
            looks = [(0x20, 0, 0, 24), *(step for value in requests for step in ((0x15, 0, 1, value), refuse)), allow]
            steps += [(0x15, 0, len(looks), number), *looks]
        steps += [(0x15, 0, 1, 435), unknown]  # clone3: told that there is none, libc takes clone
        steps += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 1, 0, 0x00010000), refuse, allow]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


@functools.cache
def require_sandbox() -> None:
    """Raises RuntimeError, with what to do, where there is no sandbox that works."""
    advice = "Install bubblewrap (apt install bubblewrap)"
    if shutil.which("bwrap") is None:
        raise RuntimeError(f"code_tests runs code that a model wrote only in a sandbox, and there is none. {advice}.")
    reading, writing = os.pipe()
    os.write(writing, seccomp())
    os.close(writing)
    command = [*sandbox(reading), sys.executable, "-I", "-c", "pass"]
    tried = subprocess.run(command, pass_fds=(reading,), env={}, capture_output=True, text=True, timeout=60)
    os.close(reading)
    if tried.returncode:
        reason = (tried.stderr.strip().splitlines() or ["no reason given"])[-1][:200]
        raise RuntimeError(
            f"code_tests runs code that a model wrote only in a sandbox, and bubblewrap does not work here: {reason} "
            "It needs user namespaces, which a container or AppArmor may forbid."
        )


# --- inside ---
SHARED = ("len", "iter", "next", "bool", "str", "repr", "neg", "getitem", "setitem", "delitem", "aiter")
ENTERED = ("enter", "exit", "aenter", "aexit")
# Between the code's own objects only: a result that claims to be equal to 3, or 0 away from it, must not count.
BETWEEN = ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor")
SCALED = ("mul", "truediv")  # also by plain data, to another object of the code's
READERS: dict[str, Any] = {
    "int": lambda text: int(text, 16), "bytes": bytes.fromhex, "complex": complex, "Fraction": fractions.Fraction,
    "Decimal": decimal.Decimal, "date": datetime.date.fromisoformat, "datetime": datetime.datetime.fromisoformat,
}  # fmt: skip
CONTAINERS: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
PLAIN: dict[str, Any] = {**CONTAINERS, "dict": dict, "str": str, "int": int, "float": float}
WRITERS: dict[str, Any] = {"int": hex, "bytes": bytes.hex}
CAP = 1 << 22  # bytes of a message
SLICE = 0.002  # seconds that the code's event loop runs before the tests' has its turn


class Remote:
    """An object of the other side's, used from afar. `kind`: the plain data that it is, too, as a list or an int is."""

    def __init__(self, line: Any, number: int, kind: str = "") -> None:
        vars(self).update({" line": line, " number": number, " kind": kind})  # names that no object's attributes have

    @property  # type: ignore[misc]  # isinstance(…, tuple) looks at it
    def __class__(self) -> type:
        return PLAIN.get(vars(self)[" kind"], Remote)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return vars(self)[" line"].ask("call", self, args, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__name__", "__members__"):
            raise AttributeError(name)
        return vars(self)[" line"].ask("getattr", self, (name,))

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[" line"].ask("setattr", self, (name, value))

    def __delattr__(self, name: str) -> None:
        vars(self)[" line"].ask("delattr", self, (name,))

    def __hash__(self) -> int:
        if vars(self)[" line"].everything:  # an object of the tests', which the code may not ask for it
            return int(vars(self)[" number"])
        return hash(plain(self) if vars(self)[" kind"] else vars(self)[" line"].ask("hash", self))

    def __instancecheck__(self, value: Any) -> bool:
        return type(value) is Remote and bool(vars(self)[" line"].ask("isinstance", value, (self,)))

    def __subclasscheck__(self, value: Any) -> bool:
        return type(value) is Remote and bool(vars(self)[" line"].ask("issubclass", value, (self,)))

    def __await__(self) -> Any:
        return awaited(self).__await__()

    def __anext__(self) -> Any:
        return vars(self)[" line"].ask("anext", self)


def plain(remote: Remote) -> Any:
    """What an object is as plain data, at this moment."""
    return vars(remote)[" line"].ask("plain", remote)


def method(name: str) -> Any:
    """A Remote's method that the other side carries out."""

    def operation(self: Any, *args: Any) -> Any:
        if name in BETWEEN and type(args[0]) is not Remote:
            if vars(self)[" kind"]:
                return getattr(operator, name)(plain(self), args[0])
            made = vars(self)[" line"].ask(name, self, args) if name in SCALED else None
            return made if type(made) is Remote and not vars(made)[" kind"] else NotImplemented
        return vars(self)[" line"].ask(name, self, args)

    return operation


def leave(self: Any, kind: Any, error: Any, trace: Any) -> None:
    """The end of a with block. What went wrong in it goes on in any case: the code could hide that a test fails."""
    vars(self)[" line"].ask("exit", self, (kind, None, None))


async def leave_async(self: Any, kind: Any, error: Any, trace: Any) -> None:
    """The same for async with."""
    await vars(self)[" line"].ask("aexit", self, (kind, None, None))


for each in SHARED + ENTERED + BETWEEN:
    setattr(Remote, f"__{each.rstrip('_')}__", {"exit": leave, "aexit": leave_async}.get(each) or method(each))


async def awaited(remote: Remote) -> Any:
    """What an awaitable of the code's comes to. Its event loop and the tests' take turns."""
    import asyncio

    line = vars(remote)[" line"]
    line.ask("begin", remote)
    try:
        while not line.ask("turn", remote):
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        line.ask("cancel", remote)
        raise
    return line.ask("result", remote)


class Later:
    """The awaitables of the code's that the tests wait for, on an event loop of their own."""

    def __init__(self) -> None:
        import asyncio

        self.asyncio, self.loop, self.tasks = asyncio, asyncio.new_event_loop(), dict[int, Any]()
        asyncio.set_event_loop(self.loop)

    def begin(self, target: Any) -> None:
        async def wait() -> Any:
            return await target

        self.tasks[id(target)] = self.loop.create_task(wait())

    def turn(self, target: Any, seconds: float = SLICE) -> bool:
        task = self.tasks[id(target)]
        self.loop.run_until_complete(self.asyncio.wait({task}, timeout=seconds))
        return bool(task.done())

    def result(self, target: Any) -> Any:
        return self.tasks.pop(id(target)).result()

    def cancel(self, target: Any) -> None:
        self.tasks[id(target)].cancel()
        self.turn(target, 1.0)


def lent(target: Any, name: str, args: list) -> bool:
    """Whether the code may do this with an object of the tests'. It may call functions, go through iterators, and use
    objects of the tests' own classes, but what their classes define it may not put another thing in the place of."""
    own, attribute = type(target).__module__ == "tests", str(args[0]) if args else "_"
    if name == "call":
        return isinstance(target, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type))
    if name in ("getattr", "setattr", "delattr"):
        known = own and not attribute.startswith("_")
        return known and (name == "getattr" or not callable(getattr(type(target), attribute, None)))
    goes_through = isinstance(target, collections.abc.Iterator) and name in ("iter", "next")
    return goes_through or (own and name in SHARED + BETWEEN)


class Line:
    """The messages between the two sides: JSON, one a line. Either asks the other to use an object of its own."""

    def __init__(self, job: dict, everything: bool) -> None:
        self.file = socket.socket(fileno=job["line"]).makefile("rwb")
        self.everything = everything  # whether any object of this side may be used from afar, or just what is lent
        self.mine: dict[int, Any] = {}
        self.theirs: dict[int, Remote] = {}
        self.coroutines: dict[int, tuple[Any, Remote]] = {}
        self.errors: dict[str, type] = {}
        self.later: Later | None = None

    def post(self, message: dict) -> None:
        data = json.dumps(message).encode()
        if len(data) > CAP:
            raise ValueError("too large to be handed over")
        self.file.write(data + b"\n")
        self.file.flush()

    def receive(self) -> dict:
        data = self.file.readline(CAP + 2)
        if not data.endswith(b"\n"):
            raise EOFError("the other side has ended")
        return dict(json.loads(data))

    def pack(self, value: Any, whole: bool = False) -> Any:
        """A value as JSON: plain data as such, other objects by a number. `whole`: as plain data in any case."""
        if type(value) is Remote:
            return {"yours": vars(value)[" number"]}
        if self.everything and not whole and (kind := own_kind(value)):
            self.mine[id(value)] = value
            return {"own": [id(value), kind]}
        if value is None or isinstance(value, (bool, str, float)) or (isinstance(value, int) and abs(value) < 1 << 53):
            return value
        for name, container in CONTAINERS.items():
            if isinstance(value, container):
                return {name: [self.pack(item) for item in container.__iter__(value)]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(key), self.pack(item)] for key, item in dict.items(value)]}
        name = type(value).__name__
        if name in READERS and type(value).__module__ in ("builtins", "fractions", "decimal", "datetime"):
            return {name: WRITERS.get(name, str)(value)}
        if is_error(value):
            return {"error": str(value.__name__)}
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            return self.pack(value.tolist())
        return self.handle(value)

    def handle(self, value: Any) -> Any:
        """An object that is no plain data, by its number."""
        if id(value) in self.coroutines:
            return self.pack(self.coroutines[id(value)][1])
        if not self.everything and isinstance(value, types.CoroutineType):
            return {"came to": self.pack(finished(value))}
        if not (self.everything or lent(value, "call", []) or lent(value, "next", [])):
            raise TypeError(f"a {type(value).__name__} cannot be given to the code")
        self.mine[id(value)] = value
        return {"later" if isinstance(value, types.CoroutineType) else "mine": id(value)}

    def unpack(self, packed: Any) -> Any:
        if not isinstance(packed, dict):
            return packed
        [(name, content)] = packed.items()
        if name == "mine":
            return self.theirs.setdefault(content, Remote(self, content))
        if name == "own":
            return self.theirs.setdefault(content[0], Remote(self, *content))
        if name == "later":
            coroutine = awaited(self.theirs.setdefault(content, Remote(self, content)))
            self.coroutines[id(coroutine)] = (coroutine, self.theirs[content])
            return coroutine
        if name == "came to":
            return returned(self.unpack(content))
        if name == "yours":
            return self.mine[content]
        if name == "dict":
            return {self.unpack(key): self.unpack(item) for key, item in content}
        if name == "range":
            return range(*content)
        if name == "error":
            return next(kind for kind in [getattr(builtins, content)] if issubclass(kind, BaseException))
        return READERS[name](content) if name in READERS else CONTAINERS[name](map(self.unpack, content))

    def ask(self, operation: str, target: Remote, args: tuple = (), named: dict | None = None) -> Any:
        """Have the other side use an object of its own; what it changes in the arguments is changed here, too."""
        words = {name: self.pack(value) for name, value in (named or {}).items()}
        self.post({"do": operation, "on": self.pack(target), "with": list(map(self.pack, args)), "named": words})
        reply = self.receive()
        while "do" in reply:
            self.post(self.answer(reply))
            reply = self.receive()
        if "raises" in reply:
            raise self.error(reply)
        for before, after in zip(args, reply["changed"], strict=False):
            replace(before, self.unpack(after))
        return self.unpack(reply["gives"])

    def answer(self, asked: dict) -> dict:
        """Use an object of this side's as the other asks."""
        try:
            name, target = asked["do"], self.mine[asked["on"]["yours"]]
            args = [self.unpack(item) for item in asked["with"]]
            named = {name: self.unpack(item) for name, item in asked["named"].items()}
            if not self.everything and not lent(target, name, args):
                raise TypeError("the code cannot do this with an object of the tests'")
            result = self.act(name, target)(*args, **named)
            changed = [self.pack(item if isinstance(item, (list, dict, set)) else None) for item in args]
            return {"gives": self.pack(result, whole=name == "plain"), "changed": changed}
        except BaseException as error:
            return {"raises": [kind.__name__ for kind in type(error).__mro__], "says": str(error)[:500]}

    def act(self, name: str, target: Any) -> Any:
        """What the other side asks for: the object itself as a function, or something that is done to it."""
        if name == "call":
            return target
        if name == "plain":
            return lambda: target
        if name in ("begin", "turn", "result", "cancel"):
            self.later = self.later or Later()
            return functools.partial(getattr(self.later, name), target)
        if name in ENTERED:
            return functools.partial(getattr(type(target), f"__{name}__"), target)
        return functools.partial(getattr(operator, name, None) or getattr(builtins, name), target)

    def error(self, reply: dict) -> Exception:
        """The error that the other side met, as one of its kind."""
        for name in reply["raises"]:
            kind = self.errors.get(name) or getattr(builtins, str(name), None)
            if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, UnicodeError):
                return kind(reply["says"])
        return RuntimeError(reply["says"])


def is_error(value: Any) -> bool:
    """Whether this is one of Python's own kinds of error."""
    known = isinstance(value, type) and issubclass(value, BaseException)
    return known and vars(builtins).get(value.__name__) is value


def own_kind(value: Any) -> str:
    """The plain data that an object of the code's own class is, too; empty where it is none. An int, float or str of
    such a class is only plain data, but for an enum."""
    own = type(value).__module__ == "solution"
    names = PLAIN if isinstance(value, enum.Enum) else [*CONTAINERS, "dict"] if own else []
    return next((name for name in names if isinstance(value, PLAIN[name])), "")


def finished(coroutine: Any) -> Any:
    """What a coroutine of the tests' comes to, in a thread: the tests' own event loop may wait for this very line."""
    import asyncio
    import concurrent.futures

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def returned(value: Any) -> Any:
    return value


def replace(before: Any, after: Any) -> None:
    """Give a list, dict or set other content."""
    if type(before) in (list, dict, set) and type(before) is type(after) and before != after:
        before.clear()
        add: Any = before.extend if isinstance(before, list) else before.update
        add(after)


def begin() -> dict:
    """Read the job from standard input, and take on limits that cannot be undone."""
    job = dict(json.load(sys.stdin))
    limits = {"AS": job["memory"] << 20, "FSIZE": 16 << 20, "NOFILE": 64, "CORE": 0, "CPU": job["seconds"], "NPROC": 64}
    for name, limit in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
    return job


def player() -> None:
    """The side of the model's code: loads it, then does what the tests ask."""
    job = begin()
    line = Line(job, everything=True)
    line.post({"alive": True})
    pathlib.Path("solution.py").write_text(job["code"], encoding="utf-8", errors="replace")
    spec: Any = importlib.util.spec_from_file_location("solution", "solution.py")
    module = sys.modules["solution"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    line.post({"names": {name: share(line, value) for name, value in vars(module).items()}})
    while True:
        line.post(line.answer(line.receive()))


def share(line: Line, value: Any) -> Any:
    """How the tests get to know a name of the code's."""
    if isinstance(value, types.ModuleType):
        return {"module": value.__name__}
    if isinstance(value, type) and issubclass(value, Exception):
        return {"error": [kind.__name__ for kind in value.__mro__]}
    if isinstance(value, (list, tuple, dict, set, frozenset, str)) and len(repr(value)) > 10_000:
        value = iter(value)  # too much to hand over
    return {"is": line.pack(value)}


def tester() -> None:
    """The side of the tests: reports on standard output, which the model's code cannot reach."""
    job = begin()
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the tests print goes nowhere

    def report(**said: object) -> None:
        print(json.dumps(said), file=reports)

    line = Line(job, everything=False)
    parts = parts_of(job["tests"])
    report(tests=sum(counts for _, counts in parts))
    report(**{key: True for key in line.receive() if key == "alive"})
    space = space_of(line, job, line.receive()["names"])
    for part, counts in parts:
        passed = passes(part, space)
        if counts:
            report(passed=passed)


def space_of(line: Line, job: dict, names: dict) -> dict[str, Any]:
    """What the tests see: the names that the code defines, and Python's own but for the one that they test."""
    text, tested = str(job["tests"]), subject(job["tests"], job["entry_point"])
    known = {}
    for name in names:
        if name.isidentifier() and not name.startswith("__"):
            real = name in sys.stdlib_module_names and f"{name}." in text
            known[name] = taken(line, {"module": name} if real else names[name])
    sys.modules["solution"] = types.ModuleType("solution")  # some tests import the code's names
    vars(sys.modules["solution"]).update(known)
    pythons = {name: value for name, value in vars(builtins).items() if name != tested}
    functions = [name for name in known if type(known[name]) is Remote]
    return {
        "__name__": "tests", "__builtins__": pythons,
        **{name: value for name, value in known.items() if name not in pythons},
        "candidate": known.get(job["entry_point"] or (functions or [""])[-1]),
    }  # fmt: skip


HELPERS = {  # Python's own that tests use on what others give
    "list", "tuple", "set", "frozenset", "dict", "str", "int", "float", "bool", "bytes", "complex", "range", "len",
    "isinstance", "issubclass", "type", "repr", "hasattr", "getattr", "callable", "print", "iter", "next",
}  # fmt: skip


def subject(tests: list[str] | str, entry_point: str | None) -> str | None:
    """The name among Python's own that the tests mean as the code's. Only the row says which, never the code: else it
    could give the tests a function of its own to compare with."""
    try:
        trees = [ast.parse(test) for test in tests] if isinstance(tests, list) else [ast.parse(tests)]
    except SyntaxError:
        return None
    nodes = [node for tree in trees for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if "candidate" in used:
        return None
    if entry_point:
        return entry_point if hasattr(builtins, entry_point) else None
    if used - bound_in(nodes) - {*dir(builtins), *sys.stdlib_module_names}:
        return None  # the tests use other names of the code's: those are meant
    tops = [statement for tree in trees for statement in tree.body]
    statements = [each for each in tops if any(isinstance(node, ast.Assert) for node in ast.walk(each))]
    called = [innermost(each) for each in statements]
    common = set.intersection(*called) if called else set()
    found = common - HELPERS or common
    return found.pop() if len(found) == 1 else None


def bound_in(nodes: list[ast.AST]) -> set[str]:
    """The names that the tests define themselves; what they import from a module that is not there is the code's."""
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            bound.add(node.name or "")
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            source = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            if source and importlib.util.find_spec(source.split(".")[0]):
                bound |= {(each.asname or each.name).split(".")[0] for each in node.names}
    return bound


def innermost(statement: ast.AST) -> set[str]:
    """The functions of Python's own that a statement calls with nothing that another of them gives, helpers aside."""
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    named = {id(node): node.func.id for node in calls if isinstance(node.func, ast.Name)}
    inner = {
        named[id(node)]
        for node in calls
        if not any(id(each) in named and named[id(each)] not in HELPERS for each in ast.walk(node) if each is not node)
    }
    return {name for name in inner if hasattr(builtins, name)}


def taken(line: Line, given: dict) -> Any:
    """A name of the code's as the tests see it: modules are fresh ones, errors are classes of the same kind."""
    if "module" in given:
        found: dict[str, Any] = {}
        named = all(part.isidentifier() for part in given["module"].split("."))
        return found["it"] if named and passes(f"import {given['module']} as it", found) else None
    if "error" in given:
        base = type(line.error({"raises": given["error"], "says": ""}))
        line.errors[given["error"][0]] = type(given["error"][0], (base,), {})
        return line.errors[given["error"][0]]
    return line.unpack(given["is"])


def parts_of(tests: list[str] | str) -> list[tuple[Any, bool]]:
    """The tests in parts, each with whether it counts as a test or prepares for others."""
    if isinstance(tests, list):
        return [(test, any(map(is_test, ast.parse(test).body))) for test in tests]
    body = ast.parse(tests).body
    if not any(map(is_test, body)):
        named = {each.name: each for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}
        calls = [f"{name}()" for name in named if name.startswith("test")] or ["check(candidate)"] * ("check" in named)
        waits = {f"{name}(" for name, each in named.items() if isinstance(each, ast.AsyncFunctionDef)}
        calls = [f"await {call}" if call.startswith(tuple(waits)) else call for call in calls]
        body += [ast.parse(call).body[0] for call in calls]
    return [(ast.Module([each], []), is_test(each)) for each in body]


def is_test(statement: ast.stmt) -> bool:
    """Whether a statement asserts something, or calls what does."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, (ast.Call, ast.Await))
    return any(isinstance(node, ast.Assert) for node in ast.walk(statement))


def passes(part: Any, space: dict[str, Any]) -> bool:
    """Run one part of the tests; whether it went through."""
    try:
        code = compile(part, "tests", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        waits = eval(code, space)  # noqa: S307 – the row's tests, in a sandbox of their own
        if isinstance(waits, types.CoroutineType):
            importlib.import_module("asyncio").run(waits)
    except BaseException:
        return False
    return True


# --- outside ---
def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
