"""The command line: ``kit``."""

from __future__ import annotations

import gc
import io
import signal
import sys


def main() -> None:
    """Run the command line."""
    # What is half done is taken back when a process is ended, as by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A stream that was closed is empty, and takes what is written.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    # Where an output has no Unicode, as when Windows redirects it, what it lacks is written \uXXXX.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")
    # While modules load there is no garbage, and looking for it takes an eighth of the start.
    gc.disable()
    from kit import commands

    arguments = sys.argv[1:]
    needed = commands.build_parser(arguments)
    gc.freeze()
    gc.enable()
    commands.run(needed, arguments)


if __name__ == "__main__":
    main()
