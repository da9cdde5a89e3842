"""Compare: prompts that several runs had, how each run did on them at first and at last, and what it says to one."""

import contextlib
from typing import Any

from groupwise.app.core import format
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.compare.runs import open_run_record, run_ids, run_spec
from groupwise.app.ui.highlight import colour_tags
from groupwise.app.ui.live import Payload, answer, run_by_id, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.compare.prompts import (
    Looker,
    Wording,
    also_asked,
    hashes,
    hashes_in_common,
    prompt_ids,
    said_of_difference,
    widest_first,
    wordings,
)
from groupwise.storage.analysis.compare.prompts import prompt_text as text_of
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library import right
from groupwise.storage.record import group_metrics, groups
from groupwise.storage.registry import registry

SHOWN = 50  # prompts of one answer
LONGEST = 4000  # characters of a completion; the whole of it stands in its group


@answer
def shared_prompts(payload: Payload) -> dict[str, Any]:
    """Prompts with `words` in them that at least two of the runs had: hash, text, and for each run in the order of
    `ids` how it did on it, null where it did not have it, and how its prompt `differs`. The same question is one row,
    whatever the system prompt, the answer or other columns of its row are. `count` of them, of `seen` that any of the
    runs had. `order`: “differ” for those first on which the runs' last results differ most, else those that the most
    runs had."""
    ids, words = run_ids(payload), text(payload, "words")
    runs = [run_by_id(run_id) for run_id in ids]
    had = [sample(run, words) for run in runs]
    union = list(dict.fromkeys(digest for some in had for digest in some))
    numbers, wording = with_same_questions(runs, had, [numbers_in(run, union) for run in runs])
    both = hashes_in_common(numbers)
    if text(payload, "order") == "differ":
        results = [results_in(run, of, both) for run, of in zip(runs, numbers, strict=True)]
        both = widest_first(both, results)
    shown = both[:SHOWN]
    columns = [column(run, [of.get(digest) for digest in shown]) for run, of in zip(runs, numbers, strict=True)]
    rows = [
        {
            "hash": digest,
            "prompt": first_text(index, columns),
            "runs": [one["ends"][index] for one in columns],
            "differs": [differs_words(wording, of, digest) for of in wording],
        }
        for index, digest in enumerate(shown)
    ]
    return {"ids": ids, "rows": rows, "count": len(both), "seen": len(union)}


Wordings = list[dict[str, Wording]]


def with_same_questions(
    runs: list[registry.Run | None], had: list[list[str]], numbers: list[dict[str, int]]
) -> tuple[list[dict[str, int]], Wordings]:
    """The numbers with those of prompts that ask the same in other runs, under those runs' hashes; and the wording of
    each run's prompts, by the same hashes."""
    said = [wordings_in(run, digests) for run, digests in zip(runs, had, strict=True)]
    also = also_asked(said, numbers)
    own = [numbers_in(run, list(of.values())) for run, of in zip(runs, also, strict=True)]
    more = [{lead: ids[mine] for lead, mine in of.items() if mine in ids} for of, ids in zip(also, own, strict=True)]
    known = [words | {lead: words[mine] for lead, mine in of.items()} for words, of in zip(said, also, strict=True)]
    return [of | extra for of, extra in zip(numbers, more, strict=True)], known


def wordings_in(run: registry.Run | None, digests: list[str]) -> dict[str, Wording]:
    """The wording of these of a run's prompts, by hash; none where its record cannot be read."""
    if run is None or not digests:
        return {}
    with contextlib.suppress(Unanswerable), open_run_record(run) as record:
        return wordings(record, digests)
    return {}


def differs_words(wording: Wordings, of: dict[str, Wording], digest: str) -> str:
    """How a run's prompt differs from the one of this hash, that its row is named by."""
    lead = next((run[digest] for run in wording if digest in run and run[digest].hash == digest), None)
    own = of.get(digest)
    return visible_text(format.shorten(said_of_difference(lead, own), 80)) if lead and own else ""


def sample(run: registry.Run | None, words: str) -> list[str]:
    """The hashes of a run's prompts with these words; none where there is no run, or no readable record."""
    if run is None:
        return []
    with contextlib.suppress(Unanswerable), open_run_record(run) as record:
        return hashes(record, words)
    return []


def numbers_in(run: registry.Run | None, digests: list[str]) -> dict[str, int]:
    """{hash: the prompt's number in the run's record} of those that the run had."""
    if run is None or not digests:
        return {}
    with contextlib.suppress(Unanswerable), open_run_record(run) as record:
        return prompt_ids(record, digests)
    return {}


def results_in(
    run: registry.Run | None, numbers: dict[str, int], digests: list[str]
) -> dict[str, tuple[float | None, float | None]]:
    """{hash: (share solved, mean reward)} of a run's last group of each of these prompts that it had."""
    if run is None or not numbers:
        return {}
    with contextlib.suppress(Unanswerable), open_run_record(run) as record:
        had = {numbers[digest]: digest for digest in digests if digest in numbers}
        found = Looker(record, target_function(run, record)).last_results(list(had))
        return {had[number]: result for number, result in found.items()}
    return {}


def column(run: registry.Run | None, numbers: list[int | None]) -> dict[str, list[Any]]:
    """What one run has to say of some prompts: how it did, and their texts; null for those that it did not have."""
    nothing: dict[str, list[Any]] = {"ends": [None] * len(numbers), "texts": [None] * len(numbers)}
    if run is None or not any(numbers):
        return nothing
    with contextlib.suppress(Unanswerable), open_run_record(run) as record:
        looker = Looker(record, target_function(run, record))
        return {
            "ends": [ends_of(looker, number) if number is not None else None for number in numbers],
            "texts": [text_of(record, number) if number is not None else None for number in numbers],
        }
    return nothing


def ends_of(looker: Looker, number: int) -> dict[str, Any] | None:
    """How the run did on a prompt at first and at last, and whether it was held out."""
    ends = looker.ends(number)
    return None if ends is None else {**ends, "held_out": looker.is_held_out(number)}


def first_text(index: int, columns: list[dict[str, list[Any]]]) -> str:
    """A prompt's text, from the first run that had it."""
    found = next((one["texts"][index] for one in columns if one["texts"][index] is not None), "")
    return visible_text(format.shorten(format.message_text(found), 160))


def target_function(run: registry.Run, record: Database) -> group_metrics.Target | None:
    """The function that says what is right in a run, as far as its record bears that out; None where none does, or its
    settings cannot be read."""
    try:
        return right.target_borne_out(record, run_spec(run), groups.newest_stage(run.folder.db), run.folder.rewards)
    except Unanswerable:
        return None


@answer
def prompt_in_runs(payload: Payload) -> dict[str, Any]:
    """One prompt, by `hash`, in each of the runs: how often it was asked, how it went at first and at last, and what
    the run said to it at last, as HTML; null where a run did not have it."""
    ids, digest = run_ids(payload), text(payload, "hash")
    whole = ""
    found = []
    runs = [run_by_id(run_id) for run_id in ids]
    asked = {run.id: [digest] if numbers_in(run, [digest]) else sample(run, "") for run in runs if run}
    had = [asked[run.id] if run else [] for run in runs]
    numbers, wording = with_same_questions(runs, had, [numbers_in(run, [digest]) for run in runs])
    for run, known, words in zip(runs, numbers, wording, strict=True):
        one = None
        if run is not None:
            with contextlib.suppress(Unanswerable), open_run_record(run) as record:
                number = known.get(digest)
                if number is not None:
                    whole = whole or visible_text(format.message_text(text_of(record, number))[:LONGEST])
                    one = in_run(Looker(record, target_function(run, record)), number)
                    one["differs"] = differs_words(wording, words, digest)
        found.append(one)
    if not any(found):
        raise Unanswerable("None of these runs had this prompt.")
    return {"ids": ids, "prompt": whole, "runs": found}


def in_run(looker: Looker, number: int) -> dict[str, Any]:
    """How often one run had a prompt, how it went at first and at last, its `latest` completion as HTML, and where its
    `best` is, where that earned more."""
    latest, best = looker.latest_completion(number), looker.best_completion(number)
    told = where_better(best, latest) if best and latest else None
    if latest is not None:
        words = latest.pop("text")
        cut = len(words) - LONGEST
        latest["html"] = colour_tags(words[:LONGEST])
        latest["cut"] = f"{format.count(cut)} more characters in its group." if cut > 0 else ""
    asked = {"number": number, "groups": looker.count(number)}
    return asked | (ends_of(looker, number) or {}) | {"latest": latest, "best": told}


def where_better(best: dict[str, Any], latest: dict[str, Any]) -> dict[str, Any] | None:
    """Where a run's best completion is; None where the latest earned as much, as far as it is written."""
    if format.number(best["reward"]) == format.number(latest["reward"]):
        return None
    return {name: best[name] for name in ("group", "step", "idx", "reward")}
