"""What a script does several times, rows that are cut before they are shuffled, and options that a run has its own of:
each is in the spec or is said."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.storage.test_script_nothing_dropped import HEAD, read, script

CALL = "trainer.train()"
LOOP = "trainer.train(…) (line 14) is called in a loop, and a run trains once."
AGAIN = "if done:\n    trainer.train(resume_from_checkpoint='x')\nelse:\n    trainer.train()"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("for epoch in range(3):\n    trainer.train()", "trainer.train(…) (line 14) is called 3 times, and a run"),
        ("for epoch in range(300):\n    trainer.train()", LOOP),
        ("while True:\n    trainer.train()", LOOP),
        ("def once():\n    trainer.train()\nonce()\nonce()", "trainer.train(…) (line 14) is called 2 times"),
        ("trainer.train()\ntrainer.train()", "trainer.train(…) (line 13) is called 2 times"),
        ("trainer.train()\nif more:\n    trainer.train()", "trainer.train(…) (line 13) is called 2 times"),
    ],
)
def test_a_script_that_trains_several_times_is_told_that_a_run_does_it_once(code: str, words: str) -> None:
    assert words in read(script().replace(CALL, code))[1]


@pytest.mark.parametrize(
    "code", [CALL, AGAIN, f"def main():\n    if x:\n        {CALL}\n        return\n    {CALL}\nmain()"]
)
def test_one_that_trains_on_one_of_two_ways_trains_once(code: str) -> None:
    assert "a run trains once" not in read(script().replace(CALL, code))[1]


@pytest.mark.parametrize(
    ("steps", "split", "limit"),
    [
        (".skip(10).shuffle(seed=1).select(range(500))", "train[10:2000]", 500),
        (".shuffle(seed=1).select(range(500))", "train[:2000]", 500),
        (".shuffle().select(range(500))", "train[:2000]", 500),
        (".filter(lambda r: r['x'] > 3)", "train[:2000]", None),
        (".train_test_split(0.1, seed=1)['train']", "train[:2000]", None),
        (".select(range(500))", "train", 500),
        (".skip(3000)", "train[:2000]", None),
    ],
)
@pytest.mark.parametrize("cut", ["split='train[:2000]')", "split='train').select(range(2000))"])
def test_the_first_rows_that_are_chosen_before_all_else_stay_so(
    cut: str, steps: str, split: str, limit: int | None
) -> None:
    raw, said = read(script(data=f"load_dataset('a/b', {cut}{steps}"))
    assert (raw["data"]["split"], raw["data"].get("limit")) == (split, limit)
    assert "comes after" not in said and ("skip(…)" in said) == ("3000" in steps)


def test_of_a_file_the_number_of_rows_that_is_lost_is_said() -> None:
    data = "load_dataset('csv', data_files='x.csv', split='train[:2000]').shuffle(seed=1).select(range(500))"
    assert "shuffle(…) (line 9) comes after the limit of 2,000 in the script" in read(script(data=data))[1]


MODEL = "AutoModelForCausalLM.from_pretrained('a/m', quantization_config={})"


@pytest.mark.parametrize("config", ["BitsAndBytesConfig(load_in_4bit=True, {})", "dict(load_in_4bit=True, {})"])
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("bnb_4bit_quant_type='fp4'", "bnb_4bit_quant_type (line 10) was not taken: 4-bit models are nf4, quantised"),
        ("bnb_4bit_use_double_quant=False", "bnb_4bit_use_double_quant (line 10) was not taken: 4-bit models are nf4"),
        (
            "bnb_4bit_compute_dtype=torch.float16",
            "bnb_4bit_compute_dtype (line 10) was not taken: 4-bit models compute",
        ),
        ("llm_int8_threshold=3.0", "llm_int8_threshold (line 10) was not taken: a spec has no place for it."),
        ("bnb_4bit_quant_type='nf4'", "Left out, as a run does the same: bnb_4bit_quant_type (line 10)."),
    ],
)
def test_how_a_model_is_quantised_is_taken_or_said(config: str, option: str, words: str) -> None:
    found = read_script(script(model=MODEL.format(config.format(option))))
    assert found.raw["model"] == {"id": "a/m", "quantization": "4bit"} and words in "\n".join(found.notes)


def test_a_rewards_factory_that_the_defaults_do_not_use_is_said_to_be_so() -> None:
    made = "from open_r1.rewards import get_cosine_scaled_reward as cosine\nREG = {'cosine': cosine(max_len=1000)}"
    said = read(script(made))[1]
    assert "(line 12) was not taken: it is not among the reward functions that the script uses by its defaults." in said
    assert "The built-in “cosine_length” does the same." in said


@pytest.mark.parametrize(("tracker", "variable"), [("wandb", "WANDB_PROJECT"), ("trackio", "TRACKIO_PROJECT")])
def test_a_trackers_project_in_the_environment_is_taken_where_it_is_reported_to(tracker: str, variable: str) -> None:
    code = f"os.environ['{variable}'] = 'countdown'"
    raw, said = read(script(code, config=f", report_to='{tracker}'"))
    assert raw["training"]["project"] == "countdown" and said == ""
    raw, said = read(script(code))
    assert "project" not in raw["training"] and f"Set training.report_to to {tracker}, and training.project" in said


TIMES = "(line 11) is called 2 times: only what reaches the trainer was taken."


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("for n in [4, 8]:\n    args = GRPOConfig('o', num_generations=n)", f"GRPOConfig(…) {TIMES}"),
        ("for n in [4, 8]:\n    lora = LoraConfig(r=n)", f"LoraConfig(…) {TIMES}"),
        ("def load(name):\n    return load_dataset(name)\nother = load('c/d')\ndata = load('a/b')",
         f"load_dataset(…) {TIMES}"),
        ("for n in [4, 8]:\n    trainer = GRPOTrainer('a/m', think_format_reward, args, data)",
         "The trainer (line 11) is made 2 times: only the one that is trained was taken."),
    ],
)  # fmt: skip
def test_what_one_line_makes_several_times_is_not_called_untaken_where_one_was_taken(code: str, words: str) -> None:
    made = "trainer = GRPOTrainer('a/m', think_format_reward, args, data, peft_config=lora)\n"
    begin = "args, lora, data = GRPOConfig('o'), None, load_dataset('a/b')"
    said = read(f"{HEAD}{begin}\n\n{code}\n{'' if 'GRPOTrainer(' in code else made}trainer.train()\n")[1]
    assert words in said and "line 11) does not" not in said and "never trained" not in said
