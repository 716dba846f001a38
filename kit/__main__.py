"""The command line: ``kit``."""

from __future__ import annotations

import gc
import io
import signal
import sys


def main() -> None:
    """Run the command line."""
    # Ending a process cleans up unfinished work, as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Missing streams are replaced: nothing is read, and output is discarded.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
    # If an output has no Unicode, as when Windows redirects it, missing characters become \uXXXX.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    # Loading modules leaves no garbage, and collecting would take an eighth of the startup time.
    gc.disable()
    try:
        from kit import commands
    except KeyboardInterrupt:
        raise SystemExit(130) from None

    arguments = sys.argv[1:]
    needed = commands.build_parser(arguments)
    gc.freeze()
    gc.enable()
    commands.run(needed, arguments)


if __name__ == "__main__":
    main()
