"""A small history with missing values, as in real ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd

from kit import wire
from tests.explore.fake_service import encode, frame_of

FACTS = [
    # id, status, model, prompt, credits, hour of 2026-03-01..06
    ("a", "completed", "poster", "a misty Lake", "0.3", 6),
    ("b", "completed", "drift", "a town", "0.1", 5),
    ("c", "failed", "drift", "the lake at night", "0.5", 4),
    ("d", "completed", "drift", None, "0.1", 3),
    ("e", "failed", "drift", "a hill", None, 2),
    ("f", "completed", None, "lake (at dawn)", "0.2", 1),
]


def generations() -> list[wire.Generation]:
    return [
        wire.Generation(
            id=name,
            status=status,
            model_id=model or "poster",
            prompt=prompt,
            credits_charged=credits,  # type: ignore[arg-type]
            created_at=datetime(2026, 3, day, 12, tzinfo=UTC),
        )
        for name, status, model, prompt, credits, day in FACTS
    ]


def history() -> pd.DataFrame:
    """Return a frame of six generations, newest first."""
    return frame_of(encode(generations()))
