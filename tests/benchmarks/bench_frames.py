"""What a list of generations costs to become a frame, beside ``pandas.json_normalize``.

    python tests/benchmarks/bench_frames.py [ROWS] [ROUNDS]

Each line is a fresh process, the candidates take turns, and what counts is the ratio of processor
times in one round. ``normalize`` begins with dictionaries, ``loads + normalize`` with the bytes of
the answer as the kit does; both parse the times. ``json_to_frame`` fits other harnesses.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

METHODS = ("normalize", "loads + normalize", "kit, one body", "kit, pages", "kit, expanded")
PAGE = 1000


def generation(number: int) -> dict[str, Any]:
    """Return a generation with the fields of the API document."""
    return {
        "id": f"01a0c1de-7b1e-4a51-9d1e-{number:012d}",
        "status": "completed" if number % 7 else "processing",
        "assetType": "video" if number % 3 else "image",
        "generationType": "text-to-video",
        "modelId": f"model-{number % 12}",
        "modelName": f"Model {number % 12}",
        "prompt": f"a red fox in the snow, golden hour, take {number}",
        "parameters": {
            "aspect_ratio": "16:9",
            "guidance": 7.5,
            "steps": 30,
            "seed": number,
            "style": "cinematic",
            "upscale": True,
            "reference": {"weight": 0.4, "mode": "pose"},
        },
        "mediaUrls": {"image": f"https://cdn.example/{number}.png"},
        "outputUrl": f"https://cdn.example/{number}.mp4",
        "error": None,
        "createdAt": f"2026-11-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:15.123Z",
        "updatedAt": "2026-11-30T09:15:15.456Z",
    }


def json_to_frame(content: bytes) -> Any:
    """Return the frame of one body."""
    return _to_frame([content])


def _to_frame(contents: list[bytes], **options: bool) -> Any:
    import pyarrow as pa

    from kit.explore.arrow import Columns
    from kit.explore.pages import MalformedValues, read_table

    tables = [read_table(content, MalformedValues()) for content in contents]
    return Columns(**options).frame(pa.concat_tables(tables))


def _normalize(items: list[dict[str, Any]]) -> Any:
    import pandas as pd

    frame = pd.json_normalize(items)
    for column in ("createdAt", "updatedAt"):
        frame[column] = pd.to_datetime(frame[column], format="ISO8601")
    return frame


def _read_status(field: str) -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    return next(int(li.split()[1]) for li in status.read_text().splitlines() if field in li)


def measure_once(method: str, rows: int) -> None:
    """Measure a method in this process and print its CPU seconds and MiB of peak memory."""
    items = [generation(number) for number in range(rows)]
    pages = [json.dumps(items[at : at + PAGE]).encode() for at in range(0, rows, PAGE)]
    body = json.dumps(items).encode()
    if method != "normalize":
        items.clear()
    work = {
        "normalize": lambda: _normalize(items),
        "loads + normalize": lambda: _normalize(json.loads(body)),
        "kit, one body": lambda: json_to_frame(body),
        "kit, pages": lambda: _to_frame(pages),
        "kit, expanded": lambda: _to_frame(pages, parameters=True, media=True),
    }[method]
    _to_frame([json.dumps([generation(1)]).encode()], parameters=True)  # load what is needed
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")
    before = _read_status("VmRSS")
    frame = work()
    peak = _read_status("VmHWM") - before
    del frame
    started = time.process_time()
    work()
    print(json.dumps({"cpu": time.process_time() - started, "mib": peak / 1024}))


def main(rows: int = 100_000, rounds: int = 5) -> None:
    """Print a line for each method."""
    found: dict[str, list[dict[str, float]]] = {method: [] for method in METHODS}
    for _ in range(rounds):
        for method in METHODS:
            command = [sys.executable, __file__, "--one", method, str(rows)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found[method].append(json.loads(done.stdout))
    print(f"{rows:,} generations{'CPU ms':>14}{'peak MiB':>10}{'x normalize':>13}{'x loads':>9}")
    for method, results in found.items():
        ratios = [
            statistics.median(
                mine["cpu"] / base["cpu"] for mine, base in zip(results, found[name], strict=True)
            )
            for name in METHODS[:2]
        ]
        cpu = 1000 * statistics.median(result["cpu"] for result in results)
        mib = statistics.median(result["mib"] for result in results)
        print(f"{method:<20}{cpu:>13.0f}{mib:>10.0f}{ratios[0]:>13.2f}{ratios[1]:>9.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure_once(sys.argv[2], int(sys.argv[3]))
    else:
        main(*map(int, sys.argv[1:]))
