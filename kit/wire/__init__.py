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

__all__ = ["Account", "Balance", "Entry"]
__all__ += ["Amount", "Body", "Credits", "Instant", "Problem", "Problems", "Wire", "WireShape"]
__all__ += ["drawings", "timestamp"]
__all__ += ["Generation", "GenerationInput", "Output", "Receipt", "StartGeneration"]
__all__ += ["Model", "Models", "Multiplier", "Parameter", "Quote", "Rule", "Term", "UnitPrice"]
__all__ += ["read_leniently"]
__all__ += ["RequestUpload", "Ticket"]
__all__ += ["CreateWebhook", "Webhook"]
__all__ += ["CATEGORIES", "CONTENT_TYPES", "FINISHED", "IMAGE_CATEGORIES", "MEDIA_TYPES", "SCOPES"]
__all__ += ["TOPICS", "VIDEO_CATEGORIES", "AssetType"]
__all__ += ["Metrics", "Script", "SuggestTitle", "Title", "WriteScripts"]
