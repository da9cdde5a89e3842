"""Answers “is this data fit to train on?”: empty, doubled and overlong prompts, missing answers, balance, lengths."""

import hashlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from groupwise.storage.checks.answer_writing import point_beside_commas
from groupwise.storage.checks.format_untold import tags_in
from groupwise.storage.checks.starter_use import is_known_sum, is_wrong_sum, other_sum, say_wrong_sum
from groupwise.storage.registry import progress
from groupwise.storage.registry.messages.data_checks import (
    BINS,
    EXAMPLE,
    LONGEST,
    TOP,
    AnswerCounts,
    CheckDataAnswer,
    CheckDataQuestion,
    Lengths,
    LongestPrompt,
)
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.registry.messages.preview import RowCount
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec.rows import row_filter
from groupwise.storage.spec.spec import DataSpec, ModelSpec
from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.data import data, mapping, preview_source, read_as, tokens, unasked
from groupwise.worker.data.check_words import Found, data_problems
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.data.preview import failed_preview

FIRST = 20  # rows from which another column is guessed, as the preview does
FEW = 2000  # rows that are checked when not all are asked for
MOST, SECONDS = 2_000_000, 240.0  # rows and time after which even “all” ends
FEW_SECONDS = 40.0  # the same for some: the question server would give up later, and could not say how far it came
BATCH = 256  # prompts that are counted at once
DISTINCT = 10_000  # different answers that are told apart
WHOLE = 10_000  # characters of an answer that is a list or mapping, which is looked through as text
COMPLETION = 256  # TRL's own max_completion_length, where none is said


def answer_data_checks(question: CheckDataQuestion) -> Answer:
    """Counts, lengths and balance of the rows, and what is wrong with them."""
    try:
        completion = question.longest_completion or COMPLETION
        return check_data(question.data, question.model, completion, question.all, is_answer_read=question.answer_read)
    except DataError as error:
        return failed_preview(error, question.data)


def _check_named(asked: DataSpec, table: Any) -> None:
    """Check the columns that the spec names. Raises DataError where one is not there: of a first line that is no
    heading, where that is why."""
    try:
        data.check_columns(asked, table.columns)
    except DataError as error:
        first = list(itertools.islice(table.rows(), FIRST))
        missing = Problem(error.field, str(error))
        found = read_as.without_effects([missing, *read_as.reading_problems(table, first, asked)])
        if missing in found:
            raise
        cause = next(one for one in found if one.field == "data.heading")
        raise DataError(cause.message, cause.field, cause.fixes) from error


def check_data(
    asked: DataSpec, model: ModelSpec, completion: int, every: bool, *, is_answer_read: bool = True
) -> CheckDataAnswer:  # fmt: skip
    """Check the data of a spec. `is_answer_read`: whether a reward function reads the answers. Raises DataError where
    nothing can be checked."""
    table = preview_source.table_of(asked)
    data.check_pattern(asked)
    _check_named(asked, table)
    found = Found(asked, completion, columns=table.columns, of_starter=model.id == "starter")
    found.is_answer_read = is_answer_read
    if table.reading is not None:
        found.row_words = table.reading.row_words
    try:
        reader = tokens.reader(model)
        found.context = reader.context
    except DataError as error:
        reader, found.unread, found.absent = None, error, tokens.is_to_be_downloaded(model)
    begun = time.monotonic()
    rows = itertools.islice(table.rows(), MOST if every else FEW)
    _count(found, rows, reader, begun + (SECONDS if every else FEW_SECONDS))
    found.rows, found.exact = table.count()
    if found.finished and not every:
        found.finished = found.exact and found.checked >= found.rows
    found.notes = read_as.notes_of_used(table, asked)
    return CheckDataAnswer(
        checked=found.checked,
        rows=RowCount(count=found.rows, exact=found.exact),
        empty=found.empty,
        duplicates=found.duplicates,
        missing_answers=found.missing,
        filtered=found.filtered,
        too_long=found.too_long,
        room=found.room,
        lengths=_lengths(found),
        answer_numbers=found.writing.summary(asked.answer_numbers),
        answers=AnswerCounts(distinct=len(found.answers), top=found.answers.most_common(TOP)),
        sums=bool(found.lengths) and not found.others,
        point=_point_beside_commas(found),
        tags=tags_in(_first_prompts(found)),
        usable=found.rows_usable,
        kept=found.in_figures(found.rows_trained_on),
        estimated=found.is_estimate,
        held_out=found.held_in_figures,
        problems=messages_of(data_problems(found)),
        note=found.note(),
    )


def _count(found: Found, rows: Iterator[dict[str, Any]], reader: tokens.Reader | None, until: float) -> None:
    """Look at the rows, some hundred at a time, until they or the time end."""
    wanted = [row_filter.parse_condition(written) for written in found.asked.filter]
    asking = unasked.asking_columns(found.asked, found.columns)
    looked_at = list(dict.fromkeys([*asking, *filter(None, [found.asked.answer_column])]))
    seen: set[bytes] = set()
    while batch := list(itertools.islice(rows, BATCH)):
        kept = [(found.checked + number, row) for number, row in enumerate(batch) if data.keeps(row, wanted)]
        found.checked += len(batch)
        found.filtered += len(batch) - len(kept)
        found.first += [row for _, row in kept[: FIRST - len(found.first)]]
        prompts = []
        for number, row in kept:
            if not unasked.asks(row, asking):
                found.empty += 1
                found.silent += _is_unanswered(row, found.asked)
                continue
            prompt = data.prompt(row, found.asked, reader is None or reader.chat)
            prompts.append((number, row, prompt))
            if _is_heading(row):
                found.headings.append(number)
            _note_row(found, number, row, prompt, seen)
            found.unseen.note_row(number, row, looked_at)
        _note_lengths(found, prompts, reader)
        progress.report(f"Checking rows… {found.checked:,} so far.")
        if time.monotonic() > until:
            found.finished = False
            return


def _note_row(found: Found, number: int, row: dict[str, Any], prompt: Any, seen: set[bytes]) -> None:
    asked = found.asked
    mark = hashlib.blake2b(json.dumps(prompt, default=str).encode(), digest_size=8).digest()
    found.duplicates += mark in seen
    seen.add(mark)
    question = _question(prompt)
    found.others += not is_known_sum(question)
    if other_sum(question) is not None:
        found.told_otherwise += 1
        if len(found.other_sums) < FIRST:
            found.other_sums.append((question, row))
    if asked.answer_column:
        written = data.answer_of_cell(row[asked.answer_column], asked.answer_pattern)
        if isinstance(written, (list, dict)):
            found.whole_answers.note(number, written)
        else:
            words = written if isinstance(written, str) else mapping.shorten_cell(written, WHOLE)
            found.writing.note_answer(number, words, isinstance(written, str))
        given = data.answer_of_row(row, asked)
        words = row_filter.text(given).strip()
        found.missing += not words
        found.note_repeated(words, question, row)
        if is_wrong_sum(question, words):
            found.wrong_sums += 1
            found.wrong_sum = found.wrong_sum or say_wrong_sum(question, words)
        found.unmarked += not words and bool(row_filter.text(row[asked.answer_column]).strip())
        if words and (len(found.answers) < DISTINCT or words[:80] in found.answers):
            found.answers[words[:80]] += 1


def _point_beside_commas(found: Found) -> str:
    """See `point_beside_commas`; of the first rows, as they are before only numbers are kept."""
    column = found.asked.answer_column
    if column is None:
        return ""
    prompts = _first_prompts(found)
    answers = [data.answer_of_cell(row[column], found.asked.answer_pattern) for row in found.first]
    return point_beside_commas(prompts, [row_filter.text(one) for one in answers])[:EXAMPLE]


def _first_prompts(found: Found) -> list[str]:
    """What the prompts of the first rows are made of."""
    asking = unasked.asking_columns(found.asked, found.columns)
    return [row_filter.text(row.get(name)) for row in found.first for name in asking]


def _is_heading(row: dict[str, Any]) -> bool:
    """Whether each cell of a row is its column's name."""
    return all(isinstance(cell, str) and cell.strip() == name.strip() for name, cell in row.items())


def _is_unanswered(row: dict[str, Any], asked: DataSpec) -> bool:
    column = asked.answer_column
    return column is not None and not row_filter.text(row.get(column)).strip()


def _question(prompt: Any) -> str:
    """What a prompt asks at last: of sums alone, what the starter model was made on."""
    return str(prompt if isinstance(prompt, str) else prompt[-1]["content"])


def _note_lengths(found: Found, prompts: list[tuple[int, dict[str, Any], Any]], reader: tokens.Reader | None) -> None:
    if reader is not None:
        counts = reader.counts([prompt for _, _, prompt in prompts])
    else:
        counts = [
            len(prompt if isinstance(prompt, str) else json.dumps(prompt, default=str)) for _, _, prompt in prompts
        ]
    for (number, row, prompt), length in zip(prompts, counts, strict=True):
        found.lengths.append(length)
        if length > found.longest[1]:
            found.longest = (number, length, prompt)
        if found.room is not None and reader is not None:
            found.too_long += length > found.room
            if len(found.template_columns) == 1:
                characters = len(row_filter.text(row.get(found.template_columns[0])))
                found.fitting.append((characters, length <= found.room))


def _lengths(found: Found) -> Lengths:
    ordered = sorted(found.lengths)
    row, length, prompt = found.longest
    text = prompt if isinstance(prompt, str) else "\n\n".join(str(each["content"]) for each in prompt or [])
    edges, counts = histogram(ordered)
    return Lengths(
        unit="characters" if found.unread else "tokens",
        edges=edges,
        counts=counts,
        median=ordered[len(ordered) // 2] if ordered else 0,
        p95=ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else 0,
        longest=LongestPrompt(row=row, length=length, text=mapping.cut_cell(text, LONGEST)),
    )


def histogram(ordered: list[int]) -> tuple[list[int], list[int]]:
    """(edges, counts) of sorted lengths: at most BINS bins of one whole width; a bin holds its left edge."""
    if not ordered:
        return [], []
    width = max(1, -(-(ordered[-1] - ordered[0] + 1) // BINS))
    counts = Counter((length - ordered[0]) // width for length in ordered)
    bins = max(counts) + 1
    edges = [ordered[0] + width * number for number in range(bins + 1)]
    return edges, [counts[number] for number in range(bins)]
