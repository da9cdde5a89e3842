"""What of how a spec's model is loaded keeps a run from being launched: quantisation, attention, dtype, LoRA, room."""

from groupwise.storage.checks.length import check_length
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_files import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem, nearest_name

# Common practice: a rank of 16, alpha twice that, all attention and MLP projections.
USE_LORA = Fix("Train with LoRA", {"lora": {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05,
                                            "target_modules": "all-linear"}})  # fmt: skip
WHOLE = Fix("Load it unquantised", {"model.quantization": None})
OWN_ATTENTION = Fix("Use the model's own choice", {"model.attn_implementation": None})
IN_FLOAT32 = Fix("Load it in float32", {"model.dtype": "float32"})
ATTENTIONS = ("eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3", "flash_attention_4")
# The package of each kind of flash attention, by the name it is imported by, and how to get it.
FLASH = {
    "flash_attention_2": (
        "flash_attn", "flash-attn, which is not installed: pip install flash-attn --no-build-isolation",
    ),
    "flash_attention_3": (
        "flash_attn_interface", "flash-attn-3, which is not installed: it is built from flash-attention’s repository",
    ),
    "flash_attention_4": ("flash_attn", "flash-attn-4, which is not installed: pip install flash-attn-4"),
}  # fmt: skip


def check_loading(spec: RunSpec, offer: Offer, facts: ModelFacts | None) -> list[Problem]:
    """Problems of everything under model but its id, and of lora as far as the model's files tell."""
    return [
        *_quantization(spec, offer, facts),
        *_attention(spec, offer, facts),
        *_dtype(spec, offer, facts),
        *_targets(spec, facts),
        *check_length(spec, offer, facts),
    ]


def _is_published(offer: Offer) -> bool:
    """Whether the worker has said yet what is installed."""
    return offer.training is not None


def _without_gpu(offer: Offer) -> bool:
    return bool(offer.hardware) and not offer.hardware.get("gpus")


def _quantization(spec: RunSpec, offer: Offer, facts: ModelFacts | None) -> list[Problem]:
    field, how, found = "model.quantization", spec.model.quantization, []
    stored = facts.quantized if facts else None
    if stored and how:
        message = f"the model is already quantised ({stored}), and cannot be quantised again."
        return [Problem(field, message, fixes=(Fix("Load it as it is", {field: None}),))]
    if stored and spec.lora is None:
        found.append(
            Problem("lora", f"the model is quantised ({stored}): it can only be trained with LoRA.", fixes=(USE_LORA,))
        )
    if stored:
        message = f"the model is already quantised ({stored}); its unquantised original trains more reliably."
        found.append(Problem("model.id", message, level=ADVICE))
    if how and spec.lora is None:
        found.append(
            Problem(field, "quantised weights cannot be trained themselves, only with LoRA.", fixes=(USE_LORA, WHOLE))
        )
    if how and _is_published(offer) and "bitsandbytes" not in offer.extras:
        message = "needs bitsandbytes, which is not installed: pip install 'groupwise[quantized]'"
        found.append(Problem(field, message, fixes=(WHOLE,)))
    if how == "4bit" and _without_gpu(offer):
        message = "without a GPU, 4-bit weights make each step many times slower."
        found.append(Problem(field, message, level=WARNING, fixes=(WHOLE, Fix("Use 8 bits", {field: "8bit"}))))
    elif how and _without_gpu(offer):
        found.append(Problem(field, "without a GPU this saves memory, but no time.", level=ADVICE, fixes=(WHOLE,)))
    return found


def _attention(spec: RunSpec, offer: Offer, facts: ModelFacts | None) -> list[Problem]:
    field, name = "model.attn_implementation", spec.model.attn_implementation
    if name is None:
        return []
    if "/" in name:
        return [Problem(field, "names code on the hub, which is never downloaded and run.", fixes=(OWN_ATTENTION,))]
    if name not in ATTENTIONS:
        close = nearest_name(name, list(ATTENTIONS))
        why_not = _why_no_flash(close, offer) if close else ""
        usable = close if close and not why_not else "sdpa" if close else None
        fixes = (Fix(f"Use {usable}", {field: usable}), OWN_ATTENTION) if usable else (OWN_ATTENTION,)
        meant = f" Did you mean “{close}”?{why_not and f' It {why_not}'}" if close else ""
        return [Problem(field, f"should be one of {', '.join(ATTENTIONS)}, or null.{meant}", fixes=fixes)]
    fixes = (Fix("Use sdpa", {field: "sdpa"}), OWN_ATTENTION)
    if why_not := _why_no_flash(name, offer):
        return [Problem(field, why_not, fixes=fixes)]
    if not name.startswith("flash"):
        return []
    if _loaded_dtype(spec, facts) == "float32":
        half = Fix("Load it in bfloat16", {"model.dtype": "bfloat16"})
        message = "flash attention computes in bfloat16 or float16, and the model is loaded in float32."
        return [Problem(field, message, level=WARNING, fixes=(fixes[0], half))]
    return []


def _why_no_flash(name: str, offer: Offer) -> str:
    """Why a kind of attention cannot be had here; "" where it can, as far as is known."""
    if name not in FLASH:
        return ""
    if _without_gpu(offer):
        return "needs a GPU, which this machine does not have."
    package, how = FLASH[name]
    # without it transformers would take the code from the hub where it finds the package `kernels`
    return f"needs {how}" if _is_published(offer) and package not in offer.extras else ""


def _loaded_dtype(spec: RunSpec, facts: ModelFacts | None) -> str | None:
    if spec.model.dtype != "auto":
        return spec.model.dtype
    return facts.dtype if facts else None


def _dtype(spec: RunSpec, offer: Offer, facts: ModelFacts | None) -> list[Problem]:
    """Weights of 16 bits that are trained themselves: measured here, 9 % of the starter's changed in four steps at a
    learning rate of 1e-5 in bfloat16, and all of them in float32, which is what TRL loads by itself."""
    field, dtype = "model.dtype", _loaded_dtype(spec, facts)
    if dtype not in ("bfloat16", "float16") or (facts and facts.quantized) or spec.model.quantization:
        return []
    if spec.lora is None:
        stored = "is stored and loaded in" if spec.model.dtype == "auto" else "is loaded in"
        message = (
            f"the model {stored} {dtype}, which has too few digits for small updates: at GRPO's learning rates most "
            "are rounded away. Float32 keeps them, for twice the memory."
        )
        return [Problem(field, message, level=WARNING, fixes=(IN_FLOAT32, USE_LORA))]
    if _without_gpu(offer) and spec.model.dtype == "float16":
        message = "float16 is made for GPUs: here it is slower than float32."
        return [Problem(field, message, level=ADVICE, fixes=(IN_FLOAT32,))]
    return []


def _targets(spec: RunSpec, facts: ModelFacts | None) -> list[Problem]:
    """LoRA's target modules against the names of the model's matrices. (PEFT says nothing of a name that fits nowhere
    as long as another one fits.)"""
    targets = (spec.lora or {}).get("target_modules")
    if not (isinstance(targets, list) and targets and facts and facts.modules):
        return []
    names = [name for name in targets if isinstance(name, str)]
    strange = [name for name in names if name.rsplit(".", 1)[-1] not in facts.modules]
    if not strange:
        return []
    field, there = "lora.target_modules", [name for name in facts.modules if "embed" not in name and name != "lm_head"]
    rest = [name for name in names if name not in strange]
    every = Fix("Use all linear layers", {field: "all-linear"})
    fixes = (Fix(f"Use {', '.join(rest)}"[:60], {field: rest}), every) if rest else (every,)
    message = f"the model has no {', '.join(strange[:4])}: its matrices are {', '.join(there[:12])}."
    # The experts of a mixture have other names once they are loaded.
    level = WARNING if rest or facts.experts or len(names) < len(targets) else BLOCKING
    return [Problem(field, message, level=level, fixes=fixes)]
