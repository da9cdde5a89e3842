# Async call: Scores that wait for something slow, many at a time.
"""An async function: TRL waits for all such functions together. For a service, allow it to use the network."""

import asyncio


async def slow_check(completions: list, *, at_once: int = 8, **kwargs: object) -> list[float | None]:
    """1 when a slow check says yes, 0 when it says no, None when it does not answer.

    Args:
        at_once: How many checks run at the same time.
    """
    free = asyncio.Semaphore(at_once)
    return list(await asyncio.gather(*(score(text_of(completion), free) for completion in completions)))


async def score(text: str, free: asyncio.Semaphore) -> float | None:
    """The reward of one completion. No answer is no score: a 0 would teach the model something wrong."""
    async with free:
        try:
            return float(await asyncio.wait_for(asyncio.to_thread(check, text), timeout=5))
        except (TimeoutError, OSError) as error:
            print(f"No answer: {error}")
            return None


def check(text: str) -> bool:
    """Put the slow call here, to a service for example."""
    return text.strip().endswith((".", "!", "?"))


def text_of(completion: str | list[dict]) -> str:
    """The text of a completion: itself, or what the last message of a chat says."""
    if isinstance(completion, str):
        return completion
    return (completion[-1]["content"] or "") if completion else ""
