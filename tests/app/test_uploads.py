"""The quota of uploads: given out before a byte is taken in, and given back by what is cut off."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from groupwise.app.server import guard, uploads
from tests.conftest import ending, playing_supervisor
from tests.support.homes import wait_for
from tests.support.servers import Server, begin, changed

HEAD = b'--b\r\nContent-Disposition: form-data; name="files"; filename="%s"\r\n\r\n'
TAIL = b"\r\n--b--\r\n"
KIND = {"Content-Type": "multipart/form-data; boundary=b"}
# 16 uploads of 24 MB want 384 MB, and 96 MB are there.
QUOTA, SIZE, AT_ONCE = 96, 24, 16


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """With a quota of 96 MB, so that the test need not write a gigabyte."""
    place = tmp_path_factory.mktemp("uploads")
    with ending() as start, playing_supervisor(place):
        yield begin(changed(start, **{"uploads.QUOTA": QUOTA * guard.MEGABYTE}), place)


@pytest.fixture(autouse=True)
def emptied(dashboard: Server) -> None:
    for path in (dashboard.home / "uploads").rglob("*"):
        if path.is_file():
            path.unlink()


def stored(server: Server) -> int:
    """Bytes of all uploads; one that is removed meanwhile has none."""
    total = 0
    for path in (server.home / "uploads").rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size if path.is_file() else 0
    return total


def send(server: Server, name: str, megabytes: int, *, announced: bool) -> int:
    """Upload one file, which is like no other; the reply's status."""
    parts = [HEAD % name.encode(), *([name.encode().ljust(guard.MEGABYTE, b"x")] * megabytes), TAIL]
    headers = {**KIND, **({"Content-Length": str(sum(map(len, parts)))} if announced else {})}
    try:
        return httpx.post(
            f"{server.url}{guard.UPLOAD_PATH}", content=iter(parts), headers=headers, timeout=60
        ).status_code
    except httpx.WriteError:
        return 413  # refused while it was being sent


@pytest.mark.parametrize("announced", [True, False], ids=["announced", "as-it-arrives"])
def test_sixteen_uploads_at_once_stay_within_the_quota(dashboard: Server, announced: bool) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(pool.map(lambda n: send(dashboard, f"f{n}", SIZE, announced=announced), range(AT_ONCE)))
    assert stored(dashboard) <= QUOTA * guard.MEGABYTE
    assert set(replies) <= {200, 413} and replies.count(413) >= AT_ONCE - QUOTA // SIZE
    if announced:
        assert replies.count(200) == QUOTA // SIZE - 1  # the fourth wants some bytes more than are left
    emptied_of = stored(dashboard)
    assert replies.count(200) * SIZE * guard.MEGABYTE == emptied_of, "what was refused was removed"


def test_what_is_cut_off_leaves_no_file_and_gives_its_room_back(dashboard: Server) -> None:
    for _ in range(2):
        connections = [_begin_upload(dashboard, 30 * guard.MEGABYTE) for _ in range(3)]
        wait_for("the parts", lambda: stored(dashboard) > 3 * guard.MEGABYTE)
        assert send(dashboard, "one more", 20, announced=True) == 413
        for connection in connections:
            connection.close()
        wait_for("nothing to be left", lambda: stored(dashboard) == 0)
    assert send(dashboard, "now", 60, announced=True) == 200


def _begin_upload(server: Server, announced: int) -> socket.socket:
    """A connection that has sent 2 MB of what it announced."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection.sendall(
        b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nContent-Type: %s\r\n\r\n"
        % (guard.UPLOAD_PATH.encode(), announced, KIND["Content-Type"].encode())
    )
    connection.sendall(HEAD % b"part" + b"x" * 2 * guard.MEGABYTE)
    return connection


def test_many_small_files_use_the_quota_up_too(dashboard: Server) -> None:
    for more in range(2):
        files = [("files", (f"{n}.jsonl", f"{more} {n}".encode())) for n in range(900)]
        assert httpx.post(f"{dashboard.url}{guard.UPLOAD_PATH}", files=files, timeout=60).status_code == 200
    assert send(dashboard, "last", 1, announced=True) == 413


def test_old_uploads_go_when_room_is_wanted(registry_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = uploads.prepare()
    monkeypatch.setattr(uploads, "QUOTA", 100)
    monkeypatch.setattr(uploads, "SMALLEST", 1)
    (folder / "new").write_bytes(b"x" * 60)
    (folder / "forgotten").write_bytes(b"x" * 60)
    room = uploads.Room()
    assert room.begin(1) is None
    yesterday = time.time() - uploads.KEEP_SECONDS - 1
    os.utime(folder / "forgotten", (yesterday, yesterday))
    upload = room.begin(30)
    assert upload is not None and [path.name for path in folder.iterdir()] == ["new"]
    assert room.begin(30) is None, "the first one's room is given"
    upload.end(stored=False)
    assert room.begin(30) is not None
