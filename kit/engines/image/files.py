"""Settings of the file that a picture is written as; every image model takes them from here."""

from __future__ import annotations

from kit.wire import Parameter


def file_format(default: str = "jpeg", *, transparent: bool = False) -> Parameter:
    """Return the setting for the kind of file; `transparent` where results may be."""
    kept = ", png and webp keep transparency" if transparent else ""
    return Parameter(
        name="format",
        type="string",
        default=default,
        enum=["jpeg", "png", "webp"],
        description="File format; png keeps every pixel" + kept,
    )


def quality() -> Parameter:
    """Return the setting for how much detail a file keeps."""
    return Parameter(
        name="quality",
        type="integer",
        default=92,
        minimum=1,
        maximum=100,
        description="Quality of jpeg and webp files, in percent; png is never lossy",
    )
