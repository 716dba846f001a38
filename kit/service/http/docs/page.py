"""The page: contents, what holds for every request, the operations, the objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from kit.errors import ApiError
from kit.service.http.docs.examples import example, highlight_json, shell
from kit.service.http.docs.schemas import (
    Schema,
    anchor,
    fields,
    inline,
    name_of,
    prose,
    row,
    table,
    type_of,
)

_BASE, _NONCE = "@@base@@", "@@nonce@@"
#: Tag -> its heading and sentence, in this order.
_GROUPS = {
    "account": ("Account", "Who pays, what is left, and every credit that came and went."),
    "models": ("Models", "What can be asked for, with parameters and prices."),
    "uploads": ("Uploads", "Permission to send one file that a generation takes as its input."),
    "generations": ("Generations", "Asynchronous orders: start one, follow it, read its output."),
    "scripts": ("Titles and scripts", "Texts for short videos, of the length that is asked for."),
    "media": ("Media", "Files under signed addresses; the address is the permission."),
    "health": ("Health", "For whoever runs the service; no key is needed."),
}


@dataclass(frozen=True, slots=True)
class _Operation:
    path: str
    method: str
    facts: Schema

    @property
    def anchor(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", f"{self.method} {self.path}".lower()).strip("-")

    @property
    def title(self) -> str:
        return str(self.facts["summary"]).capitalize()

    @property
    def scope(self) -> str | None:
        found = re.search(r"Scope: `([^`]+)`", self.facts.get("description", ""))
        return found[1] if found else None


@dataclass(frozen=True, slots=True)
class DocsPage:
    """The page, but for what each request fills in."""

    text: str

    def fill(self, base: str, nonce: str) -> str:
        """Return the page for an address of the service and the word that lets its script run."""
        return self.text.replace(_NONCE, nonce).replace(_BASE, base)


def page(document: Schema) -> DocsPage:
    """Return the page for an OpenAPI document."""
    groups = _grouped(document)
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    main = "".join(
        [
            _opening(document),
            *(_group(tag, operations, schemas) for tag, operations in groups.items()),
            _objects(schemas),
        ]
    )
    text = _FRAME.format(
        title=escape(document["info"]["title"]),
        version=escape(document["info"]["version"]),
        contents=_contents(groups),
        main=main,
        nonce=_NONCE,
        style=_asset("page.css"),
        script=_asset("page.js"),
    )
    return DocsPage(text)


_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} API</title>
<link rel="icon" href="data:,">
<style nonce="{nonce}">{style}</style>
</head>
<body>
<a class="skip" href="#start">Skip to the text</a>
<nav id="contents" aria-label="Contents">
<p class="brand"><a href="#start">{title}</a><span>{version}</span></p>
<div class="links">{contents}</div>
</nav>
<main id="start">
{main}
<footer>Made by the service itself from <a href="openapi.json">openapi.json</a>; nothing on this
page comes from elsewhere.</footer>
</main>
<script nonce="{nonce}">{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _grouped(document: Schema) -> dict[str, list[_Operation]]:
    groups: dict[str, list[_Operation]] = {tag: [] for tag in _GROUPS}
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            tag = facts["tags"][0]
            groups.setdefault(tag, []).append(_Operation(path, method, facts))
    return {tag: operations for tag, operations in groups.items() if operations}


def _contents(groups: Mapping[str, Sequence[_Operation]]) -> str:
    guide = [("#authentication", "Authentication"), ("#errors", "Errors"), ("#limits", "Limits")]
    parts = ["<section><h2>Guide</h2><ul>"]
    parts += [f'<li><a href="{place}">{word}</a></li>' for place, word in guide]
    parts.append("</ul></section>")
    for tag, operations in groups.items():
        parts.append(f'<section><h2><a href="#{tag}">{_heading(tag)[0]}</a></h2><ul>')
        for it in operations:
            parts.append(
                f'<li><a href="#{it.anchor}"><span>{escape(it.title)}</span>'
                f'<b class="{it.method}">{it.method}</b></a></li>'
            )
        parts.append("</ul></section>")
    parts.append('<section><h2><a href="#objects">Objects</a></h2></section>')
    return "".join(parts)


def _heading(tag: str) -> tuple[str, str]:
    return _GROUPS.get(tag, (tag.capitalize(), ""))


def _opening(document: Schema) -> str:
    title = escape(document["info"]["title"])
    first = _panel("A first request", "", _command("/v1/account", document))
    return (
        f"<header><div><h1>{title} API</h1>{prose(document['info']['description'])}"
        f'<dl class="facts"><div><dt>Address</dt><dd><code>{_BASE}</code></dd></div>'
        f"<div><dt>Release</dt><dd>{escape(document['info']['version'])}</dd></div>"
        '<div><dt>For machines</dt><dd><a href="openapi.json">openapi.json</a></dd></div></dl>'
        f"</div>{first}</header>{_guide()}"
    )


def _command(path: str, document: Schema) -> str:
    return escape(shell(path, "get", document["paths"][path]["get"], None, _BASE), quote=False)


def _guide() -> str:
    kinds = sorted(ApiError.by_code.values(), key=lambda kind: (kind.status, kind.code))
    rows = "".join(
        f'<tr><td>{kind.status}</td><th scope="row"><code>{escape(kind.code)}</code></th>'
        f"<td>{inline((kind.__doc__ or '').strip().partition(chr(10))[0])}</td></tr>"
        for kind in kinds
    )
    return _asset("guide.html").replace("@@codes@@", rows)


def _group(tag: str, operations: Sequence[_Operation], schemas: Mapping[str, Schema]) -> str:
    title, sentence = _heading(tag)
    inside = "".join(_operation(it, schemas) for it in operations)
    return (
        f'<section class="group" id="{tag}"><h2>{title}</h2><p class="lead">{sentence}</p>'
        f"{inside}</section>"
    )


def _operation(it: _Operation, schemas: Mapping[str, Schema]) -> str:
    path = re.sub(r"(\{\w+\})", r"<i>\1</i>", escape(it.path))
    scope = f'<span class="scope">scope <code>{it.scope}</code></span>' if it.scope else ""
    return (
        f'<article id="{it.anchor}" data-find="{escape(f"{it.title} {it.method} {it.path}")}">'
        f'<div class="told"><h3><a href="#{it.anchor}">{escape(it.title)}</a></h3>'
        f'<p class="address"><b class="{it.method}">{it.method}</b><code>{path}</code>{scope}</p>'
        f"{prose(it.facts.get('description', ''))}{_asked(it, schemas)}{_answers(it, schemas)}"
        f'</div><div class="shown">{"".join(_panels(it, schemas))}</div></article>'
    )


def _asked(it: _Operation, schemas: Mapping[str, Schema]) -> str:
    rows = [
        row(
            p["name"],
            {**p["schema"], "description": p.get("description", "")},
            required=p.get("required", False),
            place=p["in"],
        )
        for p in it.facts.get("parameters", ())
    ]
    body = _body(it)
    told = fields(body, schemas[body], "Body", asked=True) if body else ""
    return table(rows, "Parameters") + told


def _body(it: _Operation) -> str | None:
    content = it.facts.get("requestBody", {}).get("content", {})
    return name_of(content.get("application/json", {}).get("schema", {}))


def _answers(it: _Operation, schemas: Mapping[str, Schema]) -> str:
    parts, failed = [], []
    for status, answer in it.facts["responses"].items():
        if status >= "400":
            codes = answer["description"].removeprefix("error code ").replace(" or ", ", ")
            failed.append(f'<li><b>{status}</b> <a href="#errors">{escape(codes)}</a></li>')
        else:
            parts.append(_answer(status, answer, schemas))
    errors = f'<h4>Errors</h4><ul class="failures">{"".join(failed)}</ul>' if failed else ""
    return "".join(parts) + errors


def _answer(status: str, answer: Schema, schemas: Mapping[str, Schema]) -> str:
    content, kind = _content(answer)
    schema: Schema = content.get("schema", {})
    named = name_of(schema) or name_of(schema.get("items", {}))
    what = type_of(schema) if named else escape(kind or answer["description"])
    headers = ", ".join(f"<code>{escape(name)}</code>" for name in answer.get("headers", {}))
    told = f'<p class="headers">Headers: {headers}</p>' if headers else ""
    inside = fields(named, schemas[named]) if named else ""
    return f'<h4>Answer <b class="ok">{escape(status)}</b> {what}</h4>{inside}{told}'


def _content(answer: Schema) -> tuple[Schema, str]:
    """Return what an answer carries, and its type."""
    for kind, content in answer.get("content", {}).items():
        return content, kind
    return {}, ""


def _panels(it: _Operation, schemas: Mapping[str, Schema]) -> Iterator[str]:
    body = _body(it)
    asked = example({"$ref": body}, schemas) if body else None
    command = shell(it.path, it.method, it.facts, asked, _BASE)
    yield _panel("Request", "", escape(command, quote=False))
    status, answer = next(iter(it.facts["responses"].items()))
    content, kind = _content(answer)
    if "example" in content:
        yield _panel("Answer", status, escape(content["example"], quote=False))
    elif kind == "application/json" and content.get("schema"):
        shown = highlight_json(example(content["schema"], schemas)).replace("BASE/", f"{_BASE}/")
        yield _panel("Answer", status, shown)


def _panel(title: str, status: str, code: str) -> str:
    mark = f'<b class="ok">{escape(status)}</b>' if status else ""
    return (
        f'<figure class="panel"><figcaption>{title}{mark}</figcaption>'
        f'<pre tabindex="0"><code>{code}</code></pre></figure>'
    )


def _objects(schemas: Mapping[str, Schema]) -> str:
    parts: list[Any] = ['<section class="group" id="objects"><h2>Objects</h2>']
    for name, schema in sorted(schemas.items()):
        parts.append(
            f'<section class="object" id="{anchor(name)}"><h3>'
            f'<a href="#{anchor(name)}">{escape(name)}</a></h3>'
            f"{prose(schema.get('description', ''))}{fields(name, schema)}"
            "</section>"
        )
    return "".join([*parts, "</section>"])
