"""From columns to prompts and answers: what a source's columns probably are, and what of a spec does not fit them."""

import json
from typing import Any

from groupwise.storage.checks.columns import unknown_columns
from groupwise.storage.checks.data import CHOOSE_ANOTHER
from groupwise.storage.spec.rows.column_names import (
    ANSWERS,
    CHATS,
    PROMPTS,
    TRL_OWN,
    find_named,
    meant_column,
    say_columns,
)
from groupwise.storage.spec.rows.prompt_template import PLAIN, named_columns
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import count_words, join_words
from groupwise.storage.spec.words.problem import ADVICE, Fix, Problem
from groupwise.worker.data.data import answer_of_cell
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.unasked import unsayable_words

UNSAID = DataSpec()  # what is not chosen is as it is there
NAMED = 40  # columns that a problem lists
Rows = list[dict[str, Any]]
# How answers are marked in longer texts, and what finds them there.
MARKS = {"####": r"####\s*(.+)", r"\boxed{": r"\\boxed\{([^{}]*)\}", "<answer>": r"(?s)<answer>\s*(.*?)\s*</answer>"}


def kind(values: list[Any]) -> str:
    """What a column's cells are, in a word."""
    there = [value for value in values if value is not None and value != ""]
    if not any(str(value).strip() for value in there):
        return "empty"
    if all(is_chat(value) for value in there):
        return "chat"
    kinds = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "mapping"}
    found = {kinds.get(type(value), "other") for value in there}
    return found.pop() if len(found) == 1 else "mixed"


def is_chat(value: Any) -> bool:
    """Whether a cell is a list of messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and "role" in each and "content" in each for each in value)
    )


def guess(columns: list[str], rows: Rows) -> dict[str, Any]:
    """The settings, by dotted path, that would probably map these columns; empty where nothing is recognised."""
    kinds = {name: kind([row.get(name) for row in rows]) for name in columns}
    found = _guess_prompt(columns, kinds, rows)
    answers = find_named(
        ANSWERS,
        [name for name in columns if kinds[name] not in ("chat", "empty") and name not in found.get("used", [])],
    )
    others = [
        name for name in columns if kinds[name] in ("text", "number", "mixed") and name not in found.get("used", [])
    ]
    if not answers and found and len(others) == 1 and not find_named(ANSWERS, columns):
        answers = others[0]  # what is left beside the question, where no empty column is for answers
    if not found and not answers:
        return {}
    settings = {path: value for path, value in found.items() if path != "used"}
    settings["data.answer_column"] = answers
    settings["data.answer_pattern"] = _guess_pattern([row.get(answers) for row in rows]) if answers else None
    return settings


def _guess_prompt(columns: list[str], kinds: dict[str, str], rows: Rows) -> dict[str, Any]:
    chat = find_named(CHATS, [name for name in columns if kinds[name] == "chat"])
    if chat:
        return {"data.prompt_column": chat, "used": [chat]}
    texts = [name for name in columns if kinds[name] in ("text", "number", "mixed")]
    asked = find_named(PROMPTS, texts) or _longest([name for name in texts if not find_named(ANSWERS, [name])], rows)
    if not asked:
        return {}
    used = [asked]
    more = find_named(("input", "context"), [name for name in texts if name != asked])
    if asked.lower() == "instruction" and more:
        used.append(more)  # as in Alpaca: an instruction, and what it is about
    template = "\n\n".join("{" + name + "}" for name in used)
    return {"data.prompt_template": template, "data.prompt_column": None, "used": used}


def _longest(columns: list[str], rows: Rows) -> str | None:
    """The column with the most text; None where no text is longer than a word."""
    lengths = {name: sum(len(str(row.get(name) or "")) for row in rows) for name in columns}
    best = max(lengths, key=lambda name: lengths[name], default=None)
    return best if best and lengths[best] > 10 * max(len(rows), 1) else None


def _guess_pattern(values: list[Any]) -> str | None:
    there = [value for value in values if isinstance(value, str) and value.strip()]
    try:
        fits = (p for mark, p in MARKS.items() if there and all(mark in v and answer_of_cell(v, p) for v in there))
        return next(fits, None)
    except DataError:  # a mark that comes a hundred thousand times marks no answer
        return None


def mapping_problems(
    data: DataSpec, columns: list[str], rows: Rows, guessed: dict[str, Any], most: int | None = None
) -> list[Problem]:
    """What of a spec does not fit these columns, each with what would. `guessed`: what they probably are; `most`: of
    how many rows these are those that fill a column, where there are more of them."""
    listed = say_columns(columns, NAMED)
    return [
        *_prompt_problems(data, columns, rows, guessed, listed, most),
        *_answer_problems(data, columns, rows, guessed, listed, most),
        *unknown_columns(data, columns, listed),
        *_ungiven_columns(data, columns),
    ]


def _ungiven_columns(data: DataSpec, columns: list[str]) -> list[Problem]:
    """That columns which TRL has values of its own for reach no reward function, where none were chosen."""
    found = [name for name in columns if name in TRL_OWN] if data.columns is None else []
    if not found:
        return []
    named = join_words([f"“{name}”" for name in found])
    message = f"{named} {'reach' if len(found) > 1 else 'reaches'} no reward function: TRL gives it values of its own"
    return [Problem("data.columns", f"{message} by {'these names' if len(found) > 1 else 'this name'}.", level=ADVICE)]


def _prompt_problems(
    data: DataSpec, columns: list[str], rows: Rows, guessed: dict[str, Any], listed: str, most: int | None
) -> list[Problem]:
    mapped = {path: value for path, value in guessed.items() if path.startswith("data.prompt")}
    whole = (Fix(f"Use {_describe_mapping(mapped)}", mapped),) if mapped else ()
    if data.prompt_column is not None:
        if data.prompt_column not in columns:
            fixes = (*_nearest("data.prompt_column", data.prompt_column, columns), *whole)
            return [Problem("data.prompt_column", f"there is no column “{data.prompt_column}”. {listed}", fixes=fixes)]
        found = kind([row.get(data.prompt_column) for row in rows])
        if found in ("list", "mapping", "mixed"):
            message = f"“{data.prompt_column}” holds neither chats (messages with role and content) nor text."
            message = f"{said}." if (said := _unsayable(data.prompt_column, rows)) and found == "mapping" else message
            template = Fix("Use the template, not the prompt column", {}, ("data.prompt_column",))
            return [Problem("data.prompt_column", message, fixes=(*whole, template))]
        return []
    named = named_columns(data.prompt_template, columns)
    missing = [name for name in named if name not in columns and PLAIN.fullmatch(name)]
    found_problems = []
    empty = [one for one in columns if rows and kind([row.get(one) for row in rows]) == "empty"]
    sayable = [one for one in columns if one not in empty and not _unsayable(one, rows)]
    unasked = _say_empty_questions(empty, most)
    for name in dict.fromkeys(missing):
        better = named_columns(mapped.get("data.prompt_template") or "", columns)
        close = meant_column(name, columns)
        better += [close] if close in sayable and close not in better else []
        fixes = tuple(
            Fix(
                f"Use “{each}”",
                {"data.prompt_template": data.prompt_template.replace("{" + name + "}", "{" + each + "}")},
            )
            for each in better[:3]
        )
        chat = whole if mapped.get("data.prompt_column") else ()
        another = (CHOOSE_ANOTHER,) if unasked and not (fixes or chat) and data.source.startswith("file:") else ()
        wrong = f"there is no column “{name}”."
        if data.prompt_template == UNSAID.prompt_template and columns:  # a placeholder, which nobody wrote
            # The one on the button, before any other.
            asked = [*better, *(one for one in sayable if not find_named(ANSWERS, [one]))]
            first = next((one for one in asked if one in sayable), None)
            example = f", such as {{{first}}}" if first else ""
            choose = f"choose the prompt: a column, or a text with columns in braces{example}"
            wrong = f"{choose}. The default column, “{name}”, is not in this data."
        if close and close not in (*sayable, *empty) and not chat:
            wrong = f"{wrong} {_unsayable(close, rows)}."
        wrong += "" if fixes or chat else unasked
        found_problems.append(Problem("data.prompt_template", f"{wrong} {listed}", fixes=fixes + chat + another))
    if not named:
        message = f"names no column, so every prompt would be the same. {listed}"
        found_problems.append(Problem("data.prompt_template", message, fixes=whole))
    return found_problems


def _say_empty_questions(empty: list[str], most: int | None) -> str:
    """Of the column that is probably asked, but is empty, or else of the first empty one that is not the answer's: that
    it asks nothing, before it is chosen."""
    name = find_named(PROMPTS, empty) or next((one for one in empty if not find_named(ANSWERS, [one])), None)
    return f" “{name}” asks nothing: it is empty{_where(most)}." if name else ""


def _where(most: int | None) -> str:
    return f" in its first {count_words(most, 'row')}" if most else ""


def _unsayable(name: str, rows: Rows) -> str:
    """What keeps a column out of a prompt template: cells that are no text; "" where nothing does."""
    return next((said for row in rows if (said := unsayable_words(name, row.get(name)))), "")


def _answer_problems(
    data: DataSpec, columns: list[str], rows: Rows, guessed: dict[str, Any], listed: str, most: int | None
) -> list[Problem]:
    name = data.answer_column
    if not name:
        return []
    if name not in columns:
        better = guessed.get("data.answer_column")
        fixes = (use_answers(better, guessed.get("data.answer_pattern"), data),) if better else ()
        label = "There is no answer" + (": remove the answer pattern, too" if data.answer_pattern else "")
        none = Fix(label, {"data.answer_column": None}, ("data.answer_pattern",))
        unsaid = name == UNSAID.answer_column
        wrong = "choose the column with the right answers." if unsaid else f"there is no column “{name}”."
        unanswered = "" if better else _say_empty_answers(columns, rows, most)
        another = (CHOOSE_ANOTHER,) if unanswered and data.source.startswith("file:") else ()
        return [Problem("data.answer_column", f"{wrong}{unanswered} {listed}", fixes=(*fixes, none, *another))]
    if not data.answer_pattern:
        pattern = _guess_pattern([row.get(name) for row in rows])
        if pattern:
            message = f"“{name}” holds whole solutions with the answer marked. Without a pattern, all is the answer."
            fix = Fix(f"Take what {pattern} finds", {"data.answer_pattern": pattern})
            return [Problem("data.answer_pattern", message, level="warning", fixes=(fix,))]
    return []


def use_answers(column: str, pattern: str | None, data: DataSpec) -> Fix:
    """The button that takes the answers from another column, and names the pattern that it sets with it. `pattern`:
    what finds them there; one that was typed stays: the check of it says whether it fits."""
    if not pattern or data.answer_pattern:
        return Fix(f"Use “{column}”", {"data.answer_column": column})
    settings = {"data.answer_column": column, "data.answer_pattern": pattern}
    return Fix(f"Use “{column}” with the answer pattern {pattern}", settings)


def _say_empty_answers(columns: list[str], rows: Rows, most: int | None) -> str:
    """Of a column that is called as answers are, but has none: that it is no choice, before it is chosen."""
    name = find_named(ANSWERS, columns)
    if not name or kind([row.get(name) for row in rows]) != "empty":
        return ""
    return f" “{name}” has no answers: it is empty{_where(most)}."


def _nearest(path: str, name: str, columns: list[str]) -> tuple[Fix, ...]:
    close = meant_column(name, columns)
    return (Fix(f"Use “{close}”", {path: close}),) if close else ()


def _describe_mapping(mapped: dict[str, Any]) -> str:
    column = mapped.get("data.prompt_column")
    template = mapped.get("data.prompt_template") or ""
    return f"the column “{column}”" if column else f"the template “{template}”".replace("\n\n", " ")


def shorten_cell(value: Any, characters: int) -> str:
    """A cell as text to show, no longer than this."""
    if isinstance(value, (bytes, bytearray)):
        return f"({len(value)} bytes)"
    said = value if isinstance(value, str) else _as_text(value)
    return said if len(said) <= characters else said[: characters - 1] + "…"


def cut_cell(value: Any, characters: int) -> str:
    """A cell as text to show, no longer than this; where it is cut, it says how long it is."""
    said = shorten_cell(value, characters + 1)
    if len(said) <= characters:
        return said
    whole = f"… ({len(value if isinstance(value, str) else _as_text(value)):,} characters; the rest is not shown)"
    return said[: characters - len(whole)] + whole


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=lambda other: shorten_cell(other, 100))
    return str(value)
