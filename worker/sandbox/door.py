"""A sandbox's door to the network: one port, on which the proxy outside listens. Standard library only."""

import os
import socket

from groupwise.worker.sandbox import wire


class Door:
    """A listener for the proxy to have, in the network that this process is in; the variables in which the usual
    libraries look for a proxy lead there. Raises OSError."""

    def __init__(self, user: str, password: str) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listener.getsockname()[1])
        address = f"http://{user}:{password}@127.0.0.1:{self.port}"
        names = ("http_proxy", "https_proxy")
        os.environ.update({each: address for name in names for each in (name, name.upper())})

    def hand_over(self, channel: int) -> None:
        """Give the listener away with the word that this process is ready, and keep none. Raises OSError."""
        with self._listener, socket.socket(fileno=os.dup(channel)) as line:
            socket.send_fds(line, [wire.pack({"ready": True})], [self._listener.fileno()])
