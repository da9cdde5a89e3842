"""What of a spec's model keeps a run from being launched: each verdict with its sentence, its field and its fix."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.model import check_model
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Problem
from groupwise.worker.builtin import models, starter
from tests.support import tiny_models
from tests.support.offer import OFFER

GPU = {"gpus": [{"name": "H", "memory": 80 * 10**9, "free": 80 * 10**9}], "cores": 8}
CPU = {"gpus": [], "cores": 8}
HERE = replace(OFFER, extras={"bitsandbytes": "0.50.2"}, hardware=GPU)


@pytest.fixture(autouse=True)
def cache(registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and the starter in the home."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    (tmp_path / "hub").mkdir()
    models.install_starter()
    return tmp_path / "hub"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A whole model folder: the starter's, copied."""
    return Path(shutil.copytree(starter.MODEL, tmp_path / "my-model"))


def problems(offered: Offer = HERE, **parts: Any) -> list[Problem]:
    return check_model(spec.from_dict({"name": "small", "rewards": [{"name": "format"}], **parts}), offered)


def only(offered: Offer = HERE, **parts: Any) -> Problem:
    found = problems(offered, **parts)
    assert len(found) == 1, found
    return found[0]


def apply(parts: dict[str, Any], problem: Problem, number: int = 0) -> dict[str, Any]:
    """The spec after one click on a problem's fix."""
    fixed = json.loads(json.dumps(parts))
    for path, value in problem.fixes[number].settings.items():
        *above, name = path.split(".")
        place = fixed
        for key in above:
            place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
        place[name] = value
    for path in problem.fixes[number].removed:
        part, name = path.split(".")
        del fixed[part][name]
    return fixed


def each_fix_works(offered: Offer = HERE, **parts: Any) -> Problem:
    """The one blocking problem; each of its fixes leaves none."""
    blocking = [problem for problem in problems(offered, **parts) if problem.level == BLOCKING]
    assert len(blocking) == 1 and blocking[0].fixes, blocking
    for number in range(len(blocking[0].fixes)):
        left = problems(offered, **apply(parts, blocking[0], number))
        assert not [problem for problem in left if problem.level == BLOCKING], left
    return blocking[0]


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_the_starter_and_a_whole_folder_have_no_problem(model: Path):
    assert problems() == [] and problems(model={"id": str(model)}) == []
    assert problems(model={"id": str(model)}, lora={"target_modules": ["q_proj", "mlp.up_proj"]}) == []
    assert problems(Offer(), model={"id": str(model), "quantization": "4bit"}, lora={}) == []  # nothing published yet


def test_a_damaged_starter_says_how_to_get_it_back(registry_home: Path):
    (paths.models_folder() / "starter" / "model.safetensors").write_bytes(b"x")
    assert "Delete that folder" in only().message


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../x", "whole path"), ("/nowhere", "there is no folder /nowhere"),
        ("~/nowhere-at-all", "there is no folder ~/nowhere-at-all."),
        ("~no-such-user/x", "there is no folder ~no-such-user/x: this machine has no user no-such-user."),
        ("org/na me", "a hub id such as org/name"), ("a/b/c", "a hub id such as"), ("$(id)", "a hub id such as"),
        ("http://x", "a hub id such as"), ("a--b", "hub id"), ("org/..", "hub id"), ("org/x.", "hub id"),
        ("o" * 97, "hub id"), ("/a\0b", "cannot be the path"), ("/" + "x" * 400, "cannot be the path"),
        ("\n", "hub id"),
        ("https://huggingface.co/Qwen/Qwen2.5-0.5B", "hub id"), ("hf.co/Qwen/Qwen2.5-0.5B/tree/main", "hub id"),
    ],
)  # fmt: skip
def test_no_other_text_is_a_model(name: str, words: str):
    problem = each_fix_works(model={"id": name})
    assert problem.field == "model.id" and words in problem.message


def test_a_mistyped_folder_and_a_pasted_page_get_what_was_meant(model: Path, cache: Path):
    problem = each_fix_works(model={"id": f"{model}l"})
    assert problem.fixes[0].settings == {"model.id": str(model)} and f"Did you mean {model}?" in problem.message
    problem = each_fix_works(model={"id": str(model / "config.json")})
    assert "is a file" in problem.message and problem.fixes[0].settings == {"model.id": str(model)}
    problem = each_fix_works(model={"id": "https://huggingface.co/Qwen/Qwen2.5-0.5B"})
    assert problem.fixes[0].settings == {"model.id": "Qwen/Qwen2.5-0.5B"}
    shutil.copytree(model, paths.models_folder() / "mine")
    assert each_fix_works(model={"id": "./mine"}).fixes[0].settings == {"model.id": str(paths.models_folder() / "mine")}
    tiny_models.download(cache, "org/name")
    problem = each_fix_works(model={"id": str(cache / "models--org--name")})
    assert problem.fixes[0].settings == {"model.id": "org/name"}


def test_a_folder_in_one_s_home_is_called_as_it_was_written(model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(model.parent))
    problem = each_fix_works(model={"id": "~/my-modell"})
    assert problem.message == "there is no folder ~/my-modell. Did you mean ~/my-model?"
    assert problem.fixes[0].settings == {"model.id": "~/my-model"}
    problem = each_fix_works(model={"id": "~/my-model/config.json"})
    assert problem.message == "~/my-model/config.json is a file: name the folder it lies in."
    assert problem.fixes[0].settings == {"model.id": "~/my-model"}
    (model / "model.safetensors").rename(model / "model.gguf")
    problem = each_fix_works(model={"id": "~/my-model/"})
    assert problem.message.startswith("~/my-model has its weights only in GGUF form")
    (model / "config.json").write_text("{")
    assert each_fix_works(model={"id": "~/my-model"}).message == "~/my-model/config.json is not valid JSON."
    (model / "config.json").unlink()
    assert each_fix_works(model={"id": "~/my-model"}).message.startswith("~/my-model is not a model folder")


@pytest.mark.parametrize("typed", ["startr", "Startr", "Starter", "satrter"])
def test_a_slip_of_the_starter_s_name_is_one_problem_with_one_button(typed: str):
    parts = {"model": {"id": typed}}
    problem = only(**parts)
    said = f"“{typed}” is not on this machine. Did you mean “starter”? Otherwise it is downloaded from the hub."
    assert (problem.level, problem.message) == (WARNING, said)
    assert [fix.label for fix in problem.fixes] == ["Use starter"]
    assert problems(**apply(parts, problem)) == []


def test_a_slip_of_a_model_at_hand_or_used_before_is_known_and_another_size_is_no_slip(cache: Path, model: Path):
    tiny_models.download(cache, "org/Tiny-0.5B")
    registry.create_run("x", name="before", model=str(model), data="task:arithmetic")

    def meant(name: str) -> list[dict[str, Any]]:
        return [fix.settings for fix in only(model={"id": name}).fixes]

    assert meant("org/Tinny-0.5B") == [{"model.id": "org/Tiny-0.5B"}]
    assert meant("my-modle") == [{"model.id": str(model)}]
    assert meant("org/Tiny-1.5B") == [] and meant("org/other") == []


def test_a_hub_id_that_is_not_here_will_be_downloaded(cache: Path, monkeypatch: pytest.MonkeyPatch):
    problem = only(model={"id": "org/name"})
    assert problem.level == ADVICE and "downloaded" in problem.message
    tiny_models.give_tokenizer(partial := tiny_models.cached(cache, "org/partial"))
    shutil.copy(starter.MODEL / "config.json", partial)
    assert only(model={"id": "org/partial"}).level == ADVICE  # a preview fetched its tokenizer only
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert only(model={"id": "org/name"}).level == WARNING
    tiny_models.download(cache, "org/whole")
    assert problems(model={"id": "org/whole"}) == []


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda f: (f / "config.json").unlink(), "it has no config.json"),
        (lambda f: (f / "config.json").write_text("{"), "config.json is not valid JSON"),
        (lambda f: (f / "tokenizer.json").unlink(), "has no tokenizer"),
        (lambda f: (f / "model.safetensors").unlink(), "has its weights nowhere"),
        (lambda f: (f / "model.safetensors").rename(f / "model.gguf"), "only in GGUF form"),
        (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "only as .bin"),
        (lambda f: (f / "model.safetensors").rename(f / "model-00001-of-00002.safetensors"), "lacks model.s"),
        (lambda f: (f / "model.safetensors").write_bytes(b"short"), "not a safetensors file"),
        (lambda f: (f / "adapter_config.json").write_text("{}"), "is a LoRA adapter, not a model"),
        (lambda f: edit(f / "config.json", architectures=["T5ForConditionalGeneration"], is_encoder_decoder=True),
         "a T5ForConditionalGeneration does not generate text"),
        (lambda f: edit(f / "config.json", architectures=["BertForMaskedLM"], model_type="bert"), "BertForMaskedLM "),
    ],
)  # fmt: skip
def test_a_model_folder_says_what_is_wrong_with_it(model: Path, break_it: Any, words: str):
    break_it(model)
    problem = each_fix_works(model={"id": str(model)})
    assert problem.field == "model.id" and words in problem.message


def test_an_adapter_names_its_base(model: Path):
    (model / "adapter_config.json").write_text('{"base_model_name_or_path": "Qwen/Qwen2.5-0.5B"}')
    problem = each_fix_works(model={"id": str(model)})
    assert "belongs to Qwen/Qwen2.5-0.5B" in problem.message and problem.fixes[0].label == "Use Qwen/Qwen2.5-0.5B"
    (model / "adapter_config.json").write_text('{"base_model_name_or_path": "$(rm -rf /)"}')
    assert [fix.label for fix in only(model={"id": str(model)}).fixes] == ["Use the starter model"]


def test_the_command_that_converts_bin_weights_works(tmp_path: Path):
    import torch

    made = tiny_models.make("llama", tmp_path / "it's $(old)")
    (tmp_path / "it's $(old)" / "model.safetensors").unlink()
    torch.save(made.state_dict(), tmp_path / "it's $(old)" / "pytorch_model.bin")
    message = only(model={"id": str(tmp_path / "it's $(old)")}).message
    command = shlex.split(message.split("Convert it once: ")[1])
    assert command[:2] == ["python", "-c"]
    subprocess.run([sys.executable, *command[1:]], check=True, capture_output=True, timeout=120)
    assert problems(model={"id": str(tmp_path / "it's $(old)")}) == []


def test_a_model_that_brings_code_is_refused_unless_transformers_knows_it(model: Path):
    edit(model / "config.json", auto_map={"AutoModelForCausalLM": "modeling.Model"})
    problem = only(model={"id": str(model)})
    assert problem.level == WARNING and "never run" in problem.message and problem.fixes
    knowing = replace(HERE, model_types=("llama",))
    assert problems(knowing, model={"id": str(model)}) == []
    edit(model / "config.json", model_type="new_kind")
    assert "never run" in each_fix_works(knowing, model={"id": str(model)}).message
    edit(model / "config.json", auto_map=None)
    assert "supports no language model of type “new_kind”" in each_fix_works(knowing, model={"id": str(model)}).message


def test_a_revision_is_of_the_hub_and_looks_like_one(model: Path, cache: Path):
    assert only(model={"id": str(model), "revision": "v1"}).level == ADVICE
    tiny_models.download(cache, "org/name")
    for revision in ("../x", "a b", "", "x" * 300, "a/../b"):
        problem = each_fix_works(model={"id": "org/name", "revision": revision})
        assert problem.field == "model.revision"
    assert problems(model={"id": "org/name", "revision": tiny_models.COMMIT}) == []


def test_without_a_chat_template_a_system_prompt_is_plain_text(model: Path):
    (model / "chat_template.jinja").unlink()
    assert problems(model={"id": str(model)}) == []
    problem = only(model={"id": str(model)}, data={"system_prompt": "Think."})
    assert (problem.field, problem.level) == ("data.system_prompt", ADVICE) and "no chat template" in problem.message
    problem = only(model={"id": str(model)}, data={"examples": [{"prompt": "a", "completion": "b"}]})
    assert problem.field == "data.examples" and "examples stand" in problem.message


def test_quantised_weights_are_trained_with_lora():
    problem = each_fix_works(model={"quantization": "4bit"})
    assert problem.field == "model.quantization" and [f.label for f in problem.fixes] == [
        "Train with LoRA",
        "Load it unquantised",
    ]
    assert problems(model={"quantization": "8bit"}, lora={}) == []


def test_quantisation_needs_bitsandbytes():
    problem = each_fix_works(replace(HERE, extras={}), model={"quantization": "4bit"}, lora={"r": 8})
    assert "pip install 'groupwise[quantized]'" in problem.message


def test_quantisation_without_a_gpu_is_slow():
    here = replace(HERE, hardware=CPU)
    assert only(here, model={"quantization": "4bit"}, lora={}).level == WARNING
    assert only(here, model={"quantization": "8bit"}, lora={}).level == ADVICE


def test_a_model_that_is_quantised_already_is_not_quantised_again(model: Path):
    edit(model / "config.json", quantization_config={"quant_method": "gptq"})
    again = each_fix_works(model={"id": str(model), "quantization": "4bit"}, lora={})
    assert "cannot be quantised again" in again.message
    assert each_fix_works(model={"id": str(model)}).field == "lora"
    assert only(model={"id": str(model)}, lora={}).level == ADVICE


@pytest.mark.parametrize(
    ("name", "offered", "words"),
    [
        ("kernels-community/flash-attn2", HERE, "never downloaded"),
        ("flash_atention_2", HERE, "Did you mean “flash_attention_2”?"),
        ("zzz", HERE, "should be one of eager, sdpa"),
        ("", HERE, "should be one of eager, sdpa"),
        ("flash_attention_2", HERE, "pip install flash-attn"),
        ("flash_attention_3", replace(HERE, extras={"flash_attn": "2.8", "kernels": "0.11"}), "needs flash-attn-3"),
        ("flash_attention_4", replace(HERE, extras={"kernels": "0.11"}), "pip install flash-attn-4"),
        ("flash_attention_2", replace(HERE, hardware=CPU), "needs a GPU"),
    ],
)
def test_attention_is_one_that_can_run_here(name: str, offered: Offer, words: str):
    problem = next(p for p in problems(offered, model={"attn_implementation": name}) if p.level == BLOCKING)
    assert problem.field == "model.attn_implementation" and words in problem.message
    left = problems(offered, **apply({"model": {"attn_implementation": name}}, problem, len(problem.fixes) - 1))
    assert left == []


@pytest.mark.parametrize("offered", [HERE, replace(HERE, hardware=CPU)])
def test_a_slip_of_a_kind_that_cannot_run_here_leads_to_one_that_can(offered: Offer):
    problem = next(p for p in problems(offered, model={"attn_implementation": "flash_attn_2"}) if p.level == BLOCKING)
    assert "Did you mean “flash_attention_2”? It needs " in problem.message
    assert [fix.label for fix in problem.fixes] == ["Use sdpa", "Use the model's own choice"]
    assert problems(offered, **apply({"model": {"attn_implementation": "flash_attn_2"}}, problem, 0)) == []


def test_flash_attention_computes_in_half_precision():
    here = replace(HERE, extras={"flash_attn": "2.8"})
    problem = only(here, model={"attn_implementation": "flash_attention_2"}, lora={})
    assert problem.level == WARNING and "float32" in problem.message
    assert (
        problems(here, **apply({"model": {"attn_implementation": "flash_attention_2"}, "lora": {}}, problem, 1)) == []
    )


def test_weights_of_sixteen_bits_lose_small_updates(tmp_path: Path):
    tiny_models.make("qwen2", tmp_path / "half", dtype="bfloat16")
    problem = only(model={"id": str(tmp_path / "half")})
    assert (problem.field, problem.level) == (
        "model.dtype",
        WARNING,
    ) and "stored and loaded in bfloat16" in problem.message
    for number in range(2):
        assert problems(**apply({"model": {"id": str(tmp_path / "half")}}, problem, number)) == []
    assert only(model={"dtype": "float16"}).level == WARNING
    assert only(replace(HERE, hardware=CPU), model={"dtype": "float16"}, lora={}).level == ADVICE


def test_lora_targets_are_matrices_that_the_model_has():
    problem = each_fix_works(lora={"target_modules": ["c_attn"]})
    assert problem.field == "lora.target_modules" and "its matrices are down_proj, gate_proj" in problem.message
    problem = only(lora={"target_modules": ["q_proj", "c_attn"]})
    assert problem.level == WARNING and problem.fixes[0].settings == {"lora.target_modules": ["q_proj"]}
    for targets in ("all-linear", ".*_proj", None, [], [5], {"a": 1}):
        assert problems(lora={"target_modules": targets}) == []


def test_completions_fit_into_what_the_model_reads():
    offered = replace(HERE, training={**(OFFER.training or {}), "max_completion_length": {"default": 256}})
    assert problems(offered) == []
    problem = each_fix_works(offered, training={"max_completion_length": 512})
    assert problem.field == "training.max_completion_length"
    assert problem.message.endswith("at most 512, the prompt's included. 256 would leave half of that for the prompt.")
    stages = [{"training": {}}, {"training": {"max_completion_length": 1024}}]
    assert each_fix_works(offered, stages=stages).field == "stages.1.training.max_completion_length"
