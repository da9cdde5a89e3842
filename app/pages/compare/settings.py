"""Compare: the settings in which runs differ, and the reward code of two of them against each other."""

from typing import Any

from groupwise.app.core import format
from groupwise.app.core.errors import Unanswerable
from groupwise.app.core.field_labels import SHORT, compared_label
from groupwise.app.core.setting_words import compared_words
from groupwise.app.pages.compare.runs import run_ids, run_spec
from groupwise.app.ui.live import Payload, answer, run_by_id, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.compare import code as codes
from groupwise.storage.analysis.compare import fields
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue

LONGEST = 200  # characters of a setting that are shown; the rest is in the run's Config
MOST_FIELDS = 300


@answer
def compare_settings(payload: Payload) -> dict[str, Any]:
    """The fields in which the runs differ, each with its `label` and one value a run, in the order of `ids`: `words` to
    read, `number` where it is one, `set`: false where it is the default; null where a run has no such field. The field
    `by` is among them, whether it differs or not. `problems`: run id → why its settings are not known."""
    ids, by = run_ids(payload), text(payload, "by")
    problems: dict[str, str] = {}
    flat = [run_settings(run_id, problems) for run_id in ids]
    found = fields.differing_fields(flat, tuple(SHORT))
    if by and all(field["name"] != by for field in found):
        found += [{"name": by, "values": [run.get(by) if run else None for run in flat]}]
    drawn = [
        {"name": field["name"], "label": visible_text(compared_label(field["name"])),
         "values": [cell(field["name"], value) for value in field["values"]]}
        for field in found
    ]  # fmt: skip
    return {"ids": ids, "fields": drawn[:MOST_FIELDS], "left_out": max(0, len(drawn) - MOST_FIELDS),
            "problems": problems}  # fmt: skip


def run_settings(run_id: str, problems: dict[str, str]) -> dict[str, fields.Value] | None:
    """One run's settings, with GRPOConfig's defaults; None, and why, where they are not known."""
    run = run_by_id(run_id)
    if run is None:
        return None
    try:
        return fields.of_whole_run(run_spec(run), defaults())
    except Unanswerable as reason:
        problems[run_id] = str(reason)
        return None


def defaults() -> dict[str, Any]:
    """GRPOConfig's defaults, where the worker has said them."""
    catalogue = registry.read_fact(Catalogue)
    return catalogue.defaults() if catalogue else {}


def cell(name: str, value: fields.Value | None) -> dict[str, Any] | None:
    """A setting as the table shows it: its words, its number where it is one, and whether it was set; None for none."""
    if value is None:
        return None
    given = value["value"]
    number = given if isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < 1e300 else None
    words = visible_text(compared_words(name, given))
    return {"words": format.shorten(words, LONGEST), "number": number, "set": value["set"]}


@answer
def compare_code(payload: Payload) -> dict[str, Any]:
    """Each reward function of the runs with the hash of its code in each (null: the run does not use it), and how it
    differs between run `a` and run `b`: lines of a unified diff, or words why there is none, with the code that there
    is."""
    ids = run_ids(payload)
    of_run = {run.id: codes.code_by_function(run.folder) for run in map(run_by_id, ids) if run is not None}
    names = sorted({name for functions in of_run.values() for name in functions})
    one, other = (of_run.get(text(payload, which), {}) for which in ("a", "b"))
    return {
        "functions": [
            {"name": visible_text(name), "hashes": [hash_in(of_run.get(run_id), name) for run_id in ids],
             **code_diff(one.get(name), other.get(name))}
            for name in names
        ]
    }  # fmt: skip


def hash_in(functions: dict[str, str] | None, name: str) -> str | None:
    """The short hash of a function's code in one run; None where the run does not use it."""
    return library.hash_of(functions[name])[:8] if functions and name in functions else None


def code_shown(code: str) -> str:
    """A function's code as a page places it."""
    return "\n".join(map(visible_text, code.splitlines()))


def code_diff(before: str | None, after: str | None) -> dict[str, Any]:
    """One function's code in two runs."""
    if before is None and after is None:
        return {"words": "Neither of the two runs uses it."}
    if before is None or after is None:
        which = "second" if before is None else "first"
        return {"words": f"Only the {which} of the two runs uses it.", "code": code_shown(before or after or "")}
    if before == after:
        return {"words": "The same code in both.", "code": code_shown(before)}
    lines = codes.diff(before, after)
    if lines is None:
        return {"words": "Too long to be compared line by line here."}
    return {"lines": [[kind, visible_text(words)] for kind, words in lines]}
