"""What proxies say of a request (X-Forwarded-…): believed of the proxies named at start, and of nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Headers = list[tuple[bytes, bytes]]

# Everything a proxy could say in, and all that Gradio reads of it (X-Forwarded-Host, -Proto, X-Gradio-Server): none of
# it reaches the pages. What a named proxy says stands in the request itself by then.
SAID_BY_PROXIES = (b"x-forwarded-", b"x-gradio-", b"x-original-", b"x-rewrite-")
ALSO = {b"forwarded", b"x-forwarded", b"x-real-ip", b"x-direct-url", b"x-url-scheme", b"true-client-ip", b"via"}


def address_of(text: str) -> Address | None:
    """An address as it is written by people, by sockets (::ffff:10.0.0.1) and by proxies (10.0.0.1:1234, [::1]:80)."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


@dataclass(frozen=True)
class Proxies:
    """The proxies that were named at start."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, names: list[str]) -> Proxies:
        """Read the addresses and networks of proxies. Raises ValueError for what is no exact address or network; the
        whole internet is none."""
        networks = tuple(ip_network(name) for name in names)
        if any(network.prefixlen == 0 for network in networks):
            raise ValueError("a network of every address")
        return cls(networks)

    def __contains__(self, host: str) -> bool:
        found = address_of(host)
        return found is not None and any(found in network for network in self.networks)


class ForwardedHeaders:
    """Puts what a named proxy says in the request's place (client, scheme, host), and takes off what anybody says.

    A host that a proxy names has to be an allowed one, as any has: the guard of hosts comes after this.
    """

    def __init__(self, app: ASGIApp, proxies: Proxies) -> None:
        self.app, self.proxies = app, proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            scope = self._read_proxy_headers(scope)
        await self.app(scope, receive, send)

    def _read_proxy_headers(self, scope: Scope) -> Scope:
        headers: Headers = scope["headers"]
        kept = [(name, value) for name, value in headers if not _is_said_by_proxies(name)]
        client = scope.get("client")
        if client and self.proxies.networks and client[0] in self.proxies:
            said = {name: value for name, value in headers if name in (b"x-forwarded-proto", b"x-forwarded-host")}
            kept = _replace_host(kept, said.get(b"x-forwarded-host", b""))
            scheme = _scheme(scope, said.get(b"x-forwarded-proto", b""))
            scope = {**scope, "client": self._client(headers) or client, "scheme": scheme}
        return {**scope, "headers": kept}

    def _client(self, headers: Headers) -> tuple[str, int] | None:
        """Whom the nearest proxy that is not ours has seen: each proxy writes behind the ones before it, so everything
        left of that may be made up."""
        hops = b",".join(value for name, value in headers if name == b"x-forwarded-for").decode("latin-1").split(",")
        for hop in reversed(hops):
            found = address_of(hop)
            if found is None:
                return None
            if str(found) not in self.proxies:
                return str(found), 0
        return None


def _is_said_by_proxies(name: bytes) -> bool:
    return name in ALSO or name.startswith(SAID_BY_PROXIES)


def _scheme(scope: Scope, said: bytes) -> str:
    """Of several proxies the last one speaks; the others may be the client's own words."""
    scheme = said.decode("latin-1").rpartition(",")[2].strip().lower()
    if scheme not in ("http", "https"):
        return str(scope["scheme"])
    return scheme.replace("http", "ws") if scope["type"] == "websocket" else scheme


def _replace_host(headers: Headers, said: bytes) -> Headers:
    host = said.rpartition(b",")[2].strip()
    if not host:
        return headers
    return [(b"host", host), *((name, value) for name, value in headers if name != b"host")]
