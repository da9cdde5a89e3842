"""The Log of a run: what its training process printed, made readable and safe to show: its end, a stretch of it, or the
places that have some words."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.core import format
from groupwise.app.pages.run import log_metrics
from groupwise.app.ui.live import (
    Payload,
    Unanswerable,
    answer,
    is_ongoing,
    live,
    run_of,
    say_missing_folder,
    text,
    whole_number,
)
from groupwise.storage.home import files
from groupwise.storage.home.redaction import redact
from groupwise.storage.record import log_notes
from groupwise.storage.registry import registry

TAIL = 200 * 1024  # bytes shown of a long log
BLOCK = 1 << 20  # bytes searched at a time
MOST_HITS = 1000
HEAD = 400  # characters of a line found that tell whose it is
LONGEST_SEARCH = 3.0  # seconds
LONGEST_LINE = 8192  # characters shown of one
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
SECRET = re.compile(
    r"\b(hf_|sk-|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA)[A-Za-z0-9_-]{8,}"
    r"|(?i:\b(authorization: *bearer|(?:api[_-]?key|hub_token|access_token|password|secret)['\"]? *[=:]))"
    r"( *['\"]?)[^\s'\",}]{6,}"
)
RANK = r"\[rank (\d{1,4})\] "  # before each line of a run with several (worker/training/train.py)
OF_RANK = re.compile(RANK)
Hit = tuple[int, str]  # where a line begins, and its head
VALUE = frozenset("0123456789,.e+-\u2212\u2013\u221e")  # what a metric's value is written with on the page
NOT_YET = "Nothing has been printed yet."
NEVER = "Nothing was printed before this run ended. How it ended is shown above."
TEMPLATE = """
<p class="s mut wait">Reading…</p><div class="tools row" hidden>
<input class="input find" type="search" placeholder="Search the log" aria-label="Search the log" maxlength="200">
<span class="s mut count" role="status"></span><button type="button" class="link s
found-hidden" hidden></button><span class="row tight moves" hidden>
<button type="button" class="btn s" data-move="-1" aria-label="Previous match">↑</button>
<button type="button" class="btn s" data-move="1" aria-label="Next match">↓</button></span><span class="grow"></span>
<label class="s mut ranks" hidden>lines of <select class="input s" aria-label="Show the lines of"></select></label>
<button type="button" class="btn s follow" aria-pressed="true">Following</button>
<button type="button" class="btn s copy" title="The lines that are shown">Copy shown lines</button><button type="button"
class="btn s copy-found" title="The lines below in which the searched words are" hidden>Copy shown matches</button><a
class="btn s download" download title="The whole log, of all ranks">Download all</a></div>
<p class="s mut row tight dicts" hidden><span></span><button type="button" class="link"></button></p>
<p class="s mut row tight warnings" hidden><span></span><button type="button" class="link"></button></p>
<p class="s mut cut" hidden><span></span> <button type="button" class="link end">Back to the end</button></p>
<div class="panel box" tabindex="0" aria-label="Log"><div class="mono lines"></div></div>
"""


@answer
def tail(payload: Payload) -> dict[str, Any]:
    """The log from byte `at` on: whole `lines`, the `line` being written, and the next `at`.

    `reset` says that it begins anew: the first look, a long gap, or a log that shrank.
    """
    run = run_of(payload)
    alive = is_ongoing(run)
    path = _log_of(run)
    if path is None:
        return {"wait": NOT_YET if alive else NEVER, "poll": 1000 if alive else 5000}
    return read_from(path, whole_number(payload, "at")) | {"poll": 700 if alive else 5000, "live": alive}


@answer
def log_around(payload: Payload) -> dict[str, Any]:
    """The stretch of the log in which byte `at` is, in whole lines."""
    path = _log_of(run_of(payload))
    if path is None:
        raise Unanswerable(NOT_YET)
    return read_around(path, whole_number(payload, "at"))


@answer
def search_log(payload: Payload) -> dict[str, Any]:
    """The lines of the whole log that have the `words` in them, and are of `rank` where one is given: `hits`, the byte
    where each begins, and `heads`, what each begins with, by which the page knows those of libraries; `more` where it
    was not searched to its beginning, which is the last to be searched."""
    rank = text(payload, "rank")
    path, words = _log_of(run_of(payload)), text(payload, "words")
    if path is None or not words.strip():
        return {"hits": [], "heads": [], "more": ""}
    return find_lines(path, words, int(rank) if rank.isdecimal() else None)


def _log_of(run: registry.Run) -> Path | None:
    if not run.folder.path.is_dir():
        raise Unanswerable(say_missing_folder(run))
    return run.folder.log if files.is_file(run.folder.log) else None


def read_from(path: Path, at: int) -> dict[str, Any]:
    """What was written after byte `at`, whole lines apart from an unfinished one, and where the next look begins."""
    with files.open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        reset = at == 0 or at > size or size - at > TAIL
        start = max(0, size - TAIL) if reset else at
        file.seek(start)
        data = file.read(TAIL)
    if reset and start:  # begin with a whole line
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    whole, _, rest = data.rpartition(b"\n")
    lines = split_lines(data[: len(data) - len(rest)], start)
    begun = "" if reset and not start else format.size(start)
    return {
        "reset": reset, "at": start + len(data) - len(rest), "lines": lines, "line": readable(rest),
        "cut": begun if reset else "", "size": format.size(size),
    }  # fmt: skip


def read_around(path: Path, at: int) -> dict[str, Any]:
    """The lines around byte `at`, as many bytes as the end of a log has."""
    with files.open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, min(at - TAIL // 2, size - TAIL))
        file.seek(start)
        data = file.read(TAIL)
    if start:
        cut = data.find(b"\n") + 1
        start, data = start + cut, data[cut:]
    if start + len(data) < size:
        data = data[: data.rfind(b"\n") + 1]
    first, last = format.size(start), format.size(start + len(data))
    return {"lines": split_lines(data, start), "first": first, "last": last, "size": format.size(size)}


def split_lines(data: bytes, start: int) -> list[list[Any]]:
    """Whole lines as [byte where it begins, text, the metrics in it or None, own_kind]."""
    if not data:
        return []
    raw = data.removesuffix(b"\n").split(b"\n")
    shown = readable(b"\n".join(raw)).split("\n")
    if len(shown) != len(raw):  # a secret of several lines is hidden: where the lines begin is not known
        raw = [b""] * len(shown)
    found: list[list[Any]] = []
    for line, words in zip(raw, shown, strict=True):
        found.append([start, words[:LONGEST_LINE], metrics_of(words), own_kind(words)])
        start += len(line) + 1
    return found


def metrics_of(line: str) -> list[list[str]] | None:
    """The metrics that the trainer printed, whichever rank it was, as [name, value]; None for any other line."""
    found = OF_RANK.match(line)
    return log_metrics.read_metrics(line[found.end() :] if found else line)


def has_metric(line: str, wanted: str) -> bool:
    """Whether a metric of a line, as it is shown, has the words: step 1,200, also without its comma."""
    plain = wanted.replace(",", "")
    shown = (f"{name} {value}".lower() for name, value in metrics_of(line) or ())
    return any(wanted in words or plain in words.replace(",", "") for words in shown)


def rank_of(line: str) -> int | None:
    """The rank that printed a line; None in the log of one process, and for what is of no rank."""
    found = OF_RANK.match(line)
    return int(found[1]) if found else None


def own_kind(line: str) -> str:
    """“note” or “error” of a line of our own, whichever rank printed it; “” of any other."""
    said = OF_RANK.sub("", line, count=1) if OF_RANK.match(line) else line
    if not log_notes.is_note(said):
        return ""
    return "error" if log_notes.is_error(said) else "note"


def is_shown(line: str, rank: int | None) -> bool:
    """Whether a line is among those of a rank; our own are among everyone's."""
    return rank in (None, rank_of(line)) or bool(own_kind(line))


def find_lines(path: Path, words: str, rank: int | None = None) -> dict[str, Any]:
    """Where the words stand in a log, or in a rank's lines, whatever their case: at most so many, the newest, and for
    so long."""
    wanted, begun = words.lower(), time.monotonic()
    hits: list[Hit] = []
    with files.open_file(path) as file:
        end = os.fstat(file.fileno()).st_size
        while end > 0:
            start, block = _block_before(file, end)
            hits += _hits_in(block, start, wanted, rank)
            end = start
            if len(hits) > MOST_HITS or (end and time.monotonic() - begun > LONGEST_SEARCH):
                break
    much = "" if not end and len(hits) <= MOST_HITS else f"from {format.size(end)} on"
    found = sorted(hits[:MOST_HITS])
    return {"hits": [place for place, _ in found], "heads": [words for _, words in found], "more": much}


def _block_before(file: Any, end: int) -> tuple[int, bytes]:
    """Whole lines that end at a byte: where they begin, and what they are. A line longer than a block is cut."""
    start = max(0, end - BLOCK)
    file.seek(start)
    block = file.read(end - start)
    cut = block.find(b"\n", 0, len(block) - 1) + 1 if start else 0
    return start + cut, block[cut:]


def _hits_in(block: bytes, start: int, wanted: str, rank: int | None) -> list[Hit]:
    """Where the lines begin that have the words, and their heads, the last first. What is shown is searched: no secret
    can be guessed by searching for it; metrics both as they are printed and as the page shows them."""
    name = _name_before_value(wanted)
    if not _may_have(block, wanted) and (name is None or not _may_have(block, name)):
        return []
    found: list[Hit] = []
    for line in block.split(b"\n"):
        as_metric = name is not None and line.endswith(b"}") and _may_have(line, name)
        if as_metric or _may_have(line, wanted):
            shown = readable(line)
            if is_shown(shown, rank) and (wanted in shown.lower() or (as_metric and has_metric(shown, wanted))):
                found.append((start, shown[:HEAD]))
        start += len(line) + 1
    return found[::-1]


def _name_before_value(wanted: str) -> str | None:
    """What has to be in a line as it is printed for a metric of it to have the words as shown: of "kl 2.6" its kl, of
    a value nothing; None where they are no part of a metric, or would be found as printed."""
    name, space, value = wanted.rpartition(" ")
    if (value or space) and VALUE.issuperset(value) and " " not in name:
        return name
    return None


def _may_have(data: bytes, wanted: str) -> bool:
    """Whether the words are in the bytes as they were written, which is soon told: most of a log needs no more."""
    if wanted.isascii():
        return wanted.encode() in data.lower()
    return wanted in data.decode("utf-8", "replace").lower()  # bytes.lower() knows ASCII alone


def whole_text(path: Path) -> Iterator[bytes]:
    """All of a log as it is shown, in whole lines."""
    rest = b""
    with files.open_file(path) as file:
        while data := file.read(BLOCK):
            whole, newline, rest = (rest + data).rpartition(b"\n")
            if newline:
                yield f"{readable(whole)}\n".encode()
            elif len(rest) > 8 * BLOCK:  # no line is so long: what is none is given on
                yield readable(rest).encode()
                rest = b""
    if rest:
        yield f"{readable(rest)}\n".encode()


def readable(data: bytes) -> str:
    """Text without colours, control characters, overwritten progress and anything that looks like a token."""
    lines = redact(data.decode("utf-8", "replace")).split("\n")
    return "\n".join(SECRET.sub(_hide_secret, CONTROL.sub("", ANSI.sub("", _last_shown(line)))) for line in lines)


def _last_shown(line: str) -> str:
    """What is left of a line that a progress bar wrote over and over."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _hide_secret(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] + found[3]}…"


def log() -> gr.HTML:
    """The Log part of a run's page. Its box is a reversed column: it stays at the end, unless one scrolled up."""
    return live(
        "pages/run/log", tail, log_around, search_log, template=TEMPLATE, elem_id="part-log",
        elem_classes=["gw-part", "gw-part-log"],
    )  # fmt: skip
