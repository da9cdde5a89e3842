"""A recipe as `trl grpo --config` and open-r1 read it, in YAML → the RunSpec it means, with a note for all else."""

import re
from typing import Any

from groupwise.storage.checks.check import OWNED
from groupwise.storage.checks.data import HUB_DATASET
from groupwise.storage.checks.known_rewards import MATH, OPEN_R1, RECIPES_USUAL, recipe_reward
from groupwise.storage.checks.script_reader.model import DTYPES
from groupwise.storage.checks.script_reader.reading import FOLDERS, NOTHING
from groupwise.storage.checks.script_reader.rewards import NAME
from groupwise.storage.checks.script_reader.source import MOVED
from groupwise.storage.checks.script_reader.unsaid import FOLDER, FROM_RECIPE, NO_CHANGE, Unsaid, list_names
from groupwise.storage.spec.spec import MOST_NAME
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.recipe_names import (
    ACCELERATE,
    LORA_OF_RECIPES,
    OF_ACCELERATE,
    RECIPE_ONLY,
    RECIPE_PLACES,
)

_SETTING = re.compile(r"([A-Za-z_]\w*):(?:\s|$)")
_TRL_USUAL = {"max_completion_len": 1280, "soft_punish_cache": 256}  # of get_soft_overlong_punishment in trl grpo
MARKS = {"model_name_or_path", "dataset_name", "reward_funcs", "dataset_mixture", "reward_model_name_or_path"}
# The parameters of open-r1's reward functions: setting → (function, its parameter).
_PARAMETERS = {
    "cosine_min_value_wrong": ("cosine", "min_value_wrong"), "cosine_max_value_wrong": ("cosine", "max_value_wrong"),
    "cosine_min_value_correct": ("cosine", "min_value_correct"),
    "cosine_max_value_correct": ("cosine", "max_value_correct"), "cosine_max_len": ("cosine", "max_len"),
    "repetition_n_grams": ("repetition_penalty", "ngram_size"),
    "repetition_max_penalty": ("repetition_penalty", "max_penalty"),
    "max_completion_len": ("soft_overlong_punishment", "max_completion_len"),
    "soft_punish_cache": ("soft_overlong_punishment", "soft_punish_cache"),
}  # fmt: skip
# Of all datasets of a mixture: what says it here.
_OF_MIXTURES = {
    "seed": " Set data.shuffle.", "test_split_size": " Set data.holdout.", "streaming": " Set data.streaming.",
}  # fmt: skip
_LORA = {name: field for name, (part, field) in RECIPE_PLACES.items() if part == "lora"}


def without_repeats(text: str) -> tuple[str, list[str]]:
    """A recipe's text in which each setting stands once, the last of it, as those who read recipes take it; and a
    sentence for each that stood there twice. What went is a comment: lines keep their numbers."""
    lines, notes = text.split("\n"), []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines):
        found = _SETTING.match(line)
        if found is None:
            continue
        before = seen.get(found[1])
        if before is not None:
            notes.append(f"{found[1]} is given twice (lines {before + 1} and {number + 1}): the last was taken.")
            for at in range(before, _end_of(lines, before)):
                lines[at] = f"# {lines[at]}"
        seen[found[1]] = number
    return "\n".join(lines), notes


def _end_of(lines: list[str], start: int) -> int:
    """The line after the last of the setting that begins at `start`."""
    after = range(start + 1, len(lines))
    return next((at for at in after if lines[at].strip() and not lines[at].startswith((" ", "\t", "-"))), len(lines))


def is_recipe(raw: Any) -> bool:
    """Whether plain values are a recipe of TRL or open-r1 rather than a spec."""
    return isinstance(raw, dict) and bool(MARKS & set(raw)) and not {"model", "rewards", "data"} & set(raw)


def read_recipe(raw: dict[str, Any], lines: dict[str, int]) -> tuple[dict[str, Any], list[str]]:
    """The settings that `spec.from_dict` takes, and a sentence for each thing that was not taken."""
    recipe = _Recipe(raw, lines)
    return recipe.settings(), recipe.notes


class _Recipe:
    """Takes the settings of a recipe one after the other: what is left at the end is GRPOConfig's own."""

    def __init__(self, raw: dict[str, Any], lines: dict[str, int]) -> None:
        self.left = {str(name): value for name, value in raw.items() if value is not None}
        self.lines = lines
        self.notes: list[str] = []
        self.unsaid = Unsaid()
        listed = raw.get("reward_funcs")
        self.functions = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
        self.open_r1 = bool({"dataset_prompt_column", "system_prompt"} & set(raw)) or any(
            isinstance(name, str) and name in OPEN_R1 for name in self.functions
        )
        if self.open_r1 and listed is None:
            self.functions = RECIPES_USUAL
            self.unsaid.set("the rewards", ", ".join(RECIPES_USUAL), "open-r1's own")

    def take(self, name: str, kind: type | tuple[type, ...] = str) -> Any:
        """A setting of this kind, which is dealt with then; None where there is none."""
        value = self.left.pop(name, None)
        if value is None or isinstance(value, kind):
            return value
        self.note(name, "is of another kind than it should be, and was not taken.")
        return None

    def note(self, name: str, after: str) -> None:
        line = self.lines.get(name)
        self.notes.append(f"{name} (line {line}) {after}" if line else f"{name} {after}")

    def settings(self) -> dict[str, Any]:
        name = self._name()
        weights = self.left.pop("reward_weights", None)
        rewards = self._rewards(weights)
        solution = any(reward["name"] in (MATH, "cosine_length") for reward in rewards)
        raw: dict[str, Any] = {"name": name, "model": self._model(), "data": self._data(solution)}
        lora = self._lora()
        raw |= {"lora": lora} if lora is not None else {}
        raw |= {"rewards": rewards} if rewards else {}
        if not rewards:
            self.notes.append("The recipe names no reward functions that could be taken: choose them here.")
        processes = self.take("num_processes", int)
        if processes:
            raw |= {"launch": {"processes": processes}}
            self.note("num_processes", "is accelerate's, and was taken as launch.processes.")
        raw |= {"training": self._training()}
        self.notes += self.unsaid.sentences()
        return raw

    def _name(self) -> str:
        for field in ("run_name", "hub_model_id", "output_dir"):
            said = self.left.get(field)
            last = said.replace("\\", "/").rstrip("/").rpartition("/")[2].strip() if isinstance(said, str) else ""
            if last.strip("."):
                self.unsaid.set("name", last[:MOST_NAME], f"from {field}")
                return last[:MOST_NAME]
        self.unsaid.set("name", FROM_RECIPE)
        return FROM_RECIPE

    def _model(self) -> dict[str, Any]:
        taken: dict[str, Any] = {"dtype": "float32"}
        if not {"torch_dtype", "dtype"} & set(self.left):
            self.unsaid.set("model.dtype", "float32", "as TRL loads a model by its name")
        for name, field in (("model_name_or_path", "id"), ("model_revision", "revision"),
                            ("attn_implementation", "attn_implementation")):  # fmt: skip
            said = self.take(name)
            taken |= {field: said} if said else {}
        for name in ("torch_dtype", "dtype"):
            said = self.take(name)
            if said in DTYPES:
                taken["dtype"] = said
            elif said is not None:
                self.note(name, f"should be one of {', '.join(DTYPES)}.")
        for name, words in (("load_in_8bit", "8bit"), ("load_in_4bit", "4bit")):
            taken |= {"quantization": words} if self.take(name, bool) else {}
        usually = {"bnb_4bit_quant_type": "nf4", "use_bnb_nested_quant": True, "bnb_4bit_quant_storage": None}
        for name, usual in usually.items():
            said = self.left.pop(name, None)
            if said is not None and said != usual and "quantization" in taken:
                self.note(name, "was not taken: 4-bit models are nf4, quantised twice, here.")
        if "id" not in taken:
            self.notes.append("The recipe names no model: choose one here.")
        return taken

    def _lora(self) -> dict[str, Any] | None:
        used = self.take("use_peft", bool)
        given = {field: self.left.pop(name) for name, field in _LORA.items() if name in self.left}
        if not used:
            if given:
                named = list_names([name for name, field in _LORA.items() if field in given])
                without = "without use_peft: true, and were not taken."
                self.notes.append(f"The LoRA settings ({named}) have no effect {without}")
            return None
        if given.get("task_type") == "CAUSAL_LM":
            del given["task_type"]
        for name, value in LORA_OF_RECIPES.items():
            if name not in given:
                self.unsaid.set(f"lora.{name}", value, "as TRL has it")
        return {**LORA_OF_RECIPES, **given}

    def _data(self, solution: bool) -> dict[str, Any]:
        taken: dict[str, Any] = {"answer_column": "solution" if solution else None}
        if solution:
            self.unsaid.set("data.answer_column", "solution", "which the rewards compare with")
        mixture = self._only_dataset()
        said = self.take("dataset_name") if mixture is None else mixture.get("id")
        mixture = mixture or {}
        name = MOVED.get(said, said) if said else None
        if name and HUB_DATASET.fullmatch(name):
            taken["source"] = f"hub:{name}"
        elif name:
            self.note(
                "dataset_name", f"(“{name[:80]}”) is not a dataset of the hub: upload it as a file and choose it."
            )
        elif several := self._several_datasets():
            self.notes.append(f"The recipe mixes {join_words(several)}, and a run has one dataset: choose it here.")
        else:
            self.notes.append("The recipe names no dataset: choose the data here.")
        config = mixture.get("config") or self.take("dataset_config") or self._only_config()
        split = mixture.get("split") or self.take("dataset_train_split")
        taken |= ({"config": config} if config else {}) | ({"split": split} if split else {})
        taken |= {"streaming": True} if self.take("dataset_streaming", bool) else {}
        if self.take("dataset_test_split"):
            self.note("dataset_test_split", "was not taken: rows to evaluate on are held out. Set data.holdout.")
        column = self.take("dataset_prompt_column")
        system = self.take("system_prompt")
        place = "prompt_template" if self.open_r1 else "prompt_column"
        taken[place] = f"{{{column or 'prompt'}}}" if self.open_r1 else column or "prompt"
        if not column:
            self.unsaid.set(f"data.{place}", taken[place], "the column that is read")
        return taken | ({"system_prompt": system} if system else {})

    def _only_config(self) -> str | None:
        """The one of `dataset_configs`, as older recipes of open-r1 have it."""
        configs = self.take("dataset_configs", list)
        if configs is not None and not (len(configs) == 1 and isinstance(configs[0], str)):
            self.note("dataset_configs", "was not taken: a run has one part of one dataset. Set data.config.")
            return None
        return configs[0] if configs else None

    def _only_dataset(self) -> dict[str, Any] | None:
        """The one dataset of a mixture of one, {} of several, which have no place and are noted as such; None where
        there is no mixture. TRL and open-r1 read no other dataset where there is one."""
        where = next((name for name in ("dataset_mixture", "datasets") if self.left.get(name)), "")
        if not where:
            return None
        for name in ("dataset_name", "dataset_config", "dataset_configs"):
            if self.left.pop(name, None) is not None:
                self.note(name, f"was not taken: the datasets of {where} go before it.")
        mixture = self.left[where]
        listed = mixture.get("datasets") if isinstance(mixture, dict) else mixture
        if not (isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict)):
            return {}
        del self.left[where]
        one, others = listed[0], mixture if isinstance(mixture, dict) else {}
        for key in sorted(set(map(str, one)) - {"id", "path", "config", "name", "split"}):
            self.note(where, f"has {key}, which was not taken.")
        for key in sorted(set(map(str, others)) - {"datasets"}):
            self.note(where, f"has {key}, which was not taken.{_OF_MIXTURES.get(key, '')}")
        fields = {"id": one.get("id") or one.get("path"), "config": one.get("config") or one.get("name"),
                  "split": one.get("split")}  # fmt: skip
        return {key: value for key, value in fields.items() if isinstance(value, str)}

    def _several_datasets(self) -> list[str]:
        """The ids of the datasets of a mixture of several."""
        mixture = self.left.get("dataset_mixture") or self.left.get("datasets")
        listed = mixture.get("datasets") if isinstance(mixture, dict) else mixture
        ones = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return [str(name)[:80] for one in ones if (name := one.get("id") or one.get("path"))]

    def _rewards(self, weights: Any) -> list[dict[str, Any]]:
        named = [name for name in self.functions if isinstance(name, str)]
        self.left.pop("reward_funcs", None)
        model = self.take("reward_model_name_or_path")
        parameters: dict[str, dict[str, Any]] = {}
        for setting, (function, parameter) in _PARAMETERS.items():
            if setting in self.left:
                value = self.left.pop(setting)
                if function in named or f"get_{function}" in named:
                    parameters.setdefault(function, {})[parameter] = value
                else:
                    self.note(setting, f"has no effect: “{function}” is not among the reward functions.")
        found: list[dict[str, Any] | None] = []
        found += [{"name": "reward_model", "parameters": {"models": [model]}}] if model else []
        found += [self._reward(name, parameters.get(name, {})) for name in named]
        weighed = self._weights(weights, len(found))
        return [
            {**reward, "weight": weight} for reward, weight in zip(found, weighed, strict=True) if reward is not None
        ]

    def _reward(self, name: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
        known = recipe_reward(name)
        if known is None:
            last = name.rpartition(".")[2]
            if not NAME.fullmatch(last):
                self.note("reward_funcs", f"names “{name[:40]}”, which cannot be the name of a function.")
                return None
            self.note("reward_funcs", f"names “{last}”: only its name was taken. Save its code under Rewards.")
            return {"name": last}
        if not known.name:
            self.note("reward_funcs", f"names “{name}”, which was not taken. {known.note}")
            return None
        self.note("reward_funcs", f"names “{name}”, which {known.sentence()}")
        usual = _TRL_USUAL if name == "get_soft_overlong_punishment" else {**known.usual, **known.in_recipes}
        for parameter in usual.keys() - parameters.keys():
            self.unsaid.set(f"{known.name}'s {parameter}", usual[parameter], "their default")
        given = {**known.parameters, **usual, **parameters}
        return {"name": known.name} | ({"parameters": given} if given else {})

    def _weights(self, weights: Any, count: int) -> list[float]:
        fits = isinstance(weights, list) and len(weights) == count
        if fits and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in weights):
            return [float(one) for one in weights]
        if weights is None and count:
            self.unsaid.set("each reward's weight", 1, "as TRL has it")
        elif weights is not None:
            self.note("reward_weights", f"does not have one number for each of the {count} rewards: each weighs 1.")
        return [1.0] * count

    def _training(self) -> dict[str, Any]:
        taken = {}
        self._leave_accelerate()
        if "project" not in self.left and "wandb_project" in self.left:
            self.left["project"] = self.left.pop("wandb_project")
        for name, value in self.left.items():
            if name in RECIPE_ONLY:
                self._leave(name, value, f"was not taken: {RECIPE_ONLY[name]}")
            elif name == "report_to" and value in NOTHING:
                self._leave(name, value, "")
            elif name in OWNED:
                self._leave(name, value, f"was left out: {OWNED[name]}")
            else:
                taken[name] = value
        return taken

    def _leave_accelerate(self) -> None:
        named = [name for name in self.left if name in ACCELERATE]
        if named:
            are = "are accelerate's, and were" if len(named) > 1 else "is accelerate's, and was"
            how = " training.deepspeed takes DeepSpeed's own config." if "deepspeed_config" in named else ""
            self.notes.append(f"{join_words(self._with_lines(named))} {are} not taken: {OF_ACCELERATE}{how}")
        for name in named:
            del self.left[name]

    def _with_lines(self, names: list[str]) -> list[str]:
        return [f"{name} (line {self.lines[name]})" if name in self.lines else name for name in names]

    def _leave(self, name: str, value: Any, after: str) -> None:
        line = self.lines.get(name)
        what = f"{name} (line {line})" if line else name
        if name in FOLDERS:
            self.unsaid.leave_out(what, FOLDER)
        elif value in NOTHING:
            self.unsaid.leave_out(what, NO_CHANGE)
        else:
            self.note(name, after)
