"""Where a value that an estimate needs is not read, it waits for it: the default would answer what nobody asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import view
from groupwise.storage.library.models import model_files
from tests.app.test_preflight_memory import MODEL
from tests.support import offer

HEAD = "name: a\nrewards:\n- name: format\n"


def described(slips: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page shows of a spec with these slips whose model's files are here."""
    monkeypatch.setattr(model_files, "facts_at_hand", lambda _: MODEL)
    length = {"max_completion_length": {"types": ["int"], "default": 256}}
    there = offer.Offer(offer.TRAINING | length, offer.LORA, offer.REWARDS, offer.TASKS)
    return view.describe_text(HEAD + slips, there, None, {"script"})


@pytest.mark.parametrize(
    ("slip", "awaited", "waiting"),
    [
        ("training: {max_steps: 1e1}\n", "Steps", ["Time", "Disk"]),
        ("training: {max_stps: 10}\n", "max_stps", ["Time", "Disk"]),
        ("training: {max_steps: 10}\nlaunch: {processes: two}\n", "Processes", ["Memory", "Time", "Disk"]),
        ("training: {max_steps: 10}\nlora: {r: x}\n", "LoRA rank", ["Memory", "Time", "Disk"]),
        ("training: {max_steps: 10}\nstages: [{training: {beta: x}}]\n", "KL weight", ["Memory", "Time"]),
        ("data: {limit: many}\n", "Rows", ["Time", "Disk"]),
        ("model: {dtyp: float32}\ntraining: {max_steps: 10}\n", "", []),  # what was meant is read
    ],
)
def test_estimates_wait_for_what_is_given_and_cannot_be_read(
    slip: str, awaited: str, waiting: list[str], own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = described(slip, monkeypatch)
    waits = {one["label"]: one["detail"] for one in seen["figures"] if one["value"] == "—"}
    assert waits == dict.fromkeys(waiting, f"waits until “{awaited}” is fixed")
    assert [one["label"] for one in seen["figures"]] == ["Memory", "Time", "Disk"]
    assert not any("cannot be counted" in one or "cannot be estimated" in one for one in seen["sentences"])
    assert not any("over the data" in one for one in seen["sentences"])


def test_what_sentences_are_made_without_is_said(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = "training: {max_steps: 10}\n"
    words = "This is calculated without “Rows”."
    assert words in described(f"data: {{limit: many}}\n{steps}", monkeypatch)["sentences"]
    assert words not in described(steps, monkeypatch)["sentences"]


@pytest.mark.parametrize(
    ("training", "blamed", "waits"),
    [
        ("num_generations: 1000000", "training.num_generations", "Group size"),
        ("num_generations: 1000000, max_steps: 0", "training.num_generations", "Group size"),
        ("num_generations: 8, max_steps: 0", "training.max_steps", ""),
    ],
)
def test_memory_waits_for_what_has_to_change_as_it_cannot_stay_as_it_is(
    training: str, blamed: str, waits: str, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = described(f"training: {{{training}}}\n", monkeypatch)
    assert blamed in [one["field"] for one in seen["problems"] if one["level"] == "blocking"]
    memory = seen["figures"][0]
    assert memory["label"] == "Memory"
    assert (memory["value"] == "—", "waits until" in memory["detail"]) == (bool(waits), bool(waits))
    assert waits in memory["detail"]
