"""Time and memory: nearly full, slow for this hardware, and what to switch on. Each rule is pure."""

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import COMMON, TRL, WARNING, Change, Verdict, chart
from groupwise.storage.analysis.doctor.words import percent, short_number

POINTS = 10  # logged steps
FULL = 0.95  # share of memory
SLOW, SLOW_CPU = 10.0, 30.0  # seconds a step, on a GPU and without
MUCH = 0.5  # share of the step
SMALLER = Change("A smaller model", field="model.id")


def memory(e: Evidence) -> Verdict | None:
    """The next longer completion may be one too many."""
    told = e.curve("system/memory_share")
    if len(told) < 3 or not told.at_least(FULL):
        return None
    whose = "GPU's" if e.gpus else "machine's"
    fixes = list(changes.smaller_batch(e))
    if e.training.get("gradient_checkpointing") is not True:
        fixes.insert(0, _checkpointing())
    if "bitsandbytes" in e.extras and e.gpus:
        fixes.append(Change("8-bit AdamW", {"training.optim": "adamw_8bit"}))
    words = (
        f"{percent(told.now)} of the {whose} memory {e.verb} in use at its peak: a longer completion may end the run."
    )
    fixes = fixes or [*changes.shorter(e), SMALLER]
    return Verdict(
        "memory", WARNING, "Memory is nearly full", words, f"Shown from {percent(FULL)} on.", COMMON,
        (chart("system/memory_share", "The chart of memory"),), tuple(fixes[:2]),
    )  # fmt: skip


def _checkpointing() -> Change:
    return Change("Gradient checkpointing: computes twice to save memory", {"training.gradient_checkpointing": True})


def slow(e: Evidence) -> Verdict | None:
    """A step takes long: what it spends the time on, and what this hardware has against it."""
    step = e.curve("step_time")
    if len(step) < POINTS or step.now < (SLOW if e.gpus else SLOW_CPU):
        return None
    parts = {name: e.curve(f"time/{name}").now if len(e.curve(f"time/{name}")) else 0.0
             for name in ("generation", "rewards", "update")}  # fmt: skip
    most = max(parts, key=lambda name: parts[name])
    share = parts[most] / max(sum(parts.values()), 1e-9)
    spent = {"generation": "generating", "rewards": "scoring", "update": "the update"}[most]
    where = f", {percent(share)} of it {spent}" if sum(parts.values()) else ""
    words, fixes = _advice(e, most, share)
    return Verdict(
        "slow", WARNING, "Steps are slow for this hardware", f"A step takes {short_number(step.now)} s{where}. {words}",
        f"Shown from {SLOW:.0f} s a step on with a GPU, {SLOW_CPU:.0f} s without; under a second is usual practice for "
        "small models.", f"{COMMON}; {TRL}", (chart("step_time", "The chart of step time"),), fixes,
    )  # fmt: skip


def _advice(e: Evidence, most: str, share: float) -> tuple[str, tuple[Change, ...]]:
    shorter = changes.shorter(e) or (SMALLER,)
    if most == "rewards" and share >= MUCH:
        return "It mostly waits for the reward functions.", (Change("See which takes so long", edit_reward=""),)
    if not e.gpus:
        return "There is no GPU: use a smaller model, or shorter or fewer completions.", shorter
    if most == "generation" and e.training.get("use_vllm") is not True:
        if "vllm" in e.extras:
            vllm = Change("Generate with vLLM", {"training.use_vllm": True, "training.vllm_mode": "colocate"})
            return "vLLM is installed, and generates many times faster.", (vllm, *shorter)
        return "vLLM generates many times faster; it is not installed here.", shorter
    if most == "update" and (e.training.get("bf16") is False) and e.training.get("fp16") is not True:
        return "It computes in 32 bits.", (Change("bf16", {"training.bf16": True}),)
    if most == "update" and e.training.get("gradient_checkpointing") is True and _room(e):
        off = Change("No gradient checkpointing", {"training.gradient_checkpointing": False})
        return "Gradient checkpointing computes everything twice, and there is memory left.", (off,)
    return "Shorter completions or smaller groups take less.", shorter


def _room(e: Evidence) -> bool:
    told = e.curve("system/memory_share")
    return len(told) > 0 and told.now < 0.5


RULES = (memory, slow)
