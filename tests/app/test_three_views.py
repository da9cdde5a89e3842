"""Form, YAML and script are one spec: from any of them the other two come out the same, for any spec at all."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings

from groupwise.app.pages.new import edits, form, form_rows, view
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.spec import RunSpec, from_dict, parse_spec, to_yaml
from tests.support.runs import make_spec
from tests.support.strategies import specs

FEW = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A spec with nothing said but what must be: what the form's fields are typed into.
BLANK = "name: blank\nrewards:\n- name: format\n"


def fields_of(seen: dict[str, Any]) -> list[dict[str, Any]]:
    """What a person would do to fill an empty form with what this one shows."""
    whole = {path: value for path, value in seen["plain"].items() if value is not None}
    typed = [
        {"path": path, "typed": words}
        for path, words in seen["shown"].items()
        if not any(path == one or path.startswith(f"{one}.") for one in view.PLAIN)
    ]
    rows = [{"path": "data.filter", "conditions": seen["conditions"]}, {"path": "stages", "value": []}]
    for number, stage in enumerate(seen["stages"]):
        path = f"stages.{number}"
        rows += [{"path": path, "value": {}}, {"path": f"{path}.training", "typed": stage["training_text"]}]
        rows += [
            {"path": f"{path}.{name}", "value": stage[name]} for name in ("name", "rewards") if stage[name] is not None
        ]
    lists = [{"path": path, "value": value} for path, value in whole.items() if path not in ("data.filter", "stages")]
    empty = [{"path": path, "value": value} for path, value in seen["empty"].items()]
    return [*typed, *lists, *rows, *empty]


def of_any_kind(spec: RunSpec) -> Offer:
    """A catalogue in which each field takes what this spec gives it: the form types by what the catalogue says."""

    def about(value: Any) -> dict[str, Any]:
        kinds: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "dict"}
        return {"types": [kinds.get(type(value), "none")], "default": None, "choices": None, "help": ""}

    return Offer(
        {name: about(value) for name, value in spec.training.items()},
        {name: about(value) for name, value in (spec.lora or {}).items()},
    )


@FEW
@given(specs())
@example(make_spec(training={"A": [float("inf"), {"b": float("-inf")}]}))
@example(make_spec(training={"A": {"-b": None}}, data={"source": "task:arithmetic", "filter": ["0<0", "a b"]}))
def test_a_form_filled_by_hand_with_what_another_shows_makes_the_same_spec(spec: RunSpec) -> None:
    raw = spec.model_dump()
    whole = [raw["lora"], raw["data"]["parameters"], raw["rewards"], [stage["rewards"] for stage in raw["stages"]]]
    assume(view.json_value(whole) == whole)  # what goes through the page whole is what JSON can say
    offer = of_any_kind(spec)
    seen = view.describe_text(to_yaml(spec), offer)
    text = edits.apply(BLANK, edits.read_edits(fields_of(seen), form.types(offer)))
    assert parse_spec(text) == with_usual_conditions(spec)


def with_usual_conditions(spec: RunSpec) -> RunSpec:
    """The spec with its conditions as the form writes them: “0<0” is “0 < 0” there."""
    usual = form_rows.conditions_of(form_rows.condition_rows(spec.data.filter))
    for one, other in zip(spec.data.filter, usual, strict=True):
        with contextlib.suppress(row_filter.ConditionError):
            assert row_filter.parse_condition(one) == row_filter.parse_condition(other)
    return spec.model_copy(update={"data": spec.data.model_copy(update={"filter": usual})})


@FEW
@given(specs())
def test_the_yaml_of_the_script_of_the_yaml_is_the_same_spec(spec: RunSpec) -> None:
    seen = view.describe_text(to_yaml(spec), Offer())
    raw, _ = from_script(seen["script"])
    assert from_dict(raw) == spec
    assert parse_spec(to_yaml(from_dict(raw))) == spec
