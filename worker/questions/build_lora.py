"""Whether PEFT takes a spec's LoRA settings: the real LoraConfig, put around the model's own architecture without its
weights, or, where its config is not at hand, around a stand-in with the layers that are named."""

import re
from functools import lru_cache
from typing import Any

from groupwise.storage.library.models import model_files
from groupwise.storage.spec.spec import ModelSpec, RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem
from groupwise.worker.questions import find_bad_setting

LAYERS = {"q_proj", "k_proj", "v_proj", "o_proj"}  # of nearly every model today
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z0-9_]\w*)*")


def lora_problems(stage: RunSpec, given: dict[str, Any], fields: dict[str, dict[str, Any]]) -> list[Problem]:
    """What keeps LoRA from being trained with these settings of the run's."""
    found = _pointless_settings(given)
    given = {name: value for name, value in given.items() if f"lora.{name}" not in {p.field for p in found}}
    config = model_config(stage.model)
    more, given = find_bad_setting.problems_by_setting(
        "lora", given, lambda settings: _try_on_stand_in(settings, known=config is not None), fields
    )
    found += more
    if config is not None and not any(problem.field == "lora" for problem in more):
        found += find_bad_setting.problems_by_setting(
            "lora", given, lambda settings: _try_on_model(config, settings), fields
        )[0]
    return found


def _pointless_settings(given: dict[str, Any]) -> list[Problem]:
    found = []
    if given.get("inference_mode"):
        fix = Fix("Remove it", {}, ("lora.inference_mode",))
        found.append(Problem("lora.inference_mode", "would train nothing at all.", fixes=(fix,)))
    if given.get("task_type") not in (None, "CAUSAL_LM"):
        message = "should be CAUSAL_LM: GRPO trains a model that writes text."
        fix = Fix("Use CAUSAL_LM", {"lora.task_type": "CAUSAL_LM"})
        found.append(Problem("lora.task_type", message, level=WARNING, fixes=(fix,)))
    return found


def _try_on_stand_in(settings: dict[str, Any], known: bool) -> None:
    """Try the settings on real numbers: a few small layers, under the names they are looked for by. `known`: the
    model itself will say which layers it has."""
    from peft import LoraConfig, inject_adapter_in_model
    from torch import nn

    config = LoraConfig(**settings)
    if known:
        config.target_modules = {"q_proj"}
    elif not isinstance(config.target_modules, set) or not config.target_modules:
        config.target_modules = LAYERS  # also for a pattern: only the model knows whether a name fits it
    config.layers_to_transform = config.layers_pattern = config.layer_replication = None
    config.modules_to_save = config.target_parameters = config.trainable_token_indices = None
    config.exclude_modules = None
    config.r = min(config.r, 4)
    names = (name.rpartition(".")[2] for name in config.target_modules if _NAME.fullmatch(name))
    layers = {name: nn.Linear(8, 8) for name in names}
    inject_adapter_in_model(config, nn.ModuleDict(layers))


def _try_on_model(config: Any, settings: dict[str, Any]) -> None:
    """Put the LoRA around the model's architecture; on the device “meta” nothing has any numbers."""
    import torch
    from peft import LoraConfig, get_peft_model
    from peft.tuners.tuners_utils import BaseTunerLayer
    from transformers import AutoModelForCausalLM

    lora = LoraConfig(**settings)
    if isinstance(lora.init_lora_weights, str):
        lora.init_lora_weights = True  # the other ways need real numbers, and were tried on some
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
        wrapped = get_peft_model(model, lora)
    if isinstance(model.get_output_embeddings(), BaseTunerLayer):
        raise ValueError("target_modules has lm_head, which GRPOTrainer cannot train with LoRA.")
    if not any(parameter.requires_grad for parameter in wrapped.parameters()):
        raise ValueError("target_modules leaves nothing to train.")


def model_config(spec: ModelSpec) -> Any:
    """The model's config where it is on this machine; None where it is not, or cannot be read."""
    folder = model_files.folder_of(spec)
    path = folder / "config.json" if folder else None
    if path is None or not path.is_file():
        return None
    return _read_config(str(folder), path.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _read_config(folder: str, _changed: int) -> Any:
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception:  # what is wrong with the model itself is said at model.id
        return None
