"""Which setting an estimate waits for: one that it is reckoned with and that cannot be read as it is written. The
default in its place would be an answer to what nobody asked. Pure."""

import re
from collections.abc import Collection, Iterator

from groupwise.app.pages.new.preflight import counts, memory
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.checks.values import value_fault
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec

STEPS, MEMORY, TIME, DISK = "Steps", "Memory", "Time", "Disk"
_ROWS = ("data.limit", "data.holdout", "training.num_train_epochs")  # from which steps are counted where none are given
_COUNTED = ("launch.processes", *(f"training.{name}" for name in counts.WHOLE))
_OF_MODEL = ("model.dtype", "model.quantization", "lora")
_TRAINED = tuple(
    f"training.{name}"
    for name in (
        "max_completion_length", "beta", "bf16", "fp16", "gradient_checkpointing", "activation_checkpointing",
        "use_vllm", "use_cpu",
    )
)  # fmt: skip
_HELD = tuple(
    f"training.{name}"
    for name in (
        *memory.NEEDED, *memory.COUNTED, "optim", "vllm_mode", "vllm_gpu_memory_utilization", "cast_lm_head_to_fp32",
    )
)  # fmt: skip
_SAVED = tuple(
    f"training.{name}" for name in ("save_steps", "save_strategy", "save_total_limit", "save_only_model", "optim")
)
NEEDED = {
    STEPS: _COUNTED,
    MEMORY: ("launch.processes", *_OF_MODEL, *_TRAINED, *_HELD),
    TIME: (*_COUNTED, *_OF_MODEL, *_TRAINED),
    DISK: (*_COUNTED, *_OF_MODEL, *_SAVED),
}
# What decides how much a device works on at once: where one of them is to change, so is what that takes.
_AT_ONCE = tuple(path for path in _COUNTED if path != "training.max_steps")
_STAGE = re.compile(r"^stages\.\d+\.")


def awaited_settings(spec: RunSpec, offer: Offer, unread: Collection[str] = ()) -> dict[str, str]:
    """Estimate → the setting, by its path, that it waits for; without those that wait for none. `unread`: the settings
    that the text gives and that are not in the spec, as they cannot be read."""
    odd = {_STAGE.sub("", path) for path in (*unread, *_find_odd_values(spec, offer))}
    by_rows = any(Settings(stage, offer).count("max_steps") is None for stage in spec.by_stage())
    found = {}
    for label, names in NEEDED.items():
        needed = (*names, *_ROWS) if by_rows and label != MEMORY else names
        unreadable = next((one for path in needed if (one := _find_around(path, odd))), "")
        if awaited := unreadable or _find_refused(label, spec, offer):
            found[label] = awaited
    return found


def awaited_by_memory(blamed: Collection[str]) -> dict[str, str]:
    """The setting, by its path, that memory waits for as it cannot stay as it is, though it can be read: a figure of it
    would contradict what is said of once it is changed. `blamed`: the fields whose problem blocks."""
    fields = sorted(_STAGE.sub("", path) for path in blamed)
    needed = (*NEEDED[MEMORY], *_AT_ONCE)
    awaited = next((one for path in needed for one in fields if f"{one}.".startswith(f"{path}.")), "")
    return {MEMORY: awaited} if awaited else {}


def _find_odd_values(spec: RunSpec, offer: Offer) -> Iterator[str]:
    """The settings whose value is of another kind than the library takes."""
    parts = [("lora", spec.lora or {}, offer.lora)]
    parts += [("training", stage.training, offer.training) for stage in spec.by_stage()]
    for part, values, fields in parts:
        for name, value in values.items():
            if value_fault(value, (fields or {}).get(name, {})):
                yield f"{part}.{name}"


def _find_around(path: str, odd: Collection[str]) -> str:
    """The one of `odd` that is at a path, in it, or around it."""
    return next((one for one in sorted(odd) if f"{one}.".startswith(f"{path}.") or path.startswith(f"{one}.")), "")


def _find_refused(label: str, spec: RunSpec, offer: Offer) -> str:
    """The setting that holds a number of the right kind which it cannot be."""
    if label == MEMORY:
        name = memory.setting_that_keeps_it(spec, offer)
    else:
        name = counts.setting_not_counted(spec, offer)
        saving = label == DISK and not name
        is_odd = saving and any(Settings(stage, offer).misreads_share("save_steps") for stage in spec.by_stage())
        name = "save_steps" if is_odd else name
    return f"training.{name}" if name else ""
