"""What it costs that a poster says what made it, and that it is signed: time, and bytes a file.

    python tests/benchmarks/bench_file_metadata.py

Printed are medians of processor time in ms; signing needs the extra `credentials`.
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kit import file_metadata
from kit.engines.base import Job, Progress
from kit.engines.models.poster import Poster
from kit.file_metadata import ALGORITHMIC, FileMetadata
from kit.service import settings
from kit.service.storage.output_folder import OutputFolder
from kit.service.worker.signing import ResultSigner

TURNS = 15
PROMPT = "a lake at dawn, mist over the water, mountains behind it, warm light"


def took(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return (time.process_time() - begun) * 1000


def main() -> None:
    folder, engine = Path(tempfile.mkdtemp()), Poster()
    signer = ResultSigner(settings.load({}, data=folder, signing_cert="self"))
    times: dict[str, list[float]] = {"poster": [], "metadata": [], "signature": []}
    sizes: dict[str, int] = {}
    outputs = OutputFolder(folder / "objects", lambda path: None)
    for turn in range(TURNS):
        place = folder / str(turn)
        place.mkdir()
        values = {one.name: one.default for one in engine.definition.settings}
        values = {name: value for name, value in values.items() if value is not None}
        order = Job(prompt=PROMPT, parameters=values, folder=place, seed=turn)
        begun = time.process_time()
        asset = engine.render(order, Progress(lambda fraction: None))
        times["poster"].append((time.process_time() - begun) * 1000)
        sizes["poster"] = asset.path.stat().st_size
        made = FileMetadata(
            model="poster",
            prompt=PROMPT,
            parameters=order.parameters,
            generation_id="gen_01J8XYZ",
            service="Creative Studio",
            software="creative-studio-kit 0.1.0",
            source_type=ALGORITHMIC,
        )
        times["metadata"].append(took(lambda a=asset, m=made: file_metadata.embed(a.path, m)))
        sizes["metadata"] = asset.path.stat().st_size - sizes["poster"]
        path = outputs.path("outputs/gen_01J8XYZ-unsigned.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asset.path, path)
        facts = {"key": "outputs/gen_01J8XYZ-unsigned.png", "content_type": asset.content_type}
        order_signed = "gen_01J8XYZ", facts, outputs, ()
        times["signature"].append(took(lambda o=order_signed: sizes.update(signer.sign(*o))))
        sizes["signature"] = sizes.pop("size_bytes") - sizes["poster"] - sizes["metadata"]
    whole = statistics.median(times["poster"])
    for name, values in times.items():
        middle = statistics.median(values)
        print(f"{name:10} {middle:8.2f} ms {middle / whole:7.1%} {sizes[name]:9,} bytes")


if __name__ == "__main__":
    main()
