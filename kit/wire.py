"""The wire: what travels between client and service, and nothing else.

Python names are snake_case, wire names camelCase. Answers ignore fields they do not know and
forgive missing ones, so the kit reads other services; request bodies refuse unknown fields, so a
typo is an error.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)
from pydantic.alias_generators import to_camel

AssetType = Literal["image", "video"]

#: Statuses after which a generation never changes, with the words of other services for them.
FINISHED = {
    "completed": "completed",
    "succeeded": "completed",
    "success": "completed",
    "complete": "completed",
    "done": "completed",
    "finished": "completed",
    "failed": "failed",
    "failure": "failed",
    "error": "failed",
    "errored": "failed",
    "rejected": "failed",
    "expired": "failed",
    "canceled": "canceled",
    "cancelled": "canceled",
    "aborted": "canceled",
}
MEDIA_TYPES = ("image", "video", "audio")
SCOPES = ("read", "scripts:generate", "creative:generate")
IMAGE_CATEGORIES = ("Generation", "Editing", "Fast", "Low Cost")
VIDEO_CATEGORIES = ("Video Generation", "Lip syncing", "Editing", "Fast", "Low Cost")
CATEGORIES = {"image": IMAGE_CATEGORIES, "video": VIDEO_CATEGORIES}
TOPICS = (
    "INTERESTING_FACTS",
    "SCARY_STORIES",
    "MOTIVATION",
    "HISTORY",
    "SCIENCE",
    "SPACE",
    "NATURE",
    "TECHNOLOGY",
    "PSYCHOLOGY",
    "HEALTH",
    "FINANCE",
    "BUSINESS",
    "LIFE_HACKS",
    "TRUE_CRIME",
    "MYTHOLOGY",
    "TRAVEL",
    "FOOD",
    "SPORTS",
    "MOVIES",
    "GAMING",
)
#: Content types that an upload may have, by the kind of medium.
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


def _number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() else float(value)


#: An amount of credits: a Decimal in Python, a JSON number on the wire, never a float between.
Credits = Annotated[Decimal, PlainSerializer(_number, return_type=int | float, when_used="json")]


def timestamp(instant: datetime) -> str:
    """Write an instant the way the wire has it: ISO 8601, UTC, milliseconds, ``Z``."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _aware(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant


def _sentence(error: Any) -> Any:
    """Take the text out of an error that another service sends as an object."""
    return error.get("message") or str(error) if isinstance(error, dict) else error


#: A moment, always aware; a service that forgets the zone means UTC.
Instant = Annotated[
    datetime,
    AfterValidator(_aware),
    PlainSerializer(timestamp, return_type=str, when_used="json"),
]


class Wire(BaseModel):
    """Base of every answer: immutable, camelCase outside, tolerant of new fields."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="ignore",
        protected_namespaces=(),
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_missing(cls, data: Any) -> Any:
        """Read ``null`` as a missing field: other services send it for empty lists and flags."""
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if value is not None}
        return data


class Body(Wire):
    """Base of every request body: an unknown field is refused and types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True)


# ── account ──────────────────────────────────────────────────────────────────────────────────────


class Account(Wire):
    """Who pays.

    Source: API document, "Account"; contract, "Account and keys".
    """

    id: str
    name: str = ""
    email: str = ""
    created_at: Instant | None = None
    credits: Credits | None = None


class Balance(Wire):
    """What an account can spend and has spent, in credits. Source: contract, "Account and keys"."""

    balance: Credits
    reserved: Credits = Decimal(0)
    charged30d: Credits = Decimal(0)
    refunded30d: Credits = Decimal(0)


class Entry(Wire):
    """One line of the ledger; `credits` is signed. Source: contract, "Generations"."""

    id: str
    created_at: Instant
    kind: str
    credits: Credits
    balance_after: Credits
    generation_id: str | None = None
    model_id: str | None = None
    key_prefix: str | None = None
    details: dict[str, Any] | None = None


# ── models ───────────────────────────────────────────────────────────────────────────────────────


class Parameter(Wire):
    """One input of a model. Source: API document, "Parameter"; contract, "Models"."""

    name: str
    type: str = "string"  # the document leaves the allowed values open
    required: bool = False
    default: Any = None
    enum: list[Any] | None = None
    description: str = ""
    minimum: float | int | None = None
    maximum: float | int | None = None
    media: bool = False
    max_items: int | None = None


class UnitPrice(Wire):
    """Credits for each unit of a number parameter, or for each second of an input medium."""

    parameter: str | None = None
    medium: str | None = None
    credits: Credits


class Multiplier(Wire):
    """A factor on the price that depends on the value of a parameter; other values count 1."""

    parameter: str
    values: dict[str, Credits]


class Rule(Wire):
    """The price of a model as data: ``(base + units) x multipliers``, rounded up to 1/100 credit.

    Source: contract, "Pricing".
    """

    base: Credits = Decimal(0)
    units: list[UnitPrice] = Field(default_factory=list)
    multipliers: list[Multiplier] = Field(default_factory=list)


class Term(Wire):
    """One part of a quote: what it is, what caused it, and what it does to the price."""

    kind: str  # base | unit | multiplier | rounding
    parameter: str | None = None
    value: Any = None
    factor: Credits | None = None  # of a multiplier
    credits: Credits  # what this term adds


class Quote(Wire):
    """The exact price of a request before it is made, with the terms it is made of.

    ``total`` is what a start charges. ``affordable`` is None where the balance is not known.
    """

    total: Credits
    terms: list[Term] = Field(default_factory=list)
    source: str = "rule"  # rule | service | receipts | default
    affordable: bool | None = None
    balance: Credits | None = None


class Model(Wire):
    """What can be asked for, with its parameters and prices.

    Source: API document, "Model"; contract, "Models" and "Pricing".
    """

    id: str
    title: str = ""
    asset_type: str = "image"
    category: str = ""
    supports_prompt: bool = True
    prompt_required: bool = False
    media_parameters: list[Parameter] = Field(default_factory=list)
    setting_parameters: list[Parameter] = Field(default_factory=list)
    credits_from: Credits | None = None
    credits_at_defaults: Credits | None = None
    estimated_credits: Credits | None = None
    supports_multi_reference_media: bool = False
    description: str = ""
    pricing: Rule | None = None

    @property
    def parameters(self) -> list[Parameter]:
        """All parameters, media first."""
        return [*self.media_parameters, *self.setting_parameters]


class Models(Wire):
    """Answer of operation 2; a group that was not asked for may be missing."""

    image: list[Model] = Field(default_factory=list)
    video: list[Model] = Field(default_factory=list)


# ── uploads ──────────────────────────────────────────────────────────────────────────────────────


class RequestUpload(Body):
    """Body of ``POST /v1/creative-studio/media-uploads``. Source: contract, "Uploads"."""

    file_name: str
    content_type: str
    file_size_bytes: int
    model_id: str


class Ticket(Wire):
    """Permission to send one file. Source: API document, "Media upload ticket"."""

    upload_id: str
    upload_url: str
    method: str = "PUT"
    required_headers: dict[str, str] = Field(default_factory=dict)
    expires_at: Instant | None = None


# ── generations ──────────────────────────────────────────────────────────────────────────────────


class StartGeneration(Body):
    """Body of ``POST /v1/creative-studio/generations`` and of ``.../estimates``."""

    model_id: str
    prompt: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    media_uploads: dict[str, str | list[str]] = Field(default_factory=dict)


class Receipt(Wire):
    """What the start operation returns. Source: API document, "Generation"."""

    id: str
    status: str = "processing"
    asset_type: str | None = None
    model_id: str | None = None
    credits_charged: Credits | None = None
    created_at: Instant | None = None
    status_url: str | None = None


class Output(Wire):
    """Facts about the media that came out. Source: contract, "Generations"."""

    content_type: str | None = None
    width: int | None = None
    height: int | None = None
    duration_seconds: float | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    thumbnail_url: str | None = None
    expires_at: Instant | None = None
    metadata: dict[str, Any] | None = None


class Generation(Wire):
    """One asynchronous order as the status and list operations report it.

    Source: API document, "Generation"; contract, "Generations".
    """

    id: str
    status: str = "processing"
    asset_type: str | None = None
    generation_type: str | None = None
    model_id: str | None = None
    model_name: str | None = None
    prompt: str | None = None
    parameters: dict[str, Any] | None = None
    media_urls: dict[str, Any] | None = None
    output_url: str | None = None
    error: Annotated[str | None, BeforeValidator(_sentence)] = None
    created_at: Instant | None = None
    updated_at: Instant | None = None
    progress: float | None = None
    credits_charged: Credits | None = None
    credits_refunded: Credits | None = None
    started_at: Instant | None = None
    completed_at: Instant | None = None
    error_code: str | None = None
    output: Output | None = None

    @property
    def state(self) -> str:
        """``processing``, ``completed``, ``failed`` or ``canceled``, whatever the service calls it.

        A word that nobody knows counts as running until an output or an error is there.
        """
        known = FINISHED.get(self.status.lower())
        if known:
            return known
        if self.output_url:
            return "completed"
        return "failed" if self.error else "processing"

    @property
    def finished(self) -> bool:
        """Whether it will never change again."""
        return self.state != "processing"


# ── titles and scripts ───────────────────────────────────────────────────────────────────────────


class SuggestTitle(Body):
    """Body of ``POST /v1/scripts/title``."""

    topic: str


class Title(Wire):
    """A video concept title with a hook angle. Source: API document, "Title suggestion"."""

    title: str
    hook_angle: str = ""


class WriteScripts(Body):
    """Body of ``POST /v1/scripts``. Source: contract, "Titles and scripts"."""

    topic: str
    title: str
    duration: str
    hook_angle: str | None = None
    use_hook: bool = False
    use_cta: bool = Field(default=False, alias="useCTA")
    use_ragebait: bool = False
    variations: str = "1"


class Metrics(Wire):
    """What was measured on the delivered text."""

    duration: str = ""
    word_count: int | float = 0


class Script(Wire):
    """A voice-over script. Source: API document, "Script"."""

    id: str
    title: str = ""
    content: str = ""
    metrics: Metrics = Field(default_factory=Metrics)
    batch_id: str | None = None
    created_at: Instant | None = None


# ── errors ───────────────────────────────────────────────────────────────────────────────────────


class Problem(Wire):
    """What went wrong. Source: API document, "Errors"; contract, "Conventions"."""

    code: str = ""
    message: str = ""
    details: Any = None
    request_id: str | None = None


class Problems(Wire):
    """The envelope of every error answer."""

    error: Problem
