"""The command line: ``kit``."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line."""
    # While modules load there is no garbage, and looking for it takes an eighth of the start.
    gc.disable()
    from kit.commands import main as run

    gc.freeze()
    gc.enable()
    run()


if __name__ == "__main__":
    main()
