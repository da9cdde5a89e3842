"""What a spec says to GRPOConfig: the one place that decides it, for training, dry runs and checks."""

from pathlib import Path
from typing import Any

from groupwise.storage.checks.trackers import asked_trackers
from groupwise.storage.spec.spec import RunSpec
from groupwise.worker.training.tracker_projects import project_of


def training_settings(run_spec: RunSpec, output: Path) -> dict[str, Any]:
    """The keywords of the GRPOConfig of a run, or of one stage (RunSpec.by_stage); checkpoints go to `output`."""
    import torch

    rotates = checkpoints_to_keep(run_spec) is not None
    training = run_spec.training
    tracked = bool(asked_trackers(training))
    return {
        "use_cpu": not torch.accelerator.is_available(),
        **({"run_name": run_spec.name} if tracked else {}),
        **training,
        **({"project": project_of("trackio", training)} if tracked else {}),
        "output_dir": str(output),
        "report_to": "none",  # worker.training.trackers sees to them
        **({"save_total_limit": None} if rotates else {}),
        "disable_tqdm": True,  # the log file is read by people, and a bar is one endless line there
        "reward_weights": [reward.weight for reward in run_spec.rewards],
    }


def checkpoints_to_keep(run_spec: RunSpec) -> int | None:
    """How many checkpoints the recorder keeps, after sealing; None where transformers rotates (it knows the best
    one), or all are kept."""
    if run_spec.training.get("load_best_model_at_end"):
        return None
    return run_spec.training.get("save_total_limit")
