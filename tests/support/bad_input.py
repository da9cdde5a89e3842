"""Everything that a reward function can do wrong or try, and what is then said of it: the same in a sandbox on its own,
in the workbench, on the page and in a run."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

# What the bodies below make use of. `only` hides from the editor's checks what a function returns.
HELPERS = '''
import ctypes, json, os, socket, struct, sys

ALONE = []

def only(value):
    return value

def on_one_row(texts):
    """Raises for a batch; of its rows, called alone, for the second."""
    ALONE.append(len(texts))
    if len(texts) > 1 or ALONE.count(1) == 2:
        raise ValueError("one row is odd")
    return [1.0]

def everywhere(data):
    for number in range(3, 256):
        try:
            os.write(number, data)
        except OSError:
            pass

def forge(texts, call):
    rows = len(texts)
    reply = {"values": [9.0] * rows, "statuses": ["ok"] * rows, "failures": [], "extras": {}, "metrics": {}}
    body = json.dumps({**reply, "call": call}).encode()
    everywhere(struct.pack(">4sI", b"GRPW", len(body)) + body)

def the_call():
    """What the true reply has to name, found in the frames of whoever called."""
    frame = sys._getframe()
    while frame:
        message = frame.f_locals.get("message")
        if isinstance(message, dict) and "call" in message:
            return message["call"]
        frame = frame.f_back
'''


@dataclass(frozen=True)
class Bad:
    """A body of a function, and a pattern of what is said of it. The line that it is said of ends with `# here`.
    `status`: of the completions that it leaves without a score."""

    body: str
    words: str
    status: str = "error"


BAD = {
    "a missing package": Bad("import no_such_package  # here", "needs the package ‘no_such_package’"),
    "a scalar": Bad("return only(1.0)", r"returned 1\.0 \(float\); .* a list"),
    "nothing": Bad("return only(None)", "returned None; .* a list"),
    "a text": Bad("return only('high')", "returned the text 'high'; .* a list"),
    "a dict": Bad("return only({'a': 1})", r"\(dict\); .* a list"),
    "a generator": Bad("return only(1.0 for _ in completions)", r"^(?!.* at 0x).*\(generator\); .* a list"),
    "too few": Bad("return only([1.0])", r"returned 1 score for \d+ completions"),
    "too many": Bad("return only([1.0] * 99)", r"returned 99 scores for \d+ completions"),
    "texts": Bad("return ['high'] * len(completions)", "the text 'high'; a score is a number"),
    "lists": Bad("return [[1.0]] * len(completions)", "a score is a number"),
    "NaN": Bad("return [float('nan')] * len(completions)", "returned nan; a score is a finite number"),
    "infinity": Bad("return [float('inf')] * len(completions)", "returned inf; a score is a finite number"),
    "too large": Bad("return [1e12] * len(completions)", "lies between"),
    "an exception": Bad("raise ValueError('all is odd')  # here", "ValueError: all is odd"),
    "a wrong call": Bad("return forge(comletions=completions)  # here", "unexpected keyword argument 'comletions'"),
    "SystemExit": Bad("raise SystemExit  # here", "SystemExit"),
    "an endless loop": Bad("while True: pass", r"took longer than [\d.]+ s, and was ended", "timeout"),
    "an exit": Bad("os._exit(0)", r"ended the process it runs in \(exit status 0\)"),
    "a segfault": Bad("ctypes.string_at(0)", r"crashed \(SIGSEGV\)"),
    "a memory bomb": Bad(
        "bytearray(8 << 30)  # here", "MemoryError. It ran out of memory: a reward function may use 4 GiB"
    ),
    "a fork bomb": Bad("while True: os.fork()  # here", "cannot start processes"),
    "junk on the channel": Bad("everywhere(b'junk' * 10_000)", "wrote to Groupwise's own channel"),
    "a forged reply": Bad("forge(completions, 'a call')", "wrote to Groupwise's own channel"),
    "a forged reply to the true call": Bad("forge(completions, the_call())", "wrote to Groupwise's own channel"),
    "a closed channel": Bad("os.closerange(3, 256)", "closed Groupwise's own channel|ended the process"),
    "a secret in a file": Bad("open('/etc/passwd').read()  # here", "reward functions can read only Python"),
    "a secret in the environment": Bad("os.environ['HF_TOKEN']  # here", "none of Groupwise's environment"),
    "the network": Bad("socket.create_connection(('127.0.0.1', 1))  # here", "have no network"),
    "the network, by a library": Bad(
        "import urllib.request as library; library.urlopen('http://127.0.0.1:1')  # here", "have no network"
    ),
}
# What the code as a whole does wrong.
WHOLE = {
    "a syntax error": Bad("def hostile(completions, **kwargs):\n    return [  # here\n", "cannot be read as Python"),
    "a missing package at the top": Bad(
        "import math\nimport no_such_package.part  # here\n\ndef hostile(completions, **kwargs):\n    return []\n",
        "needs the package ‘no_such_package’",
    ),
    "a wrong argument": Bad(
        "def hostile(completions, anser, **kwargs):  # here\n    return [1.0] * len(completions)\n", "takes ‘anser’",
    ),
    "no such function": Bad("def other(completions, **kwargs):\n    return []\n", "defines no function ‘hostile’"),
}  # fmt: skip
# Those that leave scores: some, or all.
ONE_ROW = Bad("return on_one_row(completions)", "ValueError: one row is odd")
FLOOD = Bad("for _ in range(1024): print('x' * (1 << 20))", "printed more than the 64 KB")


def code(bad: Bad) -> str:
    """A module with the function `hostile`, which scores 1 where it gets that far."""
    body = textwrap.indent(bad.body, " " * 4)
    return f"{HELPERS}\ndef hostile(completions, **kwargs):\n{body}\n    return [1.0] * len(completions)\n"


def codes() -> dict[str, tuple[str, Bad]]:
    """Of all that leaves no score: the code, and what is said."""
    return {name: (code(bad), bad) for name, bad in BAD.items()} | {
        name: (bad.body, bad) for name, bad in WHOLE.items()
    }


def line(text: str) -> int | None:
    """The line that a failure is said of."""
    return next((number for number, each in enumerate(text.split("\n"), 1) if each.endswith("# here")), None)
