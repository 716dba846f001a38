"""What the first line of a notebook costs, beside what httpx alone costs.

Run it: ``python tests/benchmarks/bench_import.py``. Each line is a fresh process, the candidates
take turns, and what counts is the ratio of their CPU times in one run; absolute figures are noise.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 7
BUDGET = 1.3

LINES = {
    "nothing": "pass",
    "import httpx; httpx.Client()": "import httpx; httpx.Client()",
    "import kit": "import kit",
    "import kit; kit.connect(...)": (
        "import kit; kit.connect('http://127.0.0.1:9', 'cs_test_x', data='{folder}')"
    ),
    "the same, then pandas and httpx": (
        "import kit; s = kit.connect('http://127.0.0.1:9', 'cs_test_x', data='{folder}');"
        " s.client.http; import pandas"
    ),
}
BASE = "import httpx; httpx.Client()"


def cpu_seconds(line: str) -> float:
    """Return the CPU time of a fresh interpreter that runs a line."""
    # With bytecode, as an installed package has it: the first round writes it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen([sys.executable, "-c", line], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {line}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure, print the table, and fail where the budget is passed."""
    with tempfile.TemporaryDirectory() as folder:
        times: dict[str, list[float]] = {name: [] for name in LINES}
        for round_ in range(ROUNDS + 1):
            for name, line in LINES.items():
                seconds = cpu_seconds(line.format(folder=folder))
                if round_:  # the first round fills caches
                    times[name].append(seconds)
    base = times[BASE]
    print(f"{'line':<36}{'CPU ms':>8}{'ratio':>8}")
    for name, seconds in times.items():
        ratio = statistics.median(a / b for a, b in zip(seconds, base, strict=True))
        print(f"{name:<36}{1000 * statistics.median(seconds):>8.0f}{ratio:>8.2f}")
        if name.endswith("kit.connect(...)") and ratio > BUDGET:
            raise SystemExit(f"over the budget of {BUDGET}")


if __name__ == "__main__":
    main()
