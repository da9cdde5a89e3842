# Several columns: Uses the prompt and two columns of the data, and says where it does not apply.
"""Every column of the data is there by its name, as a list with one value for each completion."""


def uses_the_facts(
    completions: list, prompts: list, facts: list, level: list, *, hard: int = 3, **kwargs: object
) -> list[float | None]:
    """The share of the row's facts that the completion names; on hard rows naming one is enough.

    A row without facts gets None. A completion that only repeats the prompt gets 0.

    Args:
        hard: From this level on one fact is enough.
    """
    rows = zip(completions, prompts, facts, level, strict=True)
    return [score(text_of(each), text_of(prompt), known, (at or 0) >= hard) for each, prompt, known, at in rows]


def score(text: str, prompt: str, facts: list[str] | None, one_is_enough: bool) -> float | None:
    """The reward of one completion."""
    if not facts:
        return None
    if text.strip() == prompt.strip():
        return 0.0
    named = sum(fact.casefold() in text.casefold() for fact in facts)
    return float(named > 0) if one_is_enough else named / len(facts)


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion or a prompt: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
