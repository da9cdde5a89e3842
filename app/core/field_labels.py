"""The short list: what a good colleague would call the settings that matter, and what they would say about each.

Everything else about a setting (type, default, help, choices) is read from what is installed. Figures are common
practice, as guides to GRPO give them.
"""

import re

from groupwise.storage.library.models.learning_rates import LORA as LORA_RATES
from groupwise.storage.library.models.learning_rates import SMALL_LORA, SMALL_WHOLE, WHOLE, as_typed

# path → (label, advice). The order is the form's.
RUN = {"name": ("Name", "")}
MODEL = {
    "model.id": ("Model", "choose one, or type a folder on this machine, or an id of the Hugging Face Hub"),
    "model.revision": ("Revision", "a branch, tag or commit of the hub repository"),
    "model.dtype": ("Precision of the weights", "auto keeps what the files hold; bfloat16 halves what float32 takes"),
    "model.quantization": ("Quantisation", "4 or 8 bits a weight, for LoRA on a small GPU; needs bitsandbytes"),
    "model.attn_implementation": ("Attention", "sdpa is built in; flash_attention_2 is faster where it is installed"),
}
LORA = {
    "lora.r": ("LoRA rank", "16 is common practice; higher learns more and takes more memory"),
    "lora.lora_alpha": ("LoRA alpha", "usually twice the rank"),
    "lora.lora_dropout": ("LoRA dropout", "0.05 is common practice"),
    "lora.target_modules": ("LoRA targets", "all-linear: every attention and MLP projection"),
}
TRAINING = {
    "training.num_generations": (
        "Group size",
        "2–3 are too few to compare; 4–8 for simple tasks, 8–16 for reasoning; time grows with it, 32 is four times 8",
    ),
    "training.per_device_train_batch_size": (
        "Completions per device",
        "taken at once on each device; short of memory, halve it and double the accumulation",
    ),
    "training.gradient_accumulation_steps": ("Accumulation", "batches to one update: more time, no more memory"),
    "training.learning_rate": (
        "Learning rate",
        f"{as_typed(WHOLE.usual)} is usual, at most {as_typed(WHOLE.most)}; with LoRA {as_typed(LORA_RATES.usual)}, at "
        f"most {as_typed(LORA_RATES.most)}; the starter takes {as_typed(SMALL_WHOLE.usual)}, with LoRA "
        f"{as_typed(SMALL_LORA.usual)}",
    ),
    "training.max_completion_length": (
        "Max completion length",
        "in tokens: 256 for short answers, 512 for reasoning, 1024 for long proofs; memory and time grow with it",
    ),
    "training.beta": (
        "KL weight",
        "KL: the distance from the starting model. 0.02–0.1 keeps it near; 0: no reference model, and no KL chart",
    ),
    "training.max_steps": ("Steps", "updates of the model; −1 leaves it to the epochs"),
    "training.num_train_epochs": ("Epochs", "passes over the prompts, where no steps are given"),
    "training.temperature": (
        "Temperature",
        "1 keeps a group’s completions different, and only differences give a learning signal",
    ),
    "training.gradient_checkpointing": ("Gradient checkpointing", "recomputes activations to save memory"),
    "training.save_steps": ("Save every", "steps between checkpoints; a run resumes from the last"),
    "training.eval_strategy": ("Evaluate", "on the held-out rows, which it never trains on"),
}
DATA = {
    "data.config": ("Configuration", "the subset, where the dataset has several (GSM8K: main)"),
    "data.split": ("Split", "usually train"),
    "data.revision": ("Revision of the data", "a branch, tag or commit"),
    "data.streaming": ("Streaming", "reads only as many rows as “Rows” says"),
    "data.separator": ("Separator", ""),
    "data.quote": ("Quotes", ""),
    "data.encoding": ("Encoding", ""),
    "data.sheet": ("Sheet", ""),
    "data.skip_lines": ("Lines to skip", "above the heading, such as a title"),
    "data.heading": ("Heading", ""),
    "data.limit": ("Rows", "how many to use at most; empty: all"),
    "data.shuffle": ("Shuffle seed", "a number; empty: in the order of the file"),
    "data.holdout": ("Held out", "rows kept for evaluation: a number, or a share such as 0.05"),
    "data.system_prompt": ("System prompt", "sent before every prompt, e.g. the answer format"),
    "data.prompt_template": ("Template", "the prompt; {column} is filled in from each row"),
    "data.prompt_column": ("Prompt column", "a chat or a text that is used as it is, instead of the template"),
    "data.answer_column": ("Answer column", "what rewards compare with"),
    "data.answer_pattern": ("Answer pattern", "a regular expression; its first group is the answer (GSM8K: #### (.+))"),
    "data.answer_numbers": ("Numbers in answers", "keeps only the number: 58 Stück, = 58 and 58,0 become 58"),
}
KL = {
    "kl.target": (
        "Target KL",
        "beta begins at the KL weight and is adjusted to keep the KL near this, such as 0.05. Empty: beta stays fixed",
    ),
    "kl.rate": ("Rate of change", "how fast beta changes: 0.1 is at most 2 % a generation"),
    "kl.least": ("Lowest beta", "beta never falls below this"),
    "kl.most": ("Highest beta", "beta never rises above this"),
}
LAUNCH = {
    "launch.processes": ("Processes", "one for each GPU that trains"),
    "launch.reward_failures": (
        "Give up after",
        "failed calls in a row of one reward function: the run is saved and ends. 0: never",
    ),
}
SHORT = {**RUN, **MODEL, **LORA, **TRAINING, **DATA, **KL, **LAUNCH}
# The settings of a reward function, their paths below its own.
REWARD = {
    "weight": ("Weight", "correctness weighs most (2); format 0.5–1, length 0.1–0.5"),
    "timeout": ("Time limit", "seconds that one call may take; what takes longer gives no score"),
    "adapt.low": ("Raise it below", "the share of completions that succeed; 0.3 is common practice"),
    "adapt.high": ("Lower it above", "0.8 is common practice"),
    "adapt.up": ("Raise by", "the weight is multiplied by this"),
    "adapt.down": ("Lower by", "the weight is multiplied by this"),
    "adapt.every": ("Every", "steps from one change to the next"),
    "adapt.success": ("Success is", "the score from which a completion counts as right"),
    "adapt.least": ("At least", "the weight does not fall below"),
    "adapt.most": ("At most", "the weight does not rise above"),
}
# How the parts of TRL's and PEFT's names are written that are no plain words.
SPELT = {
    "kl": "KL", "lora": "LoRA", "rslora": "rsLoRA", "dora": "DoRA", "qalora": "QALoRA", "loftq": "LoftQ",
    "vllm": "vLLM", "peft": "PEFT", "vespo": "VESPO", "sapo": "SAPO", "gpu": "GPU", "cpu": "CPU", "tf32": "TF32",
    "ddp": "DDP", "fsdp": "FSDP", "nan": "NaN", "id": "ID", "url": "URL", "neftune": "NEFTune",
    "deepspeed": "DeepSpeed", "ds3": "DeepSpeed 3", "lr": "learning rate", "jit": "JIT", "lm": "LM", "mb": "MB",
    "num": "number of", "optim": "optimizer", "coef": "coefficient", "kwargs": "arguments", "args": "arguments",
    "ref": "reference", "grad": "gradient", "impl": "implementation", "neg": "negative", "pos": "positive",
}  # fmt: skip


def in_words(name: str) -> str:
    """A library's name in words: vllm_gpu_memory_utilization is “vLLM GPU memory utilization”."""
    words = " ".join(SPELT.get(word, word) for word in name.split("_"))
    first = words.split(" ")[0]
    return words[:1].upper() + words[1:] if first.isalpha() and first.islower() else words


# What LoRA begins with when it is switched on: common practice.
USUAL_LORA = {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "target_modules": "all-linear"}
NAMED = ("training", "lora")  # parts whose settings have a library's names
LONG_TEXTS = {"data.system_prompt", "data.prompt_template"}


def own_label(field: str) -> str:
    """What the form calls a setting, by its dotted path: our own word for it; else the library's name, or the path, in
    words (“Per device eval batch size”, “Data source”)."""
    part, _, name = field.partition(".")
    label, _ = SHORT.get(field) or REWARD.get(field) or ("", "")
    if label:
        return label
    if part not in NAMED or not name:
        return re.sub(r"[._]", " ", field).capitalize()
    setting, _, inner = name.partition(".")
    return f"{in_words(setting)}: {inner}" if inner else in_words(setting)


# What New run calls the parts of a spec whose settings stand in lists.
_PLACES = {"rewards": "Rewards", "stages": "Stages", "lora": "LoRA", "data.filter": "Which rows"}


def place_label(path: str) -> str:
    """What New run calls the place of a problem, by its dotted path: Reward 3, Stage 2, KL weight in stage 2."""
    part, _, rest = path.partition(".")
    number, _, inner = rest.partition(".")
    if part in ("rewards", "stages") and number.isdigit():
        nth = int(number) + 1
        if part == "rewards":
            return f"Reward {nth}"
        return f"{own_label(inner)} in stage {nth}" if inner.startswith("training.") else f"Stage {nth}"
    listed = next((each for each in _PLACES if path == each or path.startswith(f"{each}.") and path not in SHORT), "")
    return _PLACES[listed] if listed else own_label(path)


def compared_label(name: str) -> str:
    """What a person calls a setting of the dotted names that runs are compared by (storage.analysis.compare.fields):
    Learning rate, Weight of format, KL weight in stage 2."""
    if name.startswith("stages."):
        _, number, inner = name.split(".", 2)
        return f"{compared_label(inner)} in stage {number}"
    if not name.startswith("rewards."):
        return "LoRA" if name == "lora" else own_label(name)
    _, function, inner = name.split(".", 2)
    if inner.startswith("parameters."):
        return f"{inner.removeprefix('parameters.')} of {function}"
    return f"{REWARD[inner][0] if inner in REWARD else own_label(inner)} of {function}"
