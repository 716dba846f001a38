"""Small files that would keep a decoder busy: they are refused early or after a time limit."""

import io
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

import httpx
from PIL import Image

from tests.conftest import ALL_SCOPES, Service
from tests.uploading import create_ticket, png, put_file, upload_file
from tests.waiting import balance, until


def encode(form: str, side: int = 8, **options: object) -> bytes:
    """Return a picture of one color."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), "teal").save(file, form, **options)
    return file.getvalue()


def scans(count: int, side: int = 8) -> bytes:
    """Return a progressive JPEG that repeats its last scan."""
    content = encode("JPEG", side, progressive=True)
    last = content[content.rindex(b"\xff\xc4") : -2]
    return content[:-2] + last * (count - content.count(b"\xff\xda")) + b"\xff\xd9"


def segments(count: int, size: int = 2) -> bytes:
    """Return a JPEG with a number of segments of a size that look like Exif data."""
    content, head = encode("JPEG"), b"\xff\xe1" + struct.pack(">H", size)
    return content[:2] + (head + b"Exif\0\0".ljust(size, b"x")[: size - 2]) * count + content[2:]


def padded(count: int) -> bytes:
    """Return a JPEG with a number of fill bytes before its first segment."""
    content = encode("JPEG")
    return content[:3] + b"\xff" * count + content[3:]


def chunks(count: int) -> bytes:
    """Return a PNG with a number of empty chunks."""
    content, empty = encode("PNG"), struct.pack(">I4sI", 0, b"abCd", zlib.crc32(b"abCd"))
    return content[:33] + empty * count + content[33:]


def blocks(count: int) -> bytes:
    """Return a GIF with a number of extensions."""
    content = encode("GIF")
    at = content.index(b",", 13)
    return content[:at] + b"!\xf9\x04\0\0\0\0\0" * count + content[at:]


def frames(form: str, count: int) -> bytes:
    """Return an animation of a number of pictures."""
    colors = [Image.new("RGB", (1, 1), (i % 256, i // 256, 0)) for i in range(1, count)]
    return encode(form, 1, save_all=True, append_images=colors, lossless=True)


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "scans": ("image/jpeg", lambda: scans(101), "more than 100 scans"),
    "segments": ("image/jpeg", lambda: segments(4001), "more than 4,000 segments"),
    "Exif": ("image/jpeg", lambda: segments(760, 65_535), "16,777,216 bytes beside its picture"),
    "padding": ("image/jpeg", lambda: padded(1 << 17), "65,536 bytes between its segments"),
    "chunks": ("image/png", lambda: chunks(100_000), "more than 100,000 chunks"),
    "blocks": ("image/gif", lambda: blocks(20_000), "more than 20,000 blocks"),
    "GIF frames": ("image/gif", lambda: frames("GIF", 601), "more than 600 frames"),
    "PNG frames": ("image/png", lambda: frames("PNG", 601), "more than 600 frames"),
    "WebP frames": ("image/webp", lambda: frames("WEBP", 601), "more than 600 frames"),
}


def test_a_file_with_too_many_parts_is_refused(http: httpx.Client) -> None:
    for name, (kind, make, sentence) in BOMBS.items():
        content = make()
        answer = put_file(create_ticket(http, content, kind), content)

        assert answer.status_code == 400, name
        assert sentence in answer.json()["error"]["message"], name
    assert balance(http) == 100


def test_a_file_with_many_parts_is_accepted(http: httpx.Client) -> None:
    for kind, content in (
        ("image/jpeg", scans(100)),
        ("image/jpeg", segments(1000)),
        ("image/jpeg", segments(200, 65_535)),
        ("image/png", chunks(90_000)),
        ("image/gif", blocks(1000)),
        ("image/gif", frames("GIF", 600)),
    ):
        upload_file(http, content, kind)


def make_slow_flac() -> bytes:
    """Return a FLAC file whose tags take a decoder a minute or more."""
    tags = b"".join(struct.pack("<I", 9) + b"%07d=a" % number for number in range(600_000))
    block = struct.pack("<II", 0, 600_000) + tags
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + (48_000 << 44 | 15 << 36).to_bytes(8, "big")
    head = b"fLaC\0" + struct.pack(">I", 34)[1:] + info + bytes(16)
    return head + b"\x84" + struct.pack(">I", len(block))[1:] + block


@contextmanager
def attack(http: httpx.Client, content: bytes, kind: str) -> Iterator[None]:
    """Upload a file repeatedly from several threads."""
    over = False

    def send() -> None:
        while not over:
            answer = put_file(create_ticket(http, content, kind), content)
            assert answer.status_code == 400
            assert "takes longer than 2 s" in answer.json()["error"]["message"]

    with ThreadPoolExecutor(3) as threads:
        sent = [threads.submit(send) for _ in range(3)]
        try:
            yield
        finally:
            over = True
        for one in sent:
            one.result()


def test_uploads_of_another_account_are_not_delayed_by_bombs(
    start_service: Callable[..., Service],
) -> None:
    service = start_service(inspection_seconds=2.0)
    times = []
    with (
        service.client(service.key(service.account(), *ALL_SCOPES)) as attacker,
        service.client(service.key(service.account(), *ALL_SCOPES)) as victim,
        attack(attacker, make_slow_flac(), "audio/flac"),
    ):
        until(lambda: list(service.settings.scratch.glob("*.part")))
        for _ in range(6):
            started = time.monotonic()
            upload_file(victim, png())
            times.append(time.monotonic() - started)
            time.sleep(0.5)

    assert median(times) < 2, times
