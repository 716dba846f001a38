"""Schemas of the OpenAPI document as HTML: types in words, fields as rows, docstrings as prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from kit.service.http.docs.notes import note_of

Schema = Mapping[str, Any]

_CODE = re.compile(r"`+([^`]+)`+")
#: Paragraphs of docstrings that are for whoever reads the source.
_INSIDE = re.compile(r"Source:|Parameters\s+-|Returns\s+-|Raises\s+-|Examples\s+-|Scope: ")
_WORDS = {"string": "text", "boolean": "true or false", "integer": "integer", "number": "number"}
#: Keyword of a schema -> how it is said.
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "up to {} characters",
    "maxProperties": "up to {} entries",
}


def prose(text: str) -> str:
    """Return a docstring as paragraphs; words in backticks become code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "".join(f"<p>{inline(p)}</p>" for p in paragraphs if p and not _INSIDE.match(p))


def inline(text: str) -> str:
    """Return one line of a docstring."""
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def anchor(name: str) -> str:
    """Return the anchor of a schema."""
    return f"object-{name.lower()}"


def name_of(schema: Schema) -> str | None:
    """Return the name of the schema that another one refers to."""
    found = schema.get("$ref")
    return str(found).rpartition("/")[2] if found else None


def type_of(schema: Schema) -> str:
    """Return a type in words, with links to objects."""
    name = name_of(schema)
    if name:
        return f'<a href="#{anchor(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return _either(schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if schema.get("type") == "object":
        inside = schema.get("additionalProperties")
        return f"object of {type_of(inside)}" if isinstance(inside, Mapping) else "object"
    if schema.get("format") == "date-time":
        return "time"
    return _WORDS.get(str(schema.get("type", "")), "any value")


def _either(schemas: list[Schema]) -> str:
    kinds = [type_of(schema) for schema in schemas if schema.get("type") != "null"]
    if "number" in kinds:
        kinds = [kind for kind in kinds if kind != "integer"]
    nullable = " or null" if any(schema.get("type") == "null" for schema in schemas) else ""
    return " or ".join(dict.fromkeys(kinds)) + nullable


def _notes(schema: Schema) -> Iterator[str]:
    if schema.get("description"):
        yield inline(schema["description"])
    for one in (schema, *schema.get("anyOf", ())):
        if one.get("enum"):
            yield " · ".join(f"<code>{escape(str(value))}</code>" for value in one["enum"])
        yield from (say.format(one[word]) for word, say in _BOUNDS.items() if word in one)
    default = schema.get("default")
    if default not in (None, "", [], {}):
        yield f"default <code>{escape(str(default).lower())}</code>"


def row(name: str, schema: Schema, *, required: bool, place: str = "") -> str:
    """Return one field or parameter as a row of a table."""
    tags = '<span class="must">required</span>' if required else ""
    where = f'<span class="where">{escape(place)}</span>' if place else ""
    notes = "<br>".join(_notes(schema))
    return (
        f'<tr><th scope="row"><code>{escape(name)}</code>{tags}{where}</th>'
        f"<td>{type_of(schema)}</td><td>{notes}</td></tr>"
    )


def table(rows: list[str], caption: str) -> str:
    """Return rows under a caption, in a box that scrolls by itself on a narrow page."""
    if not rows:
        return ""
    return (
        f'<div class="scroll"><table>{f"<caption>{inline(caption)}</caption>" if caption else ""}'
        '<thead><tr><th scope="col">Name</th><th scope="col">Type</th>'
        f'<th scope="col">Notes</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )


def fields(name: str, schema: Schema, caption: str = "", *, asked: bool = False) -> str:
    """Return the fields of an object as a table.

    Parameters
    ----------
    asked : bool
        Whether it is sent by the client: then defaults and what is required matter.
    """
    needed = schema.get("required", ()) if asked else ()
    rows = []
    for field, inside in schema.get("properties", {}).items():
        told = {**inside, "description": note_of(name, field) or inside.get("description", "")}
        if not asked:
            told.pop("default", None)
        rows.append(row(field, told, required=field in needed))
    return table(rows, caption)
