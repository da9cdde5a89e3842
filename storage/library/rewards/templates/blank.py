# Blank: The least that a reward function needs.
"""A reward function: TRL calls it with lists and gets back one score for each completion."""


def my_reward(completions: list, **kwargs: object) -> list[float]:
    """Say here in one line what earns a reward."""
    return [score(text_of(completion)) for completion in completions]


def score(text: str) -> float:
    """The reward of one completion's text: 1 where there is any, until you change it."""
    return 1.0 if text.strip() else 0.0


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
