"""What the builder writes for a judge, asked over a real connection: verdicts, failures, and the key it sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from groupwise.storage.library.rewards.builder import Block
from tests.support.reward_blocks import built


class Judge(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that says yes where a completion is polite, and breaks where it says so."""

    asked: list[tuple[str | None, dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.headers.get("Authorization"), body))
        words = body["messages"][0]["content"]
        if "break" in words:
            self.send_error(500)
            return
        reply = (
            "maybe" if "unsure" in words else "8/10" if "0 to 10" in words else "Yes." if "please" in words else "no"
        )
        sent = json.dumps({"choices": [{"message": {"content": reply}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the screen."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Judge.asked = []
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    monkeypatch.setenv("GROUPWISE_JUDGE_KEY", "key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_judge_is_asked_and_one_that_fails_gives_no_score(endpoint: str, monkeypatch: pytest.MonkeyPatch):
    block = Block("judge_says", {"question": "Is it polite?", "endpoint": endpoint, "model": "m"})
    space = built(block)
    monkeypatch.setattr(space["time"], "sleep", lambda seconds: None)
    found = space["reward"](completions=["please", "now", "unsure", "break"], prompts=["a", "b", "c", "d"])
    assert found == [1.0, 0.0, None, None]
    assert {key for key, _ in Judge.asked} == {"Bearer key"} and Judge.asked[0][1]["model"] == "m"
    assert len(Judge.asked) == 3 + 3  # three tries for the one that breaks
    assert "Is it polite?" in Judge.asked[0][1]["messages"][0]["content"]


def test_a_judge_counts_beside_other_blocks_and_gives_shares(endpoint: str):
    judge = Block("judge_says", {"question": "?", "endpoint": endpoint}, 1.0, True)
    space = built(judge, Block("contains", {"texts": ["a"]}, 1.0), Block("number_equals", {}, 2.0))
    messages = [{"role": "user", "content": "hello there"}]
    found = space["reward"](completions=["a 7", "unsure", "b"], prompts=[messages] * 3, answer=[7, 7, None])
    assert found == pytest.approx([(0.8 + 1 + 2) / 4, None, 0.4])
    assert "user: hello there" in Judge.asked[0][1]["messages"][0]["content"]
