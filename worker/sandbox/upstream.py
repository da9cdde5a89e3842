"""The proxy that this machine itself needs, as the usual environment variables name it. Standard library only."""

import binascii
from typing import NamedTuple

VARIABLES = ("http_proxy", "https_proxy", "no_proxy")  # also in capitals


class Upstream(NamedTuple):
    """authorization: the value of Proxy-Authorization; empty without a password."""

    host: str
    port: int
    authorization: bytes


def find_upstream(variables: dict[str, str], scheme: str, host: str) -> Upstream | None:
    """The proxy for an address that begins with "http" or "https"; None where there is none, or no_proxy names the
    host. Raises ValueError for one of a kind that is not spoken here."""
    address = _variable(variables, f"{scheme}_proxy")
    return None if not address or _is_excepted(host, _variable(variables, "no_proxy")) else _parse_address(address)


def _variable(variables: dict[str, str], name: str) -> str:
    return (variables.get(name) or variables.get(name.upper()) or "").strip()


def _is_excepted(host: str, excepted: str) -> bool:
    """As the standard library reads no_proxy: names that the host is, or ends with."""
    names = [name.strip().lower().lstrip(".") for name in excepted.split(",") if name.strip()]
    host = host.lower()
    return "*" in names or any(host == name or host.endswith(f".{name}") for name in names)


def _parse_address(address: str) -> Upstream:
    scheme, separator, rest = address.partition("://")
    if separator and scheme.lower() != "http":
        raise ValueError(f"it begins with {scheme}://, and only http:// can be used")
    secret, _, place = (rest if separator else address).partition("/")[0].rpartition("@")
    host, _, port = place.rpartition(":") if ":" in place.rpartition("]")[2] else (place, "", "80")
    if not host or not port.isdecimal() or not 0 < int(port) <= 65535:
        raise ValueError("it is not an address such as http://proxy.example.org:3128")
    return Upstream(host.strip("[]"), int(port), _basic(secret))


def _basic(secret: str) -> bytes:
    """user:password, of which characters may be written as %40, as HTTP sends it."""
    if not secret:
        return b""
    pieces = secret.encode().split(b"%")
    plain = pieces[0] + b"".join(_unquote(piece) for piece in pieces[1:])
    return b"Basic " + binascii.b2a_base64(plain, newline=False)


def _unquote(piece: bytes) -> bytes:
    try:
        return binascii.unhexlify(piece[:2]) + piece[2:]
    except binascii.Error:
        return b"%" + piece
