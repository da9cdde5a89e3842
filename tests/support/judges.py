"""Servers on this machine that stand for a judge."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing on the screen."""
