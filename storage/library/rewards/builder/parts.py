"""What the builder writes for each kind of block: a small function that scores one completion, with its tests."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from groupwise.storage.library.rewards.builder.blocks import Block, settings_of
from groupwise.storage.spec.python_source import (
    WIDTH,
    assign,
    call,
    decimal_literal,
    indented_docstring,
    number_literal,
    pattern_literal,
    quote_in_words,
    string_literal,
    visible,
)

COLUMN = "its_"  # begins the name of one row's value of a column


@dataclass(frozen=True)
class Part:
    """The code of one block. `helper` is its function's name, `code` that function, `constants` the lines it needs
    above; `takes` what it is given of one row, `words` what it looks for. `shared`: helpers of SHARED that it calls."""

    helper: str
    code: str
    takes: tuple[str, ...]
    words: str
    constants: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    may_be_none: bool = False


Settings = dict[str, Any]


def compared_column(block: Block) -> str | None:
    """The column of the data that a block compares with; None for one that needs none."""
    takes = part_of(block, "").takes
    return next((each.removeprefix(COLUMN) for each in takes if each.startswith(COLUMN)), None)


def part_of(block: Block, suffix: str) -> Part:
    """The code of a block; `suffix` is put after its names, so that two of one kind go together."""
    return _WRITERS[block.kind](settings_of(block), block.partial, suffix)


def _function(head: str, doc: str, *body: str) -> str:
    """A function's source; `doc` is its docstring, with an empty line between its paragraphs."""
    return "\n".join([f"def {head}:", indented_docstring(doc.split("\n\n")), *(f"    {line}" for line in body)])


def _check(helper: str, example: str, verdict: str, more: str = "") -> str:
    """An assertion about a helper, in one line, or with its example in a line before."""
    line = f"assert {helper}({example}{more}) {verdict}"
    if len(line) + 4 <= WIDTH:
        return line
    return f"{assign('example', example, indent=4)}\n    assert {helper}(example{more}) {verdict}"


def _matches(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, constant = f"matches_pattern{suffix}", f"PATTERN{suffix}"
    names = [flag for flag, on in (("re.IGNORECASE", "ignore_case"), ("re.DOTALL", "dot_all")) if settings[on]]
    flags = [" | ".join(names)] if names else []
    found = f"{constant}.search(text) is not None"
    whole = f"{constant}.fullmatch(text.strip()) is not None"
    if partial:
        doc = "1 when all of the text fits the pattern, half when a part of it does, else 0."
        body = [f"if {whole}:", "    return 1.0", f"return 0.5 if {found} else 0.0"]
    else:
        what = "all of the text fits the pattern" if settings["whole"] else "the pattern is found in the text"
        doc, body = f"1 when {what}, else 0.", [f"return float({whole if settings['whole'] else found})"]
    shape = quote_in_words(settings["pattern"])
    return Part(
        helper, _function(f"{helper}(text: str) -> float", doc, *body), ("text",),
        f"as a whole it fits the pattern {shape}" if settings["whole"] else f"the pattern {shape} is found in it",
        constants=(call(f"{constant} = re.compile(", [pattern_literal(settings["pattern"]), *flags], ")"),),
        tests=tuple(_pattern_tests(helper, settings)), imports=("re",),
    )  # fmt: skip


def _pattern_tests(helper: str, settings: Settings) -> list[str]:
    """Tests by the examples that were typed."""
    verdicts = (("earns", "== 1.0"), ("fails", "< 1.0"))
    return [_check(helper, string_literal(settings[name]), verdict) for name, verdict in verdicts if settings[name]]


def _contains(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, constant = f"contains_texts{suffix}", f"TEXTS{suffix}"
    texts, need, fold = settings["texts"], settings["need"], settings["ignore_case"]
    each = "each.casefold() in text.casefold()" if fold else "each in text"
    body = [f"found = sum({each} for each in {constant})"]
    if need == "all":
        doc, result = "all of the texts are there", f"found / len({constant})"
        exact = f"float(found == len({constant}))"
    elif need == "any":
        doc, result, exact = "one of the texts is there", "", "float(found > 0)"
    else:
        doc, result = "none of the texts is there", f"1 - found / len({constant})"
        exact = "float(found == 0)"
    ending = ", else its share" if partial else ", else 0"
    body.append(f"return {result if partial else exact}")
    return Part(
        helper, _function(f"{helper}(text: str) -> float", f"1 when {doc}{ending}.", *body), ("text",),
        f"{doc.replace('there', 'in it')}: {', '.join(quote_in_words(each, 30) for each in texts[:6])}"
        + ("…" if len(texts) > 6 else "") + (", each for its share" if partial else ""),
        constants=(call(f"{constant} = [", [string_literal(each) for each in texts], "]"),),
        tests=_contains_tests(helper, texts, need),
    )  # fmt: skip


def _contains_tests(helper: str, texts: list[str], need: str) -> tuple[str, ...]:
    if need == "none":
        return _check(helper, string_literal(""), "== 1.0"), _check(helper, string_literal(texts[0]), "< 1.0")
    full = " ".join(texts) if need == "all" else texts[0]
    return _check(helper, string_literal(full), "== 1.0"), _check(helper, string_literal(""), "== 0.0")


def _number(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, fixed = f"number_is_right{suffix}", settings["value"]
    given = COLUMN + settings["column"]
    mark = string_literal(settings["decimal"])
    inside, taken, place = _place(settings)
    wanted = decimal_literal(fixed) if fixed is not None else f"right_number(right, {mark})"
    body = [f"wanted = {wanted}", f"given = {taken}({inside}, {mark})"]
    if fixed is None:
        body += ["if wanted is None:", "    return None"]
    body += ["if given is None:", "    return 0.0", *_number_result(settings, partial)]
    aim = number_literal(fixed) if fixed is not None else "the row's"
    more = " A number nearby earns a share." if partial else ""
    head = (
        f"{helper}(text: str) -> float" if fixed is not None else f"{helper}(text: str, right: object) -> float | None"
    )
    more += "" if fixed is not None else " None where the row has no number."
    source = number_literal(fixed) if fixed is not None else f"that of the column {visible(settings['column'])}"
    return Part(
        helper, _function(head, f"1 when the text's number is {aim}, else 0.\n\n{more}".rstrip(), *body),
        ("text",) if fixed is not None else ("text", given),
        f"{place} is {source}"
        + (f", give or take {number_literal(settings['tolerance'])}" if settings["tolerance"] else "")
        + (", written as in 1.234,5" if settings["decimal"] == "comma" else "")
        + (f"; less and less up to {number_literal(settings['near'])} % off" if partial else ""),
        tests=_number_tests(helper, settings, partial), may_be_none=fixed is None,
        imports=("re", "from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal"),
        shared=(
            "numeral_value", taken, inside.partition("(")[0],
            *(("number_in", "right_number") if fixed is None else ()),
        ),
    )  # fmt: skip


def _place(settings: Settings) -> tuple[str, str, str]:
    """Where the number stands: what of the text is looked at, and the helper that looks, as source; and in words."""
    tag, marker = settings["tag"], settings["marker"]
    return {
        "tag": (f"answer_in(text, {string_literal(tag)})", "number_in", f"its last number in its <{tag}>"),
        "last": ("text", "number_in", "its last number"),
        "first": ("text", "first_number_in", "its first number"),
        "marker": (
            f"after_marker(text, {string_literal(marker)})", "first_number_in",
            f"the number after its last {quote_in_words(marker)}",
        ),
        "boxed": ("boxed_in(text)", "number_in", "the number in its last box"),
    }[settings["where"]]  # fmt: skip


def _in_place(number: str, settings: Settings) -> str:
    """A completion with this number where it should stand."""
    return {
        "tag": f"<{settings['tag']}>{number}</{settings['tag']}>", "marker": f"{settings['marker']} {number}",
        "boxed": f"\\boxed{{{number}}}",
    }.get(settings["where"], f"It is {number}.")  # fmt: skip


def _number_result(settings: Settings, partial: bool) -> list[str]:
    tolerance = settings["tolerance"]
    right = f"abs(given - wanted) <= {decimal_literal(tolerance)}" if tolerance else "given == wanted"
    if not partial:
        return [f"return float({right})"]
    return [
        f"if {right}:", "    return 1.0", f"most = max(abs(wanted), 1) * {decimal_literal(settings['near'])} / 100",
        "return max(0.0, 1 - float(abs(given - wanted) / most))",
    ]  # fmt: skip


def _number_tests(helper: str, settings: Settings, partial: bool) -> tuple[str, ...]:
    wanted = settings["value"] if settings["value"] is not None else 42
    more = "" if settings["value"] is not None else ', "42"'
    reach = settings["tolerance"] + (max(abs(wanted), 1) * settings["near"] / 100 if partial else 0)
    mark = "," if settings["decimal"] == "comma" else "."
    right, wrong = number_literal(wanted).replace(".", mark), number_literal(int(wanted + 2 * reach) + 2)
    right, wrong = (_in_place(each, settings) for each in (right, wrong))
    tests = [
        _check(helper, string_literal(right), "== 1.0", more),
        _check(helper, string_literal(wrong), "== 0.0", more),
    ]
    tests.append(_check(helper, string_literal("I do not know."), "== 0.0", more))
    return (*tests, _check(helper, string_literal("42"), "is None", ", None")) if more else tuple(tests)


def _length(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, unit = f"length_fits{suffix}", settings["unit"]
    least, most = settings["least"], settings["most"]
    counted, taken = {
        "words": ("len(text.split())", "text: str"), "characters": ("len(text)", "text: str"),
        "tokens": ("len(ids)", "ids: list[int]"),
    }[unit]  # fmt: skip
    if partial:
        low = [f"if count < {least}:", f"    return count / {least}"] if least else []
        body = [f"count = {counted}", *low, f"return min(1.0, {most} / max(count, 1))"]
        doc = f"1 from {least} to {most} {unit}, and less the further it is from that."
    else:
        body = [f"return float({least} <= {counted} <= {most})"]
        doc = f"1 from {least} to {most} {unit}, else 0."
    sample = {"words": '"word " * {}', "characters": '"a" * {}', "tokens": "[0] * {}"}[unit]
    tests = [(max(least, 1), "== 1.0"), (most, "== 1.0"), (most + 1, "< 1.0"), *([(0, "< 1.0")] if least else [])]
    return Part(
        helper, _function(f"{helper}({taken}) -> float", doc, *body), ("ids",) if unit == "tokens" else ("text",),
        f"it has {least} to {most} {unit}" + ("; outside of that a share of it" if partial else ""),
        tests=tuple(_check(helper, sample.format(count), verdict) for count, verdict in tests),
    )  # fmt: skip


def _json(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, constant, keys = f"json_is_valid{suffix}", f"KEYS{suffix}", settings["keys"]
    source = "fenced_json(text)" if settings["fenced"] else "text"
    kind = {"object": "dict", "array": "list", "any": ""}[settings["must_be"]]
    body = ["try:", f"    value = json.loads({source}, parse_constant=no_number)"]
    body += ["except (ValueError, RecursionError):", "    return 0.0"]
    what = {"object": "a JSON object", "array": "a JSON array", "any": "JSON"}[settings["must_be"]]
    if keys:
        body += [f"if not isinstance(value, {kind}):", "    return 0.0"]
        body += [f"found = sum(key in value for key in {constant})"]
        body += [
            f"return 0.5 + 0.5 * found / len({constant})" if partial else f"return float(found == len({constant}))"
        ]
    else:
        body += [f"return float(isinstance(value, {kind}))" if kind else "return 1.0"]
        body = [line.replace("value = ", "") for line in body] if not kind else body
    ending = " with all of the keys" if keys else ""
    more = "\n\nWithout them it is half, and each key earns its share of the rest." if partial else ""
    doc = f"1 when the text is {what}{ending}, else 0.{more}"
    good = json.dumps(dict.fromkeys(keys, 1)) if keys else "[]" if kind == "list" else "{}"
    tests = [_check(helper, string_literal(good), "== 1.0"), _check(helper, string_literal("not JSON"), "== 0.0")]
    return Part(
        helper, _function(f"{helper}(text: str) -> float", doc, *body), ("text",),
        f"it is {what}" + (f" with the keys {', '.join(quote_in_words(key, 30) for key in keys[:6])}" if keys else "")
        + ("…" if len(keys) > 6 else "") + (", each for its share" if partial else ""),
        constants=(call(f"{constant} = [", [string_literal(key) for key in keys], "]"),) if keys else (),
        tests=(*tests, *([_check(helper, string_literal("{}"), "< 1.0")] if keys else [])), imports=("json",),
        shared=("no_number", "fenced_json") if settings["fenced"] else ("no_number",),
    )  # fmt: skip


def _judge(settings: Settings, partial: bool, suffix: str) -> Part:
    helper, constant = f"judge_says{suffix}", f"QUESTION{suffix}"
    reader = "out_of_ten" if partial else "yes_or_no"
    order = "Reply with only a number from 0 to 10." if partial else "Reply with only yes or no."
    body = [assign("words", f'f"{{about(prompt, text)}}\\n\\n{{{constant}}}\\n{order}"', indent=4)]
    body += [f"return {reader}(ask_judge(JUDGE_URL{suffix}, JUDGE_MODEL{suffix}, words))"]
    replies = (("10", "== 1.0"), ("0", "== 0.0")) if partial else (("Yes.", "== 1.0"), ("no", "== 0.0"))
    return Part(
        helper,
        _function(
            f"{helper}(prompt: object, text: str) -> float | None",
            "What the judge gives one completion; None when it does not answer.", *body,
        ),
        ("prompt", "text"),
        f"a judge, asked {quote_in_words(settings['question'])}, {'gives up to 10' if partial else 'says yes'}",
        constants=(
            assign(constant, string_literal(settings["question"])),
            assign(f"JUDGE_MODEL{suffix}", string_literal(settings["model"])),
            assign(f"JUDGE_URL{suffix}", string_literal(settings["endpoint"].rstrip("/") + "/chat/completions")),
        ),
        tests=tuple(_check(reader, string_literal(reply), verdict) for reply, verdict in (*replies, ("?", "is None"))),
        imports=(
            "http.client", "json", "os", "secrets", "time", "urllib.request",
            "from concurrent.futures import ThreadPoolExecutor", *(("re",) if partial else ()),
        ),
        shared=("about", "ask_judge", reader), may_be_none=True,
    )  # fmt: skip


_WRITERS: dict[str, Callable[[Settings, bool, str], Part]] = {
    "matches": _matches, "contains": _contains, "number_equals": _number, "length_between": _length,
    "valid_json": _json, "judge_says": _judge,
}  # fmt: skip
