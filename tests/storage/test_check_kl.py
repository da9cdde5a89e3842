"""A KL weight that follows a target: what does not fit is said at the field, and each fix mends it."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.app.pages.new import edits
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.checks.kl import check_kl
from groupwise.storage.spec.spec import from_dict, parse_spec, to_yaml
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Problem, SpecError
from tests.support.offer import OFFER


def raw(kl: dict[str, Any], **training: Any) -> dict[str, Any]:
    return {"name": "a", "rewards": [{"name": "format"}], "training": training, "kl": kl}


def problems(spec: dict[str, Any]) -> list[Problem]:
    return [one for one in examine_spec(from_dict(spec), OFFER) if one in check_kl(from_dict(spec), OFFER)]


CASES: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    ({"target": 0.05}, {}, "kl.target",
     "needs a beta above 0 to begin with: at 0 there is no reference model to measure the KL by."),
    ({"target": 0.05}, {"beta": 0.0}, "kl.target",
     "needs a beta above 0 to begin with: at 0 there is no reference model to measure the KL by."),
    ({"target": 0.05, "least": 0.1, "most": 0.01}, {"beta": 0.05}, "kl.least", "should not be above most (0.01)."),
    ({"target": 0.05}, {"beta": 2.0}, "training.beta",
     "should begin within the bounds of its changes, 0.001 to 1."),
    ({"target": 0.05, "least": 0.01}, {"beta": 0.002}, "training.beta",
     "should begin within the bounds of its changes, 0.01 to 1."),
]  # fmt: skip


@pytest.mark.parametrize(("kl", "training", "field", "words"), CASES)
def test_what_does_not_fit_is_said_and_any_of_its_fixes_mends_it(
    kl: dict[str, Any], training: dict[str, Any], field: str, words: str
) -> None:
    spec = raw(kl, **training)
    (problem,) = problems(spec)
    assert (problem.field, problem.message, problem.level) == (field, words, BLOCKING)
    for fix in problem.fixes:
        after = edits.apply(to_yaml(from_dict(spec)), edits.of_fix({
            "label": fix.label, "settings": fix.settings, "removed": list(fix.removed)}))  # fmt: skip
        assert problems(parse_spec(after).model_dump()) == [], fix.label


def test_a_target_with_a_beta_is_fine_and_settings_without_a_target_are_not_used() -> None:
    assert problems(raw({"target": 0.05}, beta=0.04)) == [] and problems(raw({})) == []
    (problem,) = problems(raw({"rate": 0.5}))
    assert (problem.field, problem.level, problem.message) == ("kl", WARNING, "is not used: it has no target.")


def test_a_weight_that_holds_the_model_where_it_began_is_told_before_the_launch() -> None:
    for beta in (0.5, 1, 10.0):
        spec = raw({}, beta=beta)
        (problem,) = problems(spec)
        assert (problem.field, problem.level) == ("training.beta", WARNING)
        assert problem.message.startswith(f"at {beta:g} the KL term outweighs the reward") and "DeepSeekMath" in (
            problem.message
        )
        for fix in problem.fixes:
            assert problems(raw({}, beta=fix.settings["training.beta"])) == []
    assert problems(raw({}, beta=0.1)) == [] and problems(raw({"target": 0.05}, beta=1.0)) == []


def test_one_stage_without_a_reference_model_is_said() -> None:
    spec = raw({"target": 0.05}, beta=0.04) | {"stages": [{}, {"training": {"beta": 0.0}}]}
    found = [one for one in examine_spec(from_dict(spec), OFFER) if one.field == "kl.target"]
    assert len(found) == 1 and list(found[0].fixes[0].settings) == ["stages.1.training.beta"]


@pytest.mark.parametrize(("name", "value"), [("target", 0), ("target", -1), ("rate", 0), ("rate", 2), ("least", 0)])
def test_numbers_that_mean_nothing_are_refused(name: str, value: float) -> None:
    with pytest.raises(SpecError) as raised:
        from_dict(raw({"target": 0.05, name: value}, beta=0.04))
    assert raised.value.problems[0].field == f"kl.{name}"


def test_what_nobody_said_is_not_written() -> None:
    assert "kl" not in to_yaml(from_dict(raw({}, beta=0.04)))
    assert "target: 0.05" in to_yaml(from_dict(raw({"target": 0.05}, beta=0.04)))
