"""Where an http handler may be asked: a name must not lead into the private network, a number may (observed)."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from .urls import literal
from .versions import Version

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PRIVATE: Sequence[Network] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "::/128",
        "fc00::/7",
        "fe80::/10",
    )
)
"""Where no name may lead; loopback is not among them (003, FACT; observed)."""

CLOUD: Sequence[Network] = tuple(
    ip_network(text)
    for text in ("169.254.0.0/16", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fe80::/10", "fd00:ec2::254")
)
"""Where machines of a cloud find their credentials. Only 169.254.169.254 was observed; the bundle of 2.1.332 names the others."""


class Blocked(Exception):
    """An address that is not asked; the message says which, and why."""


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name, in the order of the system's resolver. Raises OSError for one that has none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[4][0]) for place in found))


def reachable(host: str, port: int, version: Version) -> list[str]:
    """The addresses at which a host may be asked, best first. Raises Blocked, and OSError for a name without any."""
    number = literal(host)
    if number is not None:
        if version.spares_cloud_addresses and _within(number, CLOUD):
            raise Blocked(f"{number} is an address of the link or of a cloud's own services: such are not asked")
        return [str(number)]
    found = resolved(host, port)
    for address in found:
        if _within(ip_address(address), PRIVATE):
            raise Blocked(f"{host} leads to {address}, which is private; a name may lead to loopback and to public addresses")
    return found


def _within(address: Address, networks: Sequence[Network]) -> bool:
    plain = (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
    return any(plain in network for network in networks)
