"""What the pages ask of a run, and what would be wrong with an answer, whatever the run is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from gradio.routes import ORJSONResponse

from groupwise.app.pages.compare import compare
from groupwise.app.pages.compare import prompts as compare_prompts
from groupwise.app.pages.compare import settings as compare_settings
from groupwise.app.pages.run import (
    checkpoints,
    completions,
    config,
    doctor,
    groups,
    header,
    log,
    overview,
    same_prompt,
    statistics,
)
from groupwise.app.pages.run.group_list import ORDERS
from groupwise.storage.analysis.compare.curves import AXES
from tests.support.bad_records import HOSTILE

Ask = Callable[[Any], dict[str, Any]]
Question = tuple[Ask, dict[str, Any]]
LATER = 2**61
NAMES = ["reward", "loss", "kl", "once", "never", "nothing", *HOSTILE[:7]]
QUERIES = [
    "", "page=999999", "q=the", "q=wordier", "q=%00", "q=%22%27(*", "q=.*&regex=1", "q=(x%2B)%2B$&regex=1",
    "q=(&regex=1", "reward=0.5..", "reward=..-1e300", "reward=nan..inf", "function=correctness:0..1",
    "function=format:error", "steps=2..", "length=100..", "truncated=yes", "starred=1", "mode=eval",
    "sort=-reward", "sort=length", *(f"q={quote(text, errors='replace')}" for text in HOSTILE),
]  # fmt: skip
TAGS = re.compile(r"<(?:script|img|iframe|style|svg onload|!--)", re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]")


def first_asked(run_id: str) -> Iterator[Question]:
    """What each part of a run's page asks when it is opened."""
    of_all = (
        header.run_status,
        overview.draw_board,
        doctor.diagnose_run,
        completions.newest_completion,
        config.config_files,
        log.tail,
        checkpoints.list_checkpoints,
        groups.groups_at_step,
        statistics.statistics_summary,
        completions.find_completions,
    )
    yield from ((ask, {"run": run_id}) for ask in of_all)


def of_a_run(run_id: str) -> Iterator[Question]:
    """What the pages ask of a run, with answers taken up as a page would."""
    run = {"run": run_id}
    yield from first_asked(run_id)
    yield overview.draw_board, {**run, "after": 3, "drawn": True, "empty": True}
    yield overview.metrics_window, {**run, "names": NAMES, "first": 0, "last": LATER}
    yield overview.metrics_window, {**run, "names": NAMES, "first": 5, "last": 4}
    for mode in ("train", "eval"):
        for pick in ("", *ORDERS):
            yield groups.groups_at_step, {**run, "mode": mode, "pick": pick}
        yield groups.groups_at_step, {**run, "mode": mode, "step": LATER}
        yield statistics.statistics_summary, {**run, "mode": mode}
        for panel in statistics.PANELS:
            yield statistics.draw_panel, {**run, "mode": mode, "panel": panel, "solved": f"{HOSTILE[1]}:0.5"}
    some = groups.groups_at_step(run).get("groups") or [{"id": 1}]
    for group in some:
        yield groups.show_group, {**run, "group": group["id"]}
        yield groups.show_group, {**run, "group": group["id"], "diff": "best", "sorted": False}
        for idx in (0, 1, LATER):
            yield groups.full_text, {**run, "group": group["id"], "idx": idx, "diff": "0"}
    for prompt in (1, 2, LATER):
        yield same_prompt.prompt_history, {**run, "prompt": prompt}
        yield same_prompt.prompt_history, {**run, "prompt": prompt, "each": True, "then": LATER, "now": 1}
    for query in QUERIES:
        yield completions.find_completions, {**run, "query": query}


def of_several(ids: list[str], digest: str) -> Iterator[Question]:
    """What Compare asks."""
    runs = {"ids": ids}
    for axis in AXES:
        yield compare.compare_runs, {**runs, "x": axis}
    yield compare.compare_runs, {**runs, "metrics": NAMES}
    yield compare_settings.compare_settings, {**runs, "by": "training.learning_rate"}
    yield compare_settings.compare_code, {**runs, "a": ids[0], "b": ids[-1]}
    for words in ("", "1", "{{", HOSTILE[0]):
        yield compare_prompts.shared_prompts, {**runs, "words": words}
    yield compare_prompts.prompt_in_runs, {**runs, "hash": digest}


def wrongs(questions: Iterator[Question]) -> list[str]:
    """What is wrong with the answers: a fault, or what is no JSON, or what a browser would take for markup."""
    found = []
    for ask, payload in questions:
        answer = ask(payload)
        about = f"{ask.__module__}.{ask.__name__}({payload})"[:200]
        if answer.get("fault"):
            found.append(f"{about}: a fault")
            continue
        try:
            json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()
            ORJSONResponse(answer)  # as it is sent, which knows no number of more than 64 bits
        except (TypeError, ValueError) as error:
            found.append(f"{about}: {error}")
        as_html = ("html", "rows", "prompt") if ask is same_prompt.prompt_history else ("html", "rows")
        drawn = [text for name, text in strings(answer) if name in as_html]
        found += [f"{about}: {TAGS.search(text)}" for text in drawn if TAGS.search(text)]
        keys = ("name", "names")  # metrics go by their own names
        shown = [text for name, text in strings(answer) if name not in keys]
        found += [f"{about}: {CONTROL.search(text)!r}" for text in shown if CONTROL.search(text)]
    return found


def strings(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in an answer, with the name it stands under."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, name)
