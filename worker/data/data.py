"""A RunSpec's data → the datasets a trainer takes; step by step what the run folder's train.py writes out.

source → filter → rows that ask → shuffle → limit → shape → the first `holdout` rows held out. Each step is one
function here, in this order; storage.checks.script writes the same steps as plain code.
"""

from typing import Any

from datasets import Dataset, disable_progress_bars

from groupwise.storage.checks.script import prompts
from groupwise.storage.spec.answer_numbers import number_of_answer
from groupwise.storage.spec.rows import patterns, row_filter
from groupwise.storage.spec.rows.column_names import RESERVED
from groupwise.storage.spec.rows.prompt_cells import cell_in_prompt
from groupwise.storage.spec.rows.prompt_template import PLAIN, fill_template, named_columns
from groupwise.storage.spec.spec import DataSpec
from groupwise.storage.spec.words.number_words import are_words, count_words
from groupwise.worker.data import source_rows, sources, unasked
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.sources import TaskRows


def load_data(
    spec: DataSpec, *, chat: bool, task: TaskRows | None = None, say: unasked.Say = print, numbered: bool = False
) -> tuple[Dataset, Dataset | None]:
    """(training rows, held-out rows or None), each with prompt, answer and the columns that the rewards get.

    `chat`: prompts are lists of messages; else plain text, for a model with no chat template. `task` makes the rows
    of a built-in task. `say` is told, in a sentence, what was left out. `numbered`: with the column source_rows.ROW.
    Raises DataError.
    """
    disable_progress_bars()
    check_pattern(spec)
    wanted = [_condition(written, f"data.filter.{number}") for number, written in enumerate(spec.filter)]
    rows = sources.load_source(spec, task)
    columns = list(rows.column_names or [])
    check_columns(spec, columns)
    rows = source_rows.number_rows(rows)
    if wanted:
        rows = rows.filter(keeps, fn_kwargs={"wanted": wanted})
    left_out = unasked.leave_out(rows, spec, say) if prompts.can_be_empty(spec) else unasked.LeftOut(rows)
    rows = left_out.rows
    if spec.shuffle is not None:
        rows = rows.shuffle(seed=spec.shuffle, **sources.buffer(spec))
    rows = sources.first_rows(rows, spec)
    left_out.tell()
    if not len(rows):
        raise DataError(*_nothing_left(spec))
    held_out = held_out_rows(spec, len(rows))
    shaped = rows.map(shape, fn_kwargs={"spec": spec, "chat": chat})
    number = [source_rows.ROW] if numbered and source_rows.ROW in shaped.column_names else []
    shaped = shaped.select_columns(["prompt", *given_to_rewards(spec, columns), *number])
    if spec.answer_column and spec.answer_pattern and all(value is None for value in shaped["answer"]):
        raise DataError(
            f"the answer pattern (data.answer_pattern) is found in none of the {count_words(len(shaped), 'row')}",
            "data.answer_pattern",
        )
    if not held_out:
        return shaped, None
    return shaped.select(range(held_out, len(shaped))), shaped.select(range(held_out))


def check_columns(spec: DataSpec, columns: list[str]) -> None:
    """Check the spec's columns. Raises DataError for the first name in the spec that is no column."""
    there = f"the columns are {', '.join(columns)}"
    named = named_columns(spec.prompt_template, columns)
    if spec.prompt_column is not None:
        if spec.prompt_column not in columns:
            message = f"there is no prompt column “{spec.prompt_column}” (data.prompt_column); {there}"
            raise DataError(message, "data.prompt_column")
    else:
        missing = [name for name in named if name not in columns and PLAIN.fullmatch(name)]
        if missing or not named:
            wrong = f"uses {{{missing[0]}}}, but" if missing else "names no column;"
            if missing and spec.prompt_template == DataSpec().prompt_template:  # which nobody wrote
                wrong = f"is not set, and its default column, “{missing[0]}”, is not in this data;"
            raise DataError(f"the prompt template {wrong} {there}", "data.prompt_template")
    if spec.answer_column and spec.answer_column not in columns:
        message = f"there is no answer column “{spec.answer_column}” (data.answer_column); {there}"
        raise DataError(message, "data.answer_column")
    for number, written in enumerate(spec.filter):
        name = _condition(written, f"data.filter.{number}").column
        if name not in columns:
            raise DataError(f"the filter “{written}” needs a column “{name}”; {there}", f"data.filter.{number}")
    for number, name in enumerate(spec.columns or []):
        if name not in columns:
            raise DataError(f"there is no column “{name}” (data.columns); {there}", f"data.columns.{number}")
        if name in RESERVED:
            message = f"the rewards cannot get a column “{name}” (data.columns): TRL calls them with its own. Rename it"
            raise DataError(message, f"data.columns.{number}")


def keeps(row: dict[str, Any], wanted: list[row_filter.Condition]) -> bool:
    """Whether a row is kept: every condition holds. Raises DataError where one takes too long to say."""
    for number, condition in enumerate(wanted):
        try:
            if not condition.holds(row):
                return False
        except patterns.TooSlow as error:
            raise DataError(f"the filter “{condition}” (data.filter) {error}", f"data.filter.{number}") from error
    return True


def given_to_rewards(spec: DataSpec, columns: list[str]) -> list[str]:
    """The columns beside the prompt: those asked for (null: all of the source's that rewards can get), and answer."""
    named = spec.columns if spec.columns is not None else [name for name in columns if name not in RESERVED]
    return list(dict.fromkeys([*named, "answer"] if spec.answer_column else named))


def held_out_rows(spec: DataSpec, rows: int) -> int:
    """How many of so many rows are held out. Raises DataError where none would be left."""
    held_out = int(rows * spec.holdout) if isinstance(spec.holdout, float) else spec.holdout
    if held_out >= rows:
        raise DataError(
            f"{held_out:,} of {count_words(rows, 'row')} {are_words(held_out)} held out, which leaves none to train on",
            "data.holdout",
        )
    return held_out


def shape(row: dict[str, Any], spec: DataSpec, chat: bool) -> dict[str, Any]:
    """The prompt and the answer of one row. A DataError names the row, where its number is known."""
    try:
        shaped: dict[str, Any] = {"prompt": prompt(row, spec, chat)}
        if spec.answer_column:
            shaped["answer"] = answer_of_row(row, spec)
    except DataError as error:
        if source_rows.ROW not in row:
            raise
        place = source_rows.row_words(row[source_rows.ROW])
        raise DataError(f"{place}: {error}", error.field, error.fixes) from error
    return shaped


def prompt(row: dict[str, Any], spec: DataSpec, chat: bool) -> Any:
    """What one row asks: messages for a model that chats, else text. A prompt column that holds text is text for any
    model: it is given as it is, without the chat template."""
    if spec.prompt_column is None:
        for name in named_columns(spec.prompt_template, row):
            unasked.refuse_mapping(name, row.get(name), "data.prompt_template")
        messages = [{"role": "user", "content": fill_template(spec.prompt_template, row)}]
    elif isinstance(row[spec.prompt_column], list):
        messages = prompt_messages(row[spec.prompt_column])
    else:
        cell = row[spec.prompt_column]
        unasked.refuse_mapping(spec.prompt_column, cell, "data.prompt_column")
        messages, chat = [{"role": "user", "content": cell_in_prompt(cell)}], False
    messages = with_system_prompt(messages, spec)
    return messages if chat else "\n\n".join(str(message["content"] or "") for message in messages)


def prompt_messages(messages: list[Any]) -> list[dict[str, Any]]:
    """A chat up to where the model is to speak: without the answers at its end. Raises DataError for what is no
    chat."""
    for message in messages:
        if not (isinstance(message, dict) and isinstance(message.get("role"), str) and "content" in message):
            raise DataError(
                "a prompt column (data.prompt_column) that holds lists should hold chats: messages with role and "
                "content", "data.prompt_column",
            )  # fmt: skip
    kept = list(messages)
    while kept and kept[-1]["role"] == "assistant":
        kept.pop()
    if not kept:
        raise DataError("a chat in the prompt column (data.prompt_column) has no user message. Filter it out",
                        "data.prompt_column")  # fmt: skip
    return kept


def with_system_prompt(messages: list[dict[str, Any]], spec: DataSpec) -> list[dict[str, Any]]:
    """Messages with what stands before every prompt: the system prompt, where the chat has none, and the examples."""
    own = [message for message in messages[:1] if message["role"] == "system"]
    system = [{"role": "system", "content": spec.system_prompt}] if spec.system_prompt and not own else own
    examples = [
        {"role": role, "content": content}
        for example in spec.examples
        for role, content in (("user", example.prompt), ("assistant", example.completion))
    ]
    return [*system, *examples, *messages[len(own) :]]


def answer_of_row(row: dict[str, Any], spec: DataSpec) -> Any:
    """The answer that the rewards get of a row whose answer column is there. Raises DataError, as `answer_of_cell`."""
    found = answer_of_cell(row[spec.answer_column or ""], spec.answer_pattern)
    return number_of_answer(found, spec.answer_numbers) if spec.answer_numbers else found


def answer_of_cell(value: Any, pattern: str | None) -> Any:
    """The answer in a cell: the cell itself, or the pattern's first group (or whole match); None where it is not
    found. Raises DataError where looking takes too long."""
    if not pattern:
        return value
    try:
        found = patterns.search_pattern(pattern, str(value))
    except patterns.TooSlow as error:
        raise DataError(f"the answer pattern (data.answer_pattern) {error}", "data.answer_pattern") from error
    return (found[min(found.re.groups, 1)] or "").strip() if found else None


def check_pattern(spec: DataSpec) -> None:
    """Check the answer pattern. Raises DataError where the answer pattern is not one."""
    wrong = patterns.fault(spec.answer_pattern or "")
    if wrong:
        message = f"the answer pattern (data.answer_pattern) is not a regular expression: {wrong}"
        raise DataError(message, "data.answer_pattern")


def _condition(written: str, field: str) -> row_filter.Condition:
    try:
        return row_filter.parse_condition(written)
    except row_filter.ConditionError as error:
        raise DataError(f"a filter (data.filter) cannot be used: {error}", field) from error


def _nothing_left(spec: DataSpec) -> tuple[str, str]:
    if not spec.filter:
        return f"{spec.source} has no rows", "data.source"
    return f"the filter (data.filter) keeps none of the rows of {spec.source}", "data.filter"
