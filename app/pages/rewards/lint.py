"""Lint of a reward function as it is typed: ruff reads the text, and nothing of it is ever run."""

import json
import subprocess
from typing import Any

from ruff import find_ruff_bin

TIMEOUT = 5.0  # seconds
MOST = 100  # problems that are told
# E F: errors and what is undefined or unused. B: what is likely a bug. W: warnings. Left out is what only concerns
# looks (imports on one line, a lambda with a name, the name l), and zip(…, strict=…), which no example of TRL's
# documentation has.
RULES = ["--select", "E,F,B,W", "--ignore", "E401,E402,E501,E70,E731,E741,W2,W3,W6,B905"]
GRAVE = ("F82", "F63", "F70", "E9")  # undefined names, comparisons and statements that cannot be meant
COMMAND = ["check", "--output-format", "json", "--no-cache", "--isolated", "--quiet", "--stdin-filename", "reward.py"]


def lint(code: str) -> list[dict[str, Any]]:
    """What ruff says of a text: [{line, column, message, level, syntax}], lines and columns from 1.

    Empty where ruff cannot be run, or takes too long: lint is a help, not a gate.
    """
    try:
        done = subprocess.run(
            [find_ruff_bin(), *COMMAND, *RULES, "-"], input=code.encode("utf-8", "replace"),
            capture_output=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
        found = json.loads(done.stdout or b"[]")
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return []
    return [_note(each) for each in found[:MOST]]


def _note(found: dict[str, Any]) -> dict[str, Any]:
    rule = str(found.get("code") or "invalid-syntax")
    where = found.get("location") or {}
    syntax = rule == "invalid-syntax"
    return {
        "line": int(where.get("row") or 1),
        "column": int(where.get("column") or 1),
        "message": f"This is not Python: {found['message']}" if syntax else f"{found['message']} ({rule})",
        "level": "error" if syntax or rule.startswith(GRAVE) else "warning",
        "syntax": syntax,
    }
