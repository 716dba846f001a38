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
    "said",
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
def test_the_object_is_found_wherever_it_stands(said: str) -> None:
    assert parse_answer(said, Script, "{}").content == "Hi."


def test_line_breaks_and_controls_may_stand_in_strings() -> None:
    assert (
        parse_answer('{"content": "One.\nTwo.\t\x01"}', Script, "{}").content == "One.\nTwo.\t\x01"
    )


@pytest.mark.parametrize(
    "said",
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
def test_what_is_no_such_object_is_told_to_the_model(said: str) -> None:
    with pytest.raises(RejectedError) as caught:
        parse_answer(said, Script, '{"content": "..."}')

    assert caught.value.kind == "shape"
    assert '{"content": "..."}' in caught.value.request


def test_the_model_is_told_which_field_is_wrong() -> None:
    with pytest.raises(RejectedError) as caught:
        parse_answer('{"content": null}', Script, "{}")

    assert "content: input should be a valid string" in caught.value.request


@pytest.mark.parametrize("piece", ['{"a":', "[", '{"a":[', "{}", "{,", "<think>"])
def test_hostile_answers_are_read_in_no_time(piece: str) -> None:
    began = time.process_time()
    with pytest.raises(RejectedError):
        parse_answer(piece * (900_000 // len(piece)), Script, "{}")

    assert time.process_time() - began < 2


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(said: str) -> None:
    with suppress(RejectedError):
        assert isinstance(parse_answer(said, Script, "{}"), Script)
