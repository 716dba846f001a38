"""``/docs``: the API on one page, made from the OpenAPI document by the service itself.

Nothing is loaded from elsewhere and no script is needed; a small one adds a filter and buttons that
copy.
"""

from __future__ import annotations

import asyncio
import secrets
from html import escape

from fastapi import APIRouter, FastAPI, Request, Response

from kit.service.http.context import get_base_url

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def read_docs(request: Request) -> Response:
    """Return the page; only its own style and script may run on it."""
    state = request.app.state
    if not hasattr(state, "docs"):
        state.docs = await asyncio.to_thread(_render, request.app)
    nonce = secrets.token_urlsafe(16)
    base = get_base_url(request)
    shown = base if "://" in base else f"https://SERVICE{base}"
    text = state.docs.replace("@@nonce@@", nonce).replace("@@base@@", escape(shown))
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    return Response(text, 200, headers, "text/html")


def _render(app: FastAPI) -> str:
    # Imported here: most services never show the page, and each has to start.
    from kit.service.http.docs.page import render_page

    return render_page(app.openapi())
