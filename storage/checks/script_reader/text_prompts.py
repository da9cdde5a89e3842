"""Prompts that are texts in a script and chat messages here: TRL then gives reward functions lists of messages. A text
that is a column as it is stays text (worker.data.data), and is none of these."""

import ast

from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction
from groupwise.storage.checks.script_reader.values import Made, plain_or
from groupwise.storage.spec.syntax_tree import parse_module
from groupwise.storage.spec.words.number_words import join_words

_GIVEN = {"completions", "prompts"}  # of what TRL gives: what is text, or messages


def note_text_prompt(reading: Reading, functions: list[ScriptFunction]) -> None:
    """Note what becomes of a text prompt, and which of the functions that come along would score something else."""
    value = reading.text_prompt
    if value is None:
        return
    names = [f"“{one.name}”" for one in functions if _takes_texts(one)]
    advice = f'in {join_words(names)}, score completion[-1]["content"] in place of completion.' if names else ""
    if isinstance(value, Made) and value.name == "apply_chat_template":
        after = "was left out: TRL itself applies the model's template to a chat."
        was_text = plain_or(value.keywords.get("tokenize")) is False
        more = f" Reward functions then get lists of messages, not texts: {advice}" if names and was_text else ""
        reading.note("apply_chat_template(…)", value, f"{after}{more}")
    elif names:
        reading.note("The prompt", value, "is a text in the script. Here it is sent as a chat message where the model "
                     "has a chat template, and reward functions then get lists of messages, not texts: "
                     f"{advice}")  # fmt: skip


def _takes_texts(one: ScriptFunction) -> bool:
    """Whether a function looks at what TRL gives, and not at what a message says."""
    nodes = list(ast.walk(parse_module(one.code)))
    said = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return bool(_GIVEN & (said | used)) and "content" not in said
