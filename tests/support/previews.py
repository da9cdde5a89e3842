"""Data for previews, the check of all its rows, and a click on what that says."""

from __future__ import annotations

import json
from typing import Any

from groupwise.storage.home import paths
from groupwise.storage.registry.questions import CHECK_DATA
from groupwise.worker.questions import server

GSM = [{"problem": f"Tom has {n} apples and buys {n}.", "solution": f"{n}+{n}\n#### {2 * n}"} for n in range(1, 31)]
MAPPED = {"source": "file:gsm.jsonl", "prompt_template": "{problem}", "answer_column": "solution",
          "answer_pattern": r"####\s*(.+)"}  # fmt: skip


def write(name: str, rows: list[dict[str, Any]]) -> None:
    (paths.data_folder() / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def check(all_: bool = False, completion: int | None = 256, **parts: Any) -> dict[str, Any]:
    asked = {"data": parts, "model": {}, "longest_completion": completion, "all": all_}
    return json.loads(json.dumps(server.answer_question(CHECK_DATA, asked)))


def fixed(parts: dict[str, Any], problem: dict[str, Any], number: int = 0) -> dict[str, Any]:
    """The data settings after one click."""
    fix = problem["fixes"][number]
    changed = {**parts, **{path.removeprefix("data."): value for path, value in fix["settings"].items()}}
    for path in fix["removed"]:
        name, _, place = path.removeprefix("data.").partition(".")
        if place:
            changed[name] = [one for number, one in enumerate(changed[name]) if number != int(place)]
        else:
            changed.pop(name, None)
    return changed
