"""The builder's blocks: what kinds there are, what each can be set to, and what is wrong with those that were set."""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from groupwise.storage.library.rewards.builder.common_patterns import COMMON_PATTERNS
from groupwise.storage.library.rewards.names import NOT_GIVEN, TRL_ARGUMENTS
from groupwise.storage.spec.rows import patterns

Setting = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """One condition. `weight` is how much it counts beside the others; a negative one is a penalty. `partial`: it
    also earns where it is met in part. `required`: what earns nothing by it earns nothing by the others."""

    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    partial: bool = False
    required: bool = False


@dataclass(frozen=True)
class BlockProblem:
    """Why a block cannot be built. `block` counts from 0; None: it is about all of them."""

    block: int | None
    setting: str | None
    message: str

    def __str__(self) -> str:
        place = "" if self.block is None else f"Block {self.block + 1}"
        return ": ".join(part for part in (place, self.message) if part)


def _setting(
    name: str, label: str, types: str, default: Any, help: str, choices: list[str] | dict[str, str] | None = None,
    only: dict[str, str] | None = None, common: dict[str, str] | None = None,
) -> Setting:  # fmt: skip
    """`choices`: values, or {value: how a page says it}. `only`: the value of another setting with which it counts.
    `common`: {how a page says it: value} of some values, beside which any other can be typed."""
    return {
        "name": name, "label": label, "types": types.split(), "default": default, "help": help,
        "choices": None if choices is None else list(choices),
        "words": choices if isinstance(choices, dict) else None, "only": only,
        "common": common,
    }  # fmt: skip


# Where a completion's number stands, and how numbers are written.
PLACES = {
    "tag": "In a tag, else the last number",
    "last": "The last number",
    "first": "The first number",
    "marker": "After a marker, as ####",
    "boxed": "In \\boxed{…}",
}
MARKS = {"point": "with a point: 1,234.5", "comma": "with a comma: 1.234,5"}

# {kind: {label, sentence, settings, partial: what partial credit means there, network: whether it needs it}}
KINDS: dict[str, dict[str, Any]] = {
    "matches": {
        "label": "Matches a pattern",
        "sentence": "The completion fits a regular expression.",
        "partial": "Half where the pattern is found, but is not the whole completion.",
        "network": False,
        "settings": [
            _setting("pattern", "Pattern", "str", "", "A regular expression, as in Python: [0-9]+ is a row of digits.",
                     common=COMMON_PATTERNS),
            _setting("whole", "The whole completion", "bool", False, "The match must be the whole completion."),
            _setting("ignore_case", "Ignore case", "bool", False, "Capital and small letters are the same."),
            _setting("dot_all", "Dot matches newlines", "bool", True, ".* then also matches line breaks."),
            _setting("earns", "Example that matches", "str lines", "", "An answer that should earn the full score. It "
                     "is checked at once, and becomes a test of the code."),
            _setting("fails", "Example that does not match", "str lines", "", "An answer that should not earn it, such "
                     "as a near miss. It is checked at once, and becomes a test of the code."),
        ],
    },
    "contains": {
        "label": "Contains words",
        "sentence": "The completion contains these words or texts, or none of them.",
        "partial": "Each of the texts earns its share.",
        "network": False,
        "settings": [
            _setting("texts", "Words or texts", "list", [], "Words, tags or phrases."),
            _setting("need", "It has to have", "str", "all", "All of them, one of them, or none.",
                     {"all": "all of them", "any": "one of them", "none": "none of them"}),
            _setting("ignore_case", "Ignore case", "bool", True, "Capital and small letters are the same."),
        ],
    },
    "number_equals": {
        "label": "Right number",
        "sentence": "The number that the completion gives is the right one.",
        "partial": "A nearby number earns partial credit: the nearer, the more.",
        "network": False,
        "settings": [
            _setting("column", "The right number is in", "str column", "answer", "The column of the data that has it. "
                     "“answer” is the one that the data maps as its answer."),
            _setting("value", "Or always this number", "float none", None, "The same for every row, instead of a "
                     "column."),
            _setting("where", "Where the number stands", "str", "tag", "Which of its numbers counts.", PLACES),
            _setting("tag", "Name of the tag", "str", "answer", "With answer, the last <answer>…</answer> "
                     "counts; without the tag, the whole text. A tag that is never closed earns nothing.",
                     only={"where": "tag"}),
            _setting("marker", "The marker", "str", "####", "The first number after the last marker counts; without "
                     "a marker there is none.", only={"where": "marker"}),
            _setting("decimal", "Numbers are written", "str", "point", "In the column and by the model. It begins as "
                     "the chosen column is written.", MARKS),
            _setting("tolerance", "May be off by", "float", 0.0, "How far off still counts as right."),
            _setting("near", "Earns up to, in % off", "float", 10.0, "For partial credit: how far off earns nothing."),
        ],
    },
    "length_between": {
        "label": "Right length",
        "sentence": "The completion is neither too short nor too long.",
        "partial": "Too short or too long still earns a part: half at half the least or at twice the most.",
        "network": False,
        "settings": [
            _setting("least", "At least", "int", 1, "The shortest that earns everything."),
            _setting("most", "At most", "int", 200, "The longest that earns everything."),
            _setting("unit", "Counted in", "str", "words", "Tokens are what the model counts in.",
                     ["words", "characters", "tokens"]),
        ],
    },
    "valid_json": {
        "label": "Valid JSON",
        "sentence": "The completion is JSON that can be read.",
        "partial": "Half for JSON that can be read; its keys earn the other half.",
        "network": False,
        "settings": [
            _setting("must_be", "It must be", "str", "object", "An object is {…}, an array is […].",
                     ["object", "array", "any"]),
            _setting("keys", "With the keys", "list", [], "Keys that the object must have."),
            _setting("fenced", "A ```json block counts", "bool", True, "Reads what stands in the first such block."),
        ],
    },
    "judge_says": {
        "label": "A judge says yes",
        "sentence": "Another model, asked about prompt and completion, says yes. This one needs the network.",
        "partial": "The judge gives 0 to 10 instead of yes or no.",
        "network": True,
        "settings": [
            _setting("question", "Question", "str", "", "What the judge is asked: “Is the answer polite?”"),
            _setting("model", "Model", "str", "gpt-4o-mini", "The name of the model at the endpoint."),
            _setting("endpoint", "Endpoint", "str", "https://api.openai.com/v1", "Any with OpenAI's API. "
                     "The key comes from the environment: GROUPWISE_JUDGE_KEY, or OPENAI_API_KEY."),
        ],
    },
}  # fmt: skip

MOST_BLOCKS, LONGEST_TEXT, MOST_TEXTS, HIGHEST = 20, 2000, 50, 10**9
LONGEST_COLUMN = 200
_TAG = re.compile(r"[A-Za-z][\w-]{0,39}", re.ASCII)
_KIND_OF: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (int, float), "bool": (bool,), "str": (str,), "list": (list,), "none": (type(None),),
    "lines": (str,), "column": (str,),  # a text of several lines, a column's name
}  # fmt: skip
_WORDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "text", "list": "a list"}


def settings_of(block: Block) -> dict[str, Any]:
    """What a block is set to, with the defaults of what was not said."""
    return {each["name"]: each["default"] for each in KINDS[block.kind]["settings"]} | block.settings


def block_problems(blocks: list[Block]) -> list[BlockProblem]:
    """What is wrong with blocks, in their order; none where they can be built."""
    if not blocks:
        return [BlockProblem(None, None, "Add a block: a reward needs something to check.")]
    if len(blocks) > MOST_BLOCKS:
        return [BlockProblem(None, None, f"These are {len(blocks)} blocks; {MOST_BLOCKS} is the most.")]
    return [BlockProblem(at, *found) for at, block in enumerate(blocks) for found in _problems_of_block(block)]


def _problems_of_block(block: Block) -> list[tuple[str | None, str]]:
    if block.kind not in KINDS:
        return [(None, f"There is no kind of block “{block.kind[:40]}”. There are {', '.join(KINDS)}.")]
    found: list[tuple[str | None, str]] = []
    if words := _bad_weight(block):
        found.append(("weight", words))
    known = {each["name"]: each for each in KINDS[block.kind]["settings"]}
    found += [(name, f"There is no setting “{str(name)[:40]}” here.") for name in block.settings if name not in known]
    found += [(name, words) for name, value in block.settings.items() if (words := _misfit(value, known.get(name)))]
    wrong = {name for name, _ in found}
    fitting = replace(block, settings={name: value for name, value in block.settings.items() if name not in wrong})
    return found + [one for one in _CHECKS[block.kind](settings_of(fitting), block.partial) if one[0] not in wrong]


def _bad_weight(block: Block) -> str:
    if not math.isfinite(block.weight):
        return "The weight has to be a number."
    if abs(block.weight) > HIGHEST:
        return f"The weight is too large: {HIGHEST:,} is the most."
    if not block.weight:
        return "A weight of 0 has no effect. Give it another, or take the block out."
    if block.required and block.weight < 0:
        return "A penalty cannot be required. Turn “required” off, or give a weight above 0."
    return ""


def _misfit(value: Any, setting: Setting | None) -> str:
    """What is wrong with one value, whatever its block."""
    if setting is None:
        return ""
    label, types = setting["label"], setting["types"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not any(isinstance(value, _KIND_OF[kind]) for kind in types) or (
        isinstance(value, bool) and "bool" not in types
    ):
        return f"“{label}” has to be {_WORDS[types[0]]}."
    if is_number and not (math.isfinite(value) and abs(value) <= HIGHEST):
        return f"“{label}” is too large."
    if setting["choices"] and value not in setting["choices"]:
        return f"“{label}” is one of {', '.join(setting['choices'])}."
    if isinstance(value, str):
        return _bad_text(label, value)
    return _bad_list(label, value) if isinstance(value, list) else ""


def _bad_text(label: str, value: str) -> str:
    if len(value) > LONGEST_TEXT:
        return f"“{label}” has {len(value)} characters; {LONGEST_TEXT} is the most."
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        return f"“{label}” has a character that cannot be saved."
    return ""


def _bad_list(label: str, value: list[Any]) -> str:
    if len(value) > MOST_TEXTS:
        return f"“{label}” has {len(value)} texts; {MOST_TEXTS} is the most."
    if not all(isinstance(each, str) and each for each in value):
        return f"“{label}” has an entry that is empty, or no text."
    return next((words for each in value if (words := _bad_text(label, each))), "")


Found = list[tuple[str | None, str]]


def _matches(settings: Setting, partial: bool) -> Found:
    if not settings["pattern"]:
        return [("pattern", "Write the pattern that the completion has to fit.")]
    if wrong := patterns.fault(settings["pattern"]):
        return [("pattern", f"This is not a regular expression: {wrong}.")]
    if partial and not settings["whole"]:
        return [("whole", "Partial credit is for what should be the whole completion. Set that, or take it off.")]
    try:
        return _misfit_examples(settings)
    except patterns.TooSlow:
        message = (
            "The pattern takes too long on an example: it can match the same text in too many ways, as (a|aa)+ does."
        )
        return [("pattern", f"{message} Make it more specific.")]


def _misfit_examples(settings: Setting) -> Found:
    """The examples that are not what they should be. Raises patterns.TooSlow."""
    found: Found = []
    if settings["earns"] and not _fits(settings, settings["earns"]):
        found.append(("earns", "The pattern does not match the example that should match. Change one of them."))
    if settings["fails"] and _fits(settings, settings["fails"]):
        found.append(("fails", "The pattern matches the example that should not match. Change one of them."))
    return found


def _fits(settings: Setting, example: str) -> bool:
    """Whether an example earns the full score, as the code that is written decides it."""
    flags = (re.IGNORECASE if settings["ignore_case"] else 0) | (re.DOTALL if settings["dot_all"] else 0)
    text = example.strip() if settings["whole"] else example
    return patterns.search_pattern(settings["pattern"], text, flags, whole=settings["whole"]) is not None


def _contains(settings: Setting, partial: bool) -> Found:
    if not settings["texts"]:
        return [("texts", "Write at least one text to look for.")]
    if partial and settings["need"] == "any":
        return [("need", "Where one text is enough there is no partial credit. Take it off, or require all.")]
    return []


def _number(settings: Setting, partial: bool) -> Found:
    found: Found = []
    column = settings["column"]
    if settings["value"] is None:
        if not column.strip() or len(column) > LONGEST_COLUMN:
            found.append(("column", "Choose the column that has the right number."))
        elif column in (*TRL_ARGUMENTS, *NOT_GIVEN):
            found.append(
                ("column", f"“{column}” cannot be the column: TRL gives the function other values of that name.")
            )
    found += _place(settings)
    if settings["tolerance"] < 0:
        found.append(("tolerance", "The tolerance cannot be below 0."))
    if partial and settings["near"] <= 0:
        found.append(("near", "Nearby has to be more than 0 per cent."))
    return found


def _place(settings: Setting) -> Found:
    """What is wrong with the place in which the number is looked for."""
    if settings["where"] == "tag" and not settings["tag"].strip():
        message = "Type the tag's name, such as answer. If there is no tag, choose the last number of the text."
        return [("tag", message)]
    if settings["where"] == "tag" and not _TAG.fullmatch(settings["tag"]):
        return [("tag", "A tag is a word without < and >: answer.")]
    if settings["where"] == "marker" and not settings["marker"].strip():
        return [("marker", "Type the marker that the number comes after, such as ####.")]
    return []


def _length(settings: Setting, partial: bool) -> Found:
    found: Found = []
    if settings["least"] < 0:
        found.append(("least", "“At least” has to be 0 or more."))
    if settings["most"] < 1:
        found.append(("most", "“At most” has to be 1 or more."))
    if not found and settings["least"] > settings["most"]:
        found.append(("most", f"At least {settings['least']} and at most {settings['most']}: no length is both."))
    return found


def _json(settings: Setting, partial: bool) -> Found:
    if settings["keys"] and settings["must_be"] != "object":
        return [("keys", "Only an object has keys. Take them out, or choose object.")]
    if partial and not settings["keys"]:
        return [("keys", "Partial credit is for keys. Name some, or take it off.")]
    return []


def _judge(settings: Setting, partial: bool) -> Found:
    found: Found = [
        (name, f"Give the {name}.") for name in ("question", "model") if not settings[name].strip()
    ]  # fmt: skip
    try:
        place = urlsplit(settings["endpoint"])
        usable = place.scheme in ("http", "https") and place.hostname and settings["endpoint"].isprintable()
    except ValueError:
        usable = False
    if not usable or " " in settings["endpoint"]:
        found.append(("endpoint", "The endpoint is an address such as https://api.openai.com/v1."))
    elif place.username or place.password or place.query or place.fragment:
        found.append(("endpoint", "Keep keys and passwords out of the address: the key comes from the environment."))
    return found


_CHECKS = {
    "matches": _matches, "contains": _contains, "number_equals": _number, "length_between": _length,
    "valid_json": _json, "judge_says": _judge,
}  # fmt: skip
