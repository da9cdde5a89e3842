"""Whether a model is told of the tags that “format” wants. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator

from groupwise.storage.checks.starter_use import is_from_starter
from groupwise.storage.checks.tag_room import tags_wanted
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import ADVICE, Fix, Problem

TAG = re.compile(r"<(\w[\w.:-]{0,39})>")
MOST_TAGS = 20  # of the prompts, that are told apart
THOUGHT_AND_ANSWER = (
    "Think step by step inside <think> and </think>. Then give only the final answer inside <answer> and </answer>."
)


def tags_in(prompts: Iterable[str]) -> list[str]:
    """The names of the tags that prompts open, as far as there are few."""
    return list(dict.fromkeys(name for prompt in prompts for name in TAG.findall(prompt)))[:MOST_TAGS]


def untold_format(spec: RunSpec, facts: ModelFacts | None, in_prompts: Collection[str] = ()) -> Iterator[Problem]:
    """What to say of a “format” whose tags nothing names. `in_prompts`: the tags of the data's prompts, as far as they
    are known. The starter was made to write them."""
    if is_from_starter(spec.model.id, facts):
        return
    data = spec.data
    told = {*in_prompts, *tags_in([data.system_prompt or "", data.prompt_template, *_texts_of_examples(spec)])}
    for number, reward in enumerate(spec.rewards):
        names = tags_wanted(reward.parameters) if reward.name == "format" and not reward.version else []
        if not names or told & set(names) or (reward.weight <= 0 and not reward.schedule):
            continue
        tags = join_words([f"<{name}>" for name in names])
        message = f"no prompt asks the model for {tags}, so completions have them only by chance."
        fix = Fix("Ask for them in the system prompt", {"data.system_prompt": system_prompt_for(names)})
        yield Problem(f"rewards.{number}.name", message, level=ADVICE, fixes=() if data.system_prompt else (fix,))


def system_prompt_for(names: list[str]) -> str:
    """A system prompt that asks for these tags."""
    if names == ["think", "answer"]:
        return THOUGHT_AND_ANSWER
    return f"Reply in this form and nothing else: {' '.join(f'<{name}>…</{name}>' for name in names)}"


def _texts_of_examples(spec: RunSpec) -> Iterator[str]:
    for example in spec.data.examples:
        yield from (value for value in example.model_dump().values() if isinstance(value, str))
