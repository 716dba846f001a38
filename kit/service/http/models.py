"""Operations 2 and 3: the catalog of models."""

from __future__ import annotations

import hashlib
from email.utils import formatdate
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from kit import wire
from kit.service.domain import catalog
from kit.service.http.context import get_context, not_modified
from kit.service.http.routing import Router
from kit.wire import CATEGORIES, IMAGE_CATEGORIES, VIDEO_CATEGORIES, Model

router = Router("/v1/creative-studio/models", "models")


def _enum(*words: str) -> dict[str, Any]:
    """Return the schema of an enum; the empty string means that the filter is not set."""
    return {"enum": ["", *dict.fromkeys(words)]}


@router.route("GET", "", response_model=wire.Models, tagged=True)
async def list_models(
    request: Request,
    asset_type: Annotated[
        str | None, Field(alias="assetType", json_schema_extra=_enum(*CATEGORIES))
    ] = None,
    alias: Annotated[
        str | None,
        Field(alias="type", description="as assetType", json_schema_extra=_enum(*CATEGORIES)),
    ] = None,
    category: Annotated[
        str | None,
        Field(
            description="one of the asset type's",
            json_schema_extra=_enum("All", *IMAGE_CATEGORIES, *VIDEO_CATEGORIES),
        ),
    ] = None,
) -> Response:
    """Return the models, grouped by what they make."""
    context = get_context(request)
    found = catalog.select_models(
        context.catalog, asset_type=asset_type, alias=alias, category=category
    )
    models = [await context.database.read(catalog.add_estimate(model)) for model in found]
    groups = {kind: [it for it in models if it.asset_type == kind] for kind in CATEGORIES}
    return _answer_with_tag(request, wire.Models(**groups))


@router.route("GET", "/{model_id}", response_model=wire.Model, tagged=True)
async def get_model(request: Request, model_id: str) -> Response:
    """Return one model."""
    context = get_context(request)
    model = context.catalog.get(model_id)
    answer = _answer_with_tag(request, await context.database.read(catalog.add_estimate(model)))
    answer.headers.update(retirement_headers(model))
    return answer


def retirement_headers(model: Model) -> dict[str, str]:
    """Return the headers that announce a model's retirement. Source: RFC 9745, RFC 8594."""
    if model.retires_at is None:
        return {}
    moment = model.retires_at.timestamp()
    return {"Deprecation": f"@{moment:.0f}", "Sunset": formatdate(moment, usegmt=True)}


def _answer_with_tag(request: Request, answer: wire.Wire) -> Response:
    """Return a response with an ETag, or 304 if the client has that version already."""
    body = answer.model_dump_json(by_alias=True).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    return not_modified(request, headers) or Response(body, 200, headers, "application/json")
