"""What becomes of an order: the generation that its receipt begins, or the error that ends it."""

from __future__ import annotations

from kit import wire
from kit.errors import GenerationFailedError
from kit.studio.orders import Order


def begun(order: Order, receipt: wire.Receipt) -> wire.Generation:
    """Return what is known of a generation before it was asked for."""
    return wire.Generation(
        id=receipt.id,
        status=receipt.status,
        asset_type=receipt.asset_type or order.model.asset_type,
        model_id=order.model.id,
        model_name=order.model.title,
        prompt=order.prompt,
        parameters=dict(order.settings),
        credits_charged=receipt.credits_charged,
        created_at=receipt.created_at,
    )


def failure(generation: wire.Generation) -> GenerationFailedError:
    """Return the error of a generation that ended without a result.

    Examples
    --------
    >>> str(failure(wire.Generation(id="gen_1", status="failed", error="no light")))
    'the generation gen_1 failed: no light'
    """
    refund = generation.credits_refunded
    back = f"; {refund:f} credits came back" if refund else ""
    why = generation.error or "the service gives no reason"
    text = f"the generation {generation.id} {generation.state}: {why}{back}"
    if generation.state == "canceled":
        text = f"the generation {generation.id} was canceled{back}"
    error = GenerationFailedError(text, generation)
    error.generation_id = generation.id
    return error
