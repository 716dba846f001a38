from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image, ImageCms

from kit.widgets import media
from tests.engines.films import rotate


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    rng = np.random.default_rng(1)
    return Image.fromarray(rng.integers(0, 256, (height, width, 3), "uint8")).convert(mode)


def encode(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def decode(address: str) -> tuple[str, bytes]:
    match = re.fullmatch(r"data:([\w/]+);base64,([\w+/=]+)", address)
    assert match
    return match[1], base64.b64decode(match[2])


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "cache" / "abc.mp4"
    path.parent.mkdir()
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 90, "uint8"), format="rgb24")
        for _ in range(3):
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_small_picture_is_embedded_unchanged(kind: str) -> None:
    content = encode(Image.new("RGB", (9, 9), "teal"), kind)

    assert decode(media.picture(content)) == (f"image/{kind.lower()}", content)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "CMYK"])
def test_a_big_picture_gets_a_bounded_preview(mode: str) -> None:
    kind, content = decode(media.picture(encode(noise(900, 700, mode), "TIFF")))

    with Image.open(io.BytesIO(content)) as shown:
        assert kind == "image/webp"
        assert shown.width <= media.WIDTH
        assert shown.width / shown.height == pytest.approx(9 / 7, abs=0.01)
    assert len(content) <= media.IMAGE_LIMIT


def test_a_preview_is_upright_and_in_the_colors_of_its_profile() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    swapped = b"gXYZ".join(part.replace(b"gXYZ", b"rXYZ") for part in profile.split(b"rXYZ"))
    red = Image.new("RGB", (900, 700), "red")
    content = encode(red, "JPEG", exif=exif, icc_profile=swapped)

    with Image.open(io.BytesIO(decode(media.picture(content, limit=500))[1])) as shown:
        assert shown.width < shown.height
        assert shown.getpixel((9, 9)) == pytest.approx((0, 255, 0), abs=9)


def test_the_first_frame_of_a_phone_video_is_upright(video: Path) -> None:
    content = media.first_frame(rotate(video, 90))

    assert content
    assert Image.open(io.BytesIO(content)).size == (48, 64)


def test_a_poster_of_noise_stays_below_the_size_limit() -> None:
    _, content = decode(media.picture(encode(noise(1920, 1080)), limit=media.POSTER_LIMIT))

    assert len(content) <= media.POSTER_LIMIT


def test_a_picture_is_embedded_in_the_html(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(encode(Image.new("RGB", (9, 9))))

    html = media.html(path, name="x", title='a "lake"')

    assert html.startswith('<img src="data:image/png;base64,')
    assert 'alt="a &quot;lake&quot;"' in html
    assert str(tmp_path) not in html


@pytest.mark.parametrize("fit", [None, media.Fit(embed=10)])
def test_a_video_is_shown_from_a_copy_beside_the_notebook(
    video: Path, tmp_path: Path, fit: media.Fit | None
) -> None:
    html = media.html(video, name="gen_1", title="a <lake>", folder=tmp_path, fit=fit)

    assert '<video src="outputs/gen_1.mp4" poster="data:image/jpeg;base64,' in html
    assert 'title="a &lt;lake&gt;" controls preload="none"' in html
    assert "<source" not in html
    assert str(tmp_path) not in html
    assert (tmp_path / "outputs" / "gen_1.mp4").read_bytes() == video.read_bytes()


def test_a_given_poster_is_used(video: Path, tmp_path: Path) -> None:
    poster = encode(Image.new("RGB", (9, 9), "red"), "JPEG")

    html = media.html(video, name="g", poster=poster, folder=tmp_path)

    assert f'poster="{media.picture(poster)}"' in html


def test_a_file_name_cannot_escape_its_folder(video: Path, tmp_path: Path) -> None:
    html = media.html(video, name='../../a"b', folder=tmp_path / "nb")

    assert 'src="outputs/______a_b.mp4"' in html
    assert [p.name for p in (tmp_path / "nb" / "outputs").iterdir()] == ["______a_b.mp4"]


@pytest.mark.parametrize(
    ("mode", "color", "band", "level"), [("RGBA", (9, 9, 9, 0), "A", 0), ("I;16", 32896, "L", 128)]
)
def test_a_preview_keeps_transparency_and_16_bits(
    mode: str, color: Any, band: str, level: int
) -> None:
    _, content = decode(media.picture(encode(Image.new(mode, (3000, 2000), color), "TIFF")))

    with Image.open(io.BytesIO(content)) as shown:
        assert shown.convert("LA").getchannel(band).getextrema() == (level, level)


def test_a_short_video_can_be_embedded(video: Path, tmp_path: Path) -> None:
    html = media.html(video, name="g", folder=tmp_path, fit=media.Fit(embed=10_000_000))

    address = re.search(r'<video src="([^"]+)"', html)
    assert address
    assert decode(address[1]) == ("video/mp4", video.read_bytes())
    assert not (tmp_path / "outputs").exists()


WEBM = b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84"


@pytest.mark.parametrize("name", ["x.php", "x", "x.bin"])
@pytest.mark.parametrize(
    ("head", "ending"),
    [
        (b"\0\0\0\x20ftypisom", ".mp4"),
        (WEBM + b"webm", ".webm"),
        (WEBM + b"matroska", ".mkv"),
        *((head, "") for head in (b"\0\0\0\x1cftypavif", b"\0\0\0\x20ftypM4A ", b"\x89PNG", b"")),
    ],
)
def test_a_video_without_extension_is_recognized_by_its_content(
    tmp_path: Path, name: str, head: bytes, ending: str
) -> None:
    path = tmp_path / name
    path.write_bytes(head + bytes(52))

    assert media.is_video(path) == bool(ending)
    if ending:
        assert f'<video src="outputs/clip{ending}"' in media.html(
            path, name="clip", folder=tmp_path
        )
        assert (tmp_path / "outputs" / f"clip{ending}").exists()


@pytest.mark.parametrize("content", ["nothing", "ffconcat version 1.0\nfile abc.mp4\n"])
def test_a_text_or_playlist_named_like_a_video_is_not_opened(video: Path, content: str) -> None:
    other = video.with_name("other.mp4")
    other.write_text(content)

    assert media.first_frame(other) is None
    assert " poster=" not in media.html(other, name="x", folder=video.parent)


def test_a_picture_of_an_unsupported_format_is_not_opened() -> None:
    image = noise(700, 700)

    assert media.picture(encode(image, "JPEG"), width=100)
    with pytest.raises(OSError, match="cannot identify"):
        media.picture(encode(image, "PPM"), width=100)
