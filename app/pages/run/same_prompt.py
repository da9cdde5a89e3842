"""This prompt over time: how it did each time it came, and what the model wrote then and now."""

import math
from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.run.group import other_columns, prompt_html, trained_again
from groupwise.app.pages.run.prompt_diff import Side, then_and_now
from groupwise.app.pages.run.solver import solver
from groupwise.app.ui.live import Payload, Unanswerable, answer, record_of, run_of, whole_number
from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.record import groups, same_prompt, states
from groupwise.storage.registry import notes

Row = dict[str, Any]


@answer
def prompt_history(payload: Payload) -> dict[str, Any]:
    """All times that a prompt (`prompt`) came, and the completions of two of them (`then`, `now`: groups of it; else
    the first and the last), the best one of each or `each` of them. `mark`: what the reader has already."""
    run = run_of(payload)
    path = record_of(run)
    found = same_prompt.times(path, whole_number(payload, "prompt", 0), solver(run, groups.newest_stage(path)))
    if found is None:
        raise Unanswerable("There is no such prompt in this run.")
    if not found["times"]:
        raise Unanswerable("Not seen yet.")
    then, now = times_to_compare(found["times"], whole_number(payload, "then", 0), whole_number(payload, "now", 0))
    each = payload.get("each") is True
    out: dict[str, Any] = {"live": run.state in states.LIVE, "then": then["id"], "now": now["id"]}
    out["mark"] = f"{found['total']} {found['over']} {then['id']} {now['id']} {each}"
    if out["mark"] == payload.get("mark"):
        return out
    sides = [
        Side(groups.read_group(path, time["id"]) or time, notes.of_group(run.id, time["id"])) for time in (then, now)
    ]
    html = then_and_now(sides[0], sides[1], each=each)
    return out | {
        "prompt": prompt_html(found["prompt"]) + other_columns(found["columns"], format.message_text(found["prompt"])),
        "told": history_in_words(found, run.state in states.ENDED), "html": html,
        "times": [point(time) for time in found["times"]],
    }  # fmt: skip


def times_to_compare(times: list[Row], then: int, now: int) -> tuple[Row, Row]:
    """The two times to compare: those asked for, else the first and the last of those that count, of one mode; of one
    that alone counts, what the attempt before made of it."""
    by_id = {time["id"]: time for time in times}
    counting = [time for time in times if time["counts"]] or times
    counting = [time for time in counting if time["mode"] == counting[0]["mode"]]
    last = counting[-1]
    before = [time for time in times if not time["counts"] and time["mode"] == last["mode"]]
    first = before[-1] if len(counting) == 1 and before else counting[0]
    return by_id.get(then, first), by_id.get(now, last)


def history_in_words(found: Row, over: bool = False) -> str:
    """Came 9 times, from step 3 to step 58; the mean reward went from 0.4 to 1.2, solved from 12 % to 75 %. `over`: the
    run has ended."""
    times = [time for time in found["times"] if time["counts"]]
    again = trained_again(found["over"])
    if not times:
        return f"Seen {again}."
    first, last = times[0], times[-1]
    if len(times) == 1:
        beside = f", and {again}" if again else ": nothing to compare"
        return f"Seen once{'' if over else ' so far'}, at step {format.count(first['step'])}{beside}."
    came = f"Seen {format.count(found['total'])} times, from step {first['step']:,} to step {last['step']:,}."
    if len(times) < found["total"]:
        came += f" {format.count(len(times))} of them are shown."
    parts = []
    if first["mean"] is not None and last["mean"] is not None:
        parts.append(f"mean reward {format.number(first['mean'])} → {format.number(last['mean'])}")
    if first["solved"] is not None and last["solved"] is not None:
        parts.append(f"solved {percent(first['solved'])} → {percent(last['solved'])}")
    if again:
        came = f"{came[:-1]}, and {again}." if len(times) == found["total"] else f"{came} It was also seen {again}."
    return " ".join([came, *([f"{', '.join(parts).capitalize()}."] if parts else [])])


def point(time: Row) -> dict[str, Any]:
    """One time as the chart and the lists of choices have it; what is not finite is null, which JSON can say."""
    numbers = {
        name: time[name] if time[name] is not None and math.isfinite(time[name]) else None
        for name in ("mean", "low", "high", "solved")
    }
    label = f"step {time['step']:,}" + (" held-out" if time["mode"] == "eval" else "")
    if not time["counts"]:
        label += f" · attempt {time['attempt']}, trained again later"
    solved = f", {percent(time['solved'])} solved" if time["solved"] is not None else ""
    return {
        "id": time["id"], "step": time["step"], "mode": "eval" if time["mode"] == "eval" else "train",
        "counts": time["counts"], **numbers,
        "label": f"{label} · {format.number(time['mean'])}{solved}",
    }  # fmt: skip
