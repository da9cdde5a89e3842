"""What people's own scripts do between the data and the trainer: methods that make prompts, templates that are filled
in other ways, configs that are copied, flags that are off, models under a saved adapter."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.spec.words.problem import SpecError
from tests.storage.test_script_nothing_dropped import read, script

PIPELINE = """
class Pipeline:
    SYSTEM = "Be careful."
    def __init__(self, longest):
        self.longest = longest
    def short(self, row):
        return len(row["q"]) < self.longest
    def shape(self, row):
        user = {"role": "user", "content": f"Q: {row['q']}"}
        return {"prompt": [{"role": "system", "content": self.SYSTEM}, user], "answer": row["a"]}
    @staticmethod
    def plain(row):
        return {"prompt": "Task: " + row["q"]}
    def rows(self, data):
        return data.filter(self.short).map(self.shape)
"""


def test_methods_that_filter_and_shape_rows_are_followed():
    raw, said = read(script(f"{PIPELINE}data = Pipeline(900).rows(data)"))
    assert said == "" and raw["data"]["filter"] == ["length of q < 900"]
    assert raw["data"]["system_prompt"] == "Be careful." and raw["data"]["prompt_template"] == "Q: {q}"
    assert raw["data"]["answer_column"] == "a"
    raw, said = read(script(f"{PIPELINE}data = data.map(Pipeline(1).plain)"))
    assert said == "" and raw["data"]["prompt_template"] == "Task: {q}"


@pytest.mark.parametrize(
    ("made", "template"),
    [
        ("'Q: {q}\\nOptions: {options}'.format(**r)", "Q: {q}\nOptions: {options}"),
        ("'Q: {q}'.format_map(r)", "Q: {q}"),
        ("'Q: <<q>>, <<q>>'.replace('<<q>>', r['q'])", "Q: {q}, {q}"),
        ("'A [a] B [b]'.replace('[a]', r['x']).replace('[b]', r['y'])", "A {x} B {y}"),
    ],
)
def test_a_template_that_is_filled_with_columns_is_the_prompts(made: str, template: str):
    raw, said = read(script(f"data = data.map(lambda r: {{'prompt': [{{'role': 'user', 'content': {made}}}]}})"))
    assert said == "" and raw["data"]["prompt_template"] == template


def test_a_replacement_of_what_a_template_does_not_hold_is_no_template():
    raw, said = read(script("data = data.map(lambda r: {'prompt': 'Q'.replace('<<q>>', r['q'])})"))
    assert "prompt_template" not in raw["data"] and "The prompt (line 11) is made by the script" in said


def test_a_text_behind_the_chat_template_is_said_and_the_messages_are_taken():
    chat = "tok.apply_chat_template([{'role': 'user', 'content': r['q']}], tokenize=False, add_generation_prompt=True)"
    raw, said = read(script(f"tok = load_tokenizer()\ndata = data.map(lambda r: {{'prompt': {chat} + '<think>\\n'}})"))
    assert raw["data"]["prompt_template"] == "{q}"
    assert "“<think>” behind the chat template (line 12) was not taken" in said


@pytest.mark.parametrize("seed", ["args.seed", "seed"])
def test_the_configs_own_seed_shuffles(seed: str):
    raw, said = read(script(f"seed = args.seed\ndata = data.shuffle(seed={seed})"))
    assert said == "" and raw["data"]["shuffle"] == 42
    raw, said = read(script("args.seed = 7\ndata = data.train_test_split(0.1, seed=args.seed)['train']"))
    assert raw["data"]["shuffle"] == 7 and "train_test_split's seed 7 (line 12) was taken as data.shuffle" in said


def test_a_seed_that_is_not_known_is_not_called_none():
    raw, said = read(script("data = data.shuffle(seed=pick(), buffer_size=500)"))
    assert "shuffle" not in raw["data"] and "has a seed that could not be taken" in said
    assert "shuffle's buffer_size (line 11) was not taken" in said
    _, said = read(script("data = data.train_test_split(0.1, seed=pick())['train']"))
    assert "train_test_split(…) (line 11) has a seed that could not be taken: the first rows are held out" in said


@pytest.mark.parametrize(
    "copied",
    [
        "copy.deepcopy(args)",
        "GRPOConfig(**args.to_dict())",
        "GRPOConfig(**dataclasses.asdict(args))",
        "dataclasses.replace(args)",
    ],
)
def test_a_config_that_is_copied_keeps_what_it_said(copied: str):
    raw, said = read(script(f"import copy, dataclasses\nargs = {copied}\nargs.learning_rate = 1e-6"))
    assert said == "" and raw["training"] == {"beta": 0.1, "learning_rate": 1e-6}


def test_settings_of_a_dataclass_or_a_namespace_are_spread_into_the_config():
    own = "@dataclasses.dataclass\nclass Own:\n    max_steps: int = 40\n    beta: float = 0.5"
    raw, said = read(script(f"import dataclasses\n{own}\nargs = GRPOConfig(**dataclasses.asdict(Own(beta=0.2)))"))
    assert raw["training"] == {"max_steps": 40, "beta": 0.2} and "computes" not in said
    ask = "parser = argparse.ArgumentParser()\nparser.add_argument('--max_steps', type=int, default=40)"
    raw, said = read(script(f"import argparse\n{ask}\nargs = GRPOConfig(**vars(parser.parse_args()))"))
    assert raw["training"] == {"max_steps": 40} and "computes" not in said


def test_a_model_under_a_saved_adapter_is_taken_with_how_it_is_loaded():
    load = "AutoModelForCausalLM.from_pretrained('m/b', torch_dtype=torch.float16, attn_implementation='sdpa')"
    raw, said = read(script(f"model = PeftModel.from_pretrained({load}, 'x/adapter', is_trainable=True)"))
    assert raw["model"] == {"id": "m/b", "dtype": "float16", "attn_implementation": "sdpa"}
    after = "is put on the model: it was not taken. Merge it into a model's folder first."
    assert said == f"A saved adapter (line 11) {after}"


def test_how_a_model_is_loaded_is_taken_where_its_name_is_not_known():
    config = ", model_init_kwargs={'attn_implementation': 'sdpa', 'torch_dtype': 'bfloat16', 'low_cpu_mem_usage': True}"
    raw, said = read(script(model="pick()['model']", config=config))
    assert raw["model"] == {"attn_implementation": "sdpa", "dtype": "bfloat16"}
    assert "only for a model that is passed by its name" not in said and "The model's low_cpu_mem_usage" in said


FLAGS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--use_peft", action="store_true")
parser.add_argument("--rows", type=int, default=None)
parser.add_argument("--vllm", action="store_false")
flags = parser.parse_args()
if flags.use_peft:
    print("LoRA")
    model = get_peft_model(model, LoraConfig(r=8))
    args.learning_rate = 1e-5
data = data.select(range(flags.rows)) if flags.rows else data
if flags.vllm:
    args.use_vllm = True
else:
    args.use_vllm = False
if flags.rows:
    print(flags.rows)
"""


def test_what_a_flag_of_the_command_line_would_do_is_said():
    raw, said = read(script(FLAGS))
    assert raw["training"] == {"beta": 0.1, "use_vllm": True} and "lora" not in raw and "limit" not in raw["data"]
    assert (
        "“flags.use_peft” (line 18) does not hold by default, so its block was not taken: "
        "get_peft_model(…), LoraConfig(…), args.learning_rate = ….\n" in said
    )
    after = "does not hold by default, so its block was not taken: data.select(…)"
    assert f"“flags.rows” (line 22) {after}" in said
    assert said.count("does not hold by default") == 2


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("peft = os.getenv('PEFT', '')\nif peft:\n    model = get_peft_model(model, LoraConfig(r=8))", "peft"),
        (
            "from transformers import HfArgumentParser\nfrom dataclasses import dataclass\n@dataclass\nclass Own:\n"
            "    peft: bool = False\n(own,) = HfArgumentParser(Own).parse_args_into_dataclasses()\n"
            "if own.peft:\n    model = get_peft_model(model, LoraConfig(r=8))",
            "own.peft",
        ),
        (
            "import fire\ndef main(peft=False):\n    if peft:\n        global model\n"
            "        model = get_peft_model(model, LoraConfig(r=8))\nfire.Fire(main)",
            "peft",
        ),
    ],
)
def test_what_the_environment_a_dataclass_or_fire_would_switch_on_is_said(before: str, test: str):
    _, said = read(script(before))
    assert f"“{test}” (line " in said and "not taken: get_peft_model(…), LoraConfig(…)." in said


def test_what_the_script_itself_switches_off_is_not_said():
    _, said = read(script("PEFT = False\nif PEFT:\n    model = get_peft_model(model, LoraConfig(r=8))"))
    assert said == ""


def test_what_a_reward_brings_along_is_not_said_to_be_left_out():
    judge = "def judge(completions, **kwargs):\n    return [client.rate(c) for c in completions]"
    raw, said = read(script(f"import some_client\nclient = some_client.Client()\n{judge}\nthink_format_reward = judge"))
    assert said == "" and raw["rewards"] == [{"name": "judge", "weight": 1.0}]
    _, said = read(script("import some_client\nclient = some_client.Client()"))
    assert "some_client.Client(…) (line 12) was not taken" in said


def test_a_script_of_another_trainer_is_refused_by_its_name():
    text = (
        "from trl import RLOOConfig, RLOOTrainer\nRLOOTrainer(model='a/m', args=RLOOConfig(output_dir='o')).train()\n"
    )
    with pytest.raises(SpecError) as refused:
        read_script(text)
    assert refused.value.problems[0].message == (
        "This is not a GRPO script: it calls neither GRPOTrainer nor GRPOConfig. It trains with RLOOTrainer."
    )


ADDED = """
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

def first_rows(completions, idx, **kwargs):
    return [float(n < 9) for n in idx]

data = load_dataset("a/b", split="train").add_column("idx", list(range(9)))
trainer = GRPOTrainer(model="a/m", reward_funcs=first_rows, args=GRPOConfig(), train_dataset=data)
trainer.train()
"""


def test_a_column_that_is_added_and_that_a_reward_takes_is_named_with_it() -> None:
    said = "\n".join(read_script(ADDED).notes)
    assert "it has no place in a spec. first_rows takes idx: put that column into the data." in said
    said = "\n".join(read_script(ADDED.replace('"idx"', '"other"')).notes)
    assert "add_column(…) (line 8) on the data was not taken: it has no place in a spec." in said
    assert "first_rows takes" not in said


def test_removing_no_columns_is_not_said() -> None:
    step = '.add_column("idx", list(range(9)))'
    for nothing in (".remove_columns([])", ".map(lambda row: row, remove_columns=[])"):
        assert "Removing columns" not in "\n".join(read_script(ADDED.replace(step, nothing)).notes)
    assert "Removing columns" in "\n".join(read_script(ADDED.replace(step, ".remove_columns(['x'])")).notes)
