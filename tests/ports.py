"""A port for a server that must be told one, while other processes of the tests look for theirs."""

import random
import socket

_DICE = random.SystemRandom()  # each process throws its own
#: Below those that connections are given: a server would find its port taken by one of them.
_FIRST, _LAST = 10_000, 32_000


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    while True:
        port = _DICE.randint(_FIRST, _LAST)
        try:
            with socket.socket() as free:
                free.bind(("127.0.0.1", port))
                return port
        except OSError:
            continue
