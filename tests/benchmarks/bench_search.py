"""What it takes to find a generation again among 25,000: by words, and by how it looks.

    python tests/benchmarks/bench_search.py [ROWS]

The median of some turns is printed, with the bound that 25,000 must keep.
"""

import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from kit.explore.archive import Archive, search_rows
from kit.explore.search import HASH_SIZE, hash_picture
from kit.explore.store import Store
from kit.explore.syncing import sync_generations
from tests.benchmarks.bench_history import Service, run

TURNS = 9
#: Seconds that every look at 25,000 generations may take.
MOST = 0.2


def picture() -> io.BytesIO:
    """Return a thumbnail as services have them."""
    noise = np.random.default_rng(1).integers(0, 256, (12, 16, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).resize((320, 240)).save(file, "JPEG")
    return file


def main(rows: int = 25_000) -> None:
    """Print a line for each way to look."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        run(sync_generations(store, Service(rows)))
        archive, draw = Archive(store), np.random.default_rng(2)
        names = archive.without_hash()
        hashes = draw.integers(0, 256, (len(names), HASH_SIZE), np.uint8)
        store.add_hashes({n: h.tobytes() for n, h in zip(names, hashes, strict=True)})
        frame, file = archive.frame(), picture()
        looks: dict[str, Callable[[], object]] = {
            "three words": lambda: archive.search("red snow model-3"),
            "three words in a table": lambda: search_rows(frame, "red snow model-3"),
            "more like this": lambda: archive.similar(hashes[0].tobytes(), 20),
            "what was not looked at": archive.without_hash,
            "the hash of one picture": lambda: hash_picture(file),
        }
        for name, look in looks.items():
            wall, cpu = [], []
            for _ in range(TURNS):
                begun, used = time.perf_counter(), time.process_time()
                look()
                wall.append(time.perf_counter() - begun)
                cpu.append(time.process_time() - used)
            seconds = statistics.median(wall)
            print(f"{name:<26}{seconds:>9.4f} s{statistics.median(cpu):>9.4f} s CPU")
            if rows <= 25_000 and seconds > MOST:
                sys.exit(f"{name}: {seconds:.3f} s, but at most {MOST} s were promised")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
