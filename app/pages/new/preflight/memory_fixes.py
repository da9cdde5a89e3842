"""When memory is short: the edits that the estimate itself shows to help, each with what it saves. Pure."""

from collections.abc import Iterator
from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.new.preflight import memory
from groupwise.app.pages.new.preflight.memory import READERS, Estimate
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.checks.processes import WORKERS, check_processes
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec, from_dict
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem, SpecError

WORTH = 0.03  # of the whole: a fix that saves less is not worth a line
LORA = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}  # common practice
HELD = {
    "weights": "model.id", "optimiser": "training.optim", "reference model": "training.beta",
    "activations": "training.per_device_train_batch_size", "KV cache": "training.max_completion_length",
    "vLLM": "training.vllm_gpu_memory_utilization", "gradients": "lora",
    READERS: WORKERS,
}  # fmt: skip
# What the edits change that keep the update what it is, or nearly: these may be made together.
KEEPING = (
    "training.gradient_checkpointing", "training.activation_checkpointing", "training.per_device_train_batch_size",
    "training.steps_per_generation", "training.optim", "model.dtype", "model.quantization", "lora.r",
)  # fmt: skip
Edit = tuple[str, dict[str, Any]]


def memory_problems(spec: RunSpec, offer: Offer, facts: ModelFacts | None, found: Estimate | None) -> list[Problem]:
    """The verdict on memory, at the field that the largest term belongs to, with what helps most first."""
    if found is None or not facts or found.level is None or not found.available:
        return []
    if found.largest.name == READERS and any(one.field == WORKERS for one in check_processes(spec, offer)):
        return []  # said already, with how many there should be
    level, device = found.level, f"{found.device}’s {format.size(found.available)}"
    needs = f"about {format.size(found.total)}, and {device} "
    words = {
        BLOCKING: f"this cannot fit: it needs {needs}are available",
        WARNING: f"this may run out of memory: it needs {needs}are available (the estimate is accurate to about 25 %)",
        ADVICE: f"memory will be tight: it needs {needs}are available",
    }[level]
    message = f"{words}. The largest part is {found.largest.name}, {format.size(found.largest.bytes)}."
    field = HELD.get(found.largest.name, "training.per_device_train_batch_size")
    return [Problem(field, message, level=level, fixes=tuple(fixes(spec, offer, facts, found)))]


def fixes(spec: RunSpec, offer: Offer, facts: ModelFacts, found: Estimate) -> list[Fix]:
    """What would save memory: at most four settings, those that make it fit first, then by what they save."""
    tried: dict[frozenset[str], tuple[bool, int, Fix]] = {}  # of edits of the same settings, the mildest that fits
    for label, settings in _edits(spec, offer):
        after, before = _after(spec, offer, facts, settings, found.prompt_tokens), tried.get(frozenset(settings))
        if after is None or found.total - after.total < WORTH * found.total or (before and before[0]):
            continue
        fits = found.available is None or after.total <= memory.TIGHT * found.available
        saved = f"{label}: saves about {format.size(found.total - after.total)}"
        fix = Fix(f"{saved}{', and it fits' if fits else ''}", settings)
        tried[frozenset(settings)] = fits, found.total - after.total, fix
    several = [] if any(fits for fits, _, _ in tried.values()) else _combine_edits(spec, offer, facts, found)
    return [fix for _, _, fix in sorted([*several, *tried.values()], key=lambda one: (not one[0], -one[1]))[:4]]


def _combine_edits(spec: RunSpec, offer: Offer, facts: ModelFacts, found: Estimate) -> list[tuple[bool, int, Fix]]:
    """Where no single edit is enough: those that keep the update what it is, one more at a time, until it fits."""
    settings: dict[str, Any] = {}
    labels: list[str] = []
    for label, more in _edits(spec, offer):
        if not set(KEEPING) & set(more):
            continue
        if "training.per_device_train_batch_size" in settings and "training.per_device_train_batch_size" in more:
            labels.pop()  # a still smaller batch takes the place of the last
        settings |= more
        labels.append(label if not labels else f"{label[:1].lower()}{label[1:]}")
        after = _after(spec, offer, facts, settings, found.prompt_tokens)
        if after and found.available and after.total <= memory.TIGHT * found.available and len(labels) > 1:
            saved = format.size(found.total - after.total)
            words = f"{', '.join(labels)}: saves about {saved} together, and it fits"
            return [(True, found.total - after.total, Fix(words, settings))]
    return []


def with_settings(spec: RunSpec, settings: dict[str, Any]) -> RunSpec | None:
    """The spec with settings by dotted path; None where they make no valid spec."""
    raw: dict[str, Any] = spec.model_dump()
    for path, value in settings.items():
        place, *names = raw, *path.split(".")
        for name in names[:-1]:
            place[name] = place.get(name) or {}
            place = place[name]
        place[names[-1]] = value
    try:
        return from_dict(raw)
    except SpecError:
        return None


def _after(spec: RunSpec, offer: Offer, facts: ModelFacts, settings: dict[str, Any], tokens: int) -> Estimate | None:
    """The estimate after an edit; None where it makes no valid spec."""
    changed = with_settings(spec, settings)
    return memory.estimate(changed, offer, facts, tokens) if changed else None


def _edits(spec: RunSpec, offer: Offer) -> Iterator[Edit]:
    """Everything that might help and keeps the run what it is (the same completions in an update), then what makes
    it a slightly different one."""
    settings = Settings(spec, offer)
    if not settings.checkpointing:
        name = "activation_checkpointing" if "activation_checkpointing" in spec.training else "gradient_checkpointing"
        yield f"Turn on {name}", {f"training.{name}": True}
    if spec.lora is None:
        yield "Train with LoRA", {f"lora.{name}": value for name, value in LORA.items()}
    yield from _smaller_batches(settings)
    yield from _smaller_generations(settings)
    eight = str(settings.get("optim")).startswith(("adamw_torch", "paged_adamw_32"))
    if eight and "bitsandbytes" in offer.extras and spec.lora is None:
        yield "Use the 8-bit optimiser", {"training.optim": "adamw_8bit"}
    longest = settings.count("max_completion_length")
    if longest and longest >= 64:
        yield f"Completions of at most {longest // 2} tokens", {"training.max_completion_length": longest // 2}
    if settings.gpus and spec.model.dtype in ("auto", "float32") and not spec.model.quantization:
        yield "Load the weights in bfloat16", {"model.dtype": "bfloat16"}
    if settings.get("beta") and spec.lora is None:
        yield "Set beta to 0 (no reference model, no KL)", {"training.beta": 0.0}
    if "bitsandbytes" in offer.extras and spec.lora is not None and not spec.model.quantization:
        yield "Load the model in 4 bits", {"model.quantization": "4bit"}
    if settings.count("dataloader_num_workers") and not settings.gpus:
        yield "Read rows in the training process", {"training.dataloader_num_workers": 0}
    share = settings.number("vllm_gpu_memory_utilization") or 0
    if settings.on("use_vllm") and share > 0.2:
        less = round(share / 2, 2)
        yield f"Give vLLM {less * 100:.0f} % of the device", {"training.vllm_gpu_memory_utilization": less}


def _smaller_batches(settings: Settings) -> Iterator[Edit]:
    """A half, a quarter, … of the batch on each device, and as many more accumulated: the update and the groups stay
    the same. A generation's size stays too, since TRL counts it in per-device batches."""
    batch, accumulation = settings.count("per_device_train_batch_size"), settings.count("gradient_accumulation_steps")
    if not batch or not accumulation:
        return
    given = settings.count("steps_per_generation")
    for share in (2, 4, 8):
        if batch % share:
            return
        changed: dict[str, Any] = {
            "training.per_device_train_batch_size": batch // share,
            "training.gradient_accumulation_steps": accumulation * share,
        }
        if given and not settings.get("generation_batch_size"):
            changed["training.steps_per_generation"] = given * share
        yield f"{batch // share} on each device, {accumulation * share} accumulated", changed


def _smaller_generations(settings: Settings) -> Iterator[Edit]:
    """As few whole groups at a time as an update can be put together from: what is generated at once is smaller."""
    batch, accumulation = settings.count("per_device_train_batch_size"), settings.count("gradient_accumulation_steps")
    group = settings.count("num_generations")
    if not batch or not accumulation or not group or settings.get("generation_batch_size"):
        return
    now, width = settings.count("steps_per_generation") or accumulation, batch * settings.spec.launch.processes
    fewer = next((n for n in range(1, now) if accumulation % n == 0 and width * n % group == 0), None)
    if fewer:
        label = f"Generate {format.plural(width * fewer, 'completion')} at a time"
        yield label, {"training.steps_per_generation": fewer}
