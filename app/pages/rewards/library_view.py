"""The library of reward functions as the page shows it: what ships, one's own, versions, differences, who uses what."""

import difflib
import functools
import re
import time
from dataclasses import asdict
from typing import Any

from groupwise.app.pages.new import view
from groupwise.app.pages.rewards import lint, whole_script
from groupwise.app.pages.rewards.block_problems import say_missing_column, say_secret
from groupwise.storage.checks.texts import IN_CODE
from groupwise.storage.home import redaction
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import builder, library, names, pasted, renaming, signature, strip_script
from groupwise.storage.registry import registry
from groupwise.storage.spec.python_source import quote_in_words
from groupwise.storage.spec.rows.number_text import meant_number_words, meant_numbers
from groupwise.storage.spec.words.problem import BLOCKING, WARNING

UNNAMED = "built_from_blocks"  # what a function is called while it is only tried
MOST_RUNS = 50  # runs that are named as users of a function
TRL_NAMES = {
    "prompts": "the prompts, one for each completion",
    "completions": "what the model wrote, one for each",
    "completion_ids": "the tokens of each completion",
    "trainer_state": "where training is: global_step, max_steps, epoch",
    "log_extra": "log_extra(column, values): a column beside the completions",
    "log_metric": "log_metric(name, value): a number to chart",
}


def list_functions(offer: Offer) -> dict[str, Any]:
    """The library's functions, {own, built_in, now: the server's clock}: each with its name, first sentence, arguments
    and parameters; one's own with hash, when it was saved and whether it may use the network."""
    own = [
        {"name": kept.name, **_signature(kept.code, kept.name), "hash": kept.hash, "at": kept.at,
         "network": kept.network}
        for kept in library.newest_rewards()
    ]  # fmt: skip
    built_in = [
        {"name": name, **_signature(str(about.get("code") or ""), name), "needs": about.get("needs") or []}
        for name, about in sorted(offer.rewards.items())
        if not about.get("own")
    ]
    return {"own": own, "built_in": built_in, "now": time.time()}


def describe_function(name: str, version: str, offer: Offer) -> dict[str, Any]:
    """One function with its code, versions and users. Raises LibraryError where there is none."""
    about = offer.rewards.get(name)
    if about is not None and not about.get("own"):
        return {"name": name, "built_in": True, "code": str(about.get("code") or ""), "needs": about.get("needs") or []}
    kept, versions = library.get_reward(name, version or None), library.versions(name)
    return {
        "name": name,
        "built_in": False,
        "code": kept.code,
        "hash": kept.hash,
        "network": kept.network,
        "newest": versions[0].hash if versions else kept.hash,
        "blocks": describe_reading(kept.code, name),
        "versions": [{"hash": one.hash, "at": one.at} for one in versions],
        "users": users(name),
    }


def users(name: str) -> list[dict[str, str]]:
    """The runs that have a copy of a function, those still queued among them: [{id, name, hash, called}], the newest
    first. `called`: what it was called in the run, where it was renamed since; "" elsewhere."""
    found = [(run_id, digest, "") for run_id, digest in library.users(name)]
    before = library.earlier_names(name)
    for earlier in sorted({old for old, _ in before}):
        kept = [(run_id, before.get((earlier, digest), "")) for run_id, digest in library.users(earlier)]
        found += [(run_id, digest, earlier) for run_id, digest in kept if digest]
    named = {run.id: run.name for run in registry.list_runs()} if found else {}
    newest = sorted(found, key=lambda one: one[0], reverse=True)[:MOST_RUNS]
    return [
        {"id": run_id, "name": named.get(run_id, run_id), "hash": digest, "called": called}
        for run_id, digest, called in newest
    ]


def text_under_name(text: str, old: str, new: str) -> str:
    """A text that is typed with its function under another name. Raises LibraryError where that cannot be; in what is
    no Python yet, only its def has it."""
    if not pasted.is_python(text) or not names.NAME.fullmatch(new):  # that is said of the name itself
        return re.sub(rf"(?<=\bdef ){re.escape(old)}\b", lambda _: new, text)
    if fault := renaming.rename_fault(text, old, new):
        raise library.LibraryError(fault)
    return renaming.rename_function(text, old, new)


def analyse_text(code: str, name: str = "", columns: set[str] | None = None, script: str = "") -> dict[str, Any]:
    """What can be said of a text without running it: its functions, problems with their lines (of the function of
    this name what it asks for in vain, too; errors first; `kind`: NAME where one function cannot be used, SECRET where
    none can, SCRIPT where it is a whole one without any, MAKER of what makes one for a whole script, UNLOADABLE where
    the text cannot be loaded), whether `pasted.clean_paste` makes Python of it, whether a script stands around its
    functions that `strip_script.keep_only` takes out, and the blocks that make it: then what it asks for in vain, and a
    secret, are said of them. `script`: the text with that script, where it was taken out."""
    analysis, clean = signature.analyse(code), pasted.clean_paste(code)
    chosen = next((one for one in analysis.functions if one.name == name), None) or next(iter(analysis.functions), None)
    asked = signature.problems_for(chosen, columns) if chosen else []
    fault = library.find_load_fault(code, chosen.name if chosen else "")
    reading = builder.read_blocks(code, chosen.name) if chosen else None
    blocks = reading.blocks if reading is not None else None
    ours = [_problem(each, UNLOADABLE if each == fault else "") for each in analysis.problems]
    others = [one for one in analysis.functions if one != chosen]
    ours += [_with_others(_asked_in_vain(each, chosen.name, blocks), others, columns) for each in asked if chosen]
    refused = [*_secrets_in(code, blocks), *_names_too_long(analysis.functions)]
    whole = "" if analysis.functions else whole_script.say_script_alone(clean)
    # what each line of it would do in a reward function is of no use where none is
    said = [_problem(signature.CodeProblem(1, 1, whole), SCRIPT)] if whole else ours
    makers = [] if whole else [_problem(each, MAKER) for each in whole_script.say_makers(script or clean)]
    makers += (
        [_problem(each) for each in whole_script.say_uncalled_makers(script or clean)] if analysis.functions else []
    )
    linted = [] if whole else _lint_to_add(ours, lint.lint(code))
    return {
        "functions": [view.json_value(_describe_signature(one)) for one in analysis.functions],
        "problems": sorted([*said, *makers, *refused, *linted], key=_graver_first),
        "cleaner": not pasted.is_python(code) and pasted.is_python(clean),
        "script": bool(analysis.functions) and strip_script.keep_only(clean) != clean,
        "blocks": _describe_reading(reading),
    }


def describe_reading(code: str, name: str) -> dict[str, Any] | None:
    """The builder's blocks that make a function: {blocks, sentence}; {line} where it was edited by hand, from 1; None
    where it never was of blocks."""
    return _describe_reading(builder.read_blocks(code, name))


def _describe_reading(reading: builder.Reading | None) -> dict[str, Any] | None:
    if reading is None:
        return None
    if reading.blocks is None:
        return {"line": reading.line}
    return {"blocks": view.json_value([asdict(block) for block in reading.blocks]), "sentence": reading.sentence}


def _graver_first(problem: dict[str, Any]) -> tuple[bool, bool, int]:
    return problem["level"] != "error", problem["lint"], problem["line"]


# by which the page knows a problem (saving.js, functions.js, editor.js)
NAME, SECRET, SCRIPT, MAKER, UNLOADABLE = "name", "secret", "script", "maker", "unloadable"
LEVELS = {BLOCKING: "error", WARNING: "warning"}


def _problem(problem: signature.CodeProblem, kind: str = "") -> dict[str, Any]:
    level = LEVELS.get(problem.level, "info")
    return {
        "line": problem.line, "column": problem.column, "message": problem.message, "level": level, "lint": False,
        "rename": list(problem.rename) if problem.rename else None, "kind": kind, "blocks": False, "block": None,
        "meant": problem.meant,
    }  # fmt: skip


def _asked_in_vain(problem: signature.CodeProblem, name: str, blocks: list[builder.Block] | None) -> dict[str, Any]:
    """What a function asks for that the data does not give; of one made of blocks said of these (`blocks`), and of
    which (`block`, from 0), instead of a line."""
    found = _problem(problem)
    return found | _of_blocks(*say_missing_column(problem, name, blocks)) if blocks and problem.asked else found


def _with_others(
    problem: dict[str, Any], others: list[signature.FunctionSig], columns: set[str] | None
) -> dict[str, Any]:  # fmt: skip
    """A name that the data has under another, with those of the `others` in the text that take it too (`also`)."""
    if not problem["rename"]:
        return problem
    _, *names_of_both = problem["rename"]
    asked = [(one.name, each.rename) for one in others for each in signature.problems_for(one, columns)]
    also = [name for name, rename in asked if rename and [*rename[1:]] == names_of_both]
    if not also:
        return problem
    too = f"{names.quote_name(also[0])} takes" if len(also) == 1 else f"{len(also)} other functions here take"
    return problem | {"message": f"{problem['message']} {too} it, too.", "also": also}


def _of_blocks(message: str, block: int | None) -> dict[str, Any]:
    return {"message": message, "blocks": True, "block": block, "rename": None}


def _secrets_in(code: str, blocks: list[builder.Block] | None) -> list[dict[str, Any]]:
    """What can neither be saved nor tried: by line, or as the blocks have it."""
    lines = redaction.lines_that_hold(code)
    if lines and blocks:
        return [_problem(signature.CodeProblem(lines[0], 1, ""), SECRET) | _of_blocks(*say_secret(blocks))]
    return [_problem(signature.CodeProblem(line, 1, f"This line {IN_CODE}"), SECRET) for line in lines]


def _names_too_long(functions: list[signature.FunctionSig]) -> list[dict[str, Any]]:
    said = [(one.line, names.too_long(one.name)) for one in functions]
    return [_problem(signature.CodeProblem(line, 1, message), NAME) for line, message in said if message]


def _lint_to_add(ours: list[dict[str, Any]], linted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What lint adds to what we said: of text that is no Python nothing, and nothing grave twice of one line."""
    broken = {one["line"] for one in ours if one["level"] == "error"}
    plain = {"rename": None, "kind": "", "blocks": False, "block": None, "meant": ""}
    linted = [{**one, "lint": True, **plain} for one in linted]
    return [one for one in linted if not (broken and one["syntax"]) and one["line"] not in broken]


def _describe_signature(one: signature.FunctionSig) -> dict[str, Any]:
    return {
        "name": one.name, "help": one.help, "arguments": one.arguments, "parameters": one.parameters,
        "is_async": one.is_async, "line": one.line, "too_long": names.too_long(one.name),
    }  # fmt: skip


@functools.lru_cache(maxsize=256)
def _signature(code: str, name: str) -> dict[str, Any]:
    """What a function that is kept asks for and can be set."""
    found = signature.analyse(code, name).functions
    about = _describe_signature(found[0]) if found else {}
    return view.json_value({key: about.get(key, default) for key, default in SIGNATURE.items()})


SIGNATURE: dict[str, Any] = {"help": "", "arguments": [], "parameters": []}


def difference(old: str, new: str) -> list[dict[str, str]]:
    """What changed between two texts: [{kind: “+”, “-”, “ ” or “…”, text}], with three lines around each change."""
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=3, lineterm=""))[2:]
    return [
        {"kind": "…", "text": ""} if line.startswith("@@") else {"kind": line[:1], "text": line[1:]}
        for n, line in enumerate(lines)
        if not (n == 0 and line.startswith("@@ -1"))
    ]


def build_code(name: str, blocks: Any, sentence: str, mapped: str = "") -> dict[str, Any]:
    """What blocks mean: {name: the given one as Python can have it; code; traced: the same, which tells what each block
    gives; problems: [{block, setting, message, meant: the numbers that what is none may mean}], words: what each block
    looks for, with the column that the data has `mapped` as its answer; untraced: why there is no traced one}. A name
    that cannot be keeps nothing from being scored."""
    read, usable = _blocks(blocks), names.written_out(name)
    problems = [*_typed_weights(blocks), *(_with_meant(problem, read) for problem in builder.block_problems(read))]
    found = {"name": usable, "code": "", "traced": "", "untraced": "", "problems": problems,
             "words": builder.describe_blocks(read, mapped)}  # fmt: skip
    if problems:
        return found
    try:
        found["code"] = builder.to_code(usable, read, sentence)
    except ValueError as error:
        found["problems"] = [{"block": None, "setting": "name", "message": str(error)}]
    try:
        found["traced"] = builder.to_traced_code(UNNAMED, read)
    except ValueError as error:
        found["untraced"] = str(error)
    return found


def _blocks(sent: Any) -> list[builder.Block]:
    return [
        builder.Block(
            kind=str(one.get("kind")), settings=one["settings"] if isinstance(one.get("settings"), dict) else {},
            weight=_weight(one.get("weight")), partial=one.get("partial") is True,
            required=one.get("required") is True,
        )
        for one in _listed(sent)
    ]  # fmt: skip


def _listed(sent: Any) -> list[dict[str, Any]]:
    return [one for one in sent if isinstance(one, dict)][:64] if isinstance(sent, list) else []


def _weight(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 1.0


def _typed_weights(sent: Any) -> list[dict[str, Any]]:
    """The weights that are no numbers, as they were typed."""
    typed = [(n, one["weight"]) for n, one in enumerate(_listed(sent)) if isinstance(one.get("weight"), str)]
    return [
        {"block": n, "setting": "weight", "message": _no_number(words), "meant": list(meant_numbers(words))}
        for n, words in typed
    ]


def _with_meant(problem: builder.BlockProblem, blocks: list[builder.Block]) -> dict[str, Any]:
    """A problem; of a setting in which no number was typed with the numbers that may be meant."""
    found = asdict(problem)
    if problem.block is None or problem.setting is None or problem.setting == "weight":
        return found
    block = blocks[problem.block]
    typed = block.settings.get(problem.setting)
    types = {kind for each in builder.KINDS[block.kind]["settings"] if each["name"] == problem.setting
             for kind in each["types"]}  # fmt: skip
    if not isinstance(typed, str) or not types & {"int", "float"}:
        return found
    whole = "float" not in types
    message = f"{problem.message[:-1]}, not {quote_in_words(typed, 20)}.{meant_number_words(typed, whole=whole)}"
    return found | {"message": message, "meant": list(meant_numbers(typed, whole=whole))}


def _no_number(typed: str) -> str:
    if not typed.strip():
        return "Give the weight a number."
    return f"The weight has to be a number, not {quote_in_words(typed, 20)}.{meant_number_words(typed)}"


def clean_text(text: str) -> dict[str, Any]:
    """What was pasted or chosen, as Python: {text, cleaned, alone: without the script around its functions, empty where
    there is none; stand_ins: what of it was written in place of a tokenizer's tokens; commented: how many lines are
    comments now, of the script around its functions, and of what is no Python; functions, problems: of that}."""
    clean = pasted.clean_paste(text)
    alone = strip_script.keep_only(clean)
    return {
        "text": clean, "cleaned": clean != text, "alone": alone if alone != clean else "",
        "stand_ins": strip_script.stand_ins(clean, alone), "commented": count_comments_made(text, clean, alone),
        **analyse_text(alone, script=clean),
    }  # fmt: skip


def count_comments_made(text: str, clean: str, alone: str) -> dict[str, int]:
    """How many lines of what was pasted became comments: those of the `script`, and `foreign` ones."""
    return {"script": pasted.count_commented(clean, alone), "foreign": pasted.count_foreign(text)}
