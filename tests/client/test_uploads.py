from __future__ import annotations

import io
import json
import struct
import sys
import wave
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from kit import wire
from kit.client import uploads
from kit.client.calls import NoReply, Reply, SendRequest, Sleep, UploadFile
from kit.client.flows import Policy
from kit.endings import EXTENSIONS
from kit.errors import ConfigError, ParameterError, UploadError
from kit.pictures import has_heic
from tests.client.fixtures import drive
from tests.client.third_party import png

PICTURE = wire.Parameter(name="picture", type="image", media=True, required=True)
HINTS = wire.Parameter(name="hints", type="image", media=True, max_items=3)
MODEL = wire.Model(id="m", media_parameters=[PICTURE, HINTS])


def wav() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(2 * 12_000))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (png(), "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"GIF89a....", "image/gif"),
        (b"....ftypisom....", "video/mp4"),
        (b"....ftypqt  ....", "video/quicktime"),
        (b"....ftypM4A ....", "audio/mp4"),
        (b"\x1a\x45\xdf\xa3....", "video/webm"),
        (wav(), "audio/wav"),
        (b"ID3....", "audio/mpeg"),
        (b"fLaC....", "audio/flac"),
        (b"OggS....", "audio/ogg"),
        (b"\xff\xe3....", "audio/mpeg"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_content_decides_type_and_extension(head: bytes, content_type: str) -> None:
    found = uploads.source(head)

    assert found.content_type == content_type
    assert found.name == f"upload{EXTENSIONS[content_type][0]}"


def test_the_name_decides_the_type_of_ambiguous_content(tmp_path: Path) -> None:
    picture, sound = tmp_path / "photo.jpg", tmp_path / "sound.aac"
    picture.write_bytes(png())
    sound.write_bytes(b"????")
    memo = tmp_path / "memo.m4a"
    memo.write_bytes(b"....ftypmp42....")

    assert uploads.source(picture).content_type == "image/png"
    assert uploads.source(sound).content_type == "audio/aac"
    assert uploads.source(memo).content_type == "audio/mp4"
    assert uploads.source(memo.rename(tmp_path / "memo.mp4")).content_type == "video/mp4"


def test_paths_bytes_open_files_and_sources_give_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png())
    with path.open("rb") as file:
        media: list[Any] = [path, str(path), png(), bytearray(png()), io.BytesIO(png()), file]
        found = [uploads.source(item) for item in media]

    assert len({item.sha256() for item in found}) == 1
    assert {item.size for item in found} == {len(png())}
    assert found[0].name == found[5].name == "a.png"
    assert found[2].name == "upload.png"
    assert uploads.source(found[0]) is found[0]


def test_an_open_file_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png() + bytes(10))
    with path.open("rb") as file:
        whole = uploads.source(file)
        assert file.tell() == 0
        file.seek(len(png()))
        assert uploads.source(file).size == 10  # only the rest is meant

    with whole.open() as sent:
        assert sent.read() == path.read_bytes()


def test_an_open_file_can_be_given_again_and_just_after_it_was_written() -> None:
    file = io.BytesIO()
    file.write(b"GIF89a" * 3)
    assert [uploads.source(file).size for _ in range(2)] == [18, 18]
    file.seek(6)
    assert [uploads.source(file).size for _ in range(2)] == [12, 12]


PILLOW = [Image.new(mode, (5, 3)) for mode in ("RGB", "RGBA", "L", "1", "P", "CMYK", "HSV")]


@pytest.mark.parametrize("picture", [*PILLOW, Figure((0.05, 0.03), dpi=100)])
def test_a_pillow_image_or_figure_is_sent_as_png(picture: Any) -> None:
    file = uploads.source(picture)

    with file.open() as stream, Image.open(stream) as sent:
        assert (file.content_type, sent.size) == ("image/png", (5, 3))


def test_an_array_is_sent_while_another_thread_imports_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", ModuleType("PIL.Image"))

    assert uploads.source(np.ones((4, 4), "uint8")).content_type == "image/png"


def closed_picture() -> Any:
    with Image.open(io.BytesIO(png())) as picture:
        return picture


def closed_file() -> io.BytesIO:
    with io.BytesIO(png()) as file:
        return file


@pytest.mark.parametrize(
    ("medium", "message"),
    [
        (42, "not a int"),
        ("no-such-file.png", "there is no file 'no-such-file.png'"),
        ("~nobody-here/a.png", r"there is no file '(~|C:.*)nobody-here"),
        ("x" * 3000, "cannot be read: |there is no file 'x{200}'$"),
        (b"", "'upload' is empty"),
        (b"plain text", "not a picture, video or sound of a type that services take"),
        (io.StringIO("text"), "binary mode"),
        (closed_file(), "is closed: give its path, or reopen it"),
        (closed_picture(), "the picture cannot be read: its file is closed"),
        (np.zeros((2, 2, 7), "uint8"), r"not of shape \(2, 2, 7\)"),
        (np.full((2, 2), 2.0), "floats holds 0 to 1, not 2 to 2"),
        (np.full((2, 2), np.nan), "floats holds 0 to 1"),
        (np.full((2, 2), 256, "int64"), "whole numbers holds 0 to 255, not 256 to 256"),
        (np.zeros((2, 2), "complex64"), "not complex64"),
        (np.zeros((0, 2), "uint8"), r"not of shape \(0, 2\)"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_an_invalid_medium_is_reported(medium: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uploads.source(medium)


def test_one_medium_goes_to_the_first_media_parameter() -> None:
    assert list(uploads.sources(MODEL, png())) == ["picture"]
    assert [len(files) for files in uploads.sources(MODEL, [png(), png()]).values()] == [2]
    assert uploads.sources(MODEL, None) == {}
    assert uploads.sources(MODEL, {"picture": png(), "hints": None}).keys() == {"picture"}


def test_a_video_is_sent_as_a_sound_where_one_is_wanted() -> None:
    model = wire.Model(id="m", media_parameters=[wire.Parameter(name="voice", type="audio")])

    found = uploads.sources(model, b"....ftypqt  ....")["voice"][0]

    assert (found.kind, found.content_type) == ("audio", "audio/mp4")


def test_media_that_a_model_does_not_take_are_refused() -> None:
    with pytest.raises(ParameterError, match="'plain' takes no media"):
        uploads.sources(wire.Model(id="plain"), png())
    with pytest.raises(ParameterError, match="picture takes a medium of type image"):
        uploads.sources(MODEL, {"picture": wav()})


def test_an_invalid_file_name_is_refused_before_the_upload() -> None:
    named = io.BytesIO(png())
    named.name = "a\nb.png"
    ours = MODEL.model_copy(update={"pricing": wire.Rule(base=1)})

    with pytest.raises(ParameterError, match="fileName: may not hold path separators or control"):
        uploads.sources(ours, {"picture": named})
    named.seek(0)
    assert uploads.sources(MODEL, {"picture": named}).keys() == {"picture"}


def test_the_length_of_a_sound_is_read() -> None:
    assert float(uploads.source(wav()).seconds() or 0) == pytest.approx(1.5)
    broken = uploads.source(b"ID3 and nothing")
    assert broken.seconds() is None
    with pytest.raises(ConfigError, match="cannot be measured: it is cut off"):
        broken.measure()


# ── sending ───────────────────────────────────────────────────────────────────────────────────────

TICKET = Reply(
    201,
    {},
    json.dumps(
        {"uploadId": "u", "uploadUrl": "https://s.test/u", "requiredHeaders": {"A": "b"}}
    ).encode(),
)
FILE = uploads.source(png())


def test_an_upload_requests_a_ticket_and_uses_it(policy: Policy) -> None:
    steps, result = drive(uploads.upload("m", FILE, policy), TICKET, Reply(200))

    ticket, put = steps
    assert result == "u"
    assert ticket.call.body == {
        "fileName": "upload.png",
        "contentType": "image/png",
        "fileSizeBytes": len(png()),
        "modelId": "m",
    }
    assert (put.url, put.headers, put.size) == ("https://s.test/u", {"A": "b"}, len(png()))


@pytest.mark.parametrize("bad", [NoReply("gone"), Reply(503), Reply(500)])
def test_a_failed_put_is_repeated_with_a_new_ticket(bad: Any, policy: Policy) -> None:
    steps, result = drive(uploads.upload("m", FILE, policy), TICKET, bad, TICKET, Reply(200))

    assert result == "u"
    assert [type(step) for step in steps] == [
        SendRequest,
        UploadFile,
        Sleep,
        SendRequest,
        UploadFile,
    ]
    assert steps[0].headers["Idempotency-Key"] != steps[3].headers["Idempotency-Key"]


def test_a_ticket_is_requested_again_after_a_server_error(policy: Policy) -> None:
    broken = Reply(500, {}, b'{"error": {"code": "internal_error", "message": "oops"}}')

    _, result = drive(uploads.upload("m", FILE, policy), broken, TICKET, Reply(200))

    assert result == "u"


@pytest.mark.parametrize("number", [429, 503])
def test_an_upload_waits_as_long_as_a_busy_storage_asks(policy: Policy, number: int) -> None:
    busy = Reply(number, {"retry-after": "3"})

    steps, result = drive(uploads.upload("m", FILE, policy), TICKET, busy, TICKET, Reply(200))

    assert result == "u"
    assert [step.seconds for step in steps if isinstance(step, Sleep)] == [3.0]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            Reply(
                400,
                {},
                b'{"error": {"code": "validation_error", "message": "file: it is no PNG", '
                b'"details": [{"field": "file", "message": "it is no PNG"}]}}',
            ),
            "the file 'upload.png' was refused: it is no PNG",
        ),
        (
            Reply(403, {}, b'{"error": {"code": "access_denied", "message": "wrong length"}}'),
            "the file 'upload.png' was refused: wrong length",
        ),
        (
            Reply(403, {}, b"<Error><Code>AccessDenied</Code></Error>"),
            "the file 'upload.png' was refused: the service answered 403 Forbidden and gave no "
            "reason",
        ),
        (
            Reply(307, {"location": "https://elsewhere.test"}),
            "the file 'upload.png' did not arrive: its URL redirects, which is not followed",
        ),
        (
            Reply(502, {}, b"<html>"),
            "the file 'upload.png' did not arrive: the service answered 502 Bad Gateway and gave "
            "no reason",
        ),
        (NoReply("gone"), "the file 'upload.png' did not arrive: gone"),
    ],
)
def test_a_failed_upload_is_reported_with_its_cause_and_a_refused_one_not_repeated(
    policy: Policy, answer: Any, sentence: str
) -> None:
    steps, error = drive(uploads.upload("m", FILE, policy), *[TICKET, answer] * 5)

    assert isinstance(error, UploadError)
    assert str(error) == sentence
    is_final = getattr(answer, "status", 500) < 500
    assert (sum(isinstance(step, UploadFile) for step in steps) == 1) == is_final


def test_upload_references_have_the_shape_of_their_parameter(policy: Policy) -> None:
    media = {"picture": (FILE,), "hints": (FILE,)}

    _, references = drive(
        uploads.upload_all(MODEL, media, policy), TICKET, Reply(200), TICKET, Reply(200)
    )

    assert references == {"picture": "u", "hints": ["u"]}


def test_a_known_upload_is_used_again_for_the_same_content_and_type_only(policy: Policy) -> None:
    opened: list[bool] = []

    def open_file() -> io.BytesIO:
        opened.append(True)
        return io.BytesIO(png())

    picture = uploads.FileSource("a.png", "image/png", len(png()), open_file)
    known = {("m", "image/png", picture.sha256()): "earlier", ("m", "image/png", "b"): "other"}
    _, references = drive(uploads.upload_all(MODEL, {"picture": (picture,)}, policy, known=known))
    assert (references, len(opened)) == ({"picture": "earlier"}, 1)  # it is hashed once

    media = {"picture": (replace(picture, content_type="image/webp"),)}
    _, references = drive(
        uploads.upload_all(MODEL, media, policy, known=known), TICKET, Reply(200, sha256="c")
    )
    assert references == {"picture": "u"}
    assert known["m", "image/webp", "c"] == "u"


def test_upload_progress_is_reported(policy: Policy) -> None:
    media = {"picture": (FILE,), "hints": (FILE,)}
    progress: list[tuple[str, float]] = []
    flow = uploads.upload_all(MODEL, media, policy, lambda *update: progress.append(update))
    step = next(flow)
    for _ in range(2):
        put = flow.send(TICKET)
        assert isinstance(put, UploadFile)
        put.on_sent(put.size // 2)
        put.on_sent(put.size)
        try:
            step = flow.send(Reply(200))
        except StopIteration:
            step = None  # type: ignore[assignment]

    assert step is None
    assert [name for name, _ in progress] == ["upload.png"] * 4
    assert [share for _, share in progress] == pytest.approx([0.25, 0.5, 0.75, 1.0], abs=0.01)


def test_an_upload_with_a_wrong_hash_is_repeated(policy: Policy) -> None:
    wrong = Reply(200, {}, b'{"sha256": "beef"}', sha256="cafe")
    right = Reply(200, {}, b'{"sha256": "CAFE"}', sha256="cafe")

    steps, result = drive(uploads.upload("m", FILE, policy), TICKET, wrong, TICKET, right)

    assert result == "u"
    assert sum(isinstance(step, UploadFile) for step in steps) == 2


# ── files of other types ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shape", [(3, 5), (3, 5, 1), (3, 5, 3), (3, 5, 4)])
@pytest.mark.parametrize(
    "white",
    [np.uint8(255), np.uint16(65535), np.True_, np.int64(255), np.float32(1), np.float64(1)],
)
def test_an_array_is_sent_as_png(shape: tuple[int, ...], white: np.generic) -> None:
    file = uploads.source(np.full(shape, white))

    with file.open() as stream, Image.open(stream) as picture:
        assert (picture.format, picture.size) == ("PNG", (5, 3))
        assert picture.convert("L").getextrema() == (255, 255)


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [("bmp", "png"), ("tiff", "png"), ("tga", "png"), ("qoi", "png"), ("avif", "jpeg")],
)
def test_a_picture_of_another_format_is_converted(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"lake.{suffix}"
    Image.new("RGB", (5, 4), "teal").save(path)

    file = uploads.source(path)

    assert (file.name, file.content_type) == (f"lake.{kind.replace('e', '')}", f"image/{kind}")
    with file.open() as stream, Image.open(stream) as picture:
        assert picture.size == (5, 4)
        assert picture.getpixel((2, 2)) == pytest.approx((0, 128, 128), abs=1)


def test_an_opened_picture_is_sent_upright_and_a_rotated_one_as_it_is(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (5, 3)).save(tmp_path / "a.jpg", exif=exif)
    with Image.open(tmp_path / "a.jpg") as opened:
        for picture in (opened, opened.rotate(90, expand=True)):
            assert Image.open(uploads.source(picture).open()).size == (3, 5)


def make_cmyk_profile() -> bytes:
    """Return a CMYK profile that shows only black. Source: ICC.1:2001-04, 6."""
    kind = (0x2400000, b"prtr", b"CMYK", b"Lab ", b"acsp", 63190, 65536, 54061)
    table = struct.pack(
        ">4s4x4B9i", b"mft1", 4, 3, 2, 0, 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 16
    )
    corners = b"\xff\x80\x80\x00\x80\x80" * 8
    table += bytes(range(256)) * 4 + corners + bytes(range(256)) * 3
    head = struct.pack(">I4xI4s4s4s12x4s28x3i48x", 144 + len(table), *kind)
    return head + struct.pack(">I4sII", 1, b"A2B0", 144, len(table)) + table


@pytest.mark.parametrize(("profile", "shown"), [(make_cmyk_profile(), 255), (None, 0), (b"?", 0)])
def test_a_cmyk_picture_is_converted_with_its_profile(
    tmp_path: Path, profile: bytes | None, shown: int
) -> None:
    path = tmp_path / "a.tiff"
    Image.new("CMYK", (5, 4), (255, 0, 0, 0)).save(path, icc_profile=profile)

    with uploads.source(path).open() as stream, Image.open(stream) as picture:
        assert picture.mode == "RGB"
        assert abs(picture.getpixel((2, 2))[0] - shown) <= 1


@pytest.mark.parametrize(
    ("picture", "tags", "message"),
    [
        (np.full((4, 5), 0.5, np.float32), {}, "8 or 16 bits"),
        (np.zeros((4, 5, 3), np.uint8), {254: 1}, "nothing installed here can read"),  # a raw file
    ],
)
def test_a_picture_that_would_be_sent_wrong_is_refused(
    tmp_path: Path, picture: np.ndarray, tags: dict[int, int], message: str
) -> None:
    path = tmp_path / "a.tiff"
    Image.fromarray(picture).save(path, tiffinfo=tags)

    with pytest.raises(ParameterError, match=message):
        uploads.source(path)


@pytest.mark.parametrize("brand", [b"heic", b"heix", b"mif1"])
def test_an_unreadable_heic_file_is_not_sent_as_video(tmp_path: Path, brand: bytes) -> None:
    path = tmp_path / "a.heic"
    path.write_bytes(b"\0\0\0\x18ftyp" + brand + b"0" * 100)

    hint = "nothing installed here can read" if has_heic() else "pip install"
    with pytest.raises(ParameterError, match=f"'a.heic' is of type image/heic.*{hint}.*save it"):
        uploads.source(path)


@pytest.mark.parametrize(
    "url", ["ftp://a.test/b.png?sig=secret", "s3://bucket/b.png", "data:image/png;base64,aa"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_an_unsupported_url_is_refused(url: str, kind: Any) -> None:
    with pytest.raises(ParameterError, match="is an address that is not fetched") as caught:
        uploads.source(kind(url))

    assert "secret" not in str(caught.value)


def test_a_path_with_a_drive_letter_is_not_taken_as_a_url() -> None:
    with pytest.raises(ParameterError, match="there is no file"):
        uploads.source("C:/nowhere/b.png")
