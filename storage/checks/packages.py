"""Settings that need a package that is not installed. Pure: which are, whoever asks says."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import Fix, Problem


class Needed(NamedTuple):
    package: str  # by the name it is imported by
    label: str = "Remove it"  # of the button that does without
    is_switch: bool = True  # only true is on; else anything that is set, such as a mapping


NEEDED = {
    "use_vllm": Needed("vllm", "Generate without vLLM"),
    "use_liger_kernel": Needed("liger_kernel"),
    "deepspeed": Needed("deepspeed", is_switch=False),
}
# The optimisers that transformers.trainer_optimizer takes from bitsandbytes, of which it only logs that it is missing.
_BITSANDBYTES = re.compile(r"(?!adamw_torch).*(8bit|bnb|paged|lion|ademamix).*")


def check_packages(spec: RunSpec, offer: Offer) -> list[Problem]:
    """What the worker has said is not installed; nothing where it has not said anything yet."""
    return list(lacking_packages(spec.training, offer.extras)) if _is_said(offer) else []


def _is_said(offer: Offer) -> bool:
    """Whether the worker has said what is installed."""
    return bool(offer.extras or offer.hardware)


def without_lacking(problem: Problem, offer: Offer) -> Problem:
    """A problem of a setting of which a value is offered that needs what is not installed here: it says so at once, and
    does not offer it."""
    name, kept, why = problem.field.removeprefix("training."), list[Fix](), ""
    for fix in problem.fixes if _is_said(offer) else ():
        lacking = [*lacking_packages({name: fix.settings.get(problem.field)}, offer.extras)]
        why = f" It {lacking[0].message}" if lacking else why
        kept += [] if lacking else [fix]
    return replace(problem, message=problem.message + why, fixes=tuple(kept)) if why else problem


def lacking_packages(training: dict[str, Any], installed: Collection[str]) -> Iterator[Problem]:
    """A problem for each of these settings that is on and whose package is not among the `installed`."""
    for name, needed in NEEDED.items():
        value = training.get(name)
        is_on = value is True if needed.is_switch else bool(value)  # of a switch that is neither, that is said
        if is_on and needed.package not in installed:
            yield not_installed(f"training.{name}", needed.package, needed.label)
    if _BITSANDBYTES.fullmatch(str(training.get("optim", ""))) and "bitsandbytes" not in installed:
        yield not_installed("training.optim", "bitsandbytes", "Use the default (adamw_torch_fused)")


def not_installed(path: str, package: str, label: str = "Remove it") -> Problem:
    """The problem of a setting whose package there is none of."""
    message = f"needs {package}, which is not installed here: pip install {package.replace('_', '-')}"
    return Problem(path, message, fixes=(Fix(label, {}, (path,)),))
