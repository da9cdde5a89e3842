"""The starter model as it ships: small, safe to load offline, and with something left for GRPO to teach."""

import string
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from groupwise.worker.builtin.rewards.correctness import correctness
from groupwise.worker.builtin.rewards.format import format
from groupwise.worker.builtin.starter import MODEL
from groupwise.worker.builtin.tasks.arithmetic import rows

REPOSITORY = MODEL.parents[3]
PRINTABLE = "".join(chr(code) for code in range(32, 127)) + "\n"


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(MODEL, local_files_only=True)


@pytest.fixture(scope="module")
def model():
    return AutoModelForCausalLM.from_pretrained(MODEL, local_files_only=True)


def chat(*messages: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in messages]


def answers(model, tokenizer, questions: list[str], **sampling: object) -> list[str]:
    """One completion of the model for each question."""
    prompts = [chat(("user", question)) for question in questions]
    batch = tokenizer.apply_chat_template(
        prompts, add_generation_prompt=True, padding=True, return_dict=True, return_tensors="pt"
    )
    ids = model.generate(**batch, max_new_tokens=48, **sampling)
    return tokenizer.batch_decode(ids[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)


def test_the_folder_is_small_and_holds_nothing_that_runs_when_loaded():
    files = [file for file in MODEL.iterdir() if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 4 * 2**20
    assert {file.suffix for file in files} == {".safetensors", ".json", ".jinja", ".md"}


def test_no_file_names_the_place_it_was_made_in():
    for file in MODEL.iterdir():
        if file.suffix != ".safetensors":
            text = file.read_text(encoding="utf-8")
            for trace in ["_name_or_path", "/work/", "/tmp/", "/home/", "/root/"]:
                assert trace not in text, f"{file.name} holds {trace}"


def test_the_tokenizer_gives_printable_ascii_back_one_token_a_character(tokenizer):
    ids = tokenizer(PRINTABLE)["input_ids"]
    assert len(ids) == len(PRINTABLE)
    assert tokenizer.decode(ids) == PRINTABLE


def test_an_unknown_character_becomes_the_unknown_token(tokenizer, model):
    ids = tokenizer("1\té漢🙂")["input_ids"]
    assert ids[1:] == [tokenizer.unk_token_id] * 4
    assert isinstance(answers(model, tokenizer, ["ünï+çödé?"])[0], str)


def test_padding_and_the_end_are_tokens_of_their_own(tokenizer, model):
    special = [tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id]
    assert len(set(special)) == 3
    for config in [model.config, model.generation_config]:
        assert [config.pad_token_id, config.eos_token_id] == special[:2]


def test_the_chat_template_renders_a_conversation(tokenizer):
    messages = chat(("system", "Add."), ("user", "1+2?"), ("assistant", "3"), ("user", "2+2?"))
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "<|system|>Add.<|user|>1+2?<|assistant|>3<eos><|user|>2+2?<|assistant|>"
    assert tokenizer.apply_chat_template(messages[:1], tokenize=False) == "<|system|>Add."


def test_a_role_is_one_token(tokenizer):
    ids = tokenizer.apply_chat_template(chat(("user", "1")), add_generation_prompt=True)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == ["<|user|>", "1", "<|assistant|>"]


def test_it_sometimes_has_the_shape_and_sometimes_the_sum_so_that_there_is_something_to_learn(tokenizer, model):
    torch.manual_seed(0)
    sums = rows(200)
    completions = answers(model, tokenizer, [row["question"] for row in sums], do_sample=True)
    shaped = sum(format(completions)) / len(sums)
    right = sum(correctness(completions, answer=[row["answer"] for row in sums])) / len(sums)
    assert 0.1 < shaped < 0.6
    assert 0.2 < right < 0.8


def test_its_most_likely_answer_is_mostly_right(tokenizer, model):
    sums = rows(50)
    completions = answers(model, tokenizer, [row["question"] for row in sums], do_sample=False)
    assert sum(correctness(completions, answer=[row["answer"] for row in sums])) > 40


def test_the_script_makes_such_a_folder_from_nothing(tmp_path: Path):
    command = [sys.executable, "-m", "groupwise.worker.builtin.starter.make", "--steps", "2", "--out", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in MODEL.iterdir()}
    assert AutoModelForCausalLM.from_pretrained(tmp_path).num_parameters() < 1_000_000
    assert set(string.printable[:95]) <= set(AutoTokenizer.from_pretrained(tmp_path).get_vocab())
