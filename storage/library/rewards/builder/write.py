"""What the builder writes: blocks → readable Python with a docstring and a test. Pure.

What it writes is ordinary code from then on. Every value that a person typed stands in it as a literal, so that it can
be nothing but that value.
"""

from groupwise.storage.library.rewards import names
from groupwise.storage.library.rewards.builder.blocks import KINDS, Block, block_problems
from groupwise.storage.library.rewards.builder.in_words import kinds_sentence, sentence_of
from groupwise.storage.library.rewards.builder.parts import COLUMN, Part, part_of
from groupwise.storage.library.rewards.builder.shared import JUDGE, NUMBER, SHARED, weighted_mean
from groupwise.storage.spec.python_source import (
    WIDTH,
    call,
    indented_docstring,
    is_usable_name,
    number_literal,
    string_literal,
    visible,
)

LONGEST_SENTENCE = 300
SCORE, TRACED, REQUIRED = "score_of", "score_each_block", "required"
_TYPES = {"text": "str", "ids": "list[int]", "prompt": "object"}
_LISTS = {"text": "completions", "ids": "completion_ids", "prompt": "prompts"}
# What the code uses by these names, and an argument would hide.
_OWN_NAMES = {
    "zip", "map", "list", "pool", "score_of", "number_is_right", "text_of", "ThreadPoolExecutor", "kwargs", "args",
    "log_extra", *SHARED, *names.TRL_ARGUMENTS,
}  # fmt: skip


class BuilderError(ValueError):
    """Code cannot be written from this; the message says why."""


def needs_network(blocks: list[Block]) -> bool:
    """Whether a function of these blocks has to be saved with leave to use the network."""
    return any(KINDS.get(block.kind, {}).get("network") for block in blocks)


def to_code(name: str, blocks: list[Block], sentence: str) -> str:
    """The code of a reward function `name` that these blocks mean, with a test; `sentence` becomes its first line.

    A completion's score is the mean of what the blocks give, by weight: 0 to 1. Blocks with a negative weight are
    penalties: the sum is divided by the positive weights alone, so that the score can fall below 0 (where all are
    penalties: −1 to 0). Without a required block it is 0 at most. A block that does not apply to a row (no number in
    its column) does not count there; a judge that does not answer makes it no score. Raises BuilderError.
    """
    wrong = names.problem_with(name) or next((str(each) for each in block_problems(blocks)), "")
    if wrong:
        raise BuilderError(wrong)
    parts = _parts(blocks)
    if name in _names_in_use(parts):
        raise BuilderError(f"“{name}” is a name that the builder itself uses. Choose another name.")
    sentence = _one_line(sentence) or default_sentence(blocks)
    direct = len(blocks) == 1 and blocks[0].weight > 0
    functions = [
        _write_main(name, blocks, parts, sentence, direct),
        *([] if direct else _combine_blocks(blocks, parts)),
        *(part.code for part in parts),
        *(SHARED[helper] for helper in _shared_helpers(parts, blocks)),
        _write_test(name, parts, needs_network(blocks)),
    ]
    head = [_imports(parts), "\n".join(_constants(parts))]
    return (
        "\n\n".join(part for part in head if part) + ("\n\n\n" if any(head) else "") + "\n\n\n".join(functions) + "\n"
    )


def to_traced_code(name: str, blocks: list[Block]) -> str:
    """The code of these blocks with a function `TRACED` beside it that scores the same, and hands what each block gives
    to log_extra, as “block 1” and so on. Raises BuilderError; also where a judge is asked, which costs."""
    if needs_network(blocks):
        raise BuilderError("A judge is asked only when you press Try.")
    code, parts = to_code(name, blocks, ""), _parts(blocks)
    takes = _row_values(parts)
    columns = [_argument_of(each) for each in takes if each != "text" and _is_argument(each)]
    lines = [f"def {TRACED}({', '.join(['completions', *columns, 'log_extra', '**kwargs'])}):"]
    lines += ["    texts = [text_of(each) for each in completions]"] if "text" in takes else []
    for number, part in enumerate(parts, 1):
        lists = ["texts" if each == "text" else _argument_of(each) for each in part.takes]
        lines += [f'    log_extra("block {number}", list(map({part.helper}, {", ".join(lists)})))']
    given = ", ".join(["completions", *(f"{each}={each}" for each in columns), "**kwargs"])
    return "\n".join([code, "", *lines, f"    return {name}({given})", ""])


def describe_blocks(blocks: list[Block], mapped: str = "") -> list[str]:
    """What each block looks for, in a sentence; empty for one that cannot be built yet. `mapped`: the data's column
    that a reward gets as “answer”, where that is known."""
    wrong = {problem.block for problem in block_problems(blocks)}
    return ["" if n in wrong or None in wrong else sentence_of(block, mapped) for n, block in enumerate(blocks)]


def default_sentence(blocks: list[Block]) -> str:
    """The sentence of a function that was given none: what its only block looks for, or which it has."""
    return _one_line(sentence_of(blocks[0]) if len(blocks) == 1 else kinds_sentence(blocks))


def _one_line(sentence: str) -> str:
    return visible(" ".join(sentence.split()))[:LONGEST_SENTENCE]


def _parts(blocks: list[Block]) -> list[Part]:
    """The code of each block; the second of a kind gets _2 after its names."""
    found = []
    for at, block in enumerate(blocks):
        before = sum(each.kind == block.kind for each in blocks[:at])
        found.append(part_of(block, f"_{before + 1}" if before else ""))
    return found


def _names_in_use(parts: list[Part]) -> set[str]:
    constants = {line.split(" ")[0] for part in parts for line in part.constants}
    return {
        SCORE,
        TRACED,
        "weighted_mean",
        "NUMBERS",
        "EXACT",
        "MARK",
        "PROBLEMS",
        *SHARED,
        *(part.helper for part in parts),
        *constants,
    }


def _shared_helpers(parts: list[Part], blocks: list[Block]) -> list[str]:
    """The shared functions that are called, in the order in which they are kept."""
    called = {helper for part in parts for helper in part.shared}
    texts = needs_network(blocks) or any("text" in part.takes for part in parts)
    return [helper for helper in SHARED if helper in called or (helper == "text_of" and texts)]


def _imports(parts: list[Part]) -> str:
    wanted = {line if line.startswith("from ") else f"import {line}" for part in parts for line in part.imports}
    return "\n".join(sorted(wanted, key=lambda line: (line.startswith("from "), line)))


def _constants(parts: list[Part]) -> list[str]:
    called = {helper for part in parts for helper in part.shared}
    shared = [text for helper, text in (("numeral_value", NUMBER), ("ask_judge", JUDGE)) if helper in called]
    return [*(line for part in parts for line in part.constants), *shared]


def _row_values(parts: list[Part]) -> list[str]:
    """What is needed of a row: text, ids and prompt in this order, then the columns."""
    wanted = dict.fromkeys(each for part in parts for each in part.takes)
    return [*(each for each in _TYPES if each in wanted), *(each for each in wanted if each not in _TYPES)]


def _argument_of(taken: str) -> str:
    """What has a row's value for every row: an argument, a column under its own name; where Python cannot say that
    name, or the code uses it itself, out of the arguments' rest."""
    column = taken.removeprefix(COLUMN)
    return _LISTS.get(taken) or (column if _is_argument(taken) else f"kwargs[{string_literal(column)}]")


def _is_argument(taken: str) -> bool:
    column = taken.removeprefix(COLUMN)
    return taken in _LISTS or (is_usable_name(column) and column not in _OWN_NAMES)


def _variables(takes: list[str]) -> list[str]:
    """The names of one row's values: of a column that Python cannot name, row_value."""
    others = [each for each in takes if not _is_argument(each)]
    numbered = {each: f"row_value_{n}" if n > 1 else "row_value" for n, each in enumerate(others, 1)}
    return [numbered.get(each, each) for each in takes]


def _write_main(name: str, blocks: list[Block], parts: list[Part], sentence: str, direct: bool) -> str:
    """The reward function itself."""
    takes = list(parts[0].takes) if direct else _row_values(parts)
    lists = dict.fromkeys(["completions", *(_argument_of(each) for each in takes if _is_argument(each))])
    kind = "float | None" if any(part.may_be_none for part in parts) else "float"
    head = call(f"def {name}(", [*(f"{each}: list" for each in lists), "**kwargs: object"], f") -> list[{kind}]:")
    row = parts[0].helper if direct else SCORE
    body = _score_side_by_side(row, takes) if needs_network(blocks) else _score_in_turn(row, takes)
    return "\n".join([head, indented_docstring([sentence, *_explain_blocks(blocks, parts)]), body])


def _score_in_turn(row: str, takes: list[str]) -> str:
    """The scores, one row after the other."""
    variables = _variables(takes)
    given = ", ".join("text_of(completion)" if each == "text" else each for each in variables)
    looped = ["completion" if each == "text" else each for each in variables]
    lists = [_argument_of(each) for each in takes]
    head, made = f"for {', '.join(looped)} in ", f"{row}({given})"
    flat = f"{head}{lists[0]}" if len(lists) == 1 else f"{head}zip({', '.join(lists)}, strict=True)"
    if len(f"    return [{made} {flat}]") <= WIDTH:
        return f"    return [{made} {flat}]"
    loop = flat if len(lists) == 1 else call(f"{head}zip(", [*lists, "strict=True"], ")", indent=8)
    return f"    return [\n        {made}\n        {loop}\n    ]"


def _score_side_by_side(row: str, takes: list[str]) -> str:
    """The scores, eight rows at a time: each waits for the judge."""
    lists = ["map(text_of, completions)" if each == "text" else _argument_of(each) for each in takes]
    made = call("scores = pool.map(", [row, *lists], ")", indent=8)
    return f"    with ThreadPoolExecutor(max_workers=8) as pool:\n        {made}\n        return list(scores)"


def _explain_blocks(blocks: list[Block], parts: list[Part]) -> list[str]:
    """The docstring's paragraphs after its first line: each block in words, and how they go together."""
    judged, single = needs_network(blocks), len(blocks) == 1
    if single and blocks[0].weight > 0:
        said = [f"A completion earns 1 where {parts[0].words}."]
    else:
        items = [f"- {_weight_in_words(block)}: {part.words}." for block, part in zip(blocks, parts, strict=True)]
        said = ["What counts for a completion, with its weight:", "\n".join(items)]
        said = ["\n".join(said), _range_in_words(blocks)]
    if any(part.may_be_none and not part.helper.startswith("judge") for part in parts):
        rest = "gets None: no score." if single else "is scored by the other conditions."
        said.append(f"A row without a number in its column {rest}")
    if judged:
        said.append("It asks a judge over the network. None, no score, where the judge does not answer.")
    return said


def _weight_in_words(block: Block) -> str:
    return number_literal(block.weight) + (", required" if block.required else "")


def _range_in_words(blocks: list[Block]) -> str:
    if all(block.weight > 0 for block in blocks):
        more = " Without a required one it is 0." if any(block.required for block in blocks) else ""
        return f"The score is their mean by weight: 0 to 1.{more}"
    if all(block.weight < 0 for block in blocks):
        return "All of them are penalties: -1 to 0."
    more = " Without a required one it is 0 at most." if any(block.required for block in blocks) else ""
    return f"Negative weights are penalties: the sum is divided by the positive weights, and can fall below 0.{more}"


def _combine_blocks(blocks: list[Block], parts: list[Part]) -> list[str]:
    """The function that scores one row by all blocks, and the mean it takes."""
    takes = _row_values(parts)
    judges = [part for part in parts if part.helper.startswith("judge")]
    none = any(part.may_be_none for part in parts if part not in judges)
    kind = "float | None" if none or judges else "float"
    lines = [
        call(f"def {SCORE}(", [f"{each}: {_TYPES.get(each, 'object')}" for each in _variables(takes)], f") -> {kind}:"),
        '    """What one completion earns."""',
    ]
    variables = dict(zip(takes, _variables(takes), strict=True))
    made = [f"{part.helper}({', '.join(variables[each] for each in part.takes)})" for part in parts]
    for part, written in zip(parts, made, strict=True):
        if part in judges:
            verdict = _verdict(part)
            lines += [f"    {verdict} = {written}", f"    if {verdict} is None:", "        return None"]
    calls = [_verdict(part) if part in judges else written for part, written in zip(parts, made, strict=True)]
    pairs = [f"({float(block.weight)!r}, {made})" for block, made in zip(blocks, calls, strict=True)]
    penalties = any(block.weight < 0 for block in blocks)
    lines += ["    parts = [", *(f"        {pair}," for pair in pairs), "    ]"]
    lines += [*_require(blocks, none=none, penalties=penalties), "    return weighted_mean(parts)"]
    return ["\n".join(lines), weighted_mean(none=none, penalties=penalties)]


def _require(blocks: list[Block], *, none: bool, penalties: bool) -> list[str]:
    """The lines by which nothing is earned without a required block, whatever the others give; penalties stay."""
    listed = [f"parts[{n}][1]" for n, block in enumerate(blocks) if block.required]
    if not listed:
        return []
    mean = "weighted_mean(parts) or 0.0" if none else "weighted_mean(parts)"
    least = f"min(0.0, {mean})" if penalties else "0.0"
    made = call(f"{REQUIRED} = [", listed, "]", indent=4)
    return [f"    {made}", f"    if 0 in {REQUIRED}:", f"        return {least}"]


def _verdict(part: Part) -> str:
    return part.helper.replace("judge_says", "verdict")


def _example_of(taken: str) -> str:
    """A column's values as an argument of a call."""
    column = taken.removeprefix(COLUMN)
    return f'{column}=["1", "1"]' if _is_argument(taken) else f'**{{{string_literal(column)}: ["1", "1"]}}'


def _write_test(name: str, parts: list[Part], judged: bool) -> str:
    """A test of each block, and that plain text and chat score alike."""
    lines = [f"def test_{name}() -> None:", '    """Examples that earn, and examples that do not."""']
    lines += [f"    {test}" for test in dict.fromkeys(test for part in parts for test in part.tests)]
    if not judged:
        given = {"ids": "completion_ids=[[0], [0]]"}
        more = [given.get(each) or _example_of(each) for each in _row_values(parts) if each != "text"]
        lines += ['    chat = [{"role": "assistant", "content": "a"}]']
        lines += ["    " + call(f"plain, same = {name}(", ['completions=["a", chat]', *more], ")", indent=4)]
        lines += ["    assert plain == same"]
    return "\n".join(lines)
