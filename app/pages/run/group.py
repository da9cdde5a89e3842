"""One group as HTML: what was asked, how it did, the same prompt's other times, and its completions. Pure."""

from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.run.group_list import tie
from groupwise.app.ui.completion import best_first, cards
from groupwise.app.ui.safe_text import escape
from groupwise.app.ui.word_diff import MOST, Difference, word_differences
from groupwise.storage.analysis.tie_words import TOP, is_highest
from groupwise.storage.record.group_metrics import Range, has_letters, is_filled
from groupwise.storage.registry.notes import Note

WORDS = 12_000  # words that one answer compares at most, over all completions of a group: about 20 ms
TIED = {
    "all_low": "Tied, all at lowest score: every completion earned nothing, or the least of this run, so this group "
    "gives no learning signal.",
    "none_right": "Tied, none right: none of the completions is right, and all earned the same, so this group gives no "
    "learning signal.",
    "other": "Tied: every completion scored the same, so this group gives no learning signal.",
}
ALL_RIGHT = "Tied: every completion is right, and all earned the same, so this group gives no learning signal."
TOO_HARD = "The prompt may still be too hard."
NOT_SCORED = (
    "Tied: the function that compares with the answer scored none of these. Does the row lack its answer? Then it "
    "gives no learning signal."
)
# Of what a ruined model writes, such as <<<<<<<, nothing follows for the prompt.
NO_ANSWERS = "None of them has a letter or a digit in it, so this says nothing about the prompt."


def draw_group(
    found: dict[str, Any], *, by_reward: bool, notes: dict[int, Note] | None = None, reference: int | None = None,
    seen: Range | None = None, most: float | None = None,
) -> str:  # fmt: skip
    """Prompt, answer and other columns, the same prompt over time, and the completions. `reference`: the index of the
    completion that the others are compared with; `seen`: the run's range of rewards; `most`: what the best completion
    earns, where that is known."""
    completions = found["completions"]
    return (
        f'<section class="panel prompt">{prompt_html(found["prompt"])}'
        f"{other_columns(found['columns'], format.message_text(found['prompt']))}"
        f"{history(found)}{standing(found, seen, most)}</section>"
        '<div class="grid three comps">'
        + cards(
            completions, by_reward=by_reward, tied=found["tied"], group=found["id"], notes=notes, reference=reference,
            differences=differences_by_index(completions, reference),
        )
        + "</div>"
    )  # fmt: skip


def _say_tied_high(value: float, most: float | None) -> str:
    if is_highest(value, most):
        why = "every completion earned the most that is possible"
    elif most is None:
        why = "every completion earned the most seen in this run, which need not be the most there is"
    else:
        earned = f"{format.number(value)}, the most seen in this run, of {format.number(most)} at most"
        why = f"every completion earned {earned}"
    return f"Tied, {TOP}: {why}. This group gives no learning signal."


def _is_not_scored(found: dict[str, Any]) -> bool:
    """Whether a function gave none of the completions a score, though it did not fail, and the row has no answer."""
    has_answer = is_filled(found.get("columns", {}).get("answer"))
    given: dict[str, set[str]] = {}
    for row in (row for one in found["completions"] for row in one.get("scores", ())):
        given.setdefault(row["name"], set()).add(row["status"])
    return not has_answer and {"none"} in given.values()


def standing(found: dict[str, Any], seen: Range | None, most: float | None = None) -> str:
    """Whether it teaches nothing, and whether a resumed run trained over it."""
    said = []
    if found["tied"] and found["mode"] == "train":
        kind = tie(found, seen) or "other"
        right = kind == "other" and found.get("all_right")
        tied = ALL_RIGHT if right else TIED.get(kind) or _say_tied_high(found["high"], most)
        if kind in ("all_low", "none_right"):
            tied += f" {TOO_HARD if any(has_letters(one['text']) for one in found['completions']) else NO_ANSWERS}"
        said.append(NOT_SCORED if _is_not_scored(found) else tied)
    if not found.get("counts", True):
        said.append(
            f"From attempt {found['attempt']}, before the run was resumed: a later attempt trained step "
            f"{format.count(found['step'])} again."
        )
    return "".join(f'<p class="s warn">{sentence}</p>' for sentence in said)


def reference_of(completions: list[dict[str, Any]], asked: str) -> int | None:
    """The index of the completion that the others are compared with: the best one (what most of the best say: one
    alone may be right by chance), or the one asked for."""
    if asked == "best":
        scored = [c for c in best_first(completions) if c["reward"] is not None]
        return scored[0]["idx"] if scored else None
    return int(asked) if asked in {str(c["idx"]) for c in completions} else None


def differences_by_index(completions: list[dict[str, Any]], reference: int | None) -> dict[int, Difference]:
    """How each of the others differs from the reference, by index; in so many words that it stays quick."""
    texts = {c["idx"]: c["text"] for c in completions}
    if reference is None:
        return {}
    most = min(MOST, WORDS // len(texts))
    return {idx: word_differences(texts[reference], text, most) for idx, text in texts.items() if idx != reference}


def prompt_html(value: Any) -> str:
    """What the model was asked; earlier messages of a chat are folded away."""
    asked = f'<pre class="asked" dir="auto" tabindex="0">{escape(format.message_text(value))}</pre>'
    earlier = value[:-1] if isinstance(value, list) else []
    if not earlier:
        return asked
    rows = "".join(
        f'<p class="s"><b>{escape(message.get("role", ""))}</b> <bdi>{escape(message.get("content", ""))}</bdi></p>'
        for message in earlier
        if isinstance(message, dict)
    )
    return (
        f"{asked}<details class=s><summary>{format.plural(len(earlier), 'earlier message')}</summary>{rows}</details>"
    )


def other_columns(values: dict[str, Any], asked: str) -> str:
    """The dataset row's other columns, the answer first; not the one that is the prompt itself, nor any that is empty
    but the answer. Of one that is the answer itself, as it was called in the data, the name alone: answer · Antwort 5.
    """
    shown = {name: str(value) for name, value in values.items() if is_filled(value) and str(value) != asked}
    answer = shown.pop("answer", "empty" if "answer" in values else None)
    own = [name for name, value in shown.items() if value == answer]
    rows = [(" · ".join(["answer", *own]), answer)] if answer is not None else []
    rows += [row for row in shown.items() if row[0] not in own]
    cells = "".join(
        f'<span><span class="mut">{escape(name)}</span> <b dir="auto">{escape(format.shorten(value, 200))}</b></span>'
        for name, value in rows
    )
    return f'<div class="row s columns">{cells}</div>' if cells else ""


def trained_again(times: int) -> str:
    """How many times more a prompt came than count, mid-sentence; “” of none."""
    step = "a step" if times == 1 else "steps"
    return f"{format.plural(times, 'time')} in {step} that a later attempt trained again" if times else ""


def history(found: dict[str, Any]) -> str:
    """This prompt's mean reward each time it came, those around this one, as links; and the way to all of them."""
    rows, times, over = found["history"], found["times"], found["over"]
    if times + over < 2:
        return '<p class="s mut over">seen once</p>'
    some = f", {format.count(len(rows))} of {format.count(times)} times" if times > len(rows) else ""
    some = ", seen once" if times == 1 else some
    again = f'<span class="mut">{"and " if times else ""}{trained_again(over)}</span>' if over else ""
    chips = "".join(
        f'<button class="chip" data-group="{row["id"]}" data-step="{row["step"]}" data-mode="{escape(row["mode"])}"'
        f"{' aria-current=true' if row['id'] == found['id'] else ''}>step {format.count(row['step'])}"
        f"{' held-out' if row['mode'] == 'eval' != found['mode'] else ''} "
        f"<b>{format.number(row['mean'])}</b></button>"
        for row in rows
    )
    return (
        f'<div class="row s over"><span class="mut">this prompt over time{some}</span>{chips}{again}'
        f'<button class="btn s down" data-prompt="{found["prompt_id"]}" title="Same prompt (o)">'
        "Then and now</button></div>"
    )
