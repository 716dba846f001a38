"""Drawn pictures: a face that a detector finds, and a ball that stands out."""

import cv2
import numpy as np

#: Positions of the eyes and of the line between the lips, in half heights of the face.
EYES = (0.30, -0.15)
LINE = 0.485
MOUTH_HALF = 0.25


def face(
    width: int = 320,
    height: int = 360,
    *,
    x: float | None = None,
    y: float | None = None,
    size: float = 115.0,
    tilt: float = 0.0,
    smile: bool = False,
) -> np.ndarray:
    """Return a picture of a shaded face.

    `size` is half its height in pixels, `x` and `y` its middle (that of the picture if left out),
    `tilt` in radians, clockwise; a smile shows teeth.
    """
    x, y = width / 2 if x is None else x, height * 0.48 if y is None else y
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    cos, sin = np.cos(tilt) / size, np.sin(tilt) / size
    u = (columns - x) * cos + (rows - y) * sin
    v = (rows - y) * cos - (columns - x) * sin
    pixels = np.empty((height, width, 3), np.float32)
    pixels[:] = (150, 165, 180)

    def blend(
        color: tuple[int, int, int],
        cx: float,
        cy: float,
        rx: float,
        ry: float,
        edge: float = 0.3,
        share: float = 1.0,
    ) -> None:
        far = np.hypot((u - cx) / rx, (v - cy) / ry)
        cover = np.exp(-(far**2)) if edge == 0 else np.clip((1 - far) / edge, 0, 1)
        pixels[:] += (np.array(color, np.float32) - pixels) * (share * cover)[..., None]

    blend((60, 42, 34), 0, -0.12, 0.86, 1.06, 0.12)
    blend((196, 150, 126), 0, 1.3, 0.38, 0.75, 0.12)
    blend((224, 178, 152), 0, 0.05, 0.72, 0.95, 0.05)
    blend((180, 130, 108), 0, 0.15, 1.1, 1.2, 0, -0.25)
    for side in (-1, 1):
        across, along = side * EYES[0], EYES[1]
        blend((120, 84, 70), across, along - 0.01, 0.20, 0.10, 0, 0.55)
        blend((70, 48, 38), side * 0.31, -0.33, 0.20, 0.045, 0.4)
        blend((238, 234, 228), across, along, 0.145, 0.065, 0.25)
        blend((70, 50, 36), across, along, 0.062, 0.064, 0.25)
        blend((15, 12, 12), across, along, 0.03, 0.03)
        blend((60, 40, 34), across, along - 0.055, 0.15, 0.022, 0.5)
        blend((110, 70, 58), side * 0.085, 0.20, 0.045, 0.03, 0, 0.8)
    blend((250, 215, 190), 0, 0.05, 0.07, 0.2, 0, 0.35)
    blend((150, 108, 90), 0, 0.25, 0.2, 0.035, 0, 0.35)
    blend((186, 92, 88), 0, LINE - 0.03, 0.27, 0.055)
    blend((196, 104, 98), 0, LINE + 0.04, 0.24, 0.065)
    if smile:
        blend((186, 92, 88), 0, LINE + 0.02, 0.30, 0.13)
        blend((236, 230, 216), 0, LINE + 0.01, 0.26, 0.07)
    else:
        blend((84, 34, 34), 0, LINE, MOUTH_HALF, 0.016, 0.5)
    pixels += np.random.default_rng(1).normal(0, 2, pixels.shape)
    return np.asarray(np.clip(pixels, 0, 255), np.uint8)


def locate(
    across: float, along: float, *, x: float, y: float, size: float, tilt: float = 0.0
) -> tuple[float, float]:
    """Return the pixel of a position in the drawing, given in half heights of the face."""
    cos, sin = size * np.cos(tilt), size * np.sin(tilt)
    return float(x + across * cos - along * sin), float(y + across * sin + along * cos)


def ball(width: int = 240, height: int = 180) -> np.ndarray:
    """Return a picture of a red ball on a blue and green ground with a little noise."""
    rng = np.random.default_rng(3)
    rows = np.linspace(0, 1, height)[:, None, None]
    pixels = np.array([60, 110, 190]) * (1 - rows) + np.array([70, 150, 120]) * rows
    pixels = np.repeat(pixels, width, axis=1) + rng.normal(0, 3, (height, width, 1))
    pixels = pixels.clip(0, 255).astype(np.uint8)
    cv2.circle(pixels, (width // 2, height // 2), height // 4, (210, 60, 40), -1, cv2.LINE_AA)
    return pixels


def ball_mask(width: int = 240, height: int = 180) -> np.ndarray:
    """Return the mask of the ball: white where it is and a little around it."""
    mask = np.zeros((height, width), np.uint8)
    cv2.circle(mask, (width // 2, height // 2), height // 4 + 4, 255, -1)
    return mask
