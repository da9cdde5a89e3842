"""What a run wrote, to be taken away: a checkpoint, or the trained model, as one tar; log, settings and code as
text. What may be large is streamed as it is read; nothing but what the run's page lists, and through no link."""

import os
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.run import config, log
from groupwise.app.server import guard
from groupwise.app.ui.live import run_by_id
from groupwise.storage.home import files
from groupwise.storage.record import checkpoint_files
from groupwise.storage.registry import registry

CHUNK = 1 << 20  # bytes read at a time
BLOCK = 512  # bytes that a tar is made of
Reply = Callable[[dict[str, str]], Response]


async def download_folder(request: Request) -> Response:
    """GET /download?id=RUN&folder=checkpoints/checkpoint-20: the folder as a tar."""
    return await _answer(request, folder_reply)


async def download_log(request: Request) -> Response:
    """GET /log?id=RUN: the log, as the Log tab shows it, whole."""
    return await _answer(request, log_reply)


async def download_file(request: Request) -> Response:
    """GET /file?id=RUN&name=spec.yaml: a text file that the Config tab lists, byte for byte."""
    return await _answer(request, file_reply)


async def _answer(request: Request, reply: Reply) -> Response:
    if not guard.is_own_page(request.headers):
        return PlainTextResponse("This request came from another site.\n", status_code=403)
    given = {name: values[0] for name, values in parse_qs(request.url.query).items()}
    try:
        return await run_in_threadpool(partial(reply, given))
    except Unanswerable as problem:
        return PlainTextResponse(f"{problem}\n", status_code=404)
    except (OSError, registry.RegistryError) as error:
        return PlainTextResponse(f"It could not be read ({error}).\n", status_code=500)


def folder_reply(given: dict[str, str]) -> Response:
    """A checkpoint, or the final model, as a tar. Raises Unanswerable for any other folder, and OSError."""
    run = _run(given)
    asked = given.get("folder")
    place = next((one for one in _offered(run) if one.relative_to(run.folder.path).as_posix() == asked), None)
    if place is None:
        raise Unanswerable("There is no such checkpoint (any more). The Checkpoints tab lists those that exist.")
    name = f"{run.id}-{place.name}"
    members = list_members(place, name)
    headers = {"Content-Length": str(tar_size(members)), **_as_file(f"{name}.tar")}
    return StreamingResponse(write_tar(members), media_type="application/x-tar", headers=headers)


def log_reply(given: dict[str, str]) -> Response:
    """The log as text, without secrets and control characters. Raises Unanswerable where there is none."""
    run = _run(given)
    if not files.is_file(run.folder.log):
        raise Unanswerable("This run has printed nothing yet, or its folder is not where it was.")
    headers = _as_file(f"{run.id}-log.txt")
    return StreamingResponse(log.whole_text(run.folder.log), media_type="text/plain; charset=utf-8", headers=headers)


def file_reply(given: dict[str, str]) -> Response:
    """One of the run's own text files. Raises Unanswerable for any other, and OSError."""
    run = _run(given)
    place = config.text_files(run.folder).get(given.get("name", ""))
    if place is None:
        raise Unanswerable("There is no such file (any more). The Config tab lists those that exist.")
    pieces = _pieces(files.open_file(place))
    return StreamingResponse(pieces, media_type="text/plain; charset=utf-8", headers=_as_file(place.name))


def _pieces(file: BufferedReader) -> Iterator[bytes]:
    """A file as it is, whatever its size, in pieces; closed at the end."""
    with file:
        while data := file.read(CHUNK):
            yield data


def _run(given: dict[str, str]) -> registry.Run:
    run = run_by_id(given.get("id", ""))
    if run is None:
        raise Unanswerable("This address names no run.")
    return run


def _as_file(name: str) -> dict[str, str]:
    # The name may be anybody's: a header holds no quotes, line ends or letters beyond Latin-1.
    plain = quote(name, safe="", errors="replace") == name
    said = f'filename="{name}"' if plain else f"filename*=UTF-8''{quote(name, safe='', errors='replace')}"
    return {"Content-Disposition": f"attachment; {said}", "Cache-Control": "no-store"}


def _offered(run: registry.Run) -> list[Path]:
    """The folders of a run that may be taken away: none that a request makes up, and none behind a link."""
    checkpoints, final = run.folder.checkpoints, run.folder.final
    found = [*checkpoint_files.points(checkpoints), *checkpoint_files.set_aside_points(checkpoints)]
    return [*found, final] if files.is_folder(final) else found


@dataclass(frozen=True)
class Member:
    """One file of a tar: where it lies, its size when the tar was begun, and its header."""

    path: Path
    size: int
    header: bytes


def list_members(folder: Path, name: str) -> list[Member]:
    """The regular files below a folder, as a tar has them below `name`; links and the like are left out."""
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for path in sorted(Path(place, each) for each in names):
            if files.is_file(path):
                found.append(_member(path, f"{name}/{path.relative_to(folder).as_posix()}"))
    return found


def _member(path: Path, name: str) -> Member:
    status = path.lstat()
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = status.st_size, int(status.st_mtime), 0o644
    return Member(path, status.st_size, info.tobuf(tarfile.PAX_FORMAT, errors="surrogateescape"))


def tar_size(members: list[Member]) -> int:
    """Bytes of the tar of these files."""
    return sum(len(one.header) + one.size + -one.size % BLOCK for one in members) + 2 * BLOCK


def write_tar(members: list[Member]) -> Iterator[bytes]:
    """The tar, piece by piece. Raises OSError where a file is gone or has become shorter meanwhile: the download then
    breaks off, and is not taken for a whole one."""
    for one in members:
        yield one.header
        left = one.size
        with files.open_file(one.path) as file:
            while left:
                data = file.read(min(CHUNK, left))
                if not data:
                    raise OSError(f"{one.path.name} was changed while it was read")
                left -= len(data)
                yield data
        yield bytes(-one.size % BLOCK)
    yield bytes(2 * BLOCK)
