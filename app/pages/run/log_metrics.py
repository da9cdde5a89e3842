"""The metrics that the trainer prints of a step, as a dict on a line: {'loss': '0.0123', 'reward': None, 'step': 1}.

A log is anybody's text. Its lines are taken apart here and never evaluated; one that only looks like metrics stays as
it is."""

import re

from groupwise.app.core import format

LONGEST = 1 << 16  # characters of a line that may be metrics
MOST_WHOLE = 1e15  # beyond, a rounded number stands as the trainer printed it
LONGEST_VALUE = 80  # characters shown of one that is no number
# What worker/training/recorder.py puts last, and what the trainer itself says of each: by these two a line is known as
# the trainer's, whatever else is in it.
STEP, EPOCH = "step", "epoch"
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf)"
IS_STEP = re.compile(r"[0-9]{1,15}")
IS_NUMBER = re.compile(rf"(')?({NUMBER})(?(1)')")
OF_LIBRARY = re.compile(rf"[\w.]{{1,40}}\(({NUMBER})(?:, [^()]*)?\)")  # np.float64(0.5), tensor(0.5, device='cuda:0')
TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# A quotation mark that nothing closes is no piece: to look for its end anew at each would take long.
NAME, PIECE = re.compile(rf"({TEXT}): "), re.compile(rf"""{TEXT}|[^'"()\[\]{{}},]+|[()\[\]{{}},]""")


def read_metrics(words: str) -> list[list[str]] | None:
    """The metrics of such a dict as [name, value], the step first; None for any other line."""
    pairs = _read_pairs(words) if len(words) <= LONGEST else None
    if not pairs:
        return None
    steps = [[name, format.count(int(value))] for name, value in pairs if name == STEP and IS_STEP.fullmatch(value)]
    is_trainers = bool(steps) and pairs[-1][0] == STEP and any(name == EPOCH for name, _ in pairs)
    if not is_trainers and not all(IS_NUMBER.fullmatch(value) for _, value in pairs):
        return None
    return steps + [[name, _shown(value)] for name, value in pairs if name != STEP]


def _read_pairs(words: str) -> list[tuple[str, str]] | None:
    """Each name of a dict with its value as it stands there; None where the line is no dict of names, or is more."""
    found: list[tuple[str, str]] = []
    at = 1 if words.startswith("{") and words.endswith("}") else len(words)
    while name := NAME.match(words, at):
        end = _end_of_value(words, name.end())
        if end is None:
            return None
        found.append((name[1][1:-1], words[name.end() : end]))
        if end == len(words) - 1:
            return found
        at = end + len(", ")
    return None


def _end_of_value(words: str, at: int) -> int | None:
    """Where the value that begins here ends: before the next name, or before the brace that closes the line."""
    depth = 0
    while piece := PIECE.match(words, at):
        if depth == 0 and (piece[0] == "," and NAME.match(words, at + len(", ")) or at == len(words) - 1):
            return at
        depth += (piece[0] in "([{") - (piece[0] in ")]}")
        if depth < 0:
            return None
        at = piece.end()
    return None


def _shown(value: str) -> str:
    """A value as pages write numbers, without digits that say nothing: 2.9; one that the trainer rounded, 1.185e+05, as
    ≈118,500."""
    if value.strip("'") == "None":
        return "–"
    number = IS_NUMBER.fullmatch(value) or OF_LIBRARY.fullmatch(value)
    if number is None:
        return format.shorten(value[1:-1] if re.fullmatch(TEXT, value) else value, LONGEST_VALUE)
    plain = number[number.re.groups].lower()
    if "e+" in plain and float(plain) < MOST_WHOLE:
        return f"≈{format.count(int(float(plain)))}"
    digits, e, power = format.number(float(plain), 4).partition("e")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + e + power
