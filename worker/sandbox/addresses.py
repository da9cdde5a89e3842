"""Whose an internet address is: this machine's own, one that nobody's function may speak to, or anyone else's.

Only the standard library, and little of it: the proxy beside each sandbox with network reads this file.
"""

import ipaddress
import socket
import struct
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Where clouds hand out a machine's own keys, beside the link-local 169.254.169.254 (which is closed as a whole):
# Alibaba, Azure, Oracle, AWS (EC2, EKS) and Google.
METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")  # in its last 32 bits the IPv4 address that a gateway speaks to
_THIS_NETWORK = ipaddress.ip_network("0.0.0.0/8")

# <linux/rtnetlink.h>
_RTM_GETROUTE, _NLM_F_REQUEST, _NLMSG_ERROR, _RTA_DST = 26, 1, 2, 1
_UNICAST, _LOCAL, _UNREACHABLE = 1, 2, 7
_ROUTE_TYPE = 16 + 7  # where a reply has it: behind its own header, the last byte before the flags


def meanings(text: str) -> Iterator[Address]:
    """The addresses that traffic to this one may reach: itself, or the IPv4 address that it stands for. Raises
    ValueError for what is no address."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv4Address):
        yield address
    elif address.ipv4_mapped is not None:
        yield address.ipv4_mapped
    elif address in _NAT64:
        yield ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    else:
        yield address
        if address.sixtofour is not None:
            yield address.sixtofour


def is_own(address: Address) -> bool:
    """Whether it is this machine's own: its loopback, or what the kernel delivers here. Raises OSError where the kernel
    does not say."""
    return address.is_loopback or address in _THIS_NETWORK or address.is_unspecified or _route(address) == _LOCAL


def is_closed(address: Address) -> bool:
    """Whether nothing that answers there is for a function to speak to: link-local (so a cloud's metadata), multicast,
    broadcast, reserved. Raises OSError where the kernel does not say."""
    special = address.is_link_local or address.is_multicast or address.is_reserved or address in METADATA
    return special or _route(address) not in (_UNICAST, _LOCAL, _UNREACHABLE)


def _route(address: Address) -> int:
    """How the kernel would send there (an RTN_ of <linux/rtnetlink.h>): it knows all addresses of its own, also those
    that come and go, and whole ranges of them."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    packed = address.packed
    ask = struct.pack("=BBBBBBBBI", family, len(packed) * 8, 0, 0, 0, 0, 0, 0, 0)
    ask += struct.pack("=HH", 4 + len(packed), _RTA_DST) + packed
    header = struct.pack("=IHHII", 16 + len(ask), _RTM_GETROUTE, _NLM_F_REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(5)
        kernel.sendto(header + ask, (0, 0))
        reply = kernel.recv(4096)
    if struct.unpack_from("=H", reply, 4)[0] == _NLMSG_ERROR:
        return _UNREACHABLE  # there is no way there: to connect will fail, and say so
    return reply[_ROUTE_TYPE]
