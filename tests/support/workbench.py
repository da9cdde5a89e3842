"""Functions, groups and runs for tests of the workbench."""

from __future__ import annotations

import json
from typing import Any

from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import registry
from groupwise.worker.questions import server
from groupwise.worker.questions.workbench import calling
from tests.support.runs import make_spec, queue

SPEC = {part: make_spec().model_dump()[part] for part in ("data", "model", "training")}
# Scores from the text itself: “0.5” earns 0.5, “none” does not apply.
READS = """
def reads(completions, **kwargs):
    texts = [one if isinstance(one, str) else one[-1]["content"] for one in completions]
    return [None if text == "none" else float(text) for text in texts]
"""


def end_warm_hosts() -> None:
    """End the sandboxes that the workbench keeps warm, so that no test meets another's."""
    while calling._warm:
        calling._warm.popitem()[1].close()


def answered(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What the question server answers; both ways travel as JSON, with no number that JSON does not have."""
    found = server.answer_question(kind, json.loads(json.dumps(payload)))
    plain: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return plain


def own(code: str, **settings: Any) -> dict[str, Any]:
    """A function of one's own: the last one that the code defines."""
    name = code.rpartition("def ")[2].partition("(")[0]
    return {"name": name, "code": code, **settings}


def group(*texts: str, answer: str = "2", prompt: Any = None, probe: bool = False) -> dict[str, Any]:
    """A group as COMPLETIONS answers it; a probe's text is its name."""
    completions = [
        {"text": text, "tokens": len(text), "ids": list(range(len(text))), "probe": text if probe else None}
        for text in texts
    ]
    return {"row": 0, "prompt": prompt or [{"role": "user", "content": "1+1?"}], "columns": {"answer": answer},
            "completions": completions}  # fmt: skip


def stored(*rewards: list[float | None], step: int = 1, second: float = 0.0, scale: float = 1.0) -> list[Group]:
    """Groups of a run: each text says the score that the first function, reads, gave it; `second` is what the other,
    flat, gave to all, with weight 2. Advantages are the plain difference to the mean."""
    found = []
    for number, given in enumerate(rewards):
        totals = [(value or 0.0) * scale + 2 * second for value in given]
        completions = [
            Completion(
                "none" if value is None else str(value), 3, False, total,
                total - sum(totals) / len(totals),
                [(value, "none" if value is None else "ok"), (second, "ok")],
            )
            for value, total in zip(given, totals, strict=True)
        ]  # fmt: skip
        prompt = [{"role": "user", "content": f"{step}+{number}?"}]
        found.append(Group("train", step, prompt, {"answer": str(step + number)}, completions))
    return found


def run_with(*batches: list[Group], events: list[Event] | None = None, **parts: Any) -> RunFolder:
    """An ended run with one step for each of these, as the recorder writes them."""
    folder = queue(make_spec(training={"scale_rewards": "none"}, **parts))
    registry.set_state(folder.id, states.FAILED, "It never began.")
    writer = RunWriter(folder.db, 1, {"reads": 1.0, "flat": 2.0})
    if events:
        writer.commit(0, events=events)
    for groups in batches:
        writer.commit(groups[0].step, groups=groups)
    writer.close()
    return folder
