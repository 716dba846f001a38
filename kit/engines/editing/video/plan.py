"""The plan of an edit, computed and checked before the first frame is decoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from kit.engines.editing.video.checks import edit_faults
from kit.engines.media.footage import Footage
from kit.engines.sizes import SHAPES, SIDES
from kit.errors import EngineError

_RATES = (
    *map(Fraction, ("25/2", "24000/1001", "24", "25", "30000/1001")),
    *map(Fraction, ("30", "48", "50", "60000/1001", "60")),
)
#: Frames per second below which slow motion would look like a slide show, and below which a
#: variable rate is used unchanged.
_MIN_SMOOTH, _MIN_VARIABLE = 23, 20
#: Pixels of the shorter side, and of the longer side; encoders refuse smaller sides.
_MIN_SIDE, _MAX_SIDE, _MAX_LONG_SIDE = 64, 1080, 4096
#: Processor seconds per million pixels: read, drawn and encoded, and warped for stabilization. They
#: are rough, but an immediate refusal is better than a job that is stopped after a quarter hour.
_READ_COST, _DRAW_COST, _MOVE_COST, _MAX_WORK = 0.005, 0.02, 0.015, 1300


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPlan:
    """The part of a video that is shown, its speed and its size."""

    #: Seconds of the input.
    start: float
    end: float
    speed: float
    #: Frames per second of the result.
    fps: Fraction
    #: Of the result, even.
    width: int
    height: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the result."""
        return self.width, self.height

    @property
    def frames(self) -> int:
        """Frames of the result."""
        return max(1, round((self.end - self.start) * self.read_rate))

    @property
    def seconds(self) -> float:
        """Length of the result."""
        return float(self.frames / self.fps)

    @property
    def read_rate(self) -> float:
        """Frames to read from a second of the input."""
        return float(self.fps) / self.speed


def plan_of(values: Mapping[str, Any], footage: Footage) -> EditPlan:
    """Return the plan of an edit; EngineError if the requested part is too long or missing."""
    whole = footage.seconds
    for fault in edit_faults(values, whole):
        raise EngineError(fault.sentence, code=fault.code)
    asked, speed = values.get("end"), float(values["speed"])
    width, height = frame_size(values, [(footage.width, footage.height)])
    plan = EditPlan(
        start=float(values["start"]),
        end=whole if asked is None else min(float(asked), whole),
        speed=speed,
        fps=_slow_rate(common_rate([smooth_rate(footage)]), speed),
        width=width,
        height=height,
    )
    if plan.frames * width * height / 1e6 * (_DRAW_COST + _MOVE_COST) <= _MAX_WORK:
        return plan
    # Smooth everywhere is too much work: the mean of a variable rate may do.
    return replace(plan, fps=_slow_rate(common_rate([footage.fps]), speed))


def fade_seconds(values: Mapping[str, Any], seconds: float) -> tuple[float, float]:
    """Return the seconds of the fades from and to black, shortened alike if they do not fit."""
    rise, fall = float(values["fade_in"]), float(values["fade_out"])
    share = min(1.0, seconds / max(rise + fall, 1e-9))
    return rise * share, fall * share


def check_work(
    read: Sequence[tuple[Footage, float]], frames: int, size: tuple[int, int], *, steady: bool
) -> None:
    """Refuse edits that would take too long on two processors (``too_much_work``).

    `read` are videos and the decoded seconds of each, all passes together.
    """
    pixels = sum(s * film.fps * film.width * film.height for film, s in read)
    drawing = frames * size[0] * size[1] * (_DRAW_COST + _MOVE_COST * steady)
    if (_READ_COST * pixels + drawing) / 1e6 > _MAX_WORK:
        raise EngineError(
            "this is too much for one job: choose less video, a lower resolution or frame rate, or"
            " fewer effects",
            code="too_much_work",
        )


def frame_size(values: Mapping[str, Any], sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the even width and height of a result that the settings ask for.

    Without an aspect or size in the settings, the inputs' are used: the most frequent aspect (of
    equals that of the largest), and the largest of `sizes` in it, so that no detail is lost.
    """
    ordered = sorted(sizes, key=lambda size: -size[0] * size[1])
    ratio = SHAPES.get(values["aspect_ratio"]) or _mode([round(w / h, 2) for w, h in ordered])
    shape = next((w / h for w, h in sizes if round(w / h, 2) == ratio), ratio)
    if not _MIN_SIDE / _MAX_LONG_SIDE <= shape <= _MAX_LONG_SIDE / _MIN_SIDE:
        raise EngineError(
            "a video that is this narrow cannot keep its shape: choose an aspect ratio",
            code="bad_shape",
        )
    alike = [size for size in sizes if round(size[0] / size[1], 2) == ratio] or sizes
    own = min(_MAX_SIDE, max(_MIN_SIDE, max(min(size) for size in alike)))
    side: float = SIDES.get(values["resolution"], own)
    # The longer side is limited, whatever the shorter one is.
    side = min(side, _MAX_LONG_SIDE * min(shape, 1 / shape))
    width, height = (side * shape, side) if shape >= 1 else (side, side / shape)
    return 2 * round(width / 2), 2 * round(height / 2)


def common_rate(rates: Sequence[float]) -> Fraction:
    """Return the standard frame rate, 10 to 60, nearest to that of most videos."""
    rate = min(max(_mode([round(rate, 1) for rate in rates]), 10.0), 60.0)
    exact = next((r for r in rates if round(r, 1) == rate), rate)
    nearest = min(_RATES, key=lambda usual: abs(float(usual) - exact))
    return nearest if abs(float(nearest) - exact) <= 0.015 * exact else Fraction(round(exact))


def smooth_rate(footage: Footage) -> float:
    """Return the frame rate that keeps the fast parts of a variable rate smooth."""
    if footage.fast_fps == footage.fps or footage.fast_fps < _MIN_VARIABLE:
        return footage.fast_fps
    # Cameras vary around a standard rate.
    return float(min(_RATES, key=lambda usual: abs(float(usual) - footage.fast_fps)))


def _slow_rate(rate: Fraction, speed: float) -> Fraction:
    """Return the frame rate at which each frame of a slowed video is shown equally long.

    Slow motion of a fast camera then repeats no frame, and that of a normal one shows each frame
    two or more times, evenly.
    """
    slow = rate * Fraction(speed).limit_denominator(1000)
    return rate if speed >= 1 else slow * max(1, -(-_MIN_SMOOTH // slow))


def _mode(values: Sequence[float]) -> Any:
    """Return the most frequent value, the first one of equals."""
    return max(values, key=lambda value: (values.count(value), -values.index(value)))
