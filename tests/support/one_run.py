"""One queued run with a record of a few steps, for the tests of the live parts."""

from __future__ import annotations

from groupwise.storage.home import paths
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group

SPEC = "name: one\nrewards: [{name: format}]\ntraining: {beta: 0.0}\n"


def group_of(text: str, step: int = 1) -> Group:
    scored = [
        Completion(text, 5, False, float(n), n - 0.5, [(float(n) if n else None, "ok" if n else "timeout")])
        for n in range(2)
    ]
    return Group("train", step, [{"role": "system", "content": text}, {"role": "user", "content": text}],
                 {"answer": text, text: "x"}, scored)  # fmt: skip


def record(run_id: str, *, steps: int = 3, text: str = "<answer>1</answer>") -> RunWriter:
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    writer.commit(0, events=[Event("plan", text, {"total": 10})])
    for step in range(1, steps + 1):
        writer.commit(step, metrics={"reward": step / 10}, groups=[group_of(text, step)])
    return writer
