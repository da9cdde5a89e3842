"""Answers “what completions are there to try functions on?”: the model's own, a past run's, typed ones, or probes."""

import contextlib
from collections.abc import Callable
from typing import Any

from groupwise.storage.registry import progress, registry
from groupwise.storage.registry.messages.completions import (
    MOST_COMPLETIONS,
    MOST_ROWS,
    Completion,
    CompletionsAnswer,
    CompletionsQuestion,
    Group,
    SpecPart,
)
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.storage.registry.messages.message import Answer
from groupwise.storage.spec.words.number_words import count_words
from groupwise.worker.data import preview
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.questions.workbench import history, ids, probes, rows, sampling
from groupwise.worker.questions.workbench.request import Refused

Made = tuple[list[Group], str]  # groups, and a sentence about them


def answer_completions(question: CompletionsQuestion) -> Answer:
    """Groups of completions, and in words what they are. Raises Refused."""
    made = {
        "model": _sample_completions,
        "run": _recorded_completions,
        "typed": _typed_completions,
        "probes": _make_probes,
    }[question.source]
    try:
        groups, sentence = made(question)
    except DataError as error:
        return preview.failed_preview(error, question.spec.data)
    return CompletionsAnswer(groups=groups, sentence=sentence)


def _sample_completions(question: CompletionsQuestion) -> Made:
    parts, size = question.spec, question.size
    progress.report("Reading the rows.")
    found = rows.find_rows(parts, question.rows)
    if len(found) * size > MOST_COMPLETIONS:
        raise Refused(f"At most {MOST_COMPLETIONS:,} completions at once. Choose fewer rows or smaller groups.", "size")
    if not sampling.is_warm(parts.model):
        progress.report(f"Loading the model {parts.model.id}.", at_once=True)
    model = sampling.load_once(parts.model)

    def say(done: int, total: int, tokens: int, most: int) -> None:
        rest = "it is" if total - done == 1 else "the others are" if done else "they are"
        far = f"; {rest} at {tokens:,} of at most {count_words(most, 'token')}" if tokens and done < total else ""
        whole = count_words(total, "completion")
        said = f"Generating on the processor: {done} of {whole} done{far}."
        progress.report(said, done, total, at_once=not done and not tokens)

    sampled = sampling.sample(model, [row.prompt for row in found], size, parts.training, say)
    groups = [
        _group(row, [_completion(one.text, one.ids, one.truncated) for one in written])
        for row, written in zip(found, sampled, strict=True)
        if written
    ]
    return groups, _describe_sampled(parts, groups, len(found) * size)


def _describe_sampled(parts: SpecPart, groups: list[Group], asked: int) -> str:
    done = [one for group in groups for one in group.completions]
    said = f"{count_words(len(done), 'completion')} of {parts.model.id}, as it is before training."
    cut = sum(one.truncated for one in done)
    if cut:
        said += f" {cut} reached the max completion length."
    if len(done) < asked:
        said += f" {asked} were requested; the time limit was reached. Choose fewer rows or shorter completions."
    machine = registry.read_fact(Hardware)
    if machine is not None and machine.gpus:
        said += " They were written on the processor: the graphics card is kept for training."
    if parts.model.quantization:
        said += " The model was loaded without quantisation here."
    return said


def _recorded_completions(question: CompletionsQuestion) -> Made:
    with contextlib.closing(history.open_run(question.run)) as record:
        at, listed = record.at_step(question.step, MOST_ROWS)
        tokenizer = ids.of_run(record.folder)
        groups = [
            _group(
                rows.Row(None, one.prompt, one.columns),
                [_recorded_completion(each, tokenizer) for each in completions],
                step=at,
                group=one.id,
            )
            for one, completions in listed
        ]
    count = sum(len(group.completions) for group in groups)
    said = f"{count_words(count, 'completion')} that the run wrote at step {at}."
    return groups, said if tokenizer else f"{said} Its tokenizer is not available, so functions get no token ids."


def _recorded_completion(one: dict[str, Any], tokenizer: Any) -> Completion:
    """A completion as a run's record has it."""
    found = ids.ids_of_completion(one["text"], one["tokens"], tokenizer)
    return _completion(one["text"], found, bool(one["truncated"]), one["tokens"])


def _typed_completions(question: CompletionsQuestion) -> Made:
    texts: dict[int | None, list[str]] = {}
    for one in question.typed:
        texts.setdefault(one.row, []).append(one.text)
    if not texts:
        raise Refused("Type at least one completion.", "typed")
    if len(texts) > MOST_ROWS:
        raise Refused(f"At most {MOST_ROWS} rows at once.", "typed")
    numbers = [row for row in texts if row is not None]
    found = rows.find_rows(question.spec, numbers) if numbers else []
    found += [rows.Row(None, "", {})] if None in texts else []
    count = ids.counter(question.spec.model)
    groups = [_group(row, [_completion(text, count(text)) for text in texts[row.index]]) for row in found]
    return groups, f"{count_words(len(question.typed), 'typed completion')} of {count_words(len(groups), 'row')}."


def _make_probes(question: CompletionsQuestion) -> Made:
    found = rows.find_rows(question.spec, question.rows)
    count, limit = ids.counter(question.spec.model), _limit(question.spec)
    groups = []
    for row in found:
        made = probes.make_probes(row.columns.get("answer"), probes.tags_of(row.prompt, question.tags))
        groups.append(_group(row, [_probe(name, text, limit, count) for name, text in made.items()]))
    written = sum(len(group.completions) for group in groups)
    said = f"{count_words(written, 'probe')} for {'one row' if len(groups) == 1 else f'{len(groups)} rows'}."
    if not any(len(group.completions) > 4 for group in groups):
        said += " The rows have no answer, so there are none with a right or a wrong one."
    return groups, said


def _limit(parts: SpecPart) -> int | None:
    """How many tokens a completion of a run with these settings has at most; None where they do not say."""
    limit = parts.training.get("max_completion_length")
    return limit if type(limit) is int and limit > 0 else None


def _probe(name: str, text: str, limit: int | None, count: Callable[[str], list[int] | None]) -> Completion:
    """A probe as a run with this limit could write it, where it is one that any beginning of is the same; of another
    that is longer it is said."""
    probe = probes.PROBES[name]
    kept = probes.cut_to_limit(text, limit, count) if limit and name in probes.ENDLESS else text
    found, about = count(kept), probe.about
    if limit and found is not None and len(found) > limit:
        about += f" It is longer than a run with these settings could write ({count_words(limit, 'token')})."
    of_probe = {"probe": name, "expected": probe.expected, "about": about}
    return _completion(kept, found, truncated=kept != text).model_copy(update=of_probe)


def _group(row: rows.Row, completions: list[Completion], **place: int) -> Group:
    return Group(row=row.index, prompt=row.prompt, columns=row.columns, completions=completions, **place)


def _completion(text: str, found: list[int] | None, truncated: bool = False, tokens: int | None = None) -> Completion:
    count = tokens if found is None else len(found)
    return Completion(text=text, tokens=count, truncated=truncated, ids=found, probe=None)
