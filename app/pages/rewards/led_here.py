"""Why a person comes from a run to its reward functions: the verdict whose change leads here, or the failure of one;
and the way on, once that is fixed."""

from typing import Any

from groupwise.app.core.end_reason import headline_and_rest
from groupwise.app.pages.run import doctor, fixed_function
from groupwise.app.ui.live import Payload, answer, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.library.rewards import library
from groupwise.storage.record import run_files


@answer
def verdict_of_run(payload: Payload) -> dict[str, Any]:
    """The run's name with the title and the words of its `verdict` of this key, as its Overview has them, and what it
    proposes that needs no code (`without_code`); nothing where it has none by now."""
    run = run_of(payload)
    told = doctor.drawn_verdict(run, text(payload, "verdict", 40))
    if told is None:
        return {}
    title = told["title"] + ("" if told["title"].endswith("?") else ".")
    settings = [one for one in told["changes"] if one["to"] == "New run" and "choose" not in one]
    return {"run": visible_text(run.name), "title": title, "words": told["sentence"], "without_code": settings}


@answer
def corrected_run(payload: Payload) -> dict[str, Any]:
    """Where a new run with the settings of a run begins that the function `name` ended, which is saved as `hash` now:
    {run: its name, go}; nothing for a run that ended otherwise."""
    run, name, digest = run_of(payload), text(payload, "name", 200), text(payload, "hash", 64)
    if not name or fixed_function.name_failed_by(run) != name:
        return {}
    return {"run": visible_text(run.name), "go": fixed_function.new_run_with_fix(run, name, digest)}


@answer
def failure_in_run(payload: Payload) -> dict[str, Any]:
    """How the function `name` ended a run: the `error` in the run's own words, the `line` (0: not known), the `step`,
    and the `hash` of the version that the run had, "" where it keeps none; nothing for a run that ended otherwise."""
    run, name = run_of(payload), text(payload, "name", 200)
    if not name or fixed_function.name_failed_by(run) != name:
        return {}
    found = run_files.exit_record(run.folder, run.attempt) or {}
    headline, rest = headline_and_rest(found["reason"] or run.sentence)
    return {
        "run": visible_text(run.name), "error": f"{visible_text(rest or headline).rstrip('.')}.", "line": found["line"],
        "step": found["step"], "hash": library.hash_in_run(run.id, name),
    }  # fmt: skip
