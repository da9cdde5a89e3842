"""Numbers as people write them and YAML does not read them: 0,0002, 1 000, 5k, 2×10⁻⁵, other scripts. Pure."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from groupwise.storage.spec.rows.number_names import number_by_name
from groupwise.storage.spec.words.odd_spaces import trim_spaces
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem, SpecError
from groupwise.storage.spec.yaml.yaml_text import parse_document, yaml_number

LONGEST = 40  # characters of what may be a number
MOST_OFFERED = 10**9  # as storage.checks.limits has it: from there on a number is a slip of the hand
_NUMERAL = re.compile(r"([-+]?)([0-9][0-9.,]*|,[0-9]+)([eE][-+]?[0-9]{1,3})?")
_EITHER = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")  # 1,234 may be a thousand, or one and a bit
_DECIMAL = re.compile(r"[0-9]*,[0-9]+")  # 0,0002
_POINTS = re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+|[1-9][0-9]{0,2}(?:\.[0-9]{3}){2,}")  # 1.234,5  1.234.567
_COMMAS = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+\.[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3}){2,}")  # 1,234.5  1,234,567
_SPACED = re.compile(r"([-+]?[1-9][0-9]{0,2})((?:[ '’_][0-9]{3})+)")  # 1 000 and 1'000
_TIMES_TEN = re.compile(r"\s*[×x·*]\s*10\s*(?:\^|\*\*)?\s*(?=[-+]?[0-9])")  # 2×10⁻⁵
_POWER_OF_TEN = re.compile(r"^([-+]?)10\s*(?:\^|\*\*)\s*(?=[-+]?[0-9]+$)")  # 10^-5
_SHORT = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*([kKM%])")
_LOOSE_EXPONENT = re.compile(r"(?<=[0-9.])\s+(?=[eE][-+]?[0-9]{1,3}$)")  # 1 e-5
_WITH_UNIT = re.compile(r"([-+]?[0-9][0-9., ]*?)\s*[^\W\d_]{2,}")  # 48 tokens
# 1e-4x: a letter that is no unit, no power of ten, and no digit in disguise
_STRAY = re.compile(r"([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)(?![eEkKmMgGtTbBoOlIsS])[^\W\d_]")
_REMARK = re.compile(r"//|--|[;#]")  # begins what other languages take for one
_DASHES = re.compile(r"[-−–] ?[-−–] ?(?=[0-9.,])")  # --5, as on a command line
_POINTED = re.compile(r"[-+]?[0-9]*\.[0-9]*\.[0-9.]*")  # 1.0.0
_WORTH = {"k": 1e3, "K": 1e3, "M": 1e6, "%": 1e-2}
_THOUSAND = re.compile(r"[1-9][0-9]{0,2}\.[0-9]{3}")  # 1.000 is one to YAML, and a thousand to many
UNQUOTE = " Write it without quotes."
_SIGNS = str.maketrans({"−": "-", "–": "-", "٫": ".", "٬": ",", "\u00a0": " ", "\u202f": " ", "\u2009": " "})


def meant_numbers(value: Any, *, whole: bool = False) -> dict[str, int | float]:
    """The numbers that a text may mean which is none as it is written, by their plain writing: of 0,0002 and of 1.234,5
    one, of 1,234 and of --5 two; none of what is no such text. What stands behind one, as in “1e-5, // lower”, is no
    part of it. `whole`: only whole numbers are taken, also one that is written out (thirty)."""
    named = number_by_name(value) if whole and isinstance(value, str) else None
    if named is not None:
        return {str(named): named}
    if dashes := _dashes_before(value):
        bare = value.strip()[len(dashes) :]
        return {each: number for one in (f"-{bare}", bare) for each, number in _read(one, "", whole=whole).items()}
    number = split_remark(value)[0] if isinstance(value, str) else ""
    if not number or len(number) > LONGEST:
        return {}
    return _read(number, value, whole=whole)


def _read(number: str, written: str, *, whole: bool) -> dict[str, int | float]:
    """The numbers that what may be one means, by their plain writing; but for the one that is `written` so."""
    text = _in_plain_signs(number)
    read = {plain: yaml_number(plain) for plain in _readings(text) if plain != written.strip(" ")}
    only = next(iter(read.values())) if len(read) == 1 else None
    if whole and isinstance(only, float) and only.is_integer():  # 8,0 is 8
        return {str(int(only)): int(only)}
    return {plain: number for plain, number in read.items() if isinstance(number, int if whole else (int, float))}


def _dashes_before(value: Any) -> str:
    """The two dashes before a number, one of which is too many; "" where there are none."""
    found = _DASHES.match(value.strip()) if isinstance(value, str) and len(value) <= LONGEST else None
    return found[0] if found else ""


def split_remark(typed: str) -> tuple[str, str]:
    """What may be a number, without a comma or a remark behind it; and the remark."""
    mark = _REMARK.search(typed)
    number, remark = (typed[: mark.start()], typed[mark.end() :].strip()) if mark else (typed, "")
    if remark[:1].isdigit() and number == number.rstrip():
        return typed, ""  # 1//2, 3;4 and 5--6 are no number with a remark
    return trim_spaces(number).rstrip(",;").rstrip(), remark


def _in_plain_signs(value: str) -> str:
    """A text with the digits and signs that ASCII has: Arabic, full-width and raised ones, and the true minus."""
    text = unicodedata.normalize("NFKC", trim_spaces(value)).translate(_SIGNS)
    digits = (str(unicodedata.decimal(sign, sign)) for sign in text)
    plain = _POWER_OF_TEN.sub(r"\g<1>1e", "".join(digits))
    return _LOOSE_EXPONENT.sub("", _TIMES_TEN.sub("e", plain))


def _readings(text: str) -> list[str]:
    """The plain writings of what may be a number; of what is one as it stands, that."""
    found = _NUMERAL.fullmatch(text)
    if found is not None:
        sign, run, exponent = found.groups("")
        return [f"{sign}{one}{exponent}" for one in _plain(run)]
    if spaced := _SPACED.fullmatch(text):
        return [spaced[1] + re.sub("[^0-9]", "", spaced[2])]
    if short := _SHORT.fullmatch(text):
        return [f"{float(short[1]) * _WORTH[short[2]]:.12g}"]
    if with_unit := _WITH_UNIT.fullmatch(text):
        return _readings(with_unit[1])
    if stray := _STRAY.fullmatch(text):
        return [stray[1]]
    return []


def _plain(run: str) -> list[str]:
    """The plain writings of a numeral, the likeliest first."""
    if _EITHER.fullmatch(run):
        return [run.replace(",", "."), run.replace(",", "")]
    if _DECIMAL.fullmatch(run):
        return [run.replace(",", ".") if run[0] != "," else f"0.{run[1:]}"]
    if _POINTS.fullmatch(run):
        return [run.replace(".", "").replace(",", ".")]
    if _COMMAS.fullmatch(run):
        return [run.replace(",", "")]
    return [re.sub("^0+(?=[0-9])", "", run)] if re.fullmatch(r"[0-9]+(?:\.[0-9]*)?", run) else []  # 042 is 42


def meant_number_words(value: Any, *, whole: bool = False) -> str:
    """“ Did you mean 0.0002?”, or what is wrong with its signs; nothing where no number is meant."""
    if _dashes_before(value):
        return " There is one dash too many."
    if _is_taken(quoted_number(value), whole=whole):
        return UNQUOTE
    meant = " or ".join(meant_numbers(value, whole=whole))
    if not meant:
        several = isinstance(value, str) and len(value) <= LONGEST and _POINTED.fullmatch(value.strip())
        return " A number has at most one decimal point." if several else ""
    return f"{' Its digits are of another script.' if _has_other_digits(value) else ''} Did you mean {meant}?"


def no_number_words(words: str) -> str:
    """That what was typed is no number, and the numbers that it may mean."""
    meant = " or ".join(meant_numbers(words))
    hint = f" Did you mean {meant}?" if meant else ""
    return f"“{words[:40]}” is not a number.{hint}"


def _is_taken(number: int | float | None, *, whole: bool) -> bool:
    return isinstance(number, int if whole else (int, float)) and abs(number) < MOST_OFFERED


def quoted_number(value: Any) -> int | float | None:
    """The number that a text is as it stands, of which only the quotes, and spaces in them, are too many; None of any
    other value."""
    written = value.strip(" ") if isinstance(value, str) else ""
    return yaml_number(written) if re.fullmatch(r"[-+.0-9eE]*[0-9]", written) else None


def _has_other_digits(value: Any) -> bool:
    return isinstance(value, str) and any(sign.isdecimal() and not sign.isascii() for sign in value)


# Of these a batch has to come out even: the number beside would mostly be the next problem.
_DIVIDING = {
    "num_generations", "num_generations_eval", "per_device_train_batch_size", "per_device_eval_batch_size",
    "generation_batch_size", "steps_per_generation",
}  # fmt: skip


def number_fixes(path: str, value: Any, *, whole: bool = False) -> tuple[Fix, ...]:
    """A button for each number that may be meant, also of 6e1 where whole ones are; of 12.5 the two beside it; none
    beyond measure."""
    meant = meant_numbers(value, whole=whole)
    number = quoted_number(value) if isinstance(value, str) else value
    if isinstance(value, str) and number is not None and _is_taken(number, whole=whole):
        meant = {value.strip(" "): number}
    if whole and isinstance(number, float) and number.is_integer():
        meant = {f"{number:.0f}": int(number)}
    elif whole and isinstance(number, float) and not _is_of_thousands(value) and not _divides(path):
        meant = {str(one): one for one in _whole_beside(number)}
    fitting = {plain: number for plain, number in meant.items() if abs(number) < MOST_OFFERED}
    return tuple(Fix(f"Use {plain}", {path: number}) for plain, number in fitting.items())


def _divides(path: str) -> bool:
    """Whether it is a setting of a training, of the run's or of a stage's, by which a batch is divided."""
    *_, part, name = ("", *path.split("."))
    return part == "training" and name in _DIVIDING


def _is_of_thousands(value: Any) -> bool:
    return isinstance(value, str) and _THOUSAND.fullmatch(value.strip(" ")) is not None


def _whole_beside(number: float) -> tuple[int, ...]:
    """The whole numbers around one that is none: of 12.5, 12 and 13. None up to 2, where it may be a share, and one may
    be too few, nor below 0, which may say something else altogether."""
    return (math.floor(number), math.ceil(number)) if 2 < number < MOST_OFFERED else ()


def is_with_decimal_comma(node: ScalarNode) -> bool:
    """Whether a value, in quotes or not, is a number with a decimal comma, which cannot be one between thousands, and
    nothing behind it."""
    number, remark = split_remark(node.value)
    found = _NUMERAL.fullmatch(_in_plain_signs(number)) if len(number) <= LONGEST and not remark else None
    run = found[2] if found else ""
    return "," in run and bool(_DECIMAL.fullmatch(run) or _POINTS.fullmatch(run)) and not _EITHER.fullmatch(run)


def thousands_or_ones(text: str) -> dict[str, str]:
    """The numbers of a spec that YAML reads as decimals and many mean as thousands (1.000), as they are written, by
    dotted path; of a text that is no YAML none."""
    return scalars_by_path(text, _may_be_thousand) if "." in text else {}


def _may_be_thousand(node: ScalarNode) -> bool:
    return node.style is None and bool(_THOUSAND.fullmatch(node.value))


def scalars_by_path(text: str, is_meant: Callable[[ScalarNode], bool]) -> dict[str, str]:
    """The values of a spec that are meant, as they are written, by dotted path; of a text that is no YAML none."""
    return {path: node.value for path, node in nodes_by_path(text, is_meant).items()}


def nodes_by_path(text: str, is_meant: Callable[[ScalarNode], bool]) -> dict[str, ScalarNode]:
    """The same with each value's place in the text."""
    try:
        root = parse_document(text).root
    except SpecError:
        return {}
    return dict(_nodes_in(root, "", is_meant)) if root is not None else {}


def _nodes_in(node: Node, path: str, is_meant: Callable[[ScalarNode], bool]) -> Iterator[tuple[str, ScalarNode]]:
    if isinstance(node, ScalarNode) and is_meant(node):
        yield path, node
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            yield from _nodes_in(value, f"{path}.{key.value}".lstrip("."), is_meant)
    elif isinstance(node, SequenceNode):
        for place, value in enumerate(node.value):
            yield from _nodes_in(value, f"{path}.{place}".lstrip("."), is_meant)


def ask_for_thousands(problems: Iterable[Problem], text: str) -> list[Problem]:
    """The problems of a text, asking which number was meant by a whole one, or a count of steps, that is written 1.000.
    Where decimals are taken there is no doubt."""
    written = thousands_or_ones(text)
    found = [_ask(one, written[one.field]) if one.field in written else one for one in problems]
    named = {one.field for one in found}
    counts = [path for path in written if path.endswith("_steps") and path not in named]
    lines = parse_document(text).lines if counts else {}
    return [*found, *(_ask(Problem(path, "", lines.get(path), WARNING), written[path]) for path in counts)]


def _ask(problem: Problem, written: str) -> Problem:
    point, thousands = float(written), int(written.replace(".", ""))
    should, is_other, _ = problem.message.partition(", not ")
    if problem.message and not (is_other and "number" in should):
        return problem
    meant = [int(point), thousands] if point.is_integer() else [thousands]
    fixes = tuple(Fix(f"Use {number}", {problem.field: number}) for number in meant)
    passed = {f"Use {number}" for number in (*meant, *_whole_beside(point))}  # 4 and 5 are not what 4.500 means
    others = tuple(fix for fix in problem.fixes if fix.label not in passed)
    message = f"{should}: {written}" if should else written
    message += f" is read as {point:g}. Did you mean {' or '.join(map(str, meant))}?"
    return replace(problem, message=message, fixes=(*fixes, *others))
