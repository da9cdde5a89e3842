"""How many processes a run starts, beside the cores there are for them. Pure."""

from collections.abc import Iterator

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import count_words
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Fix, Problem

WORKERS, AHEAD, PROCESSES = "training.dataloader_num_workers", "training.dataloader_prefetch_factor", "launch.processes"
FAR = 4  # processes for each core: from there on they fill the memory and get nothing done
USUAL = 4  # processes that read rows: more bring a run of texts nothing
USUAL_AHEAD, MOST_AHEAD = 2, 100  # batches that each keeps ready: PyTorch's own; more hold the data twice


def check_processes(spec: RunSpec, offer: Offer) -> list[Problem]:
    """Whether there are cores for the processes that the settings start; silent where the machine is not known."""
    cores = offer.hardware.get("cores") or 0
    return [*_ahead(spec), *(problem for problem in (*_workers(spec, cores), *_training(spec, offer)) if cores)]


def _workers(spec: RunSpec, cores: int) -> Iterator[Problem]:
    """Each training process starts so many to read rows, and for an evaluation as many again."""
    asked, by = spec.training.get("dataloader_num_workers"), spec.launch.processes
    if isinstance(asked, bool) or not isinstance(asked, int) or asked * by <= cores:
        return
    fitting = min(USUAL, cores // by)
    none = Fix("Use 0: the training process reads", {WORKERS: 0})
    fixes = (Fix(f"Use {fitting}", {WORKERS: fitting}), none) if fitting else (none,)
    each = f"{count_words(asked, 'process', 'processes')} for each of the {by} that train" if by > 1 else ""
    started = each or count_words(asked, "process", "processes")
    message = f"starts {started} to read rows, and this machine has {count_words(cores, 'core')}. {fitting} is enough."
    yield Problem(WORKERS, message, level=_level(asked * by, cores), fixes=fixes)


def _ahead(spec: RunSpec) -> Iterator[Problem]:
    asked = spec.training.get("dataloader_prefetch_factor")
    if isinstance(asked, int) and not isinstance(asked, bool) and asked > MOST_AHEAD:
        message = f"each process that reads rows keeps {count_words(asked, 'batch', 'batches')} ready, in memory. "
        fix = Fix(f"Use {USUAL_AHEAD}", {AHEAD: USUAL_AHEAD})
        yield Problem(AHEAD, f"{message}{USUAL_AHEAD} is usual.", level=WARNING, fixes=(fix,))


def _training(spec: RunSpec, offer: Offer) -> Iterator[Problem]:
    """Of those that train: on GPUs each takes one, which is looked at where devices are."""
    asked, cores = spec.launch.processes, offer.hardware.get("cores") or 0
    if asked <= cores or (offer.hardware.get("gpus") and spec.training.get("use_cpu") is not True):
        return
    message = f"{asked} processes train on {count_words(cores, 'core')}: each waits for the others."
    yield Problem(PROCESSES, message, level=_level(asked, cores), fixes=(Fix(f"Use {cores}", {PROCESSES: cores}),))


def _level(started: int, cores: int) -> str:
    return BLOCKING if started > FAR * cores else WARNING
