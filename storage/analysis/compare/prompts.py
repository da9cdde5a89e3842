"""The prompts that several runs had, and how each run did on them: at first, at last, and at its best."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record.group_metrics import Target
from groupwise.storage.record.groups import counting

LOOKED_AT = 1000  # prompts of each run that may be shared
AT_ONCE = 500  # values in one question to SQLite


def hashes(run: Database, words: str = "") -> list[str]:
    """Some of the run's prompts, with these words in them, by hash: what a prompt and its row's columns are known by
    in every run."""
    where, values = ("WHERE prompt LIKE ? ESCAPE '!'", [_like(words)]) if words else ("", [])
    rows = run.execute(f"SELECT hash FROM prompt {where} ORDER BY id LIMIT ?", [*values, LOOKED_AT])
    return [digest for (digest,) in rows]


class Wording(NamedTuple):
    """What tells one of a run's prompts from another: its `hash`, what is asked in it, what stands before that, and the
    answer of its row."""

    hash: str
    question: str
    before: str
    answer: str


def wordings(run: Database, digests: Sequence[str]) -> dict[str, Wording]:
    """{hash: its wording} of these prompts, in their order."""
    rows = run.execute(
        "SELECT prompt.hash, prompt, columns FROM json_each(?) JOIN prompt ON prompt.hash = value ORDER BY key",
        [json.dumps(list(digests))],
    )
    return {
        digest: _wording(digest, json.loads(prompt), json.loads(columns or "{}")) for digest, prompt, columns in rows
    }


def _wording(digest: str, prompt: Any, columns: Any) -> Wording:
    chat = isinstance(prompt, list) and bool(prompt) and isinstance(prompt[-1], dict)
    asked, before = (prompt[-1].get("content"), prompt[:-1]) if chat else (prompt, [])
    answer = columns.get("answer") if isinstance(columns, dict) else None
    return Wording(
        digest, str(asked or ""), json.dumps(before) if before else "", "" if answer is None else str(answer)
    )


def also_asked(had: Sequence[Mapping[str, Wording]], numbers: Sequence[Mapping[str, int]]) -> list[dict[str, str]]:
    """Of each run, {hash of a prompt that another run had: hash of its own with the same question}: those whose answer,
    columns or system prompt differ, so that no two of them have one hash. All are named by the first run's."""
    firsts = [{one.question: one for one in reversed(list(run.values()))} for run in had]
    found: list[dict[str, str]] = [{} for _ in had]
    exact = set(hashes_in_common(numbers))
    leads: dict[str, list[str]] = {}
    for run in had:
        for one in run.values():
            if one.hash in exact and one.hash not in leads.setdefault(one.question, []):
                leads[one.question].append(one.hash)
    for run_firsts in firsts:
        for question, one in run_firsts.items():
            if not leads.get(question):
                leads[question] = [one.hash]
    for own, known, of in zip(found, firsts, numbers, strict=True):
        for question, one in known.items():
            own |= {lead: one.hash for lead in leads[question] if lead not in of}
    return found


def said_of_difference(lead: Wording, own: Wording) -> str:
    """What differs between two prompts of one question; “” where it is nothing that a model or a reward reads."""
    said = ["another system prompt"] if lead.before != own.before else []
    said += [f"answer {own.answer or 'not given'}"] if lead.answer != own.answer else []
    return ", ".join(said)


def _like(words: str) -> str:
    escaped = words.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"


def prompt_ids(run: Database, asked: Sequence[str]) -> dict[str, int]:
    """Of these hashes, those of prompts that the run had, with the prompt's number there."""
    found: dict[str, int] = {}
    for begin in range(0, len(asked), AT_ONCE):
        some = asked[begin : begin + AT_ONCE]
        rows = run.execute(f"SELECT hash, id FROM prompt WHERE hash IN ({', '.join('?' * len(some))})", some)
        found |= dict(rows.fetchall())
    return found


def hashes_in_common(had: Iterable[Iterable[str]]) -> list[str]:
    """The hashes that at least two runs had, those of the most runs first, else in the order of the runs."""
    counts: Counter[str] = Counter()
    for some in had:
        counts.update(list(some))  # of a mapping, a Counter would add up the values
    return sorted((digest for digest, n in counts.items() if n > 1), key=lambda digest: -counts[digest])


def widest_first(
    shared: Sequence[str], results: Sequence[Mapping[str, tuple[float | None, float | None]]]
) -> list[str]:
    """The hashes of shared prompts, those first whose last results differ most between the runs. `results`: of each
    run, by hash; the shares solved differ, or the mean rewards where not all that had the prompt know a share."""

    def width(digest: str) -> float:
        there = [one[digest] for one in results if digest in one]
        shares = [share for share, _ in there if share is not None]
        known = shares if len(shares) == len(there) else [mean for _, mean in there if mean is not None]
        return max(known) - min(known) if known else 0.0

    return sorted(shared, key=lambda digest: -width(digest))


def prompt_text(run: Database, prompt: int) -> Any:
    """The prompt: a chat's messages, or plain text."""
    return json.loads(run.execute("SELECT prompt FROM prompt WHERE id = ?", [prompt]).fetchone()[0])


class Looker:
    """Asks one run's record about many prompts; what is the same for all of them is read once."""

    def __init__(self, run: Database, target: Target | None) -> None:
        self.run = run
        self._counts, self._values = counting(run)
        row = run.execute("SELECT id FROM reward_function WHERE name = ?", [target[0]]).fetchone() if target else None
        self._solver = (row[0], target[1]) if row and target else None
        self._modes: dict[int, str] = {}

    def is_held_out(self, prompt: int) -> bool:
        """Whether the run was only evaluated on a prompt: what else is asked of it here is of its evaluations then."""
        return self._mode(prompt) == "eval"

    def ends(self, prompt: int) -> dict[str, Any] | None:
        """How the run did on a prompt: `first` and `last`, each step, mean reward and share solved."""
        first = self._group(prompt, "step, id")
        last = self._group(prompt, "step DESC, id DESC") if first else None
        return {"first": self._summary(first), "last": self._summary(last)} if first and last else None

    def best_completion(self, prompt: int) -> dict[str, Any] | None:
        """The completion with the highest reward that the run ever gave to a prompt, the latest of equals: group,
        step, idx, text, tokens, truncated, reward; `of` how many."""
        return self._completion(self._group(prompt, "high IS NULL, high DESC, step DESC, id DESC"))

    def latest_completion(self, prompt: int) -> dict[str, Any] | None:
        """What the run came to: of the last group of a prompt the completion in the middle by reward (of an even number
        the lower of both), as neither its best nor its worst is what it usually says; as `best_completion`."""
        return self._completion(self._group(prompt, "step DESC, id DESC"), middle=True)

    def _completion(self, group: tuple[Any, ...] | None, *, middle: bool = False) -> dict[str, Any] | None:
        """The best of a group, or the one in the `middle`; None where it has none."""
        if group is None:
            return None
        place = "(SELECT count(reward) / 2 FROM completion WHERE grp = :grp)" if middle else "0"
        row = self.run.execute(
            "SELECT idx, text, tokens, truncated, reward, count(*) OVER () FROM completion WHERE grp = :grp "
            f"ORDER BY reward IS NULL, reward DESC, idx LIMIT 1 OFFSET {place}",
            {"grp": group[0]},
        ).fetchone()
        if row is None:
            return None
        index, words, tokens, truncated, reward, count = row
        return {
            "group": group[0], "step": group[1], "idx": index, "text": words, "tokens": tokens,
            "truncated": bool(truncated), "reward": reward, "of": count,
        }  # fmt: skip

    def last_results(self, prompts: Sequence[int]) -> dict[int, tuple[float | None, float | None]]:
        """(share solved, mean reward) of the last group of each of these prompts that has one: `ends`, of many at
        once."""
        rows = self.run.execute(
            "SELECT prompt, id, mean FROM grp WHERE prompt IN (SELECT value FROM json_each(?)) "
            f"AND {self._counts} ORDER BY mode = 'train', step, id",  # an evaluation is told of where there is no other
            [json.dumps(list(prompts)), *self._values],
        )
        last = {prompt: (group, mean) for prompt, group, mean in rows}
        solved = self._solved_of([group for group, _ in last.values()])
        return {prompt: (solved.get(group), mean) for prompt, (group, mean) in last.items()}

    def _solved_of(self, groups: list[int]) -> dict[int, float]:
        if self._solver is None:
            return {}
        function, threshold = self._solver
        rows = self.run.execute(
            "SELECT grp, avg(coalesce(value, -9e999) >= ?) FROM score WHERE function = ? "
            "AND grp IN (SELECT value FROM json_each(?)) GROUP BY grp",
            [threshold, function, json.dumps(groups)],
        )
        return dict(rows.fetchall())

    def count(self, prompt: int) -> int:
        """How many groups of the prompt there are."""
        return self._count(prompt, self._mode(prompt))

    def _mode(self, prompt: int) -> str:
        if prompt not in self._modes:
            self._modes[prompt] = "train" if self._count(prompt, "train") else "eval"
        return self._modes[prompt]

    def _count(self, prompt: int, mode: str) -> int:
        found: int = self.run.execute(
            f"SELECT count(*) FROM grp WHERE prompt = ? AND mode = ? AND {self._counts}", [prompt, mode, *self._values]
        ).fetchone()[0]
        return found

    def _group(self, prompt: int, order: str) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self.run.execute(
            f"SELECT id, step, mean FROM grp WHERE prompt = ? AND mode = ? AND {self._counts} ORDER BY {order} LIMIT 1",
            [prompt, self._mode(prompt), *self._values],
        ).fetchone()
        return found

    def _summary(self, group: tuple[Any, ...]) -> dict[str, Any]:
        group_id, step, mean = group
        solved = None
        if self._solver is not None:
            function, threshold = self._solver
            solved = self.run.execute(
                "SELECT avg(coalesce(value, -9e999) >= ?) FROM score WHERE grp = ? AND function = ?",
                [threshold, group_id, function],
            ).fetchone()[0]
        return {"group": group_id, "step": step, "mean": mean, "solved": solved}
