"""The page: contents, general rules, operations and objects.

The template `page.html` has the layout; this module converts the OpenAPI document for it.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from kit.errors import ApiError
from kit.service.http.openapi import words

Schema = Mapping[str, Any]
#: Placeholder of the base URL, which is replaced per request.
BASE = "@@base@@"
_CODE = re.compile(r"`+([^`]+)`+")
#: Paragraphs of docstrings that are only for readers of the source.
_HIDDEN = re.compile(r"Source:|Parameters\s+-|Returns\s+-|Raises\s+-|Examples\s+-|Scope: ")
_TYPES = {"string": "text", "boolean": "true or false", "integer": "integer", "number": "number"}
#: Words for keywords of a schema.
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "up to {} characters",
    "maxProperties": "up to {} entries",
}
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?)')
#: Example values of path parameters; and placeholders of fields without an example, by type.
_EXAMPLE_IDS = {"generation_id": "gen_01JMVN4Z8C6S0P2QK9T3XW7YAB", "model_id": "poster"}
_PLACEHOLDERS: Mapping[str, Any] = {"string": "text", "boolean": False, "integer": 1, "number": 0.5}
_MAX_DEPTH = 4
#: Complete commands of operations with signed URLs.
_SIGNED_COMMANDS = {
    "/media/{key}": "curl -o output.png 'OUTPUT_URL'",
    "/media/uploads/{upload_id}": (
        "curl -T portrait.png 'UPLOAD_URL' \\\n  -H 'Content-Type: image/png'"
    ),
}


def render_page(document: Schema) -> str:
    """Return the page of an OpenAPI document, with the placeholder `BASE`."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"prose": prose, "inline": inline, "anchor": anchor}
    environment.globals["fields"] = _fields
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    groups: dict[str, list[dict[str, Any]]] = {tag: [] for tag in words()["groups"]}
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
            for tag, (title, sentence) in words()["groups"].items()
        ],
        objects=sorted(schemas.items()),
    )


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _describe(
    path: str, method: str, facts: Schema, schemas: Mapping[str, Schema]
) -> dict[str, Any]:
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
    body_example = example({"$ref": body}, schemas) if body else None
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
        "body_fields": _fields(body, schemas[body], is_request=True) if body else [],
        "answers": answers,
        "failures": failures,
        "command": shell(path, method, facts, body_example, BASE),
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
    """Return the media type of a response and its content."""
    contents: Mapping[str, Schema] = answer.get("content", {})
    return next(iter(contents.items()), ("", {}))


def _example_answer(answer: Schema, schemas: Mapping[str, Schema]) -> str | None:
    kind, content = _content(answer)
    if "example" in content:
        return str(content["example"])
    if kind != "application/json" or not content.get("schema"):
        return None
    html = highlight_json(example(content["schema"], schemas)).replace("BASE/", f"{BASE}/")
    return Markup(html)  # noqa: S704 - escaped


def _fields(name: str, schema: Schema, *, is_request: bool = False) -> list[dict[str, Any]]:
    """Return the rows for the fields of an object."""
    required, notes = schema.get("required", ()) if is_request else (), words()["notes"]
    rows = []
    for field, inner in schema.get("properties", {}).items():
        facts = {**inner, "description": notes.get(f"{name}.{field}", notes.get(field, ""))}
        if not is_request:
            facts.pop("default", None)
        rows.append(_row(field, facts, required=field in required))
    return rows


def _row(name: str, schema: Schema, *, required: bool, place: str = "") -> dict[str, Any]:
    facts = {"name": name, "required": required, "place": place, "type": type_of(schema)}
    return facts | {"notes": Markup("<br>").join(_notes(schema))}


def anchor(name: str) -> str:
    """Return the anchor of a schema."""
    return f"object-{name.lower()}"


def type_of(schema: Schema) -> Markup:
    """Return the words for a type, with links to objects."""
    name = name_of(schema)
    if name:
        return Markup('<a href="#{}">{}</a>').format(anchor(name), name)
    if "anyOf" in schema:
        return _any_of(schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(type_of(schema.get("items", {})))
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        if isinstance(inner, Mapping):
            return Markup("object of {}").format(type_of(inner))
        return Markup("object")
    if schema.get("format") == "date-time":
        return Markup("time")
    return Markup.escape(_TYPES.get(str(schema.get("type", "")), "any value"))


def _any_of(schemas: list[Schema]) -> Markup:
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
    html = [Markup("<p>{}</p>").format(inline(p)) for p in paragraphs if p and not _HIDDEN.match(p)]
    return Markup().join(html)


def inline(text: str) -> Markup:
    """Return one line of a docstring."""
    return Markup(_CODE.sub(r"<code>\1</code>", escape(text, quote=False)))  # noqa: S704 - escaped


def name_of(schema: Schema) -> str | None:
    """Return the name of the schema that another one refers to."""
    found = schema.get("$ref")
    return str(found).rpartition("/")[2] if found else None


def example(schema: Schema, schemas: Mapping[str, Schema], owner: str = "", depth: int = 0) -> Any:
    """Return an example value of a schema."""
    name = name_of(schema)
    if name:
        bodies = words()["bodies"]
        return bodies[name] if name in bodies else example(schemas[name], schemas, name, depth)
    if "properties" in schema:
        return {
            field: _value(owner, field, inner, schemas, depth)
            for field, inner in schema["properties"].items()
        }
    if schema.get("type") == "array":
        return [example(schema.get("items", {}), schemas, owner, depth + 1)]
    if choices := [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]:
        return example(choices[-1], schemas, owner, depth)
    if schema.get("format") == "date-time":
        return "2030-01-31T12:00:00.000Z"
    return next(iter(schema.get("enum", ())), _PLACEHOLDERS.get(str(schema.get("type")), {}))


def _value(
    owner: str, field: str, schema: Schema, schemas: Mapping[str, Schema], depth: int
) -> Any:
    values = words()["values"]
    for path in (f"{owner}.{field}", field):
        if path in values and name_of(schema) is None:
            return values[path]
    if depth >= _MAX_DEPTH or (owner in ("Rule", "Quote") and schema.get("type") == "array"):
        return []
    return schema.get("default") or example(schema, schemas, "", depth + 1)


def shell(path: str, method: str, operation: Schema, body: Any, base: str) -> str:
    """Return a curl command for an operation."""
    if path in _SIGNED_COMMANDS:
        return _SIGNED_COMMANDS[path]
    address = re.sub(r"\{(\w+)\}", lambda found: _EXAMPLE_IDS.get(found[1], "ID"), path)
    option = "-N " if path.endswith("/events") else ""
    if method == "post" and body is None:
        option = "-X POST "
    parts = [f"curl {option}{base}{address}"]
    if operation.get("security"):
        parts.append("-H 'Authorization: Bearer YOUR_API_KEY'")
    if body is not None:
        text = json.dumps(body, indent=2, ensure_ascii=False)
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(text)}"]
    return " \\\n  ".join(parts)


def highlight_json(value: Any) -> str:
    """Return JSON as HTML with markup for keys and values."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    end, parts = 0, []
    for found in _TOKEN.finditer(text):
        parts.append(escape(text[end : found.start()], quote=False))
        end = found.end()
        kind = "k" if found[2] else "s" if found[1] else "n"
        word = escape(found[1] or found[0], quote=False)
        parts.append(f'<span class="{kind}">{word}</span>{found[2] or ""}')
    return "".join(parts) + escape(text[end:], quote=False)
