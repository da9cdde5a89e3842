"""The usual learning rates: what is said before a run and what the doctor says after it are of one mind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupwise.app.core.field_labels import SHORT
from groupwise.app.pages.new.preflight.advice import advise
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.examine import RULES
from groupwise.storage.analysis.doctor.verdict import Verdict
from groupwise.storage.library.models.learning_rates import (
    LEAST,
    LORA,
    SMALL_LORA,
    SMALL_WHOLE,
    WHOLE,
    as_typed,
    usual_rates,
)
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import ADVICE, WARNING, Problem
from tests.app.test_preflight_advice import GOOD, offer
from tests.app.test_preflight_memory import MODEL
from tests.support.doctor import drawn, healthy, line

LEVEL = {"reward": line(1.0, 1.0, 0.01), "groups/solved": line(0.5, 0.5, 0.01)}
SIGHTS: dict[str, dict[str, Any]] = {
    "falls": {"curves": {"reward": drawn(lambda share: 1.8 - 1.5 * max(0, share - 0.5) * 2), "kl": line(0, 2)}},
    "still": {"curves": {**LEVEL, "kl": line(0.0, 0.0004)}},
    "flat": {"curves": {**LEVEL, "kl": line(0.0, 0.05)}},
    "drifts": {"curves": {"kl": line(0.01, 0.9)}},
    "clips": {"curves": {"clip_ratio/region_mean": line(0.4, 0.6)}},
    "breaks": {"not_finite": {"loss": 50}},
}
SIZES = (None, 800_000, 135_000_000, 494_000_000, 7_000_000_000)


def said_before(rate: float, lora: bool, size: int | None) -> list[Problem]:
    """What New run says of this rate."""
    raw = {"name": "a", "model": {"id": "org/model"}, "training": {**GOOD, "learning_rate": rate},
           "lora": {"r": 16} if lora else None, "rewards": [{"name": "format"}]}  # fmt: skip
    facts = replace(MODEL, parameters=size) if size else None
    found = advise(spec.from_dict(raw), offer(), facts)
    return [problem for problem in found if problem.field == "training.learning_rate"]


def said_after(sight: str, rate: float, lora: bool, size: int | None) -> tuple[Evidence, list[Verdict]]:
    """All that any rule of the doctor says of a run with this rate in which this is seen."""
    seen = SIGHTS[sight]
    curves = seen.get("curves", {}) | {"learning_rate": line(rate, rate)}
    run = healthy(**seen | {"curves": curves}, training={"learning_rate": rate}, lora=lora, parameters=size)
    return run, [verdict for rule in RULES if (verdict := rule(run))]


@given(
    rate=st.one_of(st.floats(-9, 0).map(lambda power: 10.0**power), st.sampled_from([0.0, LEAST, 2e-5, 1e-4, 1e-3])),
    lora=st.booleans(), size=st.sampled_from(SIZES), sight=st.sampled_from(sorted(SIGHTS)),
)  # fmt: skip
def test_the_doctor_never_contradicts_what_was_said_before_the_run(
    rate: float, lora: bool, size: int | None, sight: str
) -> None:
    before = said_before(rate, lora, size)
    run, after = said_after(sight, rate, lora, size)
    words = before[0].message if before else ""
    high, low = "too high" in words or "is high" in words, "lower than anyone" in words or "at 0" in words
    proposed = [(verdict.key, change.settings["training.learning_rate"]) for verdict in after
                for change in verdict.changes if "training.learning_rate" in change.settings]  # fmt: skip
    assert not (high and any(key == "learning_rate_low" or value > rate for key, value in proposed))
    assert not (high and any(verdict.key == "learning_rate_low" for verdict in after))
    assert not (low and any(verdict.key == "learning_rate_high" for verdict in after))
    assert not (low and any(value < rate for _, value in proposed))
    for key, value in proposed:
        assert said_before(value, lora, size) == [], f"{key} proposes {value:g}, of which New run warns"
        assert value > rate if key in ("learning_rate_low", "flat") else value < rate
    assert ("far too high" in words) == run.usual_rates.is_far_off(rate)
    if run.usual_rates.is_far_off(rate):
        assert {value for _, value in proposed} <= {before[0].fixes[0].settings["training.learning_rate"]}


@pytest.mark.parametrize(
    ("size", "lora", "usual"),
    [(800_000, False, 1e-4), (800_000, True, 5e-4), (None, False, 5e-6), (None, True, 2e-5),
     (135_000_000, True, 2e-5), (7_000_000_000, False, 5e-6)],
)  # fmt: skip
def test_a_rate_that_is_too_high_is_said_before_the_run(size: int | None, lora: bool, usual: float) -> None:
    (far,) = said_before(0.05, lora, size)
    how = usual_rates(lora, size).how
    assert far.level == WARNING
    assert far.message == f"0.05 is far too high {how}: a few steps ruin the model. {usual:g} is usual here."
    assert [(fix.label, fix.settings) for fix in far.fixes] == [
        (f"Set to {usual:g}", {"training.learning_rate": usual})
    ]
    rate = 2 * usual_rates(lora, size).most
    (high,) = said_before(rate, lora, size)
    assert high.message == f"{rate:g} is high {how}, and training may collapse. {usual:g} is usual here."
    assert said_before(usual, lora, size) == [] == said_before(usual_rates(lora, size).most, lora, size)


def test_a_rate_at_which_nothing_moves_is_said_before_the_run() -> None:
    (low,) = said_before(1e-8, lora=True, size=None)
    assert low.level == ADVICE
    assert low.message == "1e-08 is lower than anyone trains with: the model will hardly move. 2e-05 is usual here."
    (none,) = said_before(0.0, lora=False, size=None)
    assert none.message == "at 0 nothing is learned. 5e-06 is usual here."
    assert said_before(LEAST, lora=False, size=None) == []


def test_what_is_published_is_usual_and_draws_no_word() -> None:
    """TRL's default, Unsloth's, open-r1's, “LoRA Without Regret”, the course: none of them is warned of."""
    for rate in (1e-6, 3e-6, 5e-6, 2e-5):
        assert said_before(rate, lora=False, size=7_000_000_000) == []
    for rate in (5e-6, 1e-5, 2e-5, 5e-5):
        assert said_before(rate, lora=True, size=135_000_000) == []


def test_every_preset_that_ships_has_a_usual_rate() -> None:
    folder = Path(__file__).parents[2] / "app/pages/new/shipped_presets"
    presets = [spec.parse_spec(path.read_text("utf-8")) for path in folder.glob("*.yaml")]
    assert len(presets) >= 8
    for preset in presets:
        size = 800_000 if preset.model.id == "starter" else None
        rate = preset.training["learning_rate"]
        assert said_before(rate, preset.lora is not None, size) == [], preset.name


def test_the_field_says_the_same_rates() -> None:
    told = SHORT["training.learning_rate"][1], Path("docs/understand.md").read_text("utf-8")
    for rates in (WHOLE, LORA, SMALL_WHOLE, SMALL_LORA):
        for rate in (rates.usual, rates.most):
            assert as_typed(rate) in told[1]
        assert as_typed(rates.usual) in told[0]
