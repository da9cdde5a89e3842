"""The frames that Groupwise and a sandboxed process exchange: length-capped JSON, never pickle."""

import json
import os
import struct
from typing import Any

Message = dict[str, Any]

# Eight bytes before each frame. What a function writes to our descriptor by mistake does not begin like this, so it
# is told apart at once instead of being taken for a length to wait for.
_HEADER = struct.Struct(">4sI")
_MAGIC = b"GRPW"
HEADER = _HEADER.size

LARGEST_REQUEST = 256 << 20  # bytes: 100,000 completions of 2 KB
LARGEST_REPLY = 16 << 20


class NotAFrame(Exception):
    """The bytes are not a frame of ours, or it is longer than it may be."""


def pack(message: dict[str, Any], largest: int = LARGEST_REQUEST) -> bytes:
    """The frame of a message. Lone surrogates, which a tokenizer can produce, survive the way there and back.

    Raises NotAFrame when it would be longer than `largest` bytes, TypeError or ValueError for what JSON cannot hold.
    """
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(body) > largest:
        raise NotAFrame(f"a message of {len(body):,} bytes, where {largest:,} are the most")
    return _HEADER.pack(_MAGIC, len(body)) + body


def body_length(header: bytes, largest: int) -> int:
    """How many bytes follow this header. Raises NotAFrame."""
    magic, count = _HEADER.unpack(header)
    if magic != _MAGIC or count > largest:
        raise NotAFrame("bytes that are none of ours")
    return int(count)


def unpack_body(body: bytes) -> dict[str, Any]:
    """The message of a frame's body. Raises NotAFrame."""
    try:
        message = json.loads(body.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise NotAFrame("a frame that is not JSON") from error
    if not isinstance(message, dict):
        raise NotAFrame("a frame that is not an object")
    return message


def receive(channel: int) -> Message | None:
    """The next message on a descriptor; None when the other end is closed. Raises NotAFrame and OSError."""
    header = _read_bytes(channel, HEADER)
    return None if header is None else unpack_body(_read_bytes(channel, body_length(header, LARGEST_REQUEST)) or b"")


def _read_bytes(channel: int, count: int) -> bytes | None:
    received = bytearray()
    while len(received) < count:
        chunk = os.read(channel, min(count - len(received), 1 << 20))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


def send(channel: int, message: Message) -> None:
    """Write a reply to a descriptor. Raises NotAFrame for one that is too long, and OSError."""
    left = memoryview(pack(message, LARGEST_REPLY))
    while left:
        left = left[os.write(channel, left) :]


def as_json(value: Any) -> Any:
    """A value with numpy's and torch's arrays and numbers as lists and numbers. Raises TypeError with what it held."""
    return json.loads(json.dumps(value, default=_as_list))


def _as_list(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds {type(value).__name__}")
