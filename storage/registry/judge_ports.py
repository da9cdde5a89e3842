"""The ports of this machine that reward functions with leave to use the network may reach, for a judge that runs here.

Only whoever starts the dashboard names them, in the environment: no page and no spec can. They hold for this home until
the dashboard is started without them.
"""

import os

from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import MOST_PORTS, JudgePorts

VARIABLE = "GROUPWISE_JUDGE_PORTS"


def ports_from_environment() -> list[int]:
    """The ports that this process's environment names. Raises ValueError with what is wrong."""
    words = [word.strip() for word in os.environ.get(VARIABLE, "").split(",") if word.strip()]
    for word in words:
        if not (word.isascii() and word.isdigit() and 0 < int(word[:6]) <= 65535):
            raise ValueError(f"{VARIABLE} takes ports from 1 to 65535, as in {VARIABLE}=8000,8001, not “{word[:40]}”.")
    if len(words) > MOST_PORTS:
        raise ValueError(f"{VARIABLE} names {len(words)} ports, and {MOST_PORTS} are the most.")
    return sorted({int(word) for word in words})


def publish_ports(ports: list[int]) -> None:
    """Open just these ports from here on, to sandboxes that are started from now on."""
    registry.publish_fact(JudgePorts(ports=ports))


def open_ports() -> list[int]:
    """The ports that are open now."""
    fact = registry.read_fact(JudgePorts)
    return list(fact.ports) if fact else []
