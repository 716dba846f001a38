"""Which writer a service has: the model that its settings name, the built-in one, or both."""

from __future__ import annotations

from kit.service.domain.writers import FallbackWriter, OfflineWriter
from kit.service.domain.writing import Writer
from kit.service.settings import ServiceSettings


def writer_of(settings: ServiceSettings) -> Writer:
    """Return the writer that the settings ask for.

    Examples
    --------
    >>> from kit.service import settings
    >>> writer_of(settings.load({}, data="/tmp"))
    OfflineWriter(rate=4.35)
    """
    offline = OfflineWriter(settings.speech_rate)
    if not settings.writer_url:
        return offline
    # With an HTTP client, which a service that asks nobody does not need.
    from kit.service.writer.http import endpoint
    from kit.service.writer.model import ModelWriter

    model = ModelWriter(
        endpoint(settings.writer_url, settings.writer_model, settings.writer_key),
        rate=settings.speech_rate,
        seconds=settings.writer_seconds,
    )
    return FallbackWriter(model, offline) if settings.writer_fallback else model
