"""Answers “what completions are there to try functions on?”: the model's own, a past run's, typed ones, or probes."""

from __future__ import annotations

from typing import Any

from groupwise.storage.registry import progress, registry
from groupwise.storage.registry.messages.facts import Hardware
from groupwise.worker.data import preview
from groupwise.worker.data.data_error import DataError
from groupwise.worker.questions.workbench import history, ids, probes, rows, sampling
from groupwise.worker.questions.workbench.request import Refused, failure, whole

FROM = ("model", "run", "typed", "probes")
MOST_SIZE, MOST_COMPLETIONS = 64, 1024
MOST_TYPED, LONGEST_TYPED = 400, 100_000

Group = dict[str, Any]


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    """{groups: [{row, prompt, columns, completions: [{text, tokens, truncated, ids, probe}]}], sentence}. A group of
    a run also says its `step` and `group`, a probe what is `expected` of it and what it is `about`."""
    try:
        kind = payload.get("from")
        if kind not in FROM:
            raise Refused(f"Completions come from one of {', '.join(FROM)}.", "from")
        made = {"model": _sampled, "run": _of_run, "typed": _typed, "probes": _probes}[kind]
        groups, sentence = made(payload)
    except Refused as error:
        return failure(error)
    except DataError as error:
        return preview.failure(error)
    return {"groups": groups, "sentence": sentence}


def _sampled(payload: dict[str, Any]) -> tuple[list[Group], str]:
    parts, chosen = rows.asked(payload), rows.chosen(payload)
    size = whole(payload.get("size", 8), "size", "How many completions a group has", least=1, most=MOST_SIZE)
    progress.say({"sentence": "Reading the rows."})
    found = rows.found(parts, chosen)
    if len(found) * size > MOST_COMPLETIONS:
        raise Refused(f"At most {MOST_COMPLETIONS:,} completions at once. Choose fewer rows or smaller groups.", "size")
    if not sampling.is_warm(parts.model):
        progress.say({"sentence": f"Loading the model {parts.model.id}."}, at_once=True)
    model = sampling.loaded(parts.model)

    def say(done: int, total: int) -> None:
        progress.say({"done": done, "total": total, "sentence": f"{done} of {total} completions are written."})

    sampled = sampling.sample(model, [row.prompt for row in found], size, parts.training, say)
    groups = [
        _group(row, [_completion(one.text, one.ids, one.truncated) for one in written])
        for row, written in zip(found, sampled, strict=True)
        if written
    ]
    return groups, _said_sampled(parts, groups, len(found) * size)


def _said_sampled(parts: rows.Asked, groups: list[Group], asked: int) -> str:
    done = [one for group in groups for one in group["completions"]]
    said = f"{len(done)} completions of {parts.model.id}, as it is before training."
    cut = sum(one["truncated"] for one in done)
    if cut:
        said += f" {cut} reached max_completion_length."
    if len(done) < asked:
        said += f" {asked} were asked for; the time was up. Choose fewer rows or shorter completions."
    machine = registry.published(Hardware)
    if machine is not None and machine.gpus:
        said += " They were written on the processor: the graphics card is kept for training."
    if parts.model.quantization:
        said += " The model was loaded without quantisation here."
    return said


def _of_run(payload: dict[str, Any]) -> tuple[list[Group], str]:
    record = history.open_run(payload.get("run"))
    try:
        step = payload.get("step")
        if step is not None:
            step = whole(step, "step", "The step", least=0, most=2**62)
        at, listed = record.at_step(step, rows.MOST)
        tokenizer = ids.of_run(record.folder)
        groups = [
            {
                **_group(
                    rows.Row(None, one.prompt, one.columns),
                    [_completion(c["text"], ids.fitted(c["text"], c["tokens"], tokenizer), bool(c["truncated"]),
                                 c["tokens"]) for c in completions],
                ),
                "step": at, "group": one.id,
            }
            for one, completions in listed
        ]  # fmt: skip
    finally:
        record.close()
    count = sum(len(group["completions"]) for group in groups)
    said = f"{count} completions that the run wrote at step {at}."
    return groups, said if tokenizer else f"{said} Its tokenizer is not at hand, so functions get no token ids."


def _typed(payload: dict[str, Any]) -> tuple[list[Group], str]:
    listed = payload.get("typed")
    if not isinstance(listed, list) or not listed or len(listed) > MOST_TYPED:
        raise Refused(f"Type from 1 to {MOST_TYPED} completions.", "typed")
    texts: dict[int | None, list[str]] = {}
    for number, one in enumerate(listed):
        text = one.get("text") if isinstance(one, dict) else None
        if not isinstance(text, str) or len(text) > LONGEST_TYPED:
            raise Refused(f"A completion should be text of at most {LONGEST_TYPED:,} characters.", f"typed.{number}")
        row = one.get("row")
        if row is not None:
            row = whole(row, f"typed.{number}.row", "A row's number", least=0, most=rows.FARTHEST)
        texts.setdefault(row, []).append(text)
    if len(texts) > rows.MOST:
        raise Refused(f"At most {rows.MOST} rows at once.", "typed")
    parts = rows.asked(payload)
    numbers = [row for row in texts if row is not None]
    found = rows.found(parts, numbers) if numbers else []
    found += [rows.Row(None, "", {})] if None in texts else []
    count = ids.counter(parts.model)
    groups = [_group(row, [_completion(text, count(text)) for text in texts[row.index]]) for row in found]
    return groups, f"{len(listed)} typed completions of {len(groups)} rows."


def _probes(payload: dict[str, Any]) -> tuple[list[Group], str]:
    parts = rows.asked(payload)
    found = rows.found(parts, rows.chosen(payload))
    count = ids.counter(parts.model)
    groups = []
    for row in found:
        made = probes.made(row.columns.get("answer"), probes.tags_of(row.prompt))
        about = [(name, text, probes.PROBES[name]) for name, text in made.items()]
        groups.append(
            _group(row, [{**_completion(text, count(text)), "probe": name, "expected": probe.expected,
                          "about": probe.about} for name, text, probe in about])
        )  # fmt: skip
    written = sum(len(group["completions"]) for group in groups)
    said = f"{written} probes for {'one row' if len(groups) == 1 else f'{len(groups)} rows'}."
    if not any(len(group["completions"]) > 4 for group in groups):
        said += " The rows have no answer, so there are none with a right or a wrong one."
    return groups, said


def _group(row: rows.Row, completions: list[dict[str, Any]]) -> Group:
    return {"row": row.index, "prompt": row.prompt, "columns": row.columns, "completions": completions}


def _completion(
    text: str, found: list[int] | None, truncated: bool = False, tokens: int | None = None
) -> dict[str, Any]:
    count = tokens if found is None else len(found)
    return {"text": text, "tokens": count, "truncated": truncated, "ids": found, "probe": None}
