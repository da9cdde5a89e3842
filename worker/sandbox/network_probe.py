"""Whether a sandbox with network holds here, tried."""

import functools
import socket

from groupwise.worker.sandbox import launch, syscall_filter
from groupwise.worker.sandbox.limits import Limits
from groupwise.worker.sandbox.process import Broken, Process
from groupwise.worker.sandbox.proxy_process import ProxyProcess
from groupwise.worker.sandbox.tiers import leak

# Tried inside a sandbox with network: what must go by way of the proxy, and what can't.
_ATTEMPTS = """
import socket
def connect(port):
    made = socket.create_connection(("127.0.0.1", port), 2)
    if made.getsockname() == made.getpeername():  # TCP reached itself, which it may where nobody listens
        raise OSError("nobody is there")
def attempts(completions, log_extra, *, port):
    tried = {
        "connect to a port of this machine": lambda: connect(port),
        "send datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "begin a connection with its first data":
            lambda: socket.socket().sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", port)),
    }
    can = []
    for what, attempt in tried.items():
        try:
            attempt()
            can.append(what)
        except OSError:
            continue
    log_extra("can", [can[0] if can else ""])
    return [len(can)]
"""


@functools.cache
def network_problem(tier: str) -> str | None:
    """Why functions with leave to use the network cannot run in a tier that holds otherwise; None where they can."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            process = Process(tier, Limits(), proxy=ProxyProcess([]))
        except (launch.CannotStart, syscall_filter.NoFilter, OSError) as error:
            return f"{str(error).rstrip('.')}."
        try:
            found = leak(process, _ATTEMPTS, {"port": server.getsockname()[1]})
            server.setblocking(False)
            return found or _was_reached(server)
        except Broken as broken:
            return str(broken)
        finally:
            process.end()


def _was_reached(server: socket.socket) -> str | None:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return None
    return "a function reaches the ports of this machine."
