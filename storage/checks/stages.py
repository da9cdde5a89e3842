"""What of a spec's stages keeps a run from being launched: each stage is checked as the run that it is. Pure."""

from dataclasses import replace

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec, StageSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem

# What one training process decides once, at its start.
PROCESS_WIDE = (
    "use_cpu", "fsdp", "fsdp_config", "deepspeed", "ddp_backend", "ddp_timeout", "parallelism_config",
    "accelerator_config",
)  # fmt: skip


def check_stages(
    spec: RunSpec, offer: Offer, by_stage: list[list[Problem]], of_values: list[Problem],
    unknown: list[dict[str, Problem]],
) -> list[Problem]:  # fmt: skip
    """The problems of a run with stages, each at the field where it is fixed: what is wrong in every stage, or with a
    value of the run whatever stands beside it (`of_values`), at the run's own field; what is wrong in one stage at
    that stage's (“stages.1.training.beta”). `by_stage`: those of each stage as the run that it is. They stand in for
    the check of the run's own settings, which no stage may use as they are. `unknown`: those of each stage's own
    settings of which there is none, by field."""
    of_run = {one.field: one for one in of_values}
    found: list[Problem] = []
    for index, (stage, problems) in enumerate(zip(spec.stages, by_stage, strict=True)):
        found += _process_wide(spec, index)
        for problem in problems:
            own = _is_its_own(stage, problem.field)
            taken = None if own else of_run.get(problem.field)
            problem = unknown[index].get(problem.field, problem) if own else problem
            problem = taken or problem
            everywhere = taken is not None or all(_has_problem(others, problem) for others in by_stage)
            if not everywhere or own:
                found.append(_at_stage(problem, stage, index))
            elif problem not in found:
                found.append(problem)
    return [*found, *_versions(spec, offer), *_engines(spec)]


def _has_problem(problems: list[Problem], wanted: Problem) -> bool:
    return any((problem.field, problem.message) == (wanted.field, wanted.message) for problem in problems)


def _is_its_own(stage: StageSpec, path: str) -> bool:
    """Whether a stage says this itself, rather than taking it from the run."""
    section, _, rest = path.partition(".")
    if section == "rewards":
        return stage.rewards is not None
    return section == "training" and rest.split(".")[0] in stage.training


def _at_stage(problem: Problem, stage: StageSpec, index: int) -> Problem:
    """The problem, and what fixes it, at the stage's own settings. What is removed goes from where it is written."""

    def place(path: str, *, written: bool = False) -> str:
        section = path.split(".")[0]
        movable = section == "training" or (section == "rewards" and stage.rewards is not None)
        return f"stages.{index}.{path}" if movable and (not written or _is_its_own(stage, path)) else path

    moved = problem.move(place, lambda path: place(path, written=True))
    if not _is_its_own(stage, problem.field):
        return moved
    # what one stage says sets no reward of all of them
    fixes = tuple(fix for fix in moved.fixes if not any(path.startswith("rewards.") for path in fix.settings))
    return replace(moved, fixes=fixes)


def at_own_setting(problem: Problem, spec: RunSpec, index: int) -> Problem:
    """A problem of one stage, and its fixes, at the stage's own settings where the stage makes them; of a run without
    stages as it is."""
    if not spec.stages:
        return problem

    def place(path: str) -> str:
        return f"stages.{index}.{path}" if _is_its_own(spec.stages[index], path) else path

    return problem.move(place)


def _process_wide(spec: RunSpec, index: int) -> list[Problem]:
    found = []
    training = spec.stages[index].training
    for name in PROCESS_WIDE:
        if name in training:
            path = f"stages.{index}.training.{name}"
            remove = Fix("Remove it", {}, (path,))
            everywhere = Fix("Use it in all stages", {f"training.{name}": training[name]}, (path,))
            others = [one.get(name, training[name]) for one in (spec.training, *(s.training for s in spec.stages))]
            alike = all(other == training[name] for other in others)  # else it would write over what is set there
            message = "is set once for the whole run: put it under training, not in a stage."
            found.append(Problem(path, message, fixes=(everywhere, remove) if alike else (remove,)))
    return found


def _versions(spec: RunSpec, offer: Offer) -> list[Problem]:
    """A run keeps one copy of each function, so all its stages use the same version."""
    found: list[Problem] = []
    first: dict[str, str | None] = {}
    lists = [("rewards", spec.rewards), *((f"stages.{n}.rewards", s.rewards or []) for n, s in enumerate(spec.stages))]
    for path, rewards in lists:
        for index, reward in enumerate(rewards):
            newest = (offer.rewards.get(reward.name) or {}).get("hash")
            before = first.setdefault(reward.name, reward.version)
            if (before or newest) != (reward.version or newest):
                field = f"{path}.{index}.version"
                fix = Fix(f"Use {before}", {field: before}) if before else Fix("Use the newest", {}, (field,))
                message = f"all parts of a run use the same version of “{reward.name}”: {before or 'the newest'}."
                found.append(Problem(field, message, fixes=(fix,)))
    return found


def _engines(spec: RunSpec) -> list[Problem]:
    """vLLM inside the training process is not known to give its memory back between stages."""
    settings = [stage.training for stage in spec.by_stage()]
    inside = [bool(one.get("use_vllm")) and one.get("vllm_mode", "colocate") == "colocate" for one in settings]
    if sum(inside) < 2 or not spec.stages:
        return []
    fix = Fix("Use a vLLM server", {"training.vllm_mode": "server"})
    message = "each stage starts vLLM again in the same process; whether it gives its memory back is not certain."
    return [Problem("training.vllm_mode", message, level=WARNING, fixes=(fix,))]
