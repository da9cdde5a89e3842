# Compare with the answer: 1 where the completion says what the row's answer column says.
"""Compares what a completion answers with a column of the data."""


def right_answer(completions: list, answer: list, **kwargs: object) -> list[float | None]:
    """1 when the completion's answer is the row's, 0 when it is another.

    `answer` is a column of the data: name the argument as your column is called. A row without an answer
    gets None: the reward does not apply to it.
    """
    return [score(text_of(completion), right) for completion, right in zip(completions, answer, strict=True)]


def score(text: str, right: object) -> float | None:
    """The reward of one completion, given the row's answer."""
    if right is None:
        return None
    return float(given_answer(text).casefold() == str(right).strip().casefold())


def given_answer(text: str) -> str:
    """What stands in the last <answer>…</answer>; all of the text where there is none."""
    _, opened, rest = text.rpartition("<answer>")
    inside, closed, _ = rest.partition("</answer>")
    return (inside if opened and closed else text).strip()


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
