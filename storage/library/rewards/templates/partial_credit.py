# Partial credit: A quarter for each tag in its place, and a little less for what comes after the end.
"""Partial credit gives a model that is nearly right something to climb: common practice for a format."""


def tags_in_place(
    completions: list, *, tags: tuple[str, ...] = ("think", "answer"), after_penalty: float = 0.001, **kwargs: object
) -> list[float]:
    """Each tag that stands there exactly once earns its share, minus a penalty for text after the end.

    Args:
        tags: The tags, in their order, without < and >.
        after_penalty: What every character after the last tag costs.
    """
    marks = [mark for tag in tags for mark in (f"<{tag}>", f"</{tag}>")]
    return [score(text_of(completion), marks, after_penalty) for completion in completions]


def score(text: str, marks: list[str], after_penalty: float) -> float:
    """The reward of one completion: 0 to 1."""
    earned = sum(text.count(mark) == 1 for mark in marks) / len(marks)
    _, found, after = text.rpartition(marks[-1])
    return max(0.0, earned - after_penalty * len(after.strip() if found else ""))


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
