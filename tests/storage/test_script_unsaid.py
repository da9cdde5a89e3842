"""What an import sets though the script does not say it, and what it leaves out without a line of its own, is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.recipe import read_recipe
from groupwise.storage.checks.script_reader.unsaid import MOST, Unsaid
from groupwise.storage.spec.words.setting_names import unknown_setting
from groupwise.storage.spec.yaml import yaml_text
from tests.storage.test_script_nothing_dropped import script
from tests.support.foreign_scripts import COMMAND_LINE, GSM8K, OPEN_R1_RECIPE, TRL_RECIPE, UNSLOTH
from tests.support.scripts import COURSE, QUICKSTART, VLLM


def closing(text: str) -> str:
    """The lines that come last."""
    return "\n".join(note for note in read_script(text).notes if note.startswith(("Set by the import", "Left out")))


def test_a_value_that_stands_nowhere_in_the_script_is_said_in_one_line():
    assert closing(script()).split("\n") == [
        "Set by the import: name o (from output_dir), model.dtype float32 (as TRL loads a model by its name), "
        "data.prompt_column prompt (the column that TRL reads), each reward's weight 1 (as TRL has it).",
        "Left out, as each run has its own folder: output_dir (line 8).",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (script("args = GRPOConfig(beta=0.1)"), "name from-script"),
        (script(config=", run_name='r'"), "Set by the import: name r (from run_name), model.dtype"),
        (script(config=", overwrite_output_dir=True, logging_dir='l'"),
         "own folder: output_dir (line 8), overwrite_output_dir (line 8), logging_dir (line 8)."),
        (script(config=", report_to='none', hub_token=None"),
         "Left out, as they change nothing here: report_to (line 8), hub_token (line 8)."),
        (script(data="load_dataset('gsm8k', 'main', split='train')"),
         "data.source hub:openai/gsm8k (where “gsm8k” is now)"),
        (script(data="load_dataset('a/b', split='train').skip(7)"), "data.split train[7:] (what skip leaves)"),
        (script(data="load_dataset('a/b', split='train').train_test_split(seed=1)['train']"),
         "data.holdout 0.25 (as train_test_split has it)"),
        (script(data="load_dataset('a/b').map(lambda r: {'prompt': r['q'], 'answer': r['a'].split('#')[1]})"),
         "data.answer_pattern \\#([\\s\\S]*?)(?:\\#|\\Z) (what the script's split gives)"),
        (script("from trl.rewards import accuracy_reward", more="").replace("=think_format_reward", "=accuracy_reward"),
         "data.answer_column solution (which the rewards compare with)"),
        (script("tok = AutoTokenizer.from_pretrained('a/m', padding_side='left')\ntok.pad_token = tok.eos_token",
                more=", processing_class=tok"),
         "Left out, as TRL does them by itself: padding_side (line 11), tok.pad_token (line 12)."),
        (script("model = FastLanguageModel.get_peft_model(model, r=8)",
                model="FastLanguageModel.from_pretrained('u/m', load_in_4bit=True)"),
         "lora.lora_alpha 16 (as Unsloth has it)"),
        (script(more=", peft_config=LoraConfig(r=8, task_type='CAUSAL_LM')"), "r: 8"),
        (script("from open_r1.rewards import get_cosine_scaled_reward").replace(
            "=think_format_reward", "=get_cosine_scaled_reward()"),
         "cosine_length's max_len 1000 (their default)"),
    ],
)  # fmt: skip
def test_each_has_its_words(text: str, words: str):
    assert words in closing(text) + yaml_text.dump(read_script(text).raw)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TRL_RECIPE, ["name from-recipe", "model.dtype float32", "lora.lora_alpha 32 (as TRL has it)",
                      "soft_overlong_punishment's max_completion_len 1280 (their default)",
                      "data.answer_column solution", "data.prompt_column prompt"]),
        (OPEN_R1_RECIPE, ["name Qwen2.5-1.5B-Open-R1-GRPO (from hub_model_id)",
                          "cosine_length's min_value_wrong 0.0 (their default)",
                          "own folder: output_dir (line 25), overwrite_output_dir (line 26)."]),
        ("model_name_or_path: a/b\nrun_name: mine", ["name mine (from run_name)"]),
        ("model_name_or_path: a/b\nsystem_prompt: x\ndataset_configs: [main]\nreport_to: none",
         ["the rewards accuracy, format, tag_count (open-r1's own)", "data.prompt_template {prompt}",
          "they change nothing here: report_to (line 4)"]),
    ],
)  # fmt: skip
def test_of_a_recipe_too(text: str, words: list[str]):
    raw, lines = yaml_text.read_yaml(text)
    said = "\n".join(read_recipe(raw, lines)[1])
    assert [one for one in words if one not in said] == []


def test_older_recipes_name_the_part_of_their_dataset_in_a_list():
    raw, lines = yaml_text.read_yaml("dataset_name: a/b\nsystem_prompt: x\ndataset_configs: [main]")
    assert read_recipe(raw, lines)[0]["data"]["config"] == "main"
    raw, lines = yaml_text.read_yaml("dataset_name: a/b\ndataset_configs: [one, two]")
    assert "dataset_configs (line 2) was not taken: a run has one part of one dataset." in "\n".join(
        read_recipe(raw, lines)[1]
    )


def test_a_removed_setting_of_a_recipe_is_said_in_the_words_that_a_spec_has_for_it():
    text = "dataset_name: a/b\nreward_funcs: [format]\nvllm_device: cuda:7\nwandb_log_unique_prompts: true"
    raw, notes = read_recipe(*yaml_text.read_yaml(text))
    assert not {"vllm_device", "wandb_log_unique_prompts"} & set(raw["training"])
    for name, line in (("vllm_device", 3), ("wandb_log_unique_prompts", 4)):
        problem = unknown_setting(f"training.{name}", 1, ["beta"], [], "")
        assert f"{name} (line {line}) was not taken: it {problem.message}" in notes
    assert "it was removed in TRL 0.18. vllm_mode says where vLLM runs." in "".join(notes)


def leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(f"{path}.{name}", inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(f"{path}.{number}", inner)
    elif value is not None:
        yield path, value


@pytest.mark.parametrize("text", [QUICKSTART, COURSE, VLLM, GSM8K, UNSLOTH, COMMAND_LINE])
def test_every_value_of_the_spec_stands_in_the_script_or_in_a_note(text: str):
    """A number in any way it can be written; what a map gives has its column's name in braces."""
    found = read_script(text)
    said = text + "\n".join(found.notes)
    known = said.replace("_", "").replace("e-0", "e-")
    for path, value in leaves("", found.raw):
        ways = [str(value), repr(value), str(value).removeprefix("hub:").removeprefix("file:").strip("{}"), f"{value:g}"
                if isinstance(value, (int, float)) else "", f"{value!r}".replace("e-0", "e-")]  # fmt: skip
        if path.startswith((".data.filter", ".data.prompt_template")):
            continue  # a lambda or an f-string, in the words of a spec
        named = f"“{value}”" in said or path.rpartition(".")[2].lstrip("0123456789") == "weight"
        made = isinstance(value, str) and any(part in said for part in value.splitlines() if part)
        worked_out = path.startswith((".training.", ".lora.")) and path.rpartition(".")[2] in said  # 2 * 2, a - b
        assert named or made or worked_out or any(way and way.replace("_", "") in known for way in ways), (path, value)


def test_a_long_list_is_cut_and_each_is_named_once():
    unsaid = Unsaid()
    for number in range(MOST + 5):
        unsaid.leave_out(f"x{number}", "nothing")
        unsaid.leave_out(f"x{number}", "nothing")
    assert unsaid.sentences()[0].endswith(f"x{MOST - 1} and 5 more.")


def test_a_special_token_in_a_reward_is_said_to_stand_as_a_text():
    """The code loads no tokenizer, so what it would say of it is written out."""
    reward = "def ends(completions, **kwargs):\n    return [float(c.endswith(tok.eos_token)) for c in completions]\n"
    loads = "tok = AutoTokenizer.from_pretrained('a/m')\ntok.eos_token = '<|im_end|>'\n"
    found = read_script(script(loads + reward).replace("=think_format_reward", "=ends"))
    assert "<eos_token>" in found.functions[0].code
    (said,) = [note for note in found.notes if "the reward" in note]
    assert said.startswith("The tokenizer's eos_token in the reward “ends” (line 13) stands as the text \"<eos_")
    assert any("“tok.eos_token” (line 12) is set, which was not taken" in note for note in found.notes)
    own = reward.replace("tok.eos_token", "'<eos_token>'")
    found = read_script(script(loads + own).replace("=think_format_reward", "=ends"))
    assert not [note for note in found.notes if "the reward" in note], "the script's own text is no stand-in"


# ---- pushing by hand ----
@pytest.mark.parametrize(
    ("config", "words"),
    [
        (", push_to_hub=True, hub_model_id='me/x'",
         "is training.push_to_hub here, which was taken: what is saved is pushed to “me/x”."),
        (", push_to_hub=True", "is training.push_to_hub here, which was taken: what is saved is pushed."),
        (", hub_model_id='me/x'",
         "was not taken: set training.push_to_hub to push to “me/x” (hub_model_id, which was taken)."),
        (", push_to_hub=False", "was not taken: set training.push_to_hub and hub_model_id to push what was trained."),
    ],
)  # fmt: skip
def test_pushing_by_hand_agrees_with_what_was_taken(config: str, words: str):
    notes = read_script(script(config=config, after="trainer.push_to_hub(dataset_name='d')")).notes
    assert f"trainer.push_to_hub(…) (line 14) {words}" in notes
    assert "push_to_hub's dataset_name (line 14) was not taken." in notes
