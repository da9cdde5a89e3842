"""What a script says arrives in the spec, or is said: every argument of the trainer, every field of its config, and
each thing that people do between them."""

from __future__ import annotations

from typing import Any

import pytest

from groupwise.storage.checks.script_reader import read_script
from groupwise.storage.checks.script_reader.places import PLACES
from tests.support.foreign_scripts import without_closing

HEAD = """
import os, random, torch
from datasets import load_dataset, concatenate_datasets
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import think_format_reward
"""


def script(before: str = "", data: str = "load_dataset('a/b', split='train')", model: str = "'a/m'", more: str = "",
           config: str = "", after: str = "") -> str:  # fmt: skip
    """A whole script with something in one of its places."""
    return (
        f"{HEAD}args = GRPOConfig(output_dir='o', beta=0.1{config})\ndata = {data}\nmodel = {model}\n{before}\n"
        f"trainer = GRPOTrainer(model=model, reward_funcs=think_format_reward, args=args, train_dataset=data{more})\n"
        f"trainer.train()\n{after}\n"
    )


ALWAYS = "think_format_reward (line 7) became the built-in "


def read(text: str) -> tuple[dict[str, Any], str]:
    """The settings, and the notes that not every script has: what the import always says is in test_script_unsaid."""
    found = read_script(text)
    return found.raw, "\n".join(note for note in without_closing(found.notes) if not note.startswith(ALWAYS))


def test_the_script_that_the_others_vary_is_taken_without_a_word():
    raw, said = read(script())
    assert said == "" and raw["training"] == {"beta": 0.1} and raw["data"]["source"] == "hub:a/b"
    assert raw["model"] == {"id": "a/m", "dtype": "float32"} and "lora" not in raw


# ---- faults that were found: taken wrongly, without a word ----
def test_a_lora_config_that_is_not_passed_is_not_taken():
    raw, said = read(script("peft = LoraConfig(r=8)"))
    assert "lora" not in raw and "LoraConfig(…) (line 11) does not reach the trainer: no LoRA was taken." in said
    raw, said = read(script("one = LoraConfig(r=8)\ntwo = LoraConfig(r=4)", more=", peft_config=two"))
    assert raw["lora"] == {"r": 4} and "LoraConfig(…) (line 11) does not reach the trainer" in said
    assert "no LoRA was taken" not in said and "LoRA is that of LoraConfig(…) (line 12)." in said
    wrapped = "unused = LoraConfig(r=8)\nmodel = FastLanguageModel.get_peft_model(model, r=24, lora_alpha=48)"
    raw, said = read(script(wrapped, model="FastLanguageModel.from_pretrained('u/m')"))
    assert raw["lora"] == {"r": 24, "lora_alpha": 48} and "no LoRA was taken" not in said
    assert "it was not taken. LoRA is that of FastLanguageModel.get_peft_model(…) (line 12)." in said


def test_what_is_set_on_a_lora_config_that_is_not_passed_is_said_to_go_nowhere():
    raw, said = read(script("lora = LoraConfig(r=8)\nlora.r = 64"))
    assert "lora" not in raw and "no LoRA was taken." in said and "no place" not in said
    assert "“lora.r” (line 12) is set on a LoraConfig that does not reach the trainer: it was not taken." in said
    raw, said = read(script("lora = LoraConfig(r=8)\nlora.r = 64", more=", peft_config=lora"))
    assert raw["lora"]["r"] == 64 and said == ""


def test_unsloths_get_peft_model_is_taken():
    made = "FastLanguageModel.from_pretrained('u/m', load_in_4bit=True)"
    wrap = (
        "model, tokenizer = model\nmodel = FastLanguageModel.get_peft_model(model, r=32, lora_alpha=64, random_state=7)"
    )
    raw, said = read(script(wrap, model=made, more=", processing_class=tokenizer"))
    assert raw["lora"] == {"r": 32, "lora_alpha": 64}
    assert raw["model"] == {"id": "u/m", "quantization": "4bit"} and "random_state (line 12)" in said
    raw, said = read(script(wrap, model="FastLanguageModel.from_pretrained('u/m')"))
    assert (
        raw["model"]["quantization"] == "4bit" and "Unsloth (line 10) loads in 4 bit where nothing else is said" in said
    )


def test_of_two_datasets_the_one_that_reaches_the_trainer_is_taken():
    two = "other = load_dataset('c/d', split='train')\nother = other.map(lambda r: {'prompt': r['z']})"
    raw, said = read(script(two, data="load_dataset('a/b', split='train').map(lambda r: {'prompt': 'Q ' + r['q']})"))
    assert raw["data"]["source"] == "hub:a/b" and raw["data"]["prompt_template"] == "Q {q}"
    assert "load_dataset(…) (line 11) does not reach the trainer as its training data" in said
    raw, said = read(script(f"{two}\ndata = other"))
    assert raw["data"]["source"] == "hub:c/d" and raw["data"]["prompt_column"] == "z"
    assert "load_dataset(…) (line 9) does not reach the trainer" in said


def test_of_two_maps_the_second_works_on_what_the_first_made():
    data = (
        "load_dataset('a/b', split='train').map(lambda r: {'text': 'Task: ' + r['q'], 'gold': r['a'].split('####')[1]})"
        ".map(lambda r: {'prompt': r['text'] + ' Go.', 'answer': r['gold'].strip()}, remove_columns=['q'])"
    )
    raw, said = read(script(data=data))
    assert raw["data"]["prompt_template"] == "Task: {q} Go." and raw["data"]["answer_column"] == "a"
    assert raw["data"]["answer_pattern"] == r"####\s*(.+)" and "Removing columns (line 9)" in said


@pytest.mark.parametrize(
    ("cut", "pattern", "note"),
    [
        ("r['a'].split('####')[-1].strip()", r"####\s*(.+)", None),
        ("r['a'].split('####')[1].strip().replace(',', '')", r"####\s*(.+)", "replace(',', '') (line 9) on “answer”"),
        ("r['a'].replace(',', '').replace('$', '')", None, "replace(',', '') and replace('$', '') (line 9)"),
        ("r['a'].lower()", None, "lower() (line 9) on “answer”"),
        ("float(r['a'])", None, "“answer” (line 9) is made float in the script"),
        ("re.search(r'is (\\d+)', r['a']).group(1)", r"is (\d+)", None),
        ("re.sub('x', '', r['a'])", None, "sub('x', '') (line 9) on “answer”"),
        ("r['a'].rpartition(': ')[2]", r"(?:\A|:\ )((?:(?!:\ )[\s\S])*)\Z", None),
        ("solve(r['a'])", None, "“answer” (line 9) is cut out of the column “a”: set the answer pattern here."),
        ("r['a'] + r['b']", None, "“answer” (line 9) is computed by the script"),
    ],
)
def test_what_is_cut_out_of_an_answer_is_a_pattern_or_said(cut: str, pattern: str | None, note: str | None):
    data = f"load_dataset('a/b', split='train').map(lambda r: {{'prompt': r['q'], 'answer': {cut}}})"
    raw, said = read(script(data=data))
    assert raw["data"].get("answer_pattern") == pattern
    assert (note in said) if note else said == ""


@pytest.mark.parametrize(
    ("cut", "numbers"),
    [
        ("r['a'].replace(',', '')", "point"),
        ("r['a'].strip().replace(',', '.')", "comma"),
        ("r['a'].replace('$', '').replace(',', '')", "point"),
        ("r['a'].replace('.', '').replace(',', '.').replace(' €', '')", "comma"),
        ("r['a'].replace('x', '')", None),
    ],
)
def test_what_makes_plain_numbers_of_answers_is_a_setting(cut: str, numbers: str | None):
    data = f"load_dataset('a/b', split='train').map(lambda r: {{'prompt': r['q'], 'answer': {cut}}})"
    raw, said = read(script(data=data))
    assert raw["data"].get("answer_numbers") == numbers
    assert (f"became answer_numbers: {numbers}" if numbers else "was not taken") in said
    assert ("became" in said) != ("was not taken" in said) and said.count(" on “answer”") == 1, "one note, and true"


# ---- dropped without a word ----
TRAINER = [name for name in PLACES if name not in ("model", "reward_funcs", "args", "train_dataset")]


@pytest.mark.parametrize("name", TRAINER)
def test_every_argument_of_the_trainer_is_taken_or_said(name: str):
    raw, said = read(script(more=f", {name}=thing()"))
    assert "lora" not in raw and f"{name if name != 'quantization_config' else 'The quantization'} (line 12)" in said
    assert read(script(more=f", {name}=None"))[1] == ""


OWN_CLASS = "class T(GRPOTrainer):\n    def {}(self, *a, **k):\n        return 0"
SEED_HOLDS = "was not taken: a run trains with training.seed (42 by default), which TRL sets by itself."
DROPPED = [
    # what a script does, and the words that say so
    (script(more=", callbacks=[Stop()]"), "callbacks (line 12) was not taken"),
    (script("opt = torch.optim.AdamW(model.parameters())", more=", optimizers=(opt, None)"), "optimizers (line 12)"),
    (script("tok = AutoTokenizer.from_pretrained('other/tok')", more=", processing_class=tok"),
     "is another tokenizer (other/tok)"),
    (script("tok = AutoTokenizer.from_pretrained('a/m')\ntok.chat_template = 'x'", more=", processing_class=tok"),
     "“tok.chat_template” (line 12) is set, which was not taken"),
    (script("test = load_dataset('a/b', split='test')", more=", eval_dataset=test"), "eval_dataset (line 11)"),
    (script(data="load_dataset('a/b', split='train').shuffle(seed=1).select(range(10, 20))"),
     "select(…) (line 9) keeps rows 11 to 20 after shuffle(…), and was not taken: here all are used, the first"),
    (script(data="load_dataset('a/b', split='train').shuffle(seed=1).skip(5)"),
     "skip(…) (line 9) keeps rows from 6 on after shuffle(…), and was not taken: here all are used, the first 5"),
    (script(data="load_dataset('a/b', split='train').select([1, 5, 7])"), "select(…) (line 9) chooses rows in a way"),
    (script(data="load_dataset('a/b', split='train').sort('x')"), "sort(…) (line 9) on the data was not taken"),
    (script("data = concatenate_datasets([data, data])"), "concatenate_datasets(…) (line 11) was not taken"),
    (script(data="load_dataset('a/b', split='train').shuffle()"), "shuffle(…) (line 9) has no seed"),
    (script(data="load_dataset('a/b', split='train').train_test_split(0.1)['train']"),
     "train_test_split(…) (line 9) has no"),
    (script(data="load_dataset('json', data_files='d.jsonl')['train'].take(9).shuffle(seed=1)"),
     "shuffle(…) (line 9) comes after the limit of 9 in the script"),
    (script(data="load_dataset('a/b', split='train').filter(lambda r: good(r))"),
     "A filter (line 9) was not taken: it keeps rows where “good(r)”. Say which rows to keep here."),
    (script(data="load_dataset('a/b', split='train').filter(lambda r: r['a'] > 1 and " + "good(r) and " * 20 + "1)"),
     "it keeps rows where “r['a'] > 1 and good(r) and "),
    (script("def keep(r):\n    'Words.'\n    return good(r)\ndata = data.filter(keep, num_proc=4)"),
     "A filter (line 14) was not taken: it keeps rows where “good(r)”. Say"),
    (script("def keep(r):\n    n = len(r['a'])\n    return n > 3\ndata = data.filter(keep)"),
     "A filter (line 14) was not taken: it keeps the rows that “keep” (line 11) chooses. Say"),
    (script("from mine import keep\ndata = data.filter(keep)"),
     "A filter (line 12) was not taken: it keeps the rows that “mine.keep” chooses. Say"),
    (script("data = data.filter(shorter_than(5))"), "it keeps the rows that “shorter_than(5)” chooses. Say"),
    (script(data="pd.read_csv('a.csv')", before="data = data[data['n'].isin(LEVELS)]"),
     "Rows of the table (line 11) are chosen by “data['n'].isin(LEVELS)”: set data.filter"),
    (script(data="load_dataset('a/b', split='train')", before="data = data.select(order[:100])"),
     "select(…) (line 11) chooses rows in a way that a spec cannot (“order[:100]”)"),
    (script("args.max_prompt_length = n"), "max_prompt_length (line 11) was not taken: it was removed in TRL "
     "0.28. Prompts are no longer cut; leave long ones out with a filter under data."),
    (script("args.vllm_device = name()"), "vllm_device (line 11) was not taken: it was removed in TRL 0.18. "
     "vllm_mode says where vLLM runs."),
    (script(data="load_dataset('a/b', split='train').map(make)"), "map(…) (line 9) calls a function"),
    (script(data="load_dataset('a/b', split='train').map(lambda b: f(b), batched=True)"),
     "map(…, batched=True) (line 9)"),
    (script(data="load_dataset('a/b', split='train').rename_column(x, 'prompt')"),
     "rename_column(…) (line 9) is computed"),
    (script(data="load_dataset('a/b', split='train', data_dir='d')"), "load_dataset's data_dir (line 9)"),
    (script(data="Dataset.from_list(rows)"), "Dataset.from_list(…) (line 9) makes the data in the script"),
    (script("setattr(args, name, 3)"), "setattr(…) (line 11) was not taken"),
    (script("__import__('os').system('x')"), "os.system(…) (line 11) was not taken"),
    (script("set_seed(3)"), "was not taken: a run trains with training.seed (42 by "
     "default), which TRL sets by itself. To train with 3, set it there."),
    (script("set_seed(3)", config=", seed=4"),
     "training.seed (4 in the script’s config), which TRL sets by itself."),
    (script("set_seed(3)", config=", seed=f(4)"), "trains with training.seed, which TRL sets by itself."),
    (script("set_seed(f(3))"), f"set_seed(…) (line 11) {SEED_HOLDS}"),
    (script("if f():\n    set_seed(3)"), f"set_seed(…) (line 12) {SEED_HOLDS}"),
    (script("set_seed(3)\nrandom.seed(4)"), f"set_seed(…) (line 11) {SEED_HOLDS}"),
    (script("torch.manual_seed(3)\nrandom.seed(4)"), f"torch.manual_seed(…) (line 11) {SEED_HOLDS}"),
    (script("torch.manual_seed(3)\nrandom.seed(4)"), f"random.seed(…) (line 12) {SEED_HOLDS}"),
    (script("os.environ['CUDA_VISIBLE_DEVICES'] = '0'"), "CUDA_VISIBLE_DEVICES (line 11) is set: it was not taken."),
    (script("os.environ['WANDB_PROJECT'] = 'p'"), "WANDB_PROJECT (line 11) was not taken: every metric is"),
    (script(after="trainer.push_to_hub()"), "trainer.push_to_hub(…) (line 14) was not taken: set training.push_to_hub"),
    (script(after="print(trainer.evaluate())"), "trainer.evaluate(…) (line 14) was not taken"),
    (script(model="AutoModelForCausalLM.from_pretrained('a/m')", after="x = model.generate(y)\nprint(x)"),
     "What comes after the training (line 14) was not taken: model.generate."),
    (script(after="args.beta = 3"), "beta (line 14) is set after the training: it was not taken."),
    (script("model.config.use_cache = False"), "“model.config.use_cache” (line 11) is set, which was not taken"),
    (script("trainer = SFTTrainer(model=model)\ntrainer.train()"), "SFTTrainer(…) (line 11) was not taken"),
    (script("GRPOTrainer._get_per_token_logps = mine"), "“GRPOTrainer._get_per_token_logps” (line 11) is set"),
    (script("wandb.init(project='p')"), "wandb.init(…) (line 11) was not taken"),
    (script("login('hf_abc')"), "login(…) (line 11) was not taken: tokens belong in the environment"),
    (script(model="AutoModelForCausalLM.from_pretrained('a/m', device_map='auto')"),
     "The model's device_map (line 10)"),
    (script(model="AutoModelForCausalLM.from_pretrained('a/m', rope_scaling={})"),
     "The model's rope_scaling (line 10)"),
    (script(model="change(AutoModelForCausalLM.from_pretrained('a/m'))"), "change(…) (line 10) which the model goes"),
    (script(model="PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained('a/m'), 'x')"),
     "A saved adapter (line 10)"),
    (script("args = args if fast else GRPOConfig()"), "beta (line 11) depends on a condition (it may be 0.1)"),
    (script("beta = 1 if fast else 2\nargs.beta = beta"), "beta (line 11) depends on a condition"),
    (script("if fast:\n    args.beta = 0.3"), "beta (line 12) depends on a condition"),
    (script("for rate in rates():\n    args.learning_rate = rate"), "learning_rate (line 12) depends on a condition"),
    (script("try:\n    import x\nexcept ImportError:\n    data = load_dataset('c/d')"),
     "load_dataset(…) (line 14) is called "
     "where something fails"),
    (script(more=", **extra()"), "Some of the trainer's settings (line 12) come from what the script computes"),
    (script(more=", max_prompt=3"), "max_prompt (line 12) was not taken: TRL's GRPOTrainer has no such argument."),
    (script().replace("trainer.train()", "trainer.train(resume_from_checkpoint=True)"),
     "train's resume_from_checkpoint (line 13)"),
    (script(OWN_CLASS.format("compute_loss")).replace("= GRPOTrainer(", "= T("),
     "T.compute_loss (line 12) is its own method, which was not taken"),
    (script(OWN_CLASS.format("__init__")).replace("= GRPOTrainer(", "= T("),
     "T.__init__ (line 12) is its own method"),
    (script().replace("= GRPOTrainer(", "= AsyncGRPOTrainer("),
     "AsyncGRPOTrainer (line 12) was read as TRL's GRPOTrainer"),
    (script(data="load_dataset('a/b', split='train').map(lambda r: {'prompt': r['q'], 'image': r['image']})"),
     "The column “image” (line 9) was not taken: models"),
    (script(after="GRPOTrainer(model='x/y', reward_funcs=f)"), "GRPOTrainer (line 14) is made and never trained"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), DROPPED, ids=[row[1][:40] for row in DROPPED])
def test_what_has_no_place_in_a_spec_is_said_with_its_line(text: str, words: str):
    raw, said = read(text)
    assert words in said, said
    assert "hf_abc" not in said + str(raw)


# ---- taken, as it reaches the trainer ----
TAKEN = [
    (script("setattr(args, 'beta', 0.5)\nargs.top_k = 3"), "training", {"beta": 0.5, "top_k": 3}),
    (script("args.beta = 0.2\nargs.beta = 0.3"), "training", {"beta": 0.3}),
    (script("args = GRPOConfig(seed=3)"), "training", {"seed": 3}),
    (script("args = importlib.import_module('trl').GRPOConfig(seed=3)"), "training", {"seed": 3}),
    (script("class C(GRPOConfig):\n    pass\nargs = C(seed=4)"), "training", {"seed": 4}),
    (script("@dataclass\nclass B(GRPOConfig):\n    beta: float = 0.3\n    seed: int = field(default=5)\n"
            "@dataclass\nclass C(B):\n    beta: float = 0.4\nargs = C(top_k=3)"),
     "training", {"beta": 0.4, "seed": 5, "top_k": 3}),
    (script("class C(GRPOConfig):\n    beta: float = 0.3\nargs = C(seed=4)"), "training", {"seed": 4}),
    (script("def make(rate=1e-5, **rest):\n    return GRPOConfig(learning_rate=rate, **rest)\nargs = make(seed=1)"),
     "training", {"learning_rate": 1e-5, "seed": 1}),
    (script("import argparse\np = argparse.ArgumentParser()\np.add_argument('-l', '--max-steps', type=int, default=5)\n"
            "o = p.parse_args()\nargs = GRPOConfig(max_steps=o.max_steps)"), "training", {"max_steps": 5}),
    (script("from dataclasses import dataclass\n@dataclass\nclass S:\n    rate: float = 2e-5\n    n: int = 4\n"
            "s = S(n=8)\nargs = GRPOConfig(learning_rate=s.rate, num_generations=s.n)"),
     "training", {"learning_rate": 2e-5, "num_generations": 8}),
    (script("args = GRPOConfig(eval_strategy=IntervalStrategy.STEPS)"), "training", {"eval_strategy": "steps"}),
    (script("FAST = True\nif FAST:\n    args.seed = 1\nelse:\n    args.seed = 2"),
     "training", {"beta": 0.1, "seed": 1}),
    (script("for k, v in {'seed': 1, 'top_k': 2}.items():\n    setattr(args, k, v)"), "training",
     {"beta": 0.1, "seed": 1, "top_k": 2}),
    (script(model="AutoModelForCausalLM.from_pretrained('a/x').to('cuda')"), "model", {"id": "a/x"}),
    (script(model="AutoModelForCausalLM.from_pretrained('a/x').to(torch.float16)"),
     "model", {"id": "a/x", "dtype": "float16"}),
    (script("model = get_peft_model(model, LoraConfig(r=2))", model="AutoModelForCausalLM.from_pretrained('a/x')"),
     "lora", {"r": 2}),
    (script(data="load_dataset('a/b', split='train').select(range(10, 20))"), "data",
     {"source": "hub:a/b", "split": "train[10:20]", "prompt_column": "prompt", "answer_column": None}),
    (script("import dataclasses\nargs.seed = 3\nargs = dataclasses.replace(args, beta=0.2)"), "training",
     {"beta": 0.2, "seed": 3}),
    (script("KNOWN = {'think': think_format_reward}\nfuncs = []\nfor name in ['think']:\n    if name in KNOWN:\n"
            "        funcs.append(KNOWN[name])\n    else:\n        raise ValueError(name)").replace(
                "reward_funcs=think_format_reward", "reward_funcs=funcs"), "rewards",
     [{"name": "regular_expression", "parameters": {"pattern": r"\A<think>(?!.*<think>).*?</think>"}, "weight": 1.0}]),
    (script("data, rest = load_dataset('c/d', split=['train[:9]', 'test'])"), "data",
     {"source": "hub:c/d", "split": "train", "limit": 9, "prompt_column": "prompt", "answer_column": None}),
    (script(data="load_dataset('a/b', split='train').skip(7)"), "data",
     {"source": "hub:a/b", "split": "train[7:]", "prompt_column": "prompt", "answer_column": None}),
    (script(data="load_dataset('a/b')['train'].filter(lambda r: r['n'] > 3 and 'x' in r['t']).shuffle(seed=2)"
                 ".select(range(min(50, 100)))"), "data",
     {"source": "hub:a/b", "split": "train", "filter": ["n > 3", 't contains "x"'], "shuffle": 2, "limit": 50,
      "prompt_column": "prompt", "answer_column": None}),
    (script(data="load_dataset('a/b', split='train').train_test_split(test_size=50, seed=9)['train']"), "data",
     {"source": "hub:a/b", "split": "train", "holdout": 50, "shuffle": 9, "prompt_column": "prompt",
      "answer_column": None}),
    (script(data="load_dataset('a/b', split='train').rename_columns({'q': 'prompt', 'a': 'answer'})"), "data",
     {"source": "hub:a/b", "split": "train", "prompt_column": "q", "answer_column": "a"}),
    (script("def shape(r, tokenizer):\n    chat = [{'role': 'user', 'content': r['q']}]\n    return {'prompt': "
            "tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)}\n"
            "data = data.map(shape, fn_kwargs={'tokenizer': tok})"), "data",
     {"source": "hub:a/b", "split": "train", "prompt_template": "{q}", "answer_column": None}),
    (script("data = load_dataset('csv', data_files={'train': 'd/x.csv'})['train']"), "data",
     {"source": "file:x.csv", "prompt_column": "prompt", "answer_column": None}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part", "found"), TAKEN, ids=[f"{n}-{row[1]}" for n, row in enumerate(TAKEN)])
def test_the_value_that_reaches_the_trainer_is_taken(text: str, part: str, found: object):
    assert read(text)[0].get(part) == found


def test_what_is_set_after_the_trainer_was_made_is_taken_and_said():
    text = script().replace("trainer.train()", "trainer.args.max_steps = 7\ntrainer.train()")
    raw, said = read(text)
    assert raw["training"]["max_steps"] == 7 and "max_steps (line 13) is set after the trainer was made" in said


def test_the_trainer_that_is_trained_is_taken():
    text = HEAD + "a = GRPOTrainer('a/a', reward_funcs=f)\nb = GRPOTrainer('b/b', reward_funcs=g)\nb.train()"
    raw, said = read(text)
    assert raw["model"]["id"] == "b/b" and "GRPOTrainer (line 8) is made and never trained" in said


def test_a_function_that_nobody_calls_is_followed_with_its_defaults():
    raw, said = read(HEAD + "def main(rate=1e-4):\n    GRPOTrainer('a/m', args=GRPOConfig(learning_rate=rate)).train()")
    assert raw["training"] == {"learning_rate": 1e-4} and "main (line 8) is called nowhere in the script" in said


# ---- how a model is loaded that TRL does not load ----
KWARGS = ", model_init_kwargs={'torch_dtype': 'bfloat16'}"


@pytest.mark.parametrize("model", ["AutoModelForCausalLM.from_pretrained('a/m')", "build('a/m')"])
def test_model_init_kwargs_of_a_model_that_is_passed_loaded_are_said(model: str):
    raw, said = read(script(model=model, config=KWARGS))
    assert "dtype" not in raw["model"]
    after = "was not taken: TRL reads it only for a model that is passed by its name."
    assert f"model_init_kwargs (line 8) {after}" in said


def test_model_init_kwargs_of_a_model_by_its_name_are_taken():
    raw, said = read(script(config=KWARGS))
    assert raw["model"] == {"id": "a/m", "dtype": "bfloat16"} and said == ""
    assert read(script(model="AutoModelForCausalLM.from_pretrained('a/m')", config=", model_init_kwargs=None"))[1] == ""


# ---- rows by their number, of rows that stand in another order here ----
@pytest.mark.parametrize("lost", ["sort('x')", "shuffle()", "shuffle(seed=now())"])
@pytest.mark.parametrize("chosen", ["skip(10)", "select(range(100))", "select(range(10, 20))", "take(5)"])
def test_once_the_order_is_lost_no_rows_are_chosen_by_their_number(lost: str, chosen: str):
    raw, said = read(script(data=f"load_dataset('a/b', split='train').{lost}.{chosen}"))
    name = lost.partition("(")[0]
    if name == "shuffle" and chosen in ("select(range(100))", "take(5)"):  # so many of any rows
        assert raw["data"]["limit"] == (5 if chosen == "take(5)" else 100) and "shuffle(…) (line 9) has" in said
        return
    assert raw["data"]["split"] == "train" and "limit" not in raw["data"]
    assert f"{chosen.partition('(')[0]}(…) (line 9) was not taken, as {name}(…) before it was not" in said


def test_rows_are_skipped_after_a_filter_and_not_before_it():
    for kept in ("lambda r: r['x'] > 3", "lambda r: good(r)"):
        raw, said = read(script(data=f"load_dataset('a/b', split='train').filter({kept}).skip(10)"))
        assert raw["data"]["split"] == "train"
        assert "skip(…) (line 9) keeps rows from 11 on after filter(…), and was not taken: here all are used" in said


def test_of_rows_that_cannot_be_left_out_it_is_told_which_are_used_in_the_end():
    data = "load_dataset('a/b', split='train').shuffle(seed=1).select(range(100, 900))"
    raw, said = read(script(data=f"{data}.select(range(50))"))
    assert raw["data"]["limit"] == 50
    assert "keeps rows 101 to 900 after shuffle(…), and was not taken: here the first 50 of all are used. Set" in said


@pytest.mark.parametrize(
    ("steps", "said", "limit"),
    [
        (".skip(10).select(range(5, 500))", "skip(…) and select(…) (line 9) keep rows 16 to 510, and were not", None),
        (".skip(10)\\\n.select(range(5, 500))", "skip(…) and select(…) (line 9) keep rows 16 to 510, and were", None),
        (".filter(good).skip(10).skip(5)", "skip(…) (line 9) keeps rows from 16 on after filter(…), and was not", None),
        (".skip(10).filter(good).skip(5)", "skip(…) (line 9) keeps rows from 6 on after filter(…), and was not", None),
        (".take(100).skip(20).take(90)", "keeps rows 21 to 100, and was not taken: here the first 80 of all", 80),
        (".take(5).skip(10)", "skip(…) (line 9) leaves no rows: it was not taken.", 5),
        (".select(chosen).select(range(5))", "was not taken, as select(…) before it was not: set data.limit", None),
    ],
)
def test_steps_that_choose_rows_one_after_the_other_are_said_by_the_rows_that_all_leave(steps, said, limit):
    raw, notes = read(script(data=f"load_dataset('json', data_files='x.jsonl', split='train'){steps}"))
    assert said in notes and raw["data"].get("limit") == limit


@pytest.mark.parametrize(
    ("before", "value", "beta"),
    [
        ("betas = [0.2, 0.3]", "betas.pop()", 0.3),
        ("betas = [0.2, 0.3]", "betas.pop(0)", 0.2),
        ("conf = {'lr': 1}", "conf.pop('beta', 0.4)", 0.4),
        ("conf = {'beta': 0.5}", "conf.pop('beta', 0.4)", 0.5),
        ("conf = {'lr': 1}", "conf.setdefault('beta', 0.4)", 0.4),
        ("conf = load()", "conf.pop('beta', 0.4)", None),
        ("conf = {**load()}", "conf.pop('beta', 0.4)", None),
        ("conf = {**load()}", "conf.setdefault('beta', 0.4)", None),
        ("betas = [0.2, *more]", "betas.pop()", None),
        ("betas = [0.2, 0.3]\nbetas.sort()", "betas.pop()", None),
    ],
)
def test_what_is_taken_out_of_a_list_or_a_dict_is_that_value_or_said(before: str, value: str, beta: float | None):
    """It was None, without a word, where the dict had no such key, and for every list."""
    raw, said = read(script(f"{before}\nargs.beta = {value}"))
    assert raw["training"].get("beta") == beta
    assert ("beta (line " in said) == (beta is None)
