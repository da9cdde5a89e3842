"""The data half of a run's plain script: its settings as constants, rows(), shape() and prompts().

Step by step what worker.data.data does, written out: source → filter → rows that ask → shuffle → limit → shape →
held-out rows.
"""

import inspect
import re
from collections.abc import Callable

from groupwise.storage.checks.data import HUB_DATASET
from groupwise.storage.checks.held_out import MADE
from groupwise.storage.checks.script.data_file import file_constants, file_helpers, file_settings, read_file
from groupwise.storage.home import paths
from groupwise.storage.spec import gym_values
from groupwise.storage.spec.answer_numbers import number_of_answer
from groupwise.storage.spec.python_source import SCRIPT_WIDTH, inline, is_usable_name, literal, text_literal
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.rows.column_names import TRL_OWN
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS, file_kind
from groupwise.storage.spec.rows.prompt_cells import cell_in_prompt
from groupwise.storage.spec.rows.prompt_template import fill_template, has_odd_braces, named_columns
from groupwise.storage.spec.spec import DataSpec

SHUFFLE_BUFFER = 10_000  # rows of a stream among which the next is drawn when it is shuffled


def source_kind(data: DataSpec) -> str:
    """task, gym, file or hub; "" for a source that is none of them."""
    kind, _, name = data.source.partition(":")
    known = {
        "task": is_usable_name(name) and name not in ("Dataset", "LIMIT"),  # which its import would hide
        "gym": bool(name),
        "file": bool(paths.DATA_NAME.fullmatch(name)) and bool(file_kind(name)),
        "hub": bool(HUB_DATASET.fullmatch(name)),
    }
    return kind if known.get(kind) else ""


def constants(data: DataSpec) -> str:
    """The settings that the functions below them use, by name."""
    made = source_kind(data) == "gym" and data.parameters
    values = {
        **file_constants(data),
        "PARAMETERS": literal(data.parameters, 0, len("PARAMETERS = ")) if made else "",
        "FILTER": _conditions(data.filter) if data.filter else "",
        "SHUFFLE_SEED": _number_or_nothing(data.shuffle),
        "LIMIT": _number_or_nothing(data.limit),
        "HOLDOUT": literal(data.holdout) if data.holdout else "",
        "SYSTEM_PROMPT": text_literal(data.system_prompt) if data.system_prompt else "",
        "EXAMPLES": literal(_messages(data), 0, len("EXAMPLES = ")) if data.examples else "",
        "PROMPT_COLUMN": literal(data.prompt_column) if data.prompt_column else "",
        "PROMPT_TEMPLATE": "" if data.prompt_column else text_literal(data.prompt_template),
        "ANSWER_COLUMN": literal(data.answer_column) if data.answer_column else "",
        "ANSWER_PATTERN": literal(data.answer_pattern) if data.answer_column and data.answer_pattern else "",
        "ANSWER_NUMBERS": literal(data.answer_numbers) if data.answer_column and data.answer_numbers else "",
        "COLUMNS": "" if data.columns is None else literal(data.columns, 0, len("COLUMNS = ")),
    }
    comments = {"FILTER": "# The rows for which all of these hold are kept.\n"}
    return "".join(f"{comments.get(name, '')}{name} = {value}\n" for name, value in values.items() if value)


def unused_data_settings(data: DataSpec) -> list[str]:
    """The settings of the data that are not the defaults and that a script has no use for."""
    kind = source_kind(data)
    used = {
        "source": bool(kind),
        "config": kind == "hub" and bool(data.config),
        "split": kind == "hub",
        "revision": kind == "hub" and bool(data.revision),
        "streaming": kind == "hub",
        **{name: name in file_settings(data) for name in FILE_SETTINGS},
        "parameters": kind == "gym",
        "holdout": bool(data.holdout),
        "system_prompt": bool(data.system_prompt),
        "prompt_template": not data.prompt_column,
        "prompt_column": bool(data.prompt_column),
        "answer_column": bool(data.answer_column) or data.answer_column is None,
        "answer_pattern": bool(data.answer_column and data.answer_pattern),
        "answer_numbers": bool(data.answer_column and data.answer_numbers),
    }
    default = DataSpec()
    return [name for name, use in used.items() if not use and repr(getattr(data, name)) != repr(getattr(default, name))]


def _number_or_nothing(value: int | None) -> str:
    return "" if value is None else str(value)


def _messages(data: DataSpec) -> list[dict[str, str]]:
    roles = [("user", "prompt"), ("assistant", "completion")]
    return [{"role": role, "content": getattr(example, part)} for example in data.examples for role, part in roles]


def _conditions(written: list[str]) -> str:
    return "{\n" + "".join(f"    {literal(text)}: {condition(text)},\n" for text in written) + "}"


def condition(written: str) -> str:
    """A condition as a function of a row; None for what is no condition, as such a run cannot be launched either."""
    try:
        code = row_filter.to_python(row_filter.parse_condition(written))
    except row_filter.ConditionError:
        return "None"
    return "lambda row: " + re.sub(r"(?<=[ -])inf$", 'float("inf")', code)


def data_functions(data: DataSpec) -> str:
    """The script's functions from rows to prompts: helpers, rows, shape and prompts."""
    return f"{_helpers(data)}{_rows(data)}{_shape(data)}{_prompts(data)}"


def can_be_empty(data: DataSpec) -> bool:
    """Whether rows of this source may ask nothing, and are left out then: those of a task are made to ask."""
    return source_kind(data) in ("file", "hub")


def _say(data: DataSpec) -> str:
    """The function that makes text of a cell in a prompt."""
    return "cell_in_prompt" if can_be_empty(data) else "str"


def _asking_columns(data: DataSpec) -> str:
    """The columns that a row's question comes from, as source."""
    if data.prompt_column is None and has_odd_braces(data.prompt_template):
        return '[name for name in data.column_names if "{" + name + "}" in PROMPT_TEMPLATE]'
    named = [data.prompt_column] if data.prompt_column else list(dict.fromkeys(named_columns(data.prompt_template)))
    return literal(named, 4, len("asking = "))


def _helpers(data: DataSpec) -> str:
    """The functions that the conditions call, and what reasoning-gym's parameters have to go through."""
    code = _conditions(data.filter)
    used: list[Callable[..., object]] = [
        helper for helper in (row_filter.text, row_filter.number) if f"{helper.__name__}(row" in code
    ]
    if source_kind(data) == "gym" and _to_fit(data):
        used.append(gym_values.fitted)
    fills_odd = data.prompt_column is None and has_odd_braces(data.prompt_template)
    if can_be_empty(data) or fills_odd:
        used.append(cell_in_prompt)
    if fills_odd:
        used.append(fill_template)
    if data.answer_column and data.answer_numbers:
        used.append(number_of_answer)
    return file_helpers(data) + "".join(f"\n\n{inspect.getsource(helper)}" for helper in used)


def _rows(data: DataSpec) -> str:
    kind, name = source_kind(data), data.source.partition(":")[2]
    count = "LIMIT" if data.limit else str(MADE)
    if kind == "task":
        body = f"    from task import rows as {name}\n\n    return Dataset.from_list({name}({count}))\n"
    elif kind == "gym":
        body = _gym(name, count, data)
    elif kind == "file":
        body = read_file(name, data)
    elif kind == "hub":
        options = {"split": literal(data.split)}
        if data.revision:
            options["revision"] = literal(data.revision)
        if data.streaming:
            options["streaming"] = "True"
        config = f"{literal(data.config)}, " if data.config else ""
        body = f"    return load_dataset({literal(name)}, {config}{inline(options)})\n"
    else:
        body = f"    raise SystemExit({literal(f'There is no source of data “{data.source}”.')})\n"
    return f'\n\ndef rows():\n    """All rows of the source."""\n{body}'


def _gym(name: str, count: str, data: DataSpec) -> str:
    seed = "" if "seed" in data.parameters else ", seed=0"
    parameters, fit = ", **PARAMETERS" if data.parameters else "", ""
    metadata = '{**entry["metadata"], "parameters": PARAMETERS}' if data.parameters else 'entry["metadata"]'
    if _to_fit(data):
        parameters = ", **parameters"
        fit = (
            "    tasks = reasoning_gym.factory.DATASETS\n"
            f"    hints = typing.get_type_hints(tasks[{literal(name)}][1])\n"
            "    parameters = {name: fitted(value, hints.get(name), tasks) for name, value in PARAMETERS.items()}\n"
        )
    return (
        f"{fit}    made = reasoning_gym.create_dataset({literal(name)}, size={count}{seed}{parameters})\n"
        "    return Dataset.from_list(\n        [\n"
        '            {name: entry[name] for name in ("question", "answer")}\n'
        f'            | {{"metadata": json.dumps({metadata}, default=str)}}\n'
        f"            for entry in (made[number] for number in range({count}))\n"
        "        ]\n    )\n"
    )


def _to_fit(data: DataSpec) -> bool:
    """Whether a parameter may be meant as something that a plain value cannot be: numbers and booleans are not."""
    return any(isinstance(value, (list, dict, str)) for value in data.parameters.values())


def _shape(data: DataSpec) -> str:
    asked = _asked_in_column(data) if data.prompt_column else _asked_by_template(data)
    return (
        "\n\ndef shape(row, chat):\n"
        '    """A row in the form that TRL takes: its prompt, as messages for a model that chats, else as text."""\n'
        f"{asked}{_answer(data)}    return shaped\n"
    )


def _before(data: DataSpec) -> list[str]:
    """What stands before every question."""
    system = ['{"role": "system", "content": SYSTEM_PROMPT}'] if data.system_prompt else []
    return [*system, "*EXAMPLES"] if data.examples else system


def _asked_by_template(data: DataSpec) -> str:
    fill = f"lambda found: {_say(data)}(row[found[1]]) if found[1] in row else found[0]"
    filled = f'r"\\{{([^{{}}]+)\\}}", {fill}, PROMPT_TEMPLATE'
    asked = f"    asked = re.sub({filled})\n"
    if has_odd_braces(data.prompt_template):
        asked = "    asked = fill_template(PROMPT_TEMPLATE, row)\n"
    elif len(asked) > SCRIPT_WIDTH:
        asked = f"    asked = re.sub(\n        {filled}\n    )\n"
    messages = ", ".join([*_before(data), '{"role": "user", "content": asked}'])
    text = '"\\n\\n".join(message["content"] for message in messages)' if _before(data) else "asked"
    return f'{asked}    messages = [{messages}]\n    shaped = {{"prompt": messages if chat else {text}}}\n'


def _asked_in_column(data: DataSpec) -> str:
    """A chat without the answers at its end; or a text, which is text for any model."""
    lines = (
        "    messages = row[PROMPT_COLUMN]\n"
        "    if isinstance(messages, list):\n"
        '        while messages[-1]["role"] == "assistant":\n            messages = messages[:-1]\n'
        "    else:\n"
        f'        messages, chat = [{{"role": "user", "content": {_say(data)}(messages)}}], False\n'
    )
    if data.system_prompt or data.examples:
        lines += '    own = [message for message in messages[:1] if message["role"] == "system"]\n'
        system = '*(own or [{"role": "system", "content": SYSTEM_PROMPT}])' if data.system_prompt else "*own"
        between = ", *EXAMPLES" if data.examples else ""
        lines += f"    messages = [{system}{between}, *messages[len(own) :]]\n"
    text = '"\\n\\n".join(str(message["content"] or "") for message in messages)'
    return f'{lines}    shaped = {{"prompt": messages if chat else {text}}}\n'


def _answer(data: DataSpec) -> str:
    if not data.answer_column:
        return ""
    number = (
        '    shaped["answer"] = number_of_answer(shaped["answer"], ANSWER_NUMBERS)\n' if data.answer_numbers else ""
    )
    if not data.answer_pattern:
        return f'    shaped["answer"] = row[ANSWER_COLUMN]\n{number}'
    return (
        "    found = re.search(ANSWER_PATTERN, str(row[ANSWER_COLUMN]))\n"
        '    shaped["answer"] = (found[found.re.groups and 1] or "").strip() if found else None\n'
        f"{number}"
    )


def _prompts(data: DataSpec) -> str:
    kind, streams = source_kind(data), source_kind(data) == "hub" and data.streaming
    lines = ["data = rows()"]
    if data.filter:
        lines.append("data = data.filter(lambda row: all(holds(row) for holds in FILTER.values()))")
    if can_be_empty(data):
        lines.append("# Rows with an empty prompt are left out.")
        lines.append(f"asking = {_asking_columns(data)}")
        lines.append("data = data.filter(lambda row: any(cell_in_prompt(row.get(name)).strip() for name in asking))")
    if data.shuffle is not None:
        buffer = f", buffer_size={SHUFFLE_BUFFER}" if streams else ""
        lines.append(f"data = data.shuffle(seed=SHUFFLE_SEED{buffer})")
    if streams:
        taken = "data.take(LIMIT)" if data.limit else "data"
        lines.append(f"data = Dataset.from_list(list({taken}), features=data.features)")
    elif data.limit and kind not in ("task", "gym"):
        lines.append("data = data.select(range(min(LIMIT, len(data))))")
    lines.append('data = data.map(shape, fn_kwargs={"chat": chat})')
    lines += _columns(data, kind)
    if data.holdout:
        count = "int(len(data) * HOLDOUT)" if isinstance(data.holdout, float) else "HOLDOUT"
        lines.append(f"held_out = {count}")
        lines.append("return data.select(range(held_out, len(data))), data.select(range(held_out))")
    else:
        lines.append("return data, None")
    body = "".join(f"    {line}\n" for line in lines)
    return f'\n\ndef prompts(chat):\n    """(the rows to train on, the rows that are held out)"""\n{body}'


def _columns(data: DataSpec, kind: str) -> list[str]:
    """The columns that the rewards get, where those are not simply all."""
    if data.columns is not None:
        answer = ', "answer"' if data.answer_column else ""
        return [f'data = data.select_columns(list(dict.fromkeys(["prompt", *COLUMNS{answer}])))']
    if kind in ("task", "gym"):
        return []
    return [
        "# TRL calls reward functions with values of its own by these names.",
        f"own = {literal(sorted(TRL_OWN), 4, 6)}",
        "data = data.remove_columns([name for name in data.column_names if name in own])",
    ]
