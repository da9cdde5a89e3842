"""TRL's own reward functions and open-r1's → the built-in ones that do the same; and how those differ, if they do."""

from dataclasses import dataclass, field
from typing import Any

MATH = "math_equivalence"


@dataclass(frozen=True)
class Known:
    """A built-in function that stands for one of theirs. `places`: the arguments that a factory takes by place, with
    the built-in's names; `usual`: the defaults of those where they are others than the built-in's; `in_recipes`: those
    of open-r1's recipes, where they are others again; `note`: how it differs; name "": there is none."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    places: tuple[str, ...] = ()
    usual: dict[str, Any] = field(default_factory=dict)
    in_recipes: dict[str, Any] = field(default_factory=dict)
    solution: bool = False

    def sentence(self) -> str:
        """What becomes of theirs, after its name."""
        given = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"became the built-in “{self.name}”{f' ({given})' if given else ''}. {self.note}".rstrip()


_CURVE = ("min_value_wrong", "max_value_wrong", "min_value_correct", "max_value_correct")
_ANSWER = "Answers are read from <answer>…</answer>, else from \\boxed{…}, a formula or a number."
_BY_VALUE = "Answers are compared by value or as text, not by math-verify."

# trl.rewards of TRL 1.16
TRL = {
    "accuracy_reward": Known(MATH, note=_ANSWER, solution=True),
    "reasoning_accuracy_reward": Known(
        MATH, note=f"{_ANSWER} A completion without </think> can be right here.", solution=True
    ),
    "think_format_reward": Known(
        "regular_expression", {"pattern": r"\A<think>(?!.*<think>).*?</think>"},
    ),
    "get_soft_overlong_punishment": Known(
        "soft_overlong_punishment", places=("max_completion_len", "soft_punish_cache")
    ),
    "get_cosine_scaled_reward": Known(
        "cosine_length", note=_BY_VALUE, places=("max_len", *_CURVE), solution=True,
    ),
    "get_repetition_penalty_reward": Known("repetition_penalty", places=("ngram_size", "max_penalty")),
}  # fmt: skip
# open_r1.rewards, by the names of its recipes, as of src/open_r1/rewards.py and configs.py in huggingface/open-r1
RECIPES_USUAL = ["accuracy", "format", "tag_count"]  # GRPOScriptArguments.reward_funcs
OPEN_R1 = {
    "accuracy": Known(MATH, note=_ANSWER, solution=True),
    "format": Known(
        "regular_expression", {"pattern": r"\A<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$"},
    ),
    "tag_count": Known(
        "format", {"strict": False, "after_penalty": 0.0},
        "Each tag counts where it stands once and in its place; open-r1 expects a line break beside it.",
    ),
    "reasoning_steps": Known(
        "reasoning_steps", {"steps": 3, "min_characters": 0, "where": "all"}, "The same step counts once.",
    ),
    "cosine": Known(
        "cosine_length", {}, f"max_len counts tokens here, characters in open-r1. {_BY_VALUE}", (*_CURVE, "max_len"),
        {"max_len": 1000}, {"min_value_wrong": 0.0}, True,
    ),
    "repetition_penalty": Known(
        "repetition_penalty", {"unit": "words"}, "", ("ngram_size", "max_penalty"),
        {"ngram_size": 3, "max_penalty": -1.0},
    ),
    "soft_overlong_punishment": Known(
        "soft_overlong_punishment", places=("max_completion_len", "soft_punish_cache"),
        usual={"max_completion_len": 16384, "soft_punish_cache": 4096},
    ),
    "length": Known("", note="It compares the lengths within a group; “length” here has fixed bounds."),
    "code": Known("", note="“code_tests” runs a row's tests here, a list of assertions in a column."),
    "binary_code": Known("", note="“code_tests” runs a row's tests here, a list of assertions in a column."),
    "code_format": Known("", note="“regular_expression” can require a fenced block of code."),
    "ioi_code": Known("", note="There is no built-in function that does the same."),
    "cf_code": Known("", note="There is no built-in function that does the same."),
}  # fmt: skip
_R1_NAMES = {
    "accuracy_reward": "accuracy", "format_reward": "format", "tag_count_reward": "tag_count",
    "reasoning_steps_reward": "reasoning_steps", "get_cosine_scaled_reward": "cosine",
    "get_repetition_penalty_reward": "repetition_penalty", "len_reward": "length", "code_reward": "code",
    "binary_code_reward": "binary_code", "get_code_format_reward": "code_format", "ioi_code_reward": "ioi_code",
    "cf_code_reward": "cf_code", "get_soft_overlong_punishment": "soft_overlong_punishment",
}  # fmt: skip


def known_reward(path: str) -> Known | None:
    """The built-in function for one of theirs, by the path under which a script imports it."""
    module, _, name = path.rpartition(".")
    if f"{module}.".removeprefix("src.").startswith("open_r1."):
        return OPEN_R1.get(_R1_NAMES.get(name, ""))
    theirs = module in ("trl.rewards", "trl") or module.startswith("trl.rewards.")
    return TRL.get(name) if theirs else None


def recipe_reward(name: str) -> Known | None:
    """The built-in function for a name in a recipe: open-r1's, or TRL's."""
    return OPEN_R1.get(name) or TRL.get(name)


def known_by_name(name: str) -> Known | None:
    """The built-in function for the name of one of theirs, wherever it was read: TRL's first; None where none does the
    same."""
    known = TRL.get(name) or OPEN_R1.get(_R1_NAMES.get(name, name))
    return known if known and known.name else None


def library_of(name: str) -> str:
    """Whose function of this name `known_by_name` means."""
    return "TRL" if name in TRL else "open-r1"
