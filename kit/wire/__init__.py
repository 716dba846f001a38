"""The models of requests and responses that client and service exchange.

Python names are snake_case, JSON names camelCase. Responses ignore unknown fields and tolerate
missing ones, so the kit can read other services; request bodies refuse unknown fields, so a typo is
an error.
"""

from __future__ import annotations

from kit.wire.account import Account, Balance, Entry
from kit.wire.base import (
    Amount,
    Body,
    Credits,
    Instant,
    Problem,
    Problems,
    Wire,
    WireShape,
    drawings,
    timestamp,
)
from kit.wire.generations import Generation, GenerationInput, Output, Receipt, StartGeneration
from kit.wire.models import Model, Models, Multiplier, Parameter, Quote, Rule, Term, UnitPrice
from kit.wire.reading import read_leniently
from kit.wire.uploads import RequestUpload, Ticket
from kit.wire.webhooks import CreateWebhook, Webhook
from kit.wire.words import (
    CATEGORIES,
    CONTENT_TYPES,
    FINISHED,
    IMAGE_CATEGORIES,
    MEDIA_TYPES,
    SCOPES,
    TOPICS,
    VIDEO_CATEGORIES,
    AssetType,
)
from kit.wire.writing import Metrics, Script, SuggestTitle, Title, WriteScripts

__all__ = [
    "CATEGORIES",
    "CONTENT_TYPES",
    "FINISHED",
    "IMAGE_CATEGORIES",
    "MEDIA_TYPES",
    "SCOPES",
    "TOPICS",
    "VIDEO_CATEGORIES",
    "Account",
    "Amount",
    "AssetType",
    "Balance",
    "Body",
    "CreateWebhook",
    "Credits",
    "Entry",
    "Generation",
    "GenerationInput",
    "Instant",
    "Metrics",
    "Model",
    "Models",
    "Multiplier",
    "Output",
    "Parameter",
    "Problem",
    "Problems",
    "Quote",
    "Receipt",
    "RequestUpload",
    "Rule",
    "Script",
    "StartGeneration",
    "SuggestTitle",
    "Term",
    "Ticket",
    "Title",
    "UnitPrice",
    "Webhook",
    "Wire",
    "WireShape",
    "WriteScripts",
    "drawings",
    "read_leniently",
    "timestamp",
]
