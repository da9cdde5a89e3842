"""The peak memory of a GRPO step on one device, term by term, from a model's sizes without loading it. Pure."""

import multiprocessing
from dataclasses import dataclass
from itertools import chain

from groupwise.app.core import format
from groupwise.app.pages.new.preflight.memory_parts import Parts
from groupwise.app.pages.new.preflight.settings import PROMPT_TOKENS, Settings
from groupwise.app.pages.new.preflight.shape import shape_of
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING

# Python with torch and TRL imported (measured: 461 MB), and on a GPU the CUDA context and cuBLAS's work space.
PROCESS, CONTEXT = 500 * 10**6, 800 * 10**6
# One that reads rows: what it writes of what it shares with the process that it is a copy of (measured in a run:
# 15 MB); or, started anew, its own imports (measured: 320 MB).
COPIED_READER, NEW_READER = 15 * 10**6, 320 * 10**6
NEEDED = ("max_completion_length", "per_device_train_batch_size")  # numbers without which nothing is estimated
# Numbers that may be left out; but what is refused is not left out.
COUNTED = (
    "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size", "num_iterations",
    "dataloader_num_workers", "per_device_eval_batch_size",
)  # fmt: skip
# Of the memory there is: the estimate is good to within 25 %. On an H200, of 0.5 billion parameters in bfloat16, the
# device held 2 to 7 % more.
TIGHT, HOPELESS = 0.85, 1.25

READERS = "data loader workers"
NOT_TORCHS = ("process", READERS)

GENERATING, SCORING, UPDATING = "while completions are generated", "while they are scored", "while the model is updated"
SENTENCES = {
    "weights": "the model itself",
    "LoRA adapters": "the small matrices that are trained",
    "reference model": "the starting model, kept because beta is not 0",
    "optimiser": "the optimiser’s state for each trained parameter",
    "gradients": "one for each trained parameter",
    "gradient buckets": "a second copy of the gradients, sent between processes",
    "optimiser’s work space": "copies made while the parameters are changed",
    "activations": "what each layer keeps of each token until the gradients are taken",
    "work space of one layer": "what a single layer needs while its part is computed",
    "logits": "logits of the whole vocabulary, in tiles",
    "embedding’s gradient": "made last, before it is added to the others",
    "KV cache": "keys and values of every token that is being generated",
    "16-bit copies": "the float32 matrices, cast for mixed precision",
    "vLLM": "its fixed share of the device",
    READERS: "the processes that read rows",
    "process": "Python, torch and the device’s context",
}


@dataclass(frozen=True)
class Term:
    """A part of the memory: its name, bytes, and what it is."""

    name: str
    bytes: int
    sentence: str


@dataclass(frozen=True)
class Estimate:
    """What one device needs at the worst moment of a step. `terms` add up to `total`, largest first;
    `bytes_without_process` is the part that torch's own record would show. `moments`: (when, bytes) of each part of a
    step. `available` is the device's whole memory, None where the hardware is not known."""

    total: int
    terms: tuple[Term, ...]
    moment: str
    moments: tuple[tuple[str, int], ...]
    device: str
    available: int | None
    prompt_tokens: int

    @property
    def largest(self) -> Term:
        """The part that takes most."""
        return self.terms[0]

    @property
    def bytes_without_process(self) -> int:
        """Bytes of what torch itself counts: all but what processes take before anything is loaded."""
        return self.total - sum(term.bytes for term in self.terms if term.name in NOT_TORCHS)

    @property
    def level(self) -> str | None:
        """BLOCKING where it cannot fit even if the estimate is 25 % too high, WARNING where it may not, ADVICE where
        it fits but fills most, None where there is room."""
        if not self.available:
            return None
        share = self.total / self.available
        return BLOCKING if share > HOPELESS else WARNING if share > 1 else ADVICE if share > TIGHT else None

    @property
    def sentence(self) -> str:
        """About 9.2 GB of L4’s 24 GB, at its highest while the model is updated. The largest part: …"""
        of = f" of {self.device}’s {format.size(self.available)}" if self.available else ""
        return (
            f"About {format.size(self.total)}{of}, at its highest {self.moment}. "
            f"The largest part: {self.largest.name}, {format.size(self.largest.bytes)}."
        )


def estimate(
    spec: RunSpec, offer: Offer, facts: ModelFacts | None, prompt_tokens: int | None = None
) -> Estimate | None:
    """The worst of all stages; None while the model's sizes or TRL's defaults are not known."""
    found = [one for stage in spec.by_stage() if (one := _stage(stage, offer, facts, prompt_tokens))]
    return max(found, key=lambda one: one.total, default=None)


def setting_that_keeps_it(spec: RunSpec, offer: Offer) -> str:
    """The setting that is given and no number to reckon with; "" where none is to blame."""
    return next((name for stage in spec.by_stage() if (name := _refused(Settings(stage, offer)))), "")


def _refused(settings: Settings) -> str:
    given = (name for name in NEEDED if name in settings.spec.training and not settings.count(name))
    zero = settings.get("dataloader_num_workers") == 0
    counted = (name for name in COUNTED if settings.misreads(name) and not (zero and name == "dataloader_num_workers"))
    return next(chain(given, counted), "")


def _stage(spec: RunSpec, offer: Offer, facts: ModelFacts | None, prompt_tokens: int | None) -> Estimate | None:
    settings, shape = Settings(spec, offer), shape_of(facts) if facts else None
    if shape is None or not all(settings.count(name) for name in NEEDED) or _refused(settings):
        return None
    parts = Parts(settings, shape, prompt_tokens or PROMPT_TOKENS)
    staying = _constant_terms(parts)
    moments = {
        moment: {**staying, **terms}
        for moment, terms in (
            (GENERATING, _generation_terms(parts)), (SCORING, _scoring_terms(parts)), (UPDATING, _update_terms(parts))
        )
    }  # fmt: skip
    totals = {moment: sum(terms.values()) for moment, terms in moments.items()}
    worst = max(totals, key=lambda moment: totals[moment])
    name, available = device(settings)
    scale = spec.launch.processes if not settings.gpus else 1  # processes on one CPU share its memory
    terms = [Term(name, round(size * scale), SENTENCES[name]) for name, size in moments[worst].items() if size >= 1]
    return Estimate(
        sum(term.bytes for term in terms),
        tuple(sorted(terms, key=lambda term: -term.bytes)),
        worst,
        tuple((moment, round(total * scale)) for moment, total in totals.items()),
        name,
        available,
        parts.prompt_tokens,
    )


def device(settings: Settings) -> tuple[str, int | None]:
    """What it will run on, and how much memory that has: the smallest GPU's, or the machine's."""
    gpus = settings.gpus[: settings.spec.launch.processes] or settings.gpus
    if gpus:
        smallest = min(gpus, key=lambda gpu: gpu["memory"])
        return smallest["name"].removeprefix("NVIDIA "), smallest["memory"]
    return "this machine", settings.offer.hardware.get("memory")


def _constant_terms(parts: Parts) -> dict[str, float]:
    """What is there all the time, from the second step on. (A stage's optimiser is new, so its first step is not the
    worst.)"""
    return {
        "weights": parts.weights(), "LoRA adapters": parts.adapters(), "reference model": parts.reference(),
        "optimiser": parts.optimiser(), "gradient buckets": parts.buckets(), "vLLM": parts.vllm(),
        "process": PROCESS if not parts.on_gpu else CONTEXT, READERS: _readers(parts),
    }  # fmt: skip


def _readers(parts: Parts) -> float:
    """Those that read rows take the machine's memory, which is the device's where it is no GPU; evaluation has as many
    of its own."""
    if parts.on_gpu:
        return 0.0
    asked = parts.settings.get("dataloader_multiprocessing_context") or multiprocessing.get_all_start_methods()[0]
    each = COPIED_READER if asked == "fork" else NEW_READER
    sets = 2 if parts.settings.evaluates else 1
    return float((parts.settings.count("dataloader_num_workers") or 0) * each * sets)


def _generation_terms(parts: Parts) -> dict[str, float]:
    """All completions of a generation at once; while vLLM generates, the trainer rests. Gradients wait where a
    generation falls between two halves of an accumulated update."""
    if parts.settings.on("use_vllm"):
        return {}
    often = (parts.settings.count("steps_per_generation") or parts.accumulation) * (
        parts.settings.count("num_iterations") or 1
    )
    return {
        "KV cache": parts.cache() + parts.cache_growth(), "logits": parts.sampling(),
        "work space of one layer": parts.prefill(), "16-bit copies": parts.generation_copies(),
        "gradients": parts.gradients() if parts.accumulation > often else 0.0,
    }  # fmt: skip


def _scoring_terms(parts: Parts) -> dict[str, float]:
    """The reference's (or the old policy's) log-probabilities, a per-device batch at a time, without gradients."""
    batch = max(parts.batch, parts.eval_batch)
    layer = parts.prefill() / max(1, parts.completions_at_once * parts.prompt_tokens) * batch * parts.tokens
    return {"logits": parts.head_forward(batch), "work space of one layer": layer, "16-bit copies": parts.copies()}


def _update_terms(parts: Parts) -> dict[str, float]:
    """The worst moment of an update. First the head's backward pass (or the end of its forward one): all activations
    are there, and from the second accumulated batch on all gradients. Then the layers', from the last to the first:
    activations go as gradients come, so one of the two ends is worst. Then the embedding's, then the optimiser."""
    checkpointing = parts.settings.checkpointing
    waiting = parts.gradients() if parts.accumulation > 1 else 0.0
    one_layer = parts.held_activations() / parts.shape.layers
    copies = parts.copies()
    made = max(waiting, parts.embedding_gradient())  # the head's gradient, in the parameter's dtype
    moments = [
        {"activations": parts.held_activations(), "logits": parts.head_backward(), "gradients": waiting,
         "16-bit copies": 0.0 if checkpointing else copies},
        {"activations": parts.held_activations(), "logits": parts.head_forward(parts.batch), "gradients": waiting,
         "16-bit copies": copies},
        {"activations": parts.held_activations(), "work space of one layer": parts.working_layer(), "gradients": made,
         "16-bit copies": 0.0 if checkpointing else copies},
        {"activations": one_layer, "work space of one layer": parts.working_layer(), "gradients": parts.gradients()},
        {"activations": one_layer, "gradients": parts.gradients(), "embedding’s gradient": parts.embedding_gradient()},
        {"gradients": parts.gradients(), "optimiser’s work space": parts.optimiser_work()},
    ]  # fmt: skip
    return max(moments, key=lambda terms: sum(terms.values()))
