"""Free ports for servers; other test processes choose ports at the same time."""

import random
import socket

_RNG = random.SystemRandom()  # differs in each process
#: Below the ephemeral ports, which connections of other processes may take first.
_FIRST, _LAST = 10_000, 32_000


def free_port() -> int:
    """Return a port of this machine that is not in use."""
    while True:
        port = _RNG.randint(_FIRST, _LAST)
        try:
            with socket.socket() as free:
                free.bind(("127.0.0.1", port))
                return port
        except OSError:
            continue
