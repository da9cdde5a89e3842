"""A run in any state, by the way that leads there."""

from __future__ import annotations

from groupwise.storage.record import states
from groupwise.storage.registry import registry

PATHS = {
    states.QUEUED: [],
    states.STARTING: [states.STARTING],
    states.RUNNING: [states.STARTING, states.RUNNING],
    states.STOPPING: [states.STARTING, states.RUNNING, states.STOPPING],
    **{end: [states.STARTING, states.RUNNING, end] for end in states.ENDED},
}


def make(state: str = states.QUEUED, name: str = "small") -> str:
    run_id = registry.create_run("name: small\n", name=name, model="starter", data="task:arithmetic")
    for step in PATHS[state]:
        assert registry.set_state(run_id, step, f"It is {step}.")
    return run_id


def get(run_id: str) -> registry.Run:
    run = registry.get_run(run_id)
    assert run is not None
    return run
