"""Reward functions that are offered, what is wrong with a spec's, and a click that fixes it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from groupwise.app.pages.new import edits
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.spec.spec import from_dict, parse_spec, to_yaml
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.builtin import shipped
from tests.support.offer import OFFER

OWN = "def mine(completions, level, *, most: int = 20, **kwargs):\n    return [most - len(c) for c in completions]\n"
HASH, OLD = library.hash_of(OWN), "0123456789abcdef"
PARAMETERS = [{"name": "most", "types": ["int"], "default": 20, "choices": None, "help": ""}]
OFFERED = replace(
    OFFER,
    rewards={
        **shipped.describe_shipped({}).as_dict()["rewards"],
        "mine": {
            "help": "",
            "own": True,
            "hash": HASH,
            "parameters": PARAMETERS,
            "arguments": ["completions", "level"],
        },
    },
    versions={
        "mine": [{"hash": HASH, "own": True}, {"hash": OLD, "own": True, "parameters": [], "arguments": []}],
        "gone": [{"hash": OLD, "own": True, "parameters": [], "arguments": []}],
    },
    extras={"math_verify": "1", "reasoning_gym": "1"},
    gym={"chain_sum": {"help": "", "parameters": {}}},
)


def problems(*rewards: dict[str, Any], offered: Offer = OFFERED, **parts: Any) -> list[Problem]:
    raw = {"name": "a", "rewards": list(rewards), **parts}
    return examine_spec(from_dict(raw), offered, columns=["question", "level"])


def after_a_click(raw: dict[str, Any], problem: Problem, number: int = 0) -> dict[str, Any]:
    """The spec after one of the problem's fixes, by the way that it really goes: through JSON, into the YAML."""
    fix = json.loads(json.dumps(asdict(problem.fixes[number])))
    text = edits.apply(to_yaml(from_dict(raw)), edits.of_fix(fix))
    return parse_spec(text).model_dump()


MINE = {"name": "mine"}
