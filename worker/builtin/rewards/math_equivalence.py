"""Reward for an answer that is mathematically the same as the row's: 1/2, 0.5 and \\frac{1}{2}."""

import functools
import importlib.util
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable

NEEDS = ["math_verify"]
# A comparison may take for ever (9^9^9^9), which nothing inside the process could stop: it runs in one of its own,
# with little of the environment, limited memory, and an end when its input ends, so when the trainer does.
COMPARER = """
import json, logging, os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
logging.disable()
replies = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
read = {}
def parsed(text, formula):
    if "$" not in text and "boxed" not in text and formula:
        text = f"${text}$"
    kinds = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]
    return parse(text, extraction_config=kinds, parsing_timeout=None)
def same(right, given, formula, precision, seconds):
    signal.alarm(seconds)  # which ends this process, should there be nobody left to end it
    if right not in read:
        read.clear()  # the completions of a group come one after the other
        read[right] = parsed(right, True)
    if not read[right]:
        return None
    return float(verify(read[right], parsed(given, formula), float_rounding=precision, timeout_seconds=None))
print(json.dumps("ready"), file=replies)
for line in sys.stdin:
    try:
        result = same(*json.loads(line))
    except Exception:
        result = 0.0
    signal.alarm(0)
    print(json.dumps(result), file=replies)
"""
LONGEST = 10_000  # characters, from the end, where answers are
TO_START = 120.0  # seconds; it takes two on an idle machine
LOCK = threading.Lock()


def math_equivalence(
    completions: list,
    answer: list,
    *,
    precision: int = 6,
    timeout: float = 3.0,
    log_metric: Callable[[str, float], None] | None = None,
    **kwargs: object,
) -> list[float | None]:
    """1 when the completion's answer is mathematically equal to the row's answer, else 0.

    By math-verify, as in TRL's accuracy_reward. The completion's answer is the text of its last <answer>…</answer>,
    else its last \\boxed{…}, formula or number; a tag that is never closed is no answer. Formulas are read with or
    without $ around them. A row whose answer is no mathematics gets None, and so does a comparison that takes too
    long (counted as math_equivalence/timeouts).

    Args:
        precision: decimals to which numbers are compared.
        timeout: seconds that one completion may take.
    """
    if isinstance(precision, bool) or not isinstance(precision, int) or not 0 <= precision <= 50:
        raise ValueError(f"precision must be a whole number from 0 to 50, not {precision!r}.")
    if not 0 < timeout < 3600:
        raise ValueError(f"timeout must be more than 0 seconds and less than an hour, not {timeout!r}.")
    scores: list[float | None] = []
    slow = 0
    for completion, right in zip(completions, answer, strict=True):
        expected = "" if right is None else str(right).strip()
        value = None
        if is_mathematics(expected):
            text, found = given_answer(text_of(completion)[-LONGEST:])
            value = compare(json.dumps([expected, text, found, precision, int(timeout) + 2]), timeout) if text else 0.0
            slow += value == "slow"
        scores.append(value if isinstance(value, float) else None)
    if log_metric is not None:
        log_metric("math_equivalence/timeouts", float(slow))
    return scores


def is_mathematics(text: str) -> bool:
    """Whether a row's answer may be a formula: as one, Paris would be the product of its letters."""
    if not text or len(text) > LONGEST:
        return False
    words = re.sub(r"\\[A-Za-z]+|\$|\b(?:sin|cos|tan|sec|csc|cot|sqrt|log|ln|exp|pi)\b", " ", text)
    return "boxed" in text or not re.search(r"[^\W\d_]{3,}", re.sub(r"\\(?:text|mathrm)\s*{[^{}]*}", " ", words))


def given_answer(text: str) -> tuple[str, bool]:
    """Where a completion's answer is, and whether that is all there is: then it may be a formula without $."""
    start = text.rfind("<answer>", 0, max(text.rfind("</answer>"), 0))
    if start >= 0:
        return text[start + len("<answer>") : text.find("</answer>", start)].strip(), True
    return ("" if is_opened(text, "<answer>") else text.strip()), False


def is_opened(text: str, tag: str) -> bool:
    """Whether a text opens this tag, or ends within the opening one: `<answe`."""
    return tag in text or text.endswith(tuple(tag[:end] for end in range(3, len(tag))))


def compare(question: str, timeout: float) -> object:
    """What the comparing process answers; "slow" when it does not in time. It is ended then, and started anew."""
    with LOCK:
        process = comparer()
        try:
            assert process.stdin is not None
            process.stdin.write(question.encode() + b"\n")
            process.stdin.flush()
            reply = answered(process, timeout)
        except BrokenPipeError:
            reply = None
        if reply is None:
            end()
            return "slow"
        return json.loads(reply)


@functools.cache
def comparer() -> "subprocess.Popen[bytes]":
    """The comparing process, ready. Raises ImportError or RuntimeError where it cannot be had."""
    if importlib.util.find_spec("math_verify") is None:
        raise ImportError("math_equivalence needs math-verify: pip install math-verify")
    kept = ("PATH", "HOME", "LANG", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    process = subprocess.Popen(
        [sys.executable, "-c", COMPARER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in kept if name in os.environ},
    )  # fmt: skip
    if answered(process, TO_START) is None:
        process.kill()
        process.wait()
        raise RuntimeError("math_equivalence could not start math-verify in a process of its own.")
    return process


def end() -> None:
    """End the comparing process; the next comparison starts another."""
    process = comparer()
    comparer.cache_clear()
    process.kill()
    process.communicate()


def answered(process: "subprocess.Popen[bytes]", timeout: float) -> bytes | None:
    """The process's next line; None when none comes in time, or it has ended."""
    assert process.stdout is not None
    until = time.monotonic() + timeout
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
        piece = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not piece:
            return None
        line += piece
    return line


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
