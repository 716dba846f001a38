"""What a form of twelve parameters costs, beside the same widgets put together by hand.

Run it: ``python tests/benchmarks/bench_forms.py BENCH``, where BENCH is a folder of peer benchmarks
with ``forms/build.py``, which weighs every message to the browser. The two take turns, each in a
fresh process, and what counts is the ratio of their times in one round. `peer_form` beside this
file is the module to name where that folder's own tables are made.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROUNDS = 5
#: How much more than plain widgets a form may cost, in time, bytes and messages.
BUDGET = 1.5


def measured(bench: Path, peer: str) -> dict[str, float]:
    """Return what one peer costs, measured in a fresh process."""
    here = str(Path(__file__).parent)
    command = [sys.executable, str(bench / "forms" / "build.py"), peer, "20"]
    environment = {**os.environ, "PYTHONPATH": here}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure, print the table, and fail where the budget is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path, help="folder with forms/build.py")
    bench = parser.parse_args().bench
    rounds = [
        (measured(bench, "ipywidgets_box"), measured(bench, "peer_form")) for _ in range(ROUNDS)
    ]
    print(f"{'':<10}{'by hand':>10}{'form':>10}{'ratio':>8}")
    over = []
    for name in ("cpu_ms", "med_ms", "first_ms", "bytes", "messages"):
        hand, form = (statistics.median(pair[side][name] for pair in rounds) for side in (0, 1))
        ratio = statistics.median(pair[1][name] / pair[0][name] for pair in rounds)
        print(f"{name:<10}{hand:>10.1f}{form:>10.1f}{ratio:>8.2f}")
        if ratio > BUDGET and name != "first_ms":
            over.append(name)
    if over:
        raise SystemExit(f"over the budget of {BUDGET}: {', '.join(over)}")


if __name__ == "__main__":
    main()
