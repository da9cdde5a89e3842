"""The plain script of a run: every setting comes back from it, and it takes the same prompts as the run does."""

from __future__ import annotations

import ast

from hypothesis import HealthCheck, example, given, settings

from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.spec.spec import RunSpec, from_dict
from tests.support.runs import make_spec
from tests.support.strategies import any_texts, names, specs


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(specs(any_texts(), keys=names | any_texts()))
@example(make_spec(data={"filter": ["a > 2", "a > 2"]}))  # the same condition twice
@example(make_spec(training={"run_name": "${"}))  # which is no reference in a script that we wrote
def test_a_script_reads_back_as_the_spec_it_was_made_of(spec: RunSpec):
    script = to_script(spec)
    ast.parse(script)
    raw, notes = from_script(script)
    again = from_dict(raw)
    assert again == spec
    assert repr(again) == repr(spec)  # == alone would take 1 for 1.0 and for True
    assert notes == []
