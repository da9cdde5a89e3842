"""Another machine for tests: a network namespace with an address of its own, and a server in it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Answers each request with what it was asked, in a line; of TCP without HTTP it sends back what comes.
_SERVER = """
import socketserver, sys
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        got = self.request.recv(65536)
        if got[:4] in (b"GET ", b"POST"):
            line = got.split(b"\\r\\n")[0] + b"|" + got.split(b"Host: ")[-1].split(b"\\r\\n")[0]
            self.request.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(line) + line)
        while got and got[:4] not in (b"GET ", b"POST"):
            self.request.sendall(got)
            got = self.request.recv(65536)
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
server = Server((sys.argv[1], int(sys.argv[2])), Echo)
print("ready", flush=True)
server.serve_forever()
"""


@dataclass(frozen=True)
class Neighbour:
    """Where it listens, and which address of this machine's it sees."""

    address: str
    port: int
    ours: str


@contextmanager
def neighbour() -> Iterator[Neighbour]:
    """A machine on a private network with this one. Needs root."""
    name, number = f"gw{os.getpid() % 100_000}", os.getpid() % 200
    ours, theirs = f"10.231.{number}.1", f"10.231.{number}.2"
    ip("netns", "add", name)
    try:
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"{ours}/24", "dev", name)
        ip("link", "set", name, "up")
        for words in (("addr", "add", f"{theirs}/24", "dev", "eth0"), ("link", "set", "eth0", "up")):
            ip("-n", name, *words)
        command = [program("ip"), "netns", "exec", name, sys.executable, "-c", _SERVER, theirs, "8000"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
            assert server.stdout and server.stdout.readline() == b"ready\n"
            try:
                answers(theirs, 8000)
                yield Neighbour(theirs, 8000, ours)
            finally:
                server.kill()
    finally:
        ip("netns", "del", name)


def ip(*words: str) -> None:
    subprocess.run([program("ip"), *words], check=True, capture_output=True)


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    assert found, f"the tests of the network need {name} (Debian: iproute2)"
    return found


def answers(address: str, port: int) -> None:
    """Wait until a server answers: a new link is down for a moment."""
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection((address, port), 1).close()
            return
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
