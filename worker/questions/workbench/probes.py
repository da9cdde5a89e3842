"""Completions that a sound reward should see through, made for a row: what a model under training would find anyway.

Each is made of the row's answer and the tags that the prompt asks for.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from groupwise.storage.registry.messages.completions import MARKUP, MOST_TAGS, TAG_NAME

LONG = 20_000  # characters of the very long one
ENDLESS = ("whitespace", "repetition", "tag_stuffing")  # of which any beginning is the same probe
_TAG = re.compile(f"<({TAG_NAME})>")
_NUMBER = re.compile(r"[-+]?[0-9][0-9,]{0,40}(?:\.[0-9]{1,40})?")
DEFAULT_TAGS = ("think", "answer")
HIGH, LOW, ANY = "high", "low", "any"


@dataclass(frozen=True)
class Probe:
    """`expected`: what a sound total gives it. `single`: whether that is also asked of each function alone: one about
    the format cannot know a wrong answer. `noun`: how a sentence names it. `about`: what a sound reward does."""

    expected: str
    single: bool
    noun: str
    about: str


PROBES = {
    "correct": Probe(HIGH, True, "The right answer in the right format", "It should earn the most."),
    "empty": Probe(LOW, True, "An empty answer", "Nothing was written: it should earn nothing."),
    "whitespace": Probe(LOW, True, "Nothing but whitespace", "Nothing was written: it should earn nothing."),
    "repetition": Probe(LOW, True, "Endless repetition", "It says nothing: it should earn nothing."),
    "tag_stuffing": Probe(
        LOW, True, "Many empty tags", "Tags over and over, with nothing in them: it should earn nothing."
    ),
    "answer_only": Probe(
        ANY, False, "The right answer alone", "Right, but without a thought and without the format: some of it is fair."
    ),
    "wrong_answer": Probe(
        LOW, False, "A wrong answer in the right format", "The format may earn a little, less than half of all."
    ),
    "wrong_format": Probe(
        ANY, False, "The right answer in the wrong format", "Right, in a sentence of its own: some of it is fair."
    ),
    "very_long": Probe(
        ANY, False, f"The right answer after {LONG:,} characters",
        "Right, but far too long: only a reward about length should mark it down.",
    ),
    "other_language": Probe(
        ANY, False, "The right answer, thought in another language",
        "Only a reward about the language should mark it down.",
    ),
}  # fmt: skip


def tags_of(prompt: Any, otherwise: Sequence[str] = ()) -> tuple[str, ...]:
    """The tags that a prompt (text or messages) shows opened and closed, in order, each once; where there is none those
    that there are `otherwise`, or think and answer. Of messages, those of the system's count, where it speaks. What
    marks up a text, as <b> does, is no format."""
    said = prompt if isinstance(prompt, str) else _chat_text(prompt)
    shown = [name for name in dict.fromkeys(_TAG.findall(said)) if f"</{name}>" in said]
    found = [name for name in shown if name.lower() not in MARKUP]
    return tuple(found[:MOST_TAGS]) or tuple(otherwise) or DEFAULT_TAGS


def _chat_text(messages: list[dict[str, Any]]) -> str:
    system = [message for message in messages if message.get("role") == "system"]
    return "\n".join(str(message.get("content") or "") for message in system or messages)


def make_probes(answer: Any, tags: tuple[str, ...]) -> dict[str, str]:
    """{probe: text} for a row with this answer; without one, only those that need none."""
    texts = {
        "empty": "",
        "whitespace": " \n\t\n " * 20,
        "repetition": "the answer is " * 200,
        "tag_stuffing": "".join(f"<{tag}></{tag}>" for tag in tags) * 50,
    }
    right = "" if answer is None else _text(answer)
    if not right.strip():
        return texts
    thought = "Let us work it out step by step. This gives the result."
    return {
        "correct": format_completion(tags, thought, right),
        **texts,
        "answer_only": right,
        "wrong_answer": format_completion(tags, thought, wrong_answer(right)),
        "wrong_format": f"The final answer is: {right}",
        "very_long": _with_thought(tags, ("Let me think about this once more. " * LONG)[:LONG], right),
        "other_language": _with_thought(tags, "让我们一步一步地计算，然后写出结果。", right),
    }


def cut_to_limit(text: str, limit: int, count: Callable[[str], list[int] | None]) -> str:
    """The beginning of a text that is at most so many tokens; the whole text where they cannot be counted."""
    found = count(text)
    while found is not None and len(found) > limit:
        text = text[: min(len(text) - 1, len(text) * limit // len(found))]
        found = count(text)
    return text


def format_completion(tags: tuple[str, ...], thought: str, answer: str) -> str:
    """A completion in the format of these tags: the answer in the last, the thought in the others."""
    return "\n".join(f"<{tag}>{answer if tag == tags[-1] else thought}</{tag}>" for tag in tags)


def _with_thought(tags: tuple[str, ...], thought: str, answer: str) -> str:
    """The same, with the thought before the only tag where there is none for it."""
    written = format_completion(tags, thought, answer)
    return written if len(tags) > 1 else f"{thought}\n{written}"


def wrong_answer(right: str) -> str:
    """An answer of the same kind that is not the right one."""
    numbers = list(_NUMBER.finditer(right))
    if numbers:
        last = numbers[-1]
        digits = last[0].replace(",", "")
        other = str(float(digits) + 7.5) if "." in digits else str(int(digits) + 7)
        return right[: last.start()] + other + right[last.end() :]
    swapped = {"yes": "no", "no": "yes", "true": "false", "false": "true"}.get(right.strip().lower())
    if swapped:
        return swapped.capitalize() if right.strip()[:1].isupper() else swapped
    return "B" if right.strip() == "A" else "A" if len(right.strip()) == 1 else f"not {right}"


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
