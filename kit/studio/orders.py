"""An order: a checked request, and what is known of its price before anybody is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kit import pricing, wire
from kit.client.uploads import Source
from kit.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Order:
    """A checked request.

    Parameters
    ----------
    given : mapping
        The settings to send; the service fills in the rest.
    settings : mapping
        The same with every default filled in: what the price depends on.
    """

    model: wire.Model
    prompt: str | None
    given: Mapping[str, Any]
    settings: Mapping[str, Any]
    media: Mapping[str, tuple[Source, ...]]

    def body(self, references: Mapping[str, str | list[str]]) -> wire.StartGeneration:
        """Return the body of the start, with the ids of what was uploaded."""
        return wire.StartGeneration(
            model_id=self.model.id,
            prompt=self.prompt,
            parameters=dict(self.given),
            media_uploads=dict(references),
        )

    def digest(self) -> str:
        """Return a hash that equal requests share: model, prompt, settings and files."""
        media = {name: [f.sha256() for f in files] for name, files in self.media.items()}
        facts = [self.model.id, self.prompt, dict(self.settings), media]
        text = json.dumps(facts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def by_rule(order: Order) -> wire.Quote | None:
    """Return the price by the model's rule, or None where there is none or a length is unknown."""
    rule = order.model.pricing
    if rule is None:
        return None
    media: dict[str, list[pricing.Medium]] = {}
    for name in {unit.medium for unit in rule.units if unit.medium}:
        lengths = [(file.kind, file.seconds()) for file in order.media.get(name, ())]
        if any(seconds is None for _, seconds in lengths):
            return None
        media[name] = [pricing.Medium(kind, s) for kind, s in lengths if s is not None]
    return pricing.price(rule, order.settings, media)


def by_default(model: wire.Model) -> wire.Quote:
    """Return the price of a request with every default, the best guess without a rule."""
    if model.credits_at_defaults is None:
        raise ConfigError(f"the service does not say what the model {model.id!r} costs")
    return wire.Quote(total=model.credits_at_defaults, source="default")


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, so that values out of frames can be sent."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
