"""What the hub says of a model that is not on this machine: whether it is there, how large, and whether we may have
it. Asked within a given time; offline is a sentence, not an error."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from groupwise.storage.checks.model import STARTER, model_problem
from groupwise.storage.checks.model_names import near_model_words
from groupwise.storage.library.models.hub_models import COPY_IT
from groupwise.storage.spec.spec import ModelSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.worker.builtin import models


@dataclass
class Looked:
    """facts: download (bytes), gated, parameters, where the hub says them."""

    facts: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def look(spec: ModelSpec, patience: float) -> Looked:
    """Ask the hub, and fetch the tokenizer and config (a few megabytes) if there is time."""
    looked = Looked()
    result = within(patience, lambda: _ask_hub(spec, looked))
    facts, problems = dict(looked.facts), list(looked.problems)
    if isinstance(result, Exception):
        problems = [*(problems if facts else []), _hub_problem(spec, result)]
    return Looked(facts, problems)


def within(seconds: float, task: Callable[[], Any]) -> Any:
    """What a task returns, or the exception it raised; TimeoutError where it takes longer (it is left behind)."""
    done: list[Any] = []

    def work() -> None:
        try:
            done.append(task())
        except Exception as error:  # handed to who asked, who says it
            done.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return done[0] if done else TimeoutError(f"it takes longer than {seconds:.0f} seconds")


def _ask_hub(spec: ModelSpec, looked: Looked) -> None:
    from huggingface_hub import auth_check, model_info
    from huggingface_hub.utils import filter_repo_objects

    info = model_info(spec.id, revision=spec.revision, files_metadata=True)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
    wanted = list(filter_repo_objects(list(sizes), allow_patterns=models.WANTED, ignore_patterns=models.UNWANTED))
    looked.facts |= {"download": sum(sizes[name] for name in wanted), "gated": bool(info.gated)}
    if info.safetensors:
        looked.facts["parameters"] = info.safetensors.total
    looked.problems += _weights_problems(spec, sizes, wanted)
    if info.gated:
        auth_check(spec.id)
    models.tokenizer_place(spec)


def _weights_problems(spec: ModelSpec, sizes: dict[str, int], wanted: list[str]) -> list[Problem]:
    if any(name.endswith(".safetensors") for name in wanted):
        return []
    kept = next((kind for kind in (".bin", ".gguf", ".pt", ".pth", ".h5") if any(n.endswith(kind) for n in sizes)), "")
    how = f"only as {kept}" if kept else "nowhere"
    message = f"“{spec.id}” keeps its weights {how}: only safetensors are loaded. Look for a copy of it that has them."
    return [model_problem(message, STARTER)]


def _hub_problem(spec: ModelSpec, error: Exception) -> Problem:
    """What went wrong with the hub, and what to do."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return model_problem(models.why_not_fetched(spec, error), STARTER)
    if isinstance(error, errors.RevisionNotFoundError):
        fix = Fix("Use the newest revision", {"model.revision": None})
        return Problem("model.revision", models.why_not_fetched(spec, error), fixes=(fix,))
    if isinstance(error, errors.RepositoryNotFoundError):
        meant, fixes = near_model_words(spec.id)
        message = f"the hub has no model “{spec.id}”, or it is private.{meant} If it is yours, {models.LOG_IN}."
        return model_problem(message, *(fixes or (STARTER,)))
    if isinstance(error, errors.OfflineModeIsEnabled):
        return model_problem(models.why_not_fetched(spec, error), STARTER, level=WARNING)
    why = "it took too long" if isinstance(error, TimeoutError) else "there was no answer"
    message = (
        f"“{spec.id}” could not be looked up on the hub: {why}. It must be reachable when the run starts; otherwise, "
        f"{COPY_IT}."
    )
    return model_problem(message, STARTER, level=WARNING)
