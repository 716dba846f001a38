"""The enumerations of the API: statuses, scopes, categories, topics, content types."""

from __future__ import annotations

from typing import Literal

AssetType = Literal["image", "video"]

#: Final statuses of generations, with the words of other services for them.
FINISHED = {
    **dict.fromkeys(("completed", "succeeded", "success", "complete", "done"), "completed"),
    "finished": "completed",
    **dict.fromkeys(("failed", "fail", "failure", "error", "errored", "rejected"), "failed"),
    **dict.fromkeys(("expired", "timeout", "timed_out"), "failed"),
    **dict.fromkeys(("canceled", "cancelled", "aborted"), "canceled"),
}
MEDIA_TYPES = ("image", "video", "audio")
SCOPES = ("read", "scripts:generate", "creative:generate")
IMAGE_CATEGORIES = ("Generation", "Editing", "Fast", "Low Cost")
VIDEO_CATEGORIES = ("Video Generation", "Lip syncing", "Editing", "Fast", "Low Cost")
CATEGORIES = {"image": IMAGE_CATEGORIES, "video": VIDEO_CATEGORIES}
_TOPICS = (
    "INTERESTING_FACTS SCARY_STORIES MOTIVATION HISTORY SCIENCE SPACE NATURE TECHNOLOGY PSYCHOLOGY "
    "HEALTH FINANCE BUSINESS LIFE_HACKS TRUE_CRIME MYTHOLOGY TRAVEL FOOD SPORTS MOVIES GAMING"
)
TOPICS = tuple(_TOPICS.split())
#: Content types of uploads by kind of file.
CONTENT_TYPES = {
    "image/png": "image",
    "image/jpeg": "image",
    "image/webp": "image",
    "image/gif": "image",
    "video/mp4": "video",
    "video/webm": "video",
    "video/quicktime": "video",
    "audio/mpeg": "audio",
    "audio/wav": "audio",
    "audio/mp4": "audio",
    "audio/aac": "audio",
    "audio/ogg": "audio",
    "audio/flac": "audio",
}
