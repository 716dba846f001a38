"""Outputs that their owner deletes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from fastapi import APIRouter, Request, Response

from kit.service.domain import outputs
from kit.service.http.context import Context, caller_of, context_of

router = APIRouter(prefix="/v1/creative-studio", tags=["generations"])
_log = logging.getLogger("kit.service")


@router.delete("/generations/{generation_id}/outputs", status_code=204)
async def delete_outputs(request: Request, generation_id: str) -> Response:
    """Delete the files of a finished generation; the generation stays, and doing so again is fine.

    Its `outputUrl` is null from then on, and `outputsDeletedAt` says when.
    """
    context, payer = context_of(request), caller_of(request).payer
    keys = await context.database.write(outputs.delete(generation_id, payer, context.clock()))
    await remove_files(context, keys)
    return Response(status_code=204)


async def remove_files(context: Context, keys: Sequence[str]) -> bool:
    """Remove files that no row names any more; False when one has to be tried again later."""
    gone = []
    for key in keys:
        try:
            await context.storage.remove(key)
        except OSError as error:  # being read, where the system then keeps it
            _log.warning("%s could not be removed: %s", key, error.strerror or error)
        else:
            gone.append(key)
    if gone:
        await context.database.write(outputs.note_deleted(gone))
    return len(gone) == len(keys)
