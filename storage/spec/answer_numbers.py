"""How numbers are written: 1,234.5 or 1.234,5. The one place where that is decided; pure.

Whether 1.234 is a thousand or one and a bit is not in the text: `decimal` says it, for a whole column. A run's plain
script has the code of `number_of_answer`; the rewards that compare numbers, and the code of the builder's blocks, have
that of the names in `ALONE`, letter for letter, as they have to stand alone.
"""

import ast
import functools
import re
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from pathlib import Path
from typing import Any

from groupwise.storage.spec.rows.file_format import DecimalMark
from groupwise.storage.spec.spec import RewardSpec, RunSpec
from groupwise.storage.spec.syntax_tree import parse_module

# Numerals that can be written with one decimal mark only, and those that can be both: 1.234.
_ONLY = (
    r"0{0}[0-9]+|[0-9]+{0}(?:[0-9]{{1,2}}|[0-9]{{4,}})|[0-9]{{4,}}{0}[0-9]+"  # 0,5  58,0  1234,567
    r"|[0-9]{{1,3}}(?:{1}[0-9]{{3}})+{0}[0-9]+|[0-9]{{1,3}}(?:{1}[0-9]{{3}}){{2,}}"  # 1.234,5  1.234.567
)
ONLY = {"comma": re.compile(_ONLY.format(",", r"\.")), "point": re.compile(_ONLY.format(r"\.", ","))}
RUN = re.compile(r"(?<![0-9])[0-9]+(?:[.,][0-9]+)+")


def written_with(values: Iterable[Any]) -> DecimalMark | None:
    """The decimal mark that texts of a column are written with; None where none of them says it, or they differ."""
    runs = [run for value in values if isinstance(value, str) for run in RUN.findall(value)]
    marks: list[DecimalMark] = ["point", "comma"]
    found = [mark for mark in marks if any(ONLY[mark].fullmatch(run) for run in runs)]
    return found[0] if len(found) == 1 else None


def number_of_answer(answer: object, decimal: str) -> object:
    """The one number in an answer that is text, in plain writing (58, -3.5); else the answer as it is.

    `decimal`: "point" reads 1,234.5, "comma" reads 1.234,5. Thousands may also be apart by a space or an apostrophe.
    What stands around the number goes, with units and signs of currency: 50 % is 50. An answer stays as it is where it
    holds no number, several (2/3, 10:30, 12.03.2024), one that is part of a word (H2O, 5e3), or one written otherwise.
    With a comma, 1,234 becomes 1.2340: nobody who knows of the comma takes that for a thousand.
    """
    if not isinstance(answer, str):
        return answer
    runs = list(re.finditer(r"[0-9]+(?:[.,'’\u00a0\u2009\u202f ][0-9]+)*", answer))
    before, after = (answer[: runs[0].start()], answer[runs[0].end() :]) if len(runs) == 1 else ("x", "")
    if re.search(r"[^\W_]$|[.,]$", before) or re.match(r"[²³¹⁰-⁹]", after):
        return answer
    group, mark = (r"[.'’\s]", ",") if decimal == "comma" else (r"[,'’\s]", r"\.")
    found = re.fullmatch(rf"((?:[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+|[0-9]+))(?:{mark}([0-9]+))?", runs[0][0])
    if not found:
        return answer
    whole, fraction = re.sub(r"[^0-9]", "", found[1]).lstrip("0") or "0", (found[2] or "").rstrip("0")
    as_thousand = decimal == "comma" and len(fraction) == 3 and len(whole) < 4 and whole != "0"
    plain = f"{whole}.{fraction}{'0' if as_thousand else ''}" if fraction else whole
    minus = re.search(r"(?<![\w)])[-−](?:\s*[€$£¥])?$", before.rstrip())
    return f"-{plain}" if minus and plain != "0" else plain


# ---- what rewards and blocks contain ----
# Names of what follows here, which `source_of` gives as text.
ALONE = ("NUMBERS", "EXACT", "BEFORE", "AFTER", "numeral_value", "said_number")
# Built-in rewards that compare numbers: a run sets their `decimal` as its data has it.
COMPARE_NUMBERS = ("correctness", "cosine_length")


def parameters_for(reward: str, parameters: dict[str, Any], answer_numbers: DecimalMark | None) -> dict[str, Any]:
    """A reward's parameters in a run whose `data.answer_numbers` is this: completions write their numbers as its
    answers were, unless the parameters say otherwise."""
    if reward not in COMPARE_NUMBERS or answer_numbers != "comma" or "decimal" in parameters:
        return parameters
    return {**parameters, "decimal": answer_numbers}


def as_scored(spec: RunSpec) -> RunSpec:
    """A spec whose rewards have the parameters that they are called with."""

    def called(rewards: list[RewardSpec]) -> list[RewardSpec]:
        given = [(each, parameters_for(each.name, each.parameters, spec.data.answer_numbers)) for each in rewards]
        return [each.model_copy(update={"parameters": parameters}) for each, parameters in given]

    stages = [each.model_copy(update={"rewards": each.rewards and called(each.rewards)}) for each in spec.stages]
    return spec.model_copy(update={"rewards": called(spec.rewards), "stages": stages})


@functools.cache
def source_of(name: str) -> str:
    """The code of one of ALONE, without the comments above it."""
    source = Path(__file__).read_text(encoding="utf-8")
    for node in parse_module(source).body:
        named = (
            node.name
            if isinstance(node, ast.FunctionDef)
            else isinstance(node, ast.Assign) and ast.unparse(node.targets[0])
        )
        if named == name:
            return ast.get_source_segment(source, node) or ""
    raise KeyError(name)


# The sign belongs to a number only where it cannot be a minus between two terms, as in 5-3. A number is none where it
# is part of a word (CO2); 1/2 is one, 1/2/2024 is not.
NUMBERS = {
    "point": re.compile(
        r"(?:(?<![\w.)])[-+\u2212][€$£¥]?)?(?<![A-Za-z0-9])(?:"
        r"(?<![/.])[0-9]+/0*[1-9][0-9]*(?![/0-9]|[.,][0-9])"
        r"|[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,}(?![0-9]))"
        r"|(?:[1-9][0-9]{0,2}(?:[,'\u2019\u00a0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)"
        r"(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?)"
    ),
    "comma": re.compile(
        r"(?:(?<![\w.)])[-+\u2212][€$£¥]?)?(?<![A-Za-z0-9])(?:"
        r"(?<![/,])[0-9]+/0*[1-9][0-9]*(?![/0-9]|[.,][0-9])"
        r"|[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+\.[0-9]+|(?:,[0-9]{3}){2,}(?![0-9]))"
        r"|(?:[1-9][0-9]{0,2}(?:[.'\u2019 \u00a0\u2009\u202f][0-9]{3})+(?![0-9])(?:,[0-9]+)?"
        r"|[0-9]+(?:[.,][0-9]+)?)(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?)"
    ),
}
# Room for any number of digits: Python's usual context refuses to compute with more than a million.
EXACT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
# What may stand around the one number of an answer: x = $46, **46**, \\boxed{46}; 46 km/h, 46 %, 46.
BEFORE = re.compile(r"(?:[\s=$€£¥*#]|\\boxed\{|[A-Za-z_]\w{0,19}\s{0,3}=)*")
AFTER = re.compile(r"\s*(?:\\?%|,-|[€$£¥]|°?[^\W\d_]{1,20}[²³23]?(?:/[^\W\d_]{1,20}[²³23]?)?)?[\s}*$.]*")


def numeral_value(numeral: str, decimal: str) -> Decimal:
    """The number that a match of NUMBERS writes. 1.234 is as `decimal` has it."""
    plain = re.sub(r"[\s'\u2019€$£¥]", "", numeral).replace("\u2212", "-")
    if "/" in plain:
        above, below = plain.split("/")
        return EXACT.divide(Decimal(above), Decimal(below))
    marks = re.findall(r"[.,]", plain)
    own = "," if decimal == "comma" else "."
    grouped = re.fullmatch(r"[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}", plain)
    if len(set(marks)) == 2 or (len(marks) == 1 and (marks[0] == own or not grouped)):
        whole, _, rest = plain.rpartition(marks[-1])
        return Decimal(f"{re.sub('[.,]', '', whole)}.{rest}")
    return Decimal(re.sub(r"[.,]", "", plain))


def said_number(text: str, decimal: str) -> Decimal | None:
    """The number that an answer says, as in = 46, 46 kg or \\boxed{46}; None where it says more than that."""
    start = BEFORE.match(text)
    found = NUMBERS[decimal].match(text, start.end() if start else 0)
    if not found or not AFTER.fullmatch(text, found.end()):
        return None
    return numeral_value(found[0], decimal)
