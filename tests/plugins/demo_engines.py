"""Engines for tests, installed the way a plug-in is: by an entry point."""

import errno
import os
import signal
import struct
import time
import zlib
from decimal import Decimal

from kit.engines.base import Asset, Definition, Engine, Job, Progress, seed_parameter
from kit.errors import EngineError
from kit.wire import Multiplier, Parameter, Rule, UnitPrice


def _chunk(name: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)


_PIXEL = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\x20\x40\x60"))
    + _chunk(b"IEND", b"")
)


class Flat(Engine):
    """Renders one pixel; the parameter `does` selects another behavior."""

    definition = Definition(
        id="flat",
        title="Flat",
        asset_type="image",
        category="Low Cost",
        description="One pixel, for tests.",
        pricing=Rule(
            base=Decimal("0.5"),
            units=[UnitPrice(parameter="count", credits=Decimal("0.1"))],
            multipliers=[Multiplier(parameter="size", values={"big": Decimal(2)})],
        ),
        settings=(
            Parameter(name="count", type="integer", default=1, minimum=1, maximum=10),
            Parameter(name="strength", type="number", default=0.5, minimum=0, maximum=1),
            Parameter(name="size", default="small", enum=["small", "big"]),
            Parameter(name="smooth", type="boolean", default=False),
            Parameter(
                name="does",
                default="works",
                enum=[
                    "works",
                    "dawdles",
                    "fails",
                    "crashes",
                    "hangs",
                    "raises",
                    "burns",
                    "babbles",
                    "deaf",
                    "quits",
                    "strays",
                    "persists",
                    "overflows",
                ],
            ),
            seed_parameter(),
        ),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Run the behavior that `does` names."""
        _BEHAVIORS[job.parameters["does"]](progress)
        strays = job.parameters["does"] == "strays"
        path = (job.folder.parent if strays else job.folder) / "pixel.png"
        path.write_bytes(_PIXEL)
        if job.parameters["does"] != "persists":
            progress.report(1.0)
        metadata = {"seed": job.seed}
        if job.parameters["does"] == "babbles":
            metadata["seed"] = object()  # type: ignore[assignment]
        return Asset(path=path, content_type="image/png", width=1, height=1, metadata=metadata)


class Clay(Engine):
    """Takes an image and a sound, and returns the image."""

    definition = Definition(
        id="clay",
        title="Clay",
        asset_type="image",
        category="Editing",
        description="Media in, for tests.",
        pricing=Rule(
            base=Decimal("0.2"), units=[UnitPrice(medium="voice", credits=Decimal("0.01"))]
        ),
        media=(
            Parameter(name="portrait", type="image", media=True, required=True, max_items=2),
            Parameter(name="voice", type="audio", media=True),
        ),
        supports_prompt=False,
        prompt_required=False,
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Decode the voice, and copy the first portrait."""
        from kit.engines.media.soundfile import open_sound

        for path in job.media.get("voice", ()):
            open_sound(path, channels=1, check=progress.check)
        content = job.media["portrait"][0].read_bytes()
        kind = "jpeg" if content.startswith(b"\xff\xd8") else "png"
        path = job.folder / f"pixel.{kind}"
        path.write_bytes(content)
        return Asset(path=path, content_type=f"image/{kind}", width=1, height=1)


def _work(progress: Progress) -> None:
    progress.report(0.5)


def _dawdle(progress: Progress) -> None:
    for step in range(10):
        progress.report(step / 10)
        time.sleep(0.03)


def _fail(progress: Progress) -> None:
    raise EngineError("the clay is too dry", code="dry")


def _crash(progress: Progress) -> None:
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _hang(progress: Progress) -> None:
    while True:
        progress.report(0.5)
        time.sleep(0.02)


def _burn(progress: Progress) -> None:
    while True:
        progress.report(0.5)


def _sleep(progress: Progress) -> None:
    while True:
        progress._on_report(0.5)  # reports, and ignores a cancel
        time.sleep(0.3)


def _persist(progress: Progress) -> None:
    progress.report(0.5)
    time.sleep(0.4)  # and finishes, canceled or not


def _raise(progress: Progress) -> None:
    print("almost there")  # noqa: T201 - as authors do
    raise RuntimeError("secret path /home/someone")


def _quit(progress: Progress) -> None:
    raise SystemExit(1)


def _overflow(progress: Progress) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "/home/someone/job.png")


_BEHAVIORS = {
    "works": _work,
    "dawdles": _dawdle,
    "fails": _fail,
    "crashes": _crash,
    "hangs": _hang,
    "raises": _raise,
    "burns": _burn,
    "babbles": _work,
    "deaf": _sleep,
    "quits": _quit,
    "strays": _work,
    "persists": _persist,
    "overflows": _overflow,
}
