import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit import wire
from kit.errors import ApiError
from kit.service.http.docs.page import example, prose, type_of
from kit.service.http.openapi import words
from tests.conftest import Service, lasting_service

service = lasting_service


class Page(HTMLParser):
    """The links, anchors and loaded files of a page; tags that do not match fail."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: list[str] = []
        self.loads: list[str] = []
        self.styles: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.loads += [given["src"]] if "src" in given else []
        self.anchors += [given["id"]] if "id" in given else []
        self.styles += [given["style"]] if "style" in given else []
        if tag == "a":
            self.links.append(given["href"])
        if tag == "link":
            self.loads.append(given["href"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def answer(service: Service) -> httpx.Response:
    """The response with the page."""
    return httpx.get(f"{service.url}/docs")


@pytest.fixture
def page(answer: httpx.Response) -> Page:
    """The parsed page."""
    return Page(answer.text)


def test_the_page_loads_nothing_from_other_hosts(answer: httpx.Response, page: Page) -> None:
    assert page.loads == ["data:,"]
    assert page.styles == []
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp", answer.text)
    assert {link for link in page.links if not link.startswith("#")} == {"openapi.json"}


def test_only_its_own_script_may_run(service: Service, answer: httpx.Response) -> None:
    policy = answer.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([\w-]+)'", policy)

    assert nonce
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert answer.text.count(f'nonce="{nonce[1]}"') == 2
    assert "@@" not in answer.text
    again = httpx.get(f"{service.url}/docs").headers["content-security-policy"]
    assert again != policy


def test_every_link_has_its_anchor(page: Page) -> None:
    inside = {link[1:] for link in page.links if link.startswith("#")}

    assert inside - {*page.anchors} == set()
    assert len(page.anchors) == len({*page.anchors})


def test_the_page_names_every_operation_and_error(service: Service, page: Page) -> None:
    text = " ".join("".join(page.text).split())
    paths = httpx.get(f"{service.url}/openapi.json").json()["paths"]

    assert len(paths) > 15
    for path, methods in paths.items():
        assert path in text
        for facts in methods.values():
            assert facts["summary"].capitalize() in text
            for parameter in facts.get("parameters", ()):
                assert parameter["name"] in text
    assert {code for code in ApiError.by_code if code not in text} == set()
    assert "YOUR_API_KEY" in text


def test_the_host_of_the_request_is_escaped(service: Service) -> None:
    text = httpx.get(f"{service.url}/docs", headers={"Host": 'a"<b>.example'}).text

    assert "<b>.example" not in text


def test_an_example_of_a_body_is_valid() -> None:
    for name, body in words()["bodies"].items():
        getattr(wire, name).model_validate(body)


def test_examples_have_every_field(service: Service) -> None:
    schemas = httpx.get(f"{service.url}/openapi.json").json()["components"]["schemas"]
    for name, schema in schemas.items():
        if name not in words()["bodies"]:
            shown = example({"$ref": f"#/components/schemas/{name}"}, schemas)
            assert [*shown] == [*schema["properties"]]


def test_notes_are_about_existing_fields(service: Service) -> None:
    schemas = httpx.get(f"{service.url}/openapi.json").json()["components"]["schemas"]
    owned = {f"{name}.{field}" for name, one in schemas.items() for field in one["properties"]}
    fields = {name.partition(".")[2] for name in owned}

    assert {note for note in words()["notes"] if note not in owned | fields} == set()


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "date-time"}, "time"),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "number"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "text or null"),
        ({"type": "array", "items": {"type": "boolean"}}, "list of true or false"),
        ({"$ref": "#/components/schemas/Output"}, '<a href="#object-output">Output</a>'),
        ({}, "any value"),
    ],
)
def test_types_are_shown_in_words(schema: dict[str, Any], words: str) -> None:
    assert type_of(schema) == words


def test_prose_leaves_out_the_source_and_the_parameters() -> None:
    text = "Return `<b>`\nnow.\n\nSource: contract.\n\nParameters\n-----\nx : int"

    assert prose(text) == "<p>Return <code>&lt;b&gt;</code> now.</p>"


def test_the_page_is_rendered_without_docstrings(tmp_path: Path) -> None:
    code = """
import pathlib, sys
from kit.service import settings
from kit.service.app import create_app
from kit.service.http.docs.page import render_page
given = settings.load({}, data=pathlib.Path(sys.argv[1]))
print(render_page(create_app(given, engines={}).openapi)[:15])
"""
    command = [sys.executable, "-OO", "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)

    assert (done.stdout, done.stderr) == ("<!doctype html>\n", "")
