"""What becomes of a request: the generation that its receipt begins, or the error that ends it."""

from __future__ import annotations

from dataclasses import dataclass

from kit import wire
from kit.errors import GenerationFailedError, KitError, NoAnswerError
from kit.parameters import Request


@dataclass(slots=True)
class StartTrace:
    """How far a request came, for whoever stops it.

    Parameters
    ----------
    again : bool
        Whether it was to be made anew in any case.
    sent : bool
        Whether its start has left, so that it may be carried out.
    id : str or None
        The generation, once it is known.
    before : bool
        Whether an equal request led to it earlier.
    done : bool
        Whether it is completed.
    """

    again: bool = False
    sent: bool = False
    id: str | None = None
    before: bool = False
    done: bool = False

    def note(self, *, awaited: bool = False) -> str:
        """Return what is true of it when it is stopped here.

        Parameters
        ----------
        awaited : bool
            Whether the studio's calls are awaited.

        Examples
        --------
        >>> Trace().note()
        'it was stopped before its start had left: nothing was charged'
        """
        same = "the same call without again=True" if self.again else "the same call"
        pending = f"{'await ' if awaited else ''}studio.history.pending()"
        if self.done:
            return f"the generation {self.id} is completed: {same} fetches it and pays nothing"
        if self.id:
            return f"what was started goes on: {pending} finds it"
        if self.sent:
            return (
                f"its start had left and may be carried out: {pending} finds it "
                f"once the service lists it, and {same} does not pay a second time"
            )
        return "it was stopped before its start had left: nothing was charged"


def generation_of_receipt(request: Request, receipt: wire.Receipt) -> wire.Generation:
    """Return what is known of a generation before it was asked for."""
    return wire.Generation(
        id=receipt.id,
        status=receipt.status,
        asset_type=receipt.asset_type or request.model.asset_type,
        model_id=request.model.id,
        model_name=request.model.title,
        prompt=request.prompt,
        parameters=dict(request.complete),
        credits_charged=receipt.credits_charged,
        created_at=receipt.created_at,
    )


def failure_error(generation: wire.Generation) -> GenerationFailedError:
    """Return the error of a generation that ended without a result.

    Examples
    --------
    >>> str(failure(wire.Generation(id="gen_1", status="failed", error="no light")))
    'the generation gen_1 failed: no light'
    """
    refund = generation.credits_refunded
    back = f"; {refund:f} credits were refunded" if refund else ""
    why = generation.error or "the service gives no reason"
    text = f"the generation {generation.id} {generation.state}: {why}{back}"
    if generation.state == "canceled":
        text = f"the generation {generation.id} was canceled{back}"
    error = GenerationFailedError(text, generation)
    error.generation_id = generation.id
    return error


def unwritten_error(generation_id: str, why: str) -> NoAnswerError:
    """Return the error of a start that is paid and could not be written into the journal."""
    error = NoAnswerError(
        f"the generation {generation_id} was started, and could not be written into the journal "
        f"({why}): keep its id; studio.history[{generation_id!r}] finds it"
    )
    error.generation_id = generation_id
    return error


def suggest_again(error: KitError) -> KitError:
    """Return an error about what a request led to before; it says how to make it anew."""
    error.args = (f"{error}; again=True makes it anew, and pays for it",)
    return error
