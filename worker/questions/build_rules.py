"""What a GRPOConfig accepts though training with it could not work here: packages that are not installed, files that a
spec may not name, hardware, and settings that need one another. Each with what one click does about it."""

import json
import re
from typing import Any

from groupwise.storage.checks.packages import lacking_packages, not_installed
from groupwise.storage.registry.messages.facts import Gpu, Hardware
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.worker.capabilities import extras
from groupwise.worker.questions import build_lora
from groupwise.worker.questions.find_bad_setting import use_default

Fields = dict[str, dict[str, Any]]

_OLD_GPU = re.compile(r"\b(V100|T4|P100|P40|P4|K80|GTX|TITAN|RTX 20\d\d|Quadro RTX)\b")  # before Ampere: no bfloat16


def refused_settings(stage: RunSpec, given: dict[str, Any], fields: Fields) -> list[Problem]:
    """What must not even be tried: files and objects that a spec cannot hold, and what their absence would break."""
    found = []
    for name, value in given.items():
        path, field = f"training.{name}", fields[name]
        remove = use_default(path, field)
        if isinstance(value, str) and {"dict", "str"} <= set(field["types"]):
            if value.startswith("{"):
                found += _json(path, value, remove)
            elif name in _reads_files():
                message = "should be a mapping of settings, written here: files are not read."
                found.append(Problem(path, message, fixes=(remove,)))
        elif name == "parallelism_config" and value is not None:
            found.append(_to_remove(name, "cannot be set in a spec: TRL expects an accelerate object here."))
    if given.get("fsdp") and stage.launch.processes == 1:
        message = "only works with several processes; this run has one."
        fixes = (Fix("Remove it", {}, ("training.fsdp",)), Fix("Use 2 processes", {"launch.processes": 2}))
        found.append(Problem("training.fsdp", message, fixes=fixes))
    said = {problem.field for problem in found}
    # Packages are asked for before the worker is (storage/checks/packages.py); here once more, as what is refused here
    # is not built, and building with it would import it.
    if given.get("deepspeed") and "training.deepspeed" not in said and not extras.is_installed("deepspeed"):
        found.append(not_installed("training.deepspeed", "deepspeed"))
    return found


def _reads_files() -> list[str]:
    """The settings in which transformers takes text for the name of a file."""
    from trl import GRPOConfig

    return list(GRPOConfig._VALID_DICT_FIELDS)


def _json(path: str, value: str, remove: Fix) -> list[Problem]:
    try:
        settings = json.loads(value)
    except ValueError as error:
        return [Problem(path, f"is not JSON: {error}.", fixes=(remove,))]
    fix = Fix("Write it as a mapping", {path: settings})
    return [] if isinstance(settings, dict) else [Problem(path, "should be a mapping of settings.", fixes=(fix,))]


def missing(stage: RunSpec, given: dict[str, Any], fields: Fields) -> list[Problem]:
    """What settings need that is not there: packages, a token, one another."""
    found = list(lacking_packages(given, extras.installed_versions()))
    if stage.model.quantization and not extras.is_installed("bitsandbytes"):
        found.append(not_installed("model.quantization", "bitsandbytes", "Do not quantise"))
    if given.get("remove_unused_columns"):
        message = "would take the answer and the other columns away from the rewards."
        found.append(_default("remove_unused_columns", message, fields))
    config = build_lora.model_config(stage.model) if given.get("router_aux_loss_coef") else None
    if config is not None and not hasattr(config.get_text_config(), "output_router_logits"):
        message = "is for mixture-of-experts models, and this model is none."
        found.append(_default("router_aux_loss_coef", message, fields))
    if given.get("sync_ref_model"):
        found += _sync_ref_model(stage, given, fields)
    return found + _hub(given) + _vllm(stage, given) + _backend(stage, given)


def _backend(stage: RunSpec, given: dict[str, Any]) -> list[Problem]:
    """What processes speak to each other through: of the names that transformers lists, those that torch knows. With
    one process accelerate looks for the others, and fails."""
    from torch.distributed import Backend

    name = given.get("ddp_backend")
    known = [backend for backend in Backend.backend_list if backend != "undefined"]
    if name is None or (name in known and stage.launch.processes > 1):
        return []
    message = f"should be one of {', '.join(known)}, or null."
    if name in known:
        message = "connects several processes; this run has one."
    return [_to_remove("ddp_backend", message, "Use the default")]


def _sync_ref_model(stage: RunSpec, given: dict[str, Any], fields: Fields) -> list[Problem]:
    if stage.lora is not None:
        return [_default("sync_ref_model", "does not work with LoRA, which keeps no reference model apart.", fields)]
    if given.get("beta", fields["beta"]["default"]):
        return []
    message = "has nothing to synchronise: with beta 0 there is no reference model."
    fixes = (Fix("Use beta 0.04", {"training.beta": 0.04}), use_default("training.sync_ref_model", None))
    return [Problem("training.sync_ref_model", message, fixes=fixes)]


def _hub(given: dict[str, Any]) -> list[Problem]:
    """Pushing needs a token of the environment or of the hub's own login; whether it may write only the hub knows."""
    from huggingface_hub import get_token

    asked = [name for name in ("push_to_hub", "log_completions_hub_repo") if given.get(name)]
    if not asked or get_token():
        return []
    message = "needs a token: set HF_TOKEN where Groupwise is started, or run `hf auth login`."
    return [_to_remove(name, message) for name in asked]


def _vllm(stage: RunSpec, given: dict[str, Any]) -> list[Problem]:
    size, processes = given.get("vllm_tensor_parallel_size", 1), stage.launch.processes
    if not given.get("use_vllm") or given.get("vllm_mode", "colocate") != "colocate":
        return []
    if size >= 1 and processes % size == 0:
        return []
    message = f"should divide the number of processes, which is {processes}."
    return [_to_remove("vllm_tensor_parallel_size", message, "Use the default (1)")]


def hardware(stage: RunSpec, given: dict[str, Any], machine: Hardware | None) -> list[Problem]:
    """What this machine's devices cannot do; silent where they are not known."""
    if machine is None:
        return []
    gpus, found = machine.gpus, []
    on_cpu = not gpus or given.get("use_cpu")
    if given.get("tf32") and (on_cpu or _old(gpus)):
        found.append(_to_remove("tf32", "needs an NVIDIA GPU of the Ampere generation or newer."))
    half = given.get("bf16") is not False or given.get("fp16")
    if given.get("use_cpu") is False and not gpus and half:
        found.append(_no_gpu(given))
    if given.get("ddp_backend") == "nccl" and on_cpu:
        found.append(_to_remove("ddp_backend", "nccl connects GPUs only."))
    if given.get("use_vllm") and not gpus and extras.is_installed("vllm"):
        found.append(_to_remove("use_vllm", "needs a GPU, and none was found.", "Generate without vLLM"))
    if not on_cpu and _old(gpus) and given.get("bf16") is not False and not given.get("fp16"):
        names = ", ".join(sorted({gpu.name for gpu in gpus}))
        message = f"{names} has no bfloat16: it is emulated, which is slow. fp16 is faster there."
        fix = Fix("Use fp16 instead", {"training.bf16": False, "training.fp16": True})
        found.append(Problem("training.bf16", message, level=WARNING, fixes=(fix,)))
    processes = stage.launch.processes
    if gpus and not on_cpu and processes > len(gpus):
        message = f"{processes} processes need as many GPUs; this machine has {len(gpus)}."
        fix = Fix(f"Use {len(gpus)}", {"launch.processes": len(gpus)})
        found.append(Problem("launch.processes", message, fixes=(fix,)))
    return found


def _no_gpu(given: dict[str, Any]) -> Problem:
    """Of use_cpu: false where there is no GPU: transformers then refuses 16 bits, which without the setting it takes on
    a CPU, too."""
    wide = {"training.bf16": False, **({"training.fp16": False} if given.get("fp16") else {})}
    fixes = (Fix("Remove it", {}, ("training.use_cpu",)), Fix("Train in 32 bits (bf16 off)", wide))
    message = "there is no GPU here to train on in 16 bits: remove use_cpu, or set bf16 to false."
    return Problem("training.use_cpu", message, fixes=fixes)


def _old(gpus: list[Gpu]) -> bool:
    """Whether one of them came before Ampere (compute capability 8), by its capability or else by its name."""
    return any(float(gpu.capability) < 8 if gpu.capability else bool(_OLD_GPU.search(gpu.name)) for gpu in gpus)


def _default(name: str, message: str, fields: Fields) -> Problem:
    path = f"training.{name}"
    return Problem(path, message, fixes=(use_default(path, fields.get(name)),))


def _to_remove(name: str, message: str, label: str = "Remove it") -> Problem:
    path = f"training.{name}"
    return Problem(path, message, fixes=(Fix(label, {}, (path,)),))
