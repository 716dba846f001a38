"""The page: contents, what holds for every request, the operations, the objects.

The template `page.html` lays it out; here the OpenAPI document is turned into what it shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from kit.errors import ApiError
from kit.service.http.docs.examples import (
    Schema,
    example,
    highlight_json,
    name_of,
    shell,
)
from kit.service.http.docs.notes import note_of

#: What each request replaces: the address of the service, and the word that lets its script run.
BASE, NONCE = "@@base@@", "@@nonce@@"
#: Tag -> its heading and sentence, in this order.
_GROUPS = {
    "account": ("Account", "Who pays, what is left, and every credit that came and went."),
    "models": ("Models", "What can be asked for, with parameters and prices."),
    "uploads": ("Uploads", "Permission to send a file that a generation takes as its input."),
    "generations": ("Generations", "Asynchronous orders: start one, follow it, read its output."),
    "webhooks": ("Webhooks", "Addresses that are told of the ends of generations."),
    "scripts": ("Titles and scripts", "Texts for short videos, of the length that is asked for."),
    "media": ("Media", "Files under signed addresses; the address is the permission."),
    "health": ("Health", "For operators of the service; no key is needed."),
}
_CODE = re.compile(r"`+([^`]+)`+")
#: Paragraphs of docstrings that are for readers of the source.
_INSIDE = re.compile(r"Source:|Parameters\s+-|Returns\s+-|Raises\s+-|Examples\s+-|Scope: ")
_WORDS = {"string": "text", "boolean": "true or false", "integer": "integer", "number": "number"}
#: Keyword of a schema -> how it is said.
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "up to {} characters",
    "maxProperties": "up to {} entries",
}


def render_page(document: Schema) -> str:
    """Return the page of an OpenAPI document, with the marks `BASE` and `NONCE`."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"prose": prose, "inline": inline}
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    groups: dict[str, list[dict[str, Any]]] = {tag: [] for tag in _GROUPS}
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            groups[facts["tags"][0]].append(_describe(path, method, facts, schemas))
    account = document["paths"]["/v1/account"]["get"]
    return environment.from_string(_read("page.html")).render(
        info=document["info"],
        style=Markup(_read("page.css")),  # noqa: S704 - our own file
        script=Markup(_read("page.js")),  # noqa: S704 - our own file
        first=shell("/v1/account", "get", account, None, BASE),
        errors=sorted(ApiError.by_code.values(), key=lambda kind: (kind.status, kind.code)),
        groups=[
            {"tag": tag, "title": title, "sentence": sentence, "operations": groups[tag]}
            for tag, (title, sentence) in _GROUPS.items()
        ],
        objects=[
            {
                "name": name,
                "anchor": anchor(name),
                "description": schema.get("description", ""),
                "fields": _fields(name, schema),
            }
            for name, schema in sorted(schemas.items())
        ],
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _describe(
    path: str, method: str, facts: Schema, schemas: Mapping[str, Schema]
) -> dict[str, Any]:
    """Return what the page shows of an operation."""
    description = facts.get("description", "")
    scope = re.search(r"Scope: `([^`]+)`", description)
    content = facts.get("requestBody", {}).get("content", {})
    body = name_of(content.get("application/json", {}).get("schema", {}))
    marked = re.sub(r"(\{\w+\})", r"<i>\1</i>", escape(path))
    answers, failures = [], []
    for status, answer in facts["responses"].items():
        if status < "400":
            answers.append(_describe_answer(status, answer, schemas))
        else:
            codes = answer["description"].removeprefix("error code ").replace(" or ", ", ")
            failures.append((status, codes))
    asked = example({"$ref": body}, schemas) if body else None
    return {
        "path": path,
        "marked_path": Markup(marked),  # noqa: S704 - escaped
        "method": method,
        "anchor": re.sub(r"[^a-z0-9]+", "-", f"{method} {path}".lower()).strip("-"),
        "title": str(facts["summary"]).capitalize(),
        "scope": scope[1] if scope else None,
        "description": description,
        "parameters": [
            _row(
                it["name"],
                {**it["schema"], "description": it.get("description", "")},
                required=it.get("required", False),
                place=it["in"],
            )
            for it in facts.get("parameters", ())
        ],
        "body_fields": _fields(body, schemas[body], asked=True) if body else [],
        "answers": answers,
        "failures": failures,
        "command": shell(path, method, facts, asked, BASE),
        "example": _example_answer(next(iter(facts["responses"].values())), schemas),
    }


def _describe_answer(status: str, answer: Schema, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    kind, content = _content(answer)
    schema: Schema = content.get("schema", {})
    name = name_of(schema) or name_of(schema.get("items", {}))
    return {
        "status": status,
        "what": type_of(schema) if name else kind or answer["description"],
        "fields": _fields(name, schemas[name]) if name else [],
        "headers": [*answer.get("headers", {})],
    }


def _content(answer: Schema) -> tuple[str, Schema]:
    """Return the media type of an answer and what it carries."""
    contents: Mapping[str, Schema] = answer.get("content", {})
    return next(iter(contents.items()), ("", {}))


def _example_answer(answer: Schema, schemas: Mapping[str, Schema]) -> str | None:
    kind, content = _content(answer)
    if "example" in content:
        return str(content["example"])
    if kind != "application/json" or not content.get("schema"):
        return None
    shown = highlight_json(example(content["schema"], schemas)).replace("BASE/", f"{BASE}/")
    return Markup(shown)  # noqa: S704 - escaped


def _fields(name: str, schema: Schema, *, asked: bool = False) -> list[dict[str, Any]]:
    """Return the rows of an object's fields.

    Parameters
    ----------
    asked : bool
        Whether it is sent by the client: then defaults and what is required matter.
    """
    required = schema.get("required", ()) if asked else ()
    rows = []
    for field, inside in schema.get("properties", {}).items():
        facts = {**inside, "description": note_of(name, field) or inside.get("description", "")}
        if not asked:
            facts.pop("default", None)
        rows.append(_row(field, facts, required=field in required))
    return rows


def _row(name: str, schema: Schema, *, required: bool, place: str = "") -> dict[str, Any]:
    notes = Markup("<br>").join(_notes(schema))
    return {
        "name": name,
        "required": required,
        "place": place,
        "type": type_of(schema),
        "notes": notes,
    }


def anchor(name: str) -> str:
    """Return the anchor of a schema."""
    return f"object-{name.lower()}"


def type_of(schema: Schema) -> Markup:
    """Return a type in words, with links to objects."""
    name = name_of(schema)
    if name:
        return Markup('<a href="#{}">{}</a>').format(anchor(name), name)
    if "anyOf" in schema:
        return _either(schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(type_of(schema.get("items", {})))
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties")
        if isinstance(inside, Mapping):
            return Markup("object of {}").format(type_of(inside))
        return Markup("object")
    if schema.get("format") == "date-time":
        return Markup("time")
    return Markup.escape(_WORDS.get(str(schema.get("type", "")), "any value"))


def _either(schemas: list[Schema]) -> Markup:
    kinds = [type_of(schema) for schema in schemas if schema.get("type") != "null"]
    if "number" in kinds:
        kinds = [kind for kind in kinds if kind != "integer"]
    nullable = " or null" if any(schema.get("type") == "null" for schema in schemas) else ""
    return Markup(" or ").join(dict.fromkeys(kinds)) + nullable


def _notes(schema: Schema) -> Iterator[Markup]:
    if schema.get("description"):
        yield inline(schema["description"])
    for one in (schema, *schema.get("anyOf", ())):
        if one.get("enum"):
            words = (Markup("<code>{}</code>").format(value) for value in one["enum"])
            yield Markup(" · ").join(words)
        for keyword, sentence in _BOUNDS.items():
            if keyword in one:
                yield Markup.escape(sentence.format(one[keyword]))
    default = schema.get("default")
    if default not in (None, "", [], {}):
        yield Markup("default <code>{}</code>").format(str(default).lower())


def prose(text: str) -> Markup:
    """Return a docstring as paragraphs; words in backticks become code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    kept = [Markup("<p>{}</p>").format(inline(p)) for p in paragraphs if p and not _INSIDE.match(p)]
    return Markup().join(kept)


def inline(text: str) -> Markup:
    """Return one line of a docstring."""
    return Markup(_CODE.sub(r"<code>\1</code>", escape(text, quote=False)))  # noqa: S704 - escaped
