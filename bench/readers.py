"""Plays pages that watch a run, without drawing: asks what they ask, as often, from where the last answer left off.

`python -m bench.readers ADDRESS RUN_ID PAGES QUESTIONS SECONDS` prints the seconds of every answer, as JSON, but for
those of the first few seconds, when all of them come at once. QUESTIONS are bodies that a real page sent, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

import httpx

SETTLE = 3.0  # seconds in which the pages come


class Page:
    """One page: each part of it asks for itself."""

    def __init__(self, client: httpx.AsyncClient, address: str, run_id: str, until: float) -> None:
        self.client, self.address, self.run_id, self.until = client, address, run_id, until
        self.since = time.monotonic() + SETTLE
        self.lags: list[float] = []

    async def ask(self, body: dict[str, Any]) -> None:
        """One part: it asks, goes on from what it got, and waits as long as the answer says."""
        data = {**body["data"], "run": self.run_id, "after": 0, "event": 0, "drawn": False}
        await asyncio.sleep(random.random())
        while time.monotonic() < self.until:
            begun = time.monotonic()
            answer = await self._post({**body, "data": data})
            if begun >= self.since:
                self.lags.append(time.monotonic() - begun)
            seen = [event["id"] for event in answer.get("events", [])]
            data |= {"after": answer.get("seq") or data["after"], "event": max([data["event"], *seen]), "drawn": True}
            await asyncio.sleep(answer.get("poll", 2000) / 1000)

    async def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        url = f"{self.address}/gradio_api/component_server"
        reply = await self.client.post(url, json=body, headers={"Origin": self.address})
        answer: dict[str, Any] = reply.raise_for_status().json()
        return answer


async def read(address: str, run_id: str, pages: int, questions: list[dict[str, Any]], seconds: float) -> list[float]:
    """Seconds of every answer."""
    # the server closes idle connections after 5 s: a browser would ask again, this client gives them up before
    limits = httpx.Limits(max_connections=pages * 4, keepalive_expiry=2.0)
    async with httpx.AsyncClient(timeout=30, limits=limits) as client:
        there = [Page(client, address, run_id, time.monotonic() + SETTLE + seconds) for _ in range(pages)]
        await asyncio.gather(*(page.ask(question) for page in there for question in questions))
    return [lag for page in there for lag in page.lags]


if __name__ == "__main__":
    address, run_id, pages, questions, seconds = sys.argv[1:]
    found = asyncio.run(read(address, run_id, int(pages), json.loads(questions), float(seconds)))
    print(json.dumps(found))
