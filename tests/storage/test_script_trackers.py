"""What a script tells a tracker: the project and the name of its run come along, the rest is said."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.storage.test_script_nothing_dropped import read, script

SENT = "was not taken: the run's own settings are sent."
FROM_ENVIRONMENT = "from the environment that Groupwise is started in."


@pytest.mark.parametrize(
    ("before", "report_to", "taken"),
    [
        ("import trackio\ntrackio.init('sums', name='first', space_id='me/space')", "trackio",
         {"project": "sums", "run_name": "first", "trackio_space_id": "me/space"}),
        ("import trackio as wandb\nwandb.init(project='sums')", "trackio", {"project": "sums"}),
        ("import wandb\nwandb.init(project='sums', name='first')", "wandb",
         {"project": "sums", "run_name": "first"}),
        ("import os\nos.environ['WANDB_PROJECT'] = 'sums'", "wandb", {"project": "sums"}),
        ("from os import environ\nenviron['WANDB_PROJECT'] = 'sums'", "wandb", {"project": "sums"}),
        ("import trackio\ntrackio.init(project=None)", "trackio", {}),
    ],
)  # fmt: skip
def test_its_project_comes_along(before: str, report_to: str, taken: dict[str, Any]) -> None:
    raw, said = read(script(before, config=f", report_to='{report_to}'"))
    assert raw["training"] == {"beta": 0.1, "report_to": report_to, **taken}
    assert said == ""
    assert raw["name"] == taken.get("run_name", "o")


@pytest.mark.parametrize(
    ("before", "report_to", "words"),
    [
        ("import wandb\nwandb.init(project='p', entity='e')", "wandb",
         f"wandb.init's entity (line 12) was not taken: W&B reads WANDB_ENTITY {FROM_ENVIRONMENT}"),
        ("import wandb\nwandb.init(project='p', config={'a': 1})", "wandb", f"wandb.init's config (line 12) {SENT}"),
        ("import trackio\ntrackio.init('p', config={'a': 1})", "trackio", f"trackio.init's config (line 12) {SENT}"),
        ("import trackio\ntrackio.init('p', group='g')", "trackio", "trackio.init's group (line 12) was not taken."),
        ("import wandb\nwandb.init(project='p')\nwandb.init(project='q')", "wandb",
         "wandb.init's project (line 13) was not taken: training.project has another value already."),
        ("import sys, wandb\nwandb.init(project=sys.argv[1])", "wandb",
         "project (line 12) is computed by the script: set it here."),
    ],
)  # fmt: skip
def test_what_has_no_place_is_said(before: str, report_to: str, words: str) -> None:
    _, said = read(script(before, config=f", report_to='{report_to}'"))
    assert words in said
    assert "WANDB_" not in said or report_to == "wandb"


@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_one_that_is_not_reported_to_is_said_with_what_would(tracker: str) -> None:
    raw, said = read(script(f"import {tracker}\n{tracker}.init(project='p')"))
    assert raw["training"] == {"beta": 0.1}
    assert said == (
        f"{tracker}.init(…) (line 12) was not taken: every metric is recorded in the run's own file. "
        f"Set training.report_to to {tracker} to have them there, too."
    )


def test_the_config_counts_before_the_call() -> None:
    found = read_script(script("import trackio\ntrackio.init('other')", config=", report_to='trackio', project='mine'"))
    assert found.raw["training"]["project"] == "mine"
    assert "trackio.init's project (line 12) was not taken: training.project has another value already." in found.notes
