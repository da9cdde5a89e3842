"""What a block looks for, as a page says it: “Earns where the text contains “please”.” Pure.

A docstring's words are `Part.words` of `parts.py`: code that was saved is known as the builder's by them, so they stay.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from groupwise.storage.library.rewards.builder.blocks import KINDS, Block, settings_of
from groupwise.storage.library.rewards.builder.common_patterns import COMMON_WORDS
from groupwise.storage.spec.python_source import number_literal, quote_in_words

Settings = dict[str, Any]
SHOWN = 6  # texts or keys of a list; more are three dots


def sentence_of(block: Block, mapped: str = "") -> str:
    """What a block that can be built looks for, in a sentence or two; of a penalty, what it takes points off for.
    `mapped`: the data's column that a reward gets as “answer”, where that is known."""
    clause, *more = _CLAUSES[block.kind]({**settings_of(block), "mapped": mapped}, block.partial)
    verb = "Earns" if block.weight > 0 else "A penalty: points off"
    return " ".join([f"{verb} where {clause}.", *(f"{one}." for one in more if one)])


def kinds_sentence(blocks: list[Block]) -> str:
    """Of several blocks, their names in order, each once: “Right number, then right length.” Penalties come last."""
    earning = _names_of([block for block in blocks if block.weight > 0])
    penalties = _names_of([block for block in blocks if block.weight <= 0])
    said = [*([earning] if earning else []), *([f"points off: {penalties}"] if penalties else [])]
    words = "; ".join(said)
    return f"{words[:1].upper()}{words[1:]}."


def _names_of(blocks: list[Block]) -> str:
    counts = Counter(block.kind for block in blocks)
    names = [(str(KINDS[kind]["label"]), count) for kind, count in counts.items()]
    return ", then ".join(
        f"{label[:1].lower()}{label[1:]}" + (f" ({count} times)" if count > 1 else "") for label, count in names
    )


def _matches(settings: Settings, partial: bool) -> list[str]:
    whole = settings["whole"] or partial
    if not whole and (common := COMMON_WORDS.get(settings["pattern"])):
        return [f"the text {common}"]
    shape = quote_in_words(settings["pattern"])
    what = f"the whole text matches the pattern {shape}" if whole else f"the pattern {shape} matches somewhere"
    half = "A match of only a part of the text counts half" if partial else ""
    return [what, "Upper and lower case are the same" if settings["ignore_case"] else "", half]


def _contains(settings: Settings, partial: bool) -> list[str]:
    texts, need = settings["texts"], settings["need"]
    listed = _listed(texts)
    if len(texts) == 1:
        what = f"the text does not contain {listed}" if need == "none" else f"the text contains {listed}"
    else:
        what = f"the text contains {_NEEDS[need]} {listed}"
    share = {"all": "Each of them counts for its share", "none": "Each of them takes its share off"}
    case = "" if settings["ignore_case"] else "Upper and lower case must be the same"
    return [what, case, share.get(need, "") if partial and len(texts) > 1 else ""]


_NEEDS = {"all": "all of", "any": "at least one of", "none": "none of"}


def _listed(texts: list[str]) -> str:
    return ", ".join(quote_in_words(each, 30) for each in texts[:SHOWN]) + ("…" if len(texts) > SHOWN else "")


def _number(settings: Settings, partial: bool) -> list[str]:
    fixed = settings["value"]
    right = _right_number_in(settings["column"], settings["mapped"]) if fixed is None else number_literal(fixed)
    off = f", give or take {number_literal(settings['tolerance'])}" if settings["tolerance"] else ""
    written = "Numbers are written like 1.234,5" if settings["decimal"] == "comma" else ""
    near = f"A number that is up to {number_literal(settings['near'])} % off counts in part" if partial else ""
    tagless = "Without the tag, the last number of the text counts" if settings["where"] == "tag" else ""
    return [f"{_place(settings)} equals {right}{off}", tagless, written, near]


def _right_number_in(column: str, mapped: str) -> str:
    if column == "answer" and mapped not in ("", "answer"):
        return f"the number in the column {quote_in_words(mapped, 40)}, which rewards get as “answer”"
    return f"the number in the column {quote_in_words(column, 40)}"


def _place(settings: Settings) -> str:
    tag = settings["tag"]
    return {
        "tag": f"the last number in <{tag}>…</{tag}>",
        "last": "the last number of the text",
        "first": "the first number of the text",
        "marker": f"the first number after the last {quote_in_words(settings['marker'])}",
        "boxed": "the last number in the last \\boxed{…}",
    }[settings["where"]]


def _length(settings: Settings, partial: bool) -> list[str]:
    least, most, unit = settings["least"], settings["most"], settings["unit"]
    one = unit.removesuffix("s") if most == 1 else unit
    span = f"{least} to {most} {unit}" if least else f"at most {most} {one}"
    count = f"exactly {most} {one}" if least == most else span
    return [f"the text has {count}", "A shorter or longer one counts in part" if partial else ""]


def _json(settings: Settings, partial: bool) -> list[str]:
    keys = settings["keys"]
    kind = {"object": "a JSON object", "array": "a JSON array", "any": "valid JSON"}[settings["must_be"]]
    having = f" with the {'key' if len(keys) == 1 else 'keys'} {_listed(keys)}" if keys else ""
    source = "the text, or its first ```json block," if settings["fenced"] else "the text"
    half = "Without the keys it counts half, and each key adds its share of the rest" if partial else ""
    return [f"{source} is {kind}{having}", half]


def _judge(settings: Settings, partial: bool) -> list[str]:
    asked = f"a judge that is asked {quote_in_words(settings['question'])}"
    return [f"{asked} gives points, from 0 to 10" if partial else f"{asked} says yes"]


_CLAUSES: dict[str, Callable[[Settings, bool], list[str]]] = {
    "matches": _matches, "contains": _contains, "number_equals": _number, "length_between": _length,
    "valid_json": _json, "judge_says": _judge,
}  # fmt: skip
