"""The project that a tracker's runs go into: the spec's, or the one that the environment names, or our own."""

import os
from collections.abc import Mapping
from typing import Any

PROJECT = "groupwise"  # where none is named; transformers would say “huggingface”, and mlflow “Default”
# What each tracker's project goes by in the environment, and what else says where its runs go.
VARIABLES = {"wandb": "WANDB_PROJECT", "trackio": "TRACKIO_PROJECT", "mlflow": "MLFLOW_EXPERIMENT_NAME"}
_EXPERIMENT_ID = "MLFLOW_EXPERIMENT_ID"


def project_of(tracker: str, training: Mapping[str, Any]) -> str:
    """The project (mlflow: experiment) of a tracker; "" where mlflow finds its own. `training`: the spec's."""
    by_environment = os.environ.get(VARIABLES[tracker], "")
    if tracker != "mlflow":
        return str(training.get("project") or by_environment or PROJECT)
    # Databricks takes none but a path in a workspace.
    decided = os.environ.get(_EXPERIMENT_ID) or os.environ.get("MLFLOW_TRACKING_URI", "").startswith("databricks")
    return by_environment or ("" if decided else str(training.get("project") or PROJECT))


def publish_projects(training: Mapping[str, Any]) -> None:
    """Set the variables of those trackers that read their project nowhere else."""
    for tracker in ("wandb", "mlflow"):
        if project := project_of(tracker, training):
            os.environ[VARIABLES[tracker]] = project
