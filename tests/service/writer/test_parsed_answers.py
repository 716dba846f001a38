import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from kit.service.writer.structured_output import RejectedError, parse_answer


class Script(BaseModel):
    content: str


@pytest.mark.parametrize(
    "reply",
    [
        '{"content": "Hi."}',
        '```json\n{"content": "Hi."}\n```',
        'Sure, here you are:\n{"content": "Hi."}\nShall I go on {or not}?',
        '{"content": "Hi.",}',
        '{"script": {"content": "Hi."}}',
        '{"scripts": [{"content": "Hi."}, {"content": "Ho."}]}',
        '<think>They want {"content": "no"}</think>{"content": "Hi."}',
        '{"type": "object", "properties": {"content": {"type": "string"}}} {"content": "Hi."}',
        '{"title": "x", "content": "Hi.", "more": [1, 2,],}',
    ],
)
def test_the_json_object_is_found_anywhere_in_a_reply(reply: str) -> None:
    assert parse_answer(reply, Script, "{}").content == "Hi."


def test_strings_may_contain_line_breaks_and_control_characters() -> None:
    assert (
        parse_answer('{"content": "One.\nTwo.\t\x01"}', Script, "{}").content == "One.\nTwo.\t\x01"
    )


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "No.",
        '{"content": ',
        '{"content": "cut o',
        '{"content": 5}',
        '["content"]',
        "{" * 50_000,
    ],
)
def test_a_reply_without_the_object_is_rejected_with_the_expected_shape(reply: str) -> None:
    with pytest.raises(RejectedError) as caught:
        parse_answer(reply, Script, '{"content": "..."}')

    assert caught.value.kind == "shape"
    assert '{"content": "..."}' in caught.value.request


def test_a_rejected_reply_names_the_invalid_field() -> None:
    with pytest.raises(RejectedError) as caught:
        parse_answer('{"content": null}', Script, "{}")

    assert "content: input should be a valid string" in caught.value.request


@pytest.mark.parametrize("piece", ['{"a":', "[", '{"a":[', "{}", "{,", "<think>"])
def test_hostile_replies_are_rejected_quickly(piece: str) -> None:
    began = time.process_time()
    with pytest.raises(RejectedError):
        parse_answer(piece * (900_000 // len(piece)), Script, "{}")

    assert time.process_time() - began < 2


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_rejected(reply: str) -> None:
    with suppress(RejectedError):
        assert isinstance(parse_answer(reply, Script, "{}"), Script)
