"""Plays pages that watch a run, without drawing: asks what they ask, as often, from where the last answer left off.

`python -m bench.readers ADDRESS RUN_IDS PAGES QUESTIONS SECONDS` prints the seconds of every answer, as JSON, but for
those of the first few seconds, when all of them come at once. RUN_IDS, with commas between them, are watched in turns.
QUESTIONS are bodies that a real page sent, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
from typing import Any

SETTLE = 3.0  # seconds in which the pages come
TURN = 5.0  # seconds that all pages watch one of several runs
LENGTH = re.compile(rb"content-length: *([0-9]+)", re.IGNORECASE)


def whose_turn(moment: float, runs: int) -> int:
    """Which of so many runs is watched at this moment of the clock that all processes share."""
    return int(moment // TURN) % runs


async def watch(host: str, body: dict[str, Any], run_ids: list[str], since: float, until: float) -> list[float]:
    """One part of one page, on a connection of its own: it asks, goes on from what it got, and waits as long as the
    answer says. Seconds of every answer from `since` on."""
    lags: list[float] = []
    of_runs = [{**body["data"], "run": run_id, "after": 0, "event": 0, "drawn": False} for run_id in run_ids]
    await asyncio.sleep(random.random())
    reader, writer = await asyncio.open_connection(*host.split(":"))
    while time.monotonic() < until:
        begun = time.monotonic()
        data = of_runs[whose_turn(begun, len(of_runs))]
        writer.write(_request(host, {**body, "data": data}))
        answer = await _reply(reader)
        if begun >= since:
            lags.append(time.monotonic() - begun)
        seen = [event["id"] for event in answer.get("events", [])]
        data |= {"after": answer.get("seq") or data["after"], "event": max([data["event"], *seen]), "drawn": True}
        await asyncio.sleep(answer.get("poll", 2000) / 1000)
    writer.close()
    return lags


def _request(host: str, body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode()
    lines = (
        "POST /gradio_api/component_server HTTP/1.1", f"Host: {host}", f"Origin: http://{host}",
        "Content-Type: application/json", f"Content-Length: {len(content)}", "", "",
    )  # fmt: skip
    return "\r\n".join(lines).encode() + content


async def _reply(reader: asyncio.StreamReader) -> dict[str, Any]:
    """By hand, as a client library would take as long for an answer as the dashboard."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    if b" 200 " not in head.split(b"\r\n", 1)[0] or length is None:
        raise RuntimeError(f"no answer: {head.decode()}")
    answer: dict[str, Any] = json.loads(await reader.readexactly(int(length[1])))
    return answer


async def watch_all(
    address: str, run_ids: list[str], pages: int, questions: list[dict[str, Any]], seconds: float
) -> list[float]:
    """Seconds of every answer to every part of every page."""
    since = time.monotonic() + SETTLE
    host = address.removeprefix("http://")
    found = await asyncio.gather(*(watch(host, body, run_ids, since, since + seconds) for body in questions * pages))
    return [lag for lags in found for lag in lags]


if __name__ == "__main__":
    address, run_ids, pages, questions, seconds = sys.argv[1:]
    answers = asyncio.run(watch_all(address, run_ids.split(","), int(pages), json.loads(questions), float(seconds)))
    print(json.dumps(answers))
