"""Recipes as people bring them to New run: a file or a paste, with what was wrong in them said."""

from __future__ import annotations

import pytest

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new.imports import RECIPE, read_brought

TWICE = "model_name_or_path: a/b\nreward_funcs:\n- accuracy\nseed: 1\nreward_funcs:\n- format\nseed: 2\n"


@pytest.mark.parametrize("name", ["recipe.yaml", ""])
def test_a_recipe_that_says_a_setting_twice_is_read_with_the_last(name: str) -> None:
    brought = read_brought(name, TWICE)
    assert brought.kind == RECIPE and brought.raw["training"] == {"seed": 2}
    assert [one["name"] for one in brought.raw["rewards"]] == ["regular_expression"]
    assert brought.notes[:2] == [
        "reward_funcs is given twice (lines 2 and 5): the last was taken.",
        "seed is given twice (lines 4 and 7): the last was taken.",
    ]


def test_a_spec_that_says_a_setting_twice_is_refused() -> None:
    with pytest.raises(Unanswerable, match="name, line 2: given twice|given twice"):
        read_brought("run.yaml", "name: a\nname: b\n")


def test_a_recipe_for_wandb_brings_its_project() -> None:
    text = "model_name_or_path: a/b\nreport_to: [wandb]\nwandb_project: p\nwandb_entity: e\n"
    found = read_brought("r.yaml", text)
    assert "project: p" in found.text and "wandb_project" not in "".join(found.notes)
    words = "W&B reads WANDB_ENTITY from the environment that Groupwise is started in."
    assert f"wandb_entity (line 4) was not taken: {words}" in found.notes
