from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from ipywidgets import HTML, Select
from PIL import Image

from kit import wire
from kit.errors import ParameterError, UploadError
from kit.widgets.form import Form
from kit.widgets.form.files import describe_drop_zone, explain_refusal, preview
from kit.widgets.form.parts import SHEET, WidgetFactory
from kit.widgets.form.picking import Picker, entries
from kit.widgets.form.uploads import Offer
from tests.widgets.drop_page import Page
from tests.widgets.forms import RULE, Api, Clock, click, control, model, note
from tests.widgets.tree import below, every, find, send, styled

PORTRAIT = wire.Parameter(name="portrait", type="image", media=True, required=True, max_items=2)
VOICE = wire.Parameter(name="voice", type="audio", media=True)
MODEL = model(
    supports_prompt=False,
    prompt_required=False,
    setting_parameters=[],
    media_parameters=[PORTRAIT, VOICE],
    pricing=wire.Rule(),
)


def picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (300, 200), "teal").save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook's folder: pictures, a sound, a subfolder, and files that no field takes."""
    here = tmp_path / "nb"
    (here / "faces").mkdir(parents=True)
    (here / "a face.png").write_bytes(picture())
    (here / "faces" / "b.png").write_bytes(picture())
    (here / "voice.mp3").write_bytes(b"ID3")
    (here / ".hidden.png").write_bytes(picture())
    (here / "notes.txt").write_text("x")
    (here / "empty.png").write_bytes(b"")
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def form(clock: Clock, api: Api, folder: Path) -> Form:
    form = Form(MODEL, service=api, background=clock.background)
    clock.run()
    return form


def widget(form: Form, path: str) -> Any:
    return form.fields[path].widget


def path_box(form: Form, path: str) -> Any:
    """The text box for a path."""
    return widget(form, path).box


def chips(form: Form, path: str = "mediaUploads.portrait") -> list[Any]:
    return list(styled(widget(form, path), "kit-chips").children)


def names(form: Form) -> list[str]:
    return [re.sub("<[^>]*>| ·.*", "", chip.children[0].value) for chip in chips(form)]


def press(form: Form, words: str) -> None:
    """Click the button with this tooltip."""
    next(one for one in below(form) if getattr(one, "tooltip", "") == words).click()


def page(form: Form, path: str, clock: Clock) -> Page:
    """A page that drops files on a field."""
    return Page(widget(form, path).children[1], clock.run)


def test_a_typed_path_becomes_a_chip_with_only_the_file_name(
    form: Form, clock: Clock, folder: Path
) -> None:
    box = path_box(form, "mediaUploads.portrait")
    box.value = str(folder / "a fa")
    clock.wait()
    assert "there is no file &#x27;a fa&#x27;" in note(form, "mediaUploads.portrait")
    assert chips(form) == []

    box.value = f'"{folder / "a face.png"}"'
    clock.wait()
    assert box.value == ""
    assert names(form) == ["a face.png"]
    assert str(folder) not in "".join(one.value for one in every(form, HTML))
    path_box(form, "mediaUploads.voice").value = "voice.mp3"  # used before it has become a chip

    assert form.value["media"] == {"portrait": ["a face.png"], "voice": ["voice.mp3"]}
    assert '"voice": "voice.mp3"' in form.code()


def test_chips_are_removed_and_reordered(form: Form, clock: Clock) -> None:
    control(form, "mediaUploads.portrait").value = ("a face.png", "faces/b.png")
    clock.run()
    assert [one.disabled for one in chips(form)[0].children[1:]] == [True, False, False]

    press(form, "Move b.png earlier")
    assert form.value["media"]["portrait"] == ["faces/b.png", "a face.png"]
    assert names(form) == ["b.png", "a face.png"]

    press(form, "Remove b.png")
    assert form.value["media"]["portrait"] == ["a face.png"]
    assert [one.tooltip for one in chips(form)[0].children[1:]] == ["Remove a face.png"]


def test_an_earlier_output_can_be_chosen_by_its_thumbnail(
    form: Form, api: Api, clock: Clock, folder: Path
) -> None:
    api.fetch_output = lambda facts: folder / "faces" / "b.png"  # type: ignore[method-assign]
    film = wire.Generation(id="gen_2", prompt="a film")
    api.results = [(wire.Generation(id="gen_1", prompt="a <lake>"), picture()), (film, b"")]
    find(widget(form, "mediaUploads.portrait"), "Earlier").click()
    clock.run()
    assert [one.description for one in styled(form, "kit-pictures").children[1:]] == ["", "a film"]
    sheet = styled(form, "kit-pictures").children[0].value
    assert "background-image:url(data:image/" in sheet

    press(form, "a <lake>")
    clock.run()

    assert form.value["media"]["portrait"] == ["faces/b.png"]
    assert names(form) == ["a &lt;lake&gt;"]
    assert not styled(form, "kit-opened").children
    with pytest.raises(StopIteration):
        find(widget(form, "mediaUploads.voice"), "Earlier")


def test_a_url_is_fetched_when_enter_is_pressed(
    form: Form, api: Api, clock: Clock, folder: Path
) -> None:
    fetched: list[str] = []

    def fetch(address: str) -> Path:
        fetched.append(address)
        if "gone" in address:
            raise UploadError("nobody is at gone.test")
        return folder / "a face.png"

    api.path = fetch  # type: ignore[method-assign]
    box = path_box(form, "mediaUploads.portrait")
    for address in ("https://gone.test/a.png", "https://host.test/a.png"):
        box.value = address
        clock.wait()
        assert "press Enter to fetch" in note(form, "mediaUploads.portrait")
        send(box, {"event": "submit"})
        clock.wait()
        if "gone" in address:
            assert "nobody is at gone.test" in note(form, "mediaUploads.portrait")

    assert fetched == ["https://gone.test/a.png", "https://host.test/a.png"]
    assert names(form) == ["a face.png"]
    assert box.value == ""


def test_an_earlier_output_that_was_deleted_is_reported(form: Form, api: Api, clock: Clock) -> None:
    def fail(_: wire.Generation) -> Path:
        raise UploadError("the output is gone")

    api.results = [(wire.Generation(id="gen_1"), picture())]
    api.fetch_output = fail  # type: ignore[method-assign]
    find(widget(form, "mediaUploads.portrait"), "Earlier").click()
    clock.run()
    press(form, "gen_1")
    clock.run()

    assert "the output is gone" in styled(form, "kit-opened").children[0].value


def test_an_unreadable_picture_is_reported_at_its_field_before_upload(
    form: Form, clock: Clock, folder: Path, api: Api
) -> None:
    (folder / "broken.png").write_bytes(b"no picture")
    control(form, "mediaUploads.portrait").value = ("broken.png",)
    clock.wait()

    assert "&#x27;broken.png&#x27; cannot be read as a picture" in note(
        form, "mediaUploads.portrait"
    )
    click(form, clock)
    assert api.requests == []

    (folder / "broken.png").write_bytes(picture())
    control(form, "mediaUploads.portrait").value = ()
    control(form, "mediaUploads.portrait").value = ("broken.png",)
    clock.wait()
    assert "cannot be read" not in note(form, "mediaUploads.portrait"), "the file was replaced"


@pytest.mark.parametrize(
    ("name", "kind"), [("a.jp2", "JPEG2000"), ("b.tga", "TGA"), ("c.png", "PPM")]
)
def test_a_picture_of_a_format_without_preview_is_accepted(
    form: Form, clock: Clock, folder: Path, name: str, kind: str
) -> None:
    Image.new("RGB", (30, 20), "teal").save(folder / name, kind)
    control(form, "mediaUploads.portrait").value = (name,)
    clock.wait()

    assert form.value["media"] == {"portrait": [name]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gone.png", "there is no file"),
        ("nowhere/a.png", "no file &#x27;a.png&#x27;, nor a folder &#x27;nowhere&#x27;"),
        ("faces", "&#x27;faces&#x27; is a folder: name a file in it"),
        ("~nobody-here/a.png", "nobody-here&#x27;</span>"),
        ("empty.png", "&#x27;empty.png&#x27; is empty"),
        ("notes.txt", "&#x27;notes.txt&#x27; is of type text/plain"),
        ("voice.mp3", "takes a picture, and &#x27;voice.mp3&#x27; is a sound"),
    ],
)
def test_a_wrong_path_is_reported_at_its_field_while_typing(
    form: Form, clock: Clock, text: str, sentence: str
) -> None:
    path_box(form, "mediaUploads.portrait").value = text
    clock.wait()

    assert sentence in note(form, "mediaUploads.portrait")
    with pytest.raises(ParameterError):
        form.submit()


def test_too_many_files_are_reported_at_the_field(form: Form, clock: Clock) -> None:
    control(form, "mediaUploads.portrait").value = ("a face.png", "faces/b.png", "a face.png")
    clock.wait()

    assert "holds 3 files, at most 2 are allowed" in note(form, "mediaUploads.portrait")


def test_media_given_as_bytes_become_a_file(clock: Clock, api: Api) -> None:
    form = Form(MODEL, {"media": picture()}, service=api, background=clock.background)

    (path,) = form.value["media"]["portrait"]

    assert Path(path).read_bytes() == picture()


def test_a_chosen_picture_has_a_thumbnail(form: Form, clock: Clock) -> None:
    control(form, "mediaUploads.portrait").value = ("a face.png",)
    clock.run()

    shown = chips(form)[0].children[0].value

    assert "data:image/" in shown
    assert "a face.png" in shown
    assert len(shown) < 20_000
    control(form, "mediaUploads.portrait").value = ()
    clock.run()
    assert chips(form) == []


def test_a_preview_of_a_short_sound_has_an_audio_player(folder: Path) -> None:
    (folder / "a&b.png").write_bytes(picture())

    assert "<audio controls" in preview(folder / "voice.mp3")
    assert "a&amp;b.png" in preview(folder / "a&b.png")


def test_dropped_files_are_stored_and_shown_as_chips(form: Form, clock: Clock) -> None:
    dropped = page(form, "mediaUploads.portrait", clock)

    assert dropped.drop(("one.png", picture()), type="image/png") == {"done": True}
    assert dropped.drop(("two.png", picture()), type="image/png") == {"done": True}

    stored = [Path(path) for path in form.value["media"]["portrait"]]
    assert [path.name for path in stored] == ["one.png", "two.png"]
    assert stored[0].read_bytes() == picture()
    assert names(form) == ["one.png", "two.png"]


def test_a_field_for_one_file_takes_the_last_dropped_file(form: Form, clock: Clock) -> None:
    dropped = page(form, "mediaUploads.voice", clock)

    dropped.drop(("one.mp3", b"ID3"))
    dropped.drop(("two.mp3", b"ID3"))

    assert [Path(path).name for path in form.value["media"]["voice"]] == ["two.mp3"]


def test_too_many_dropped_files_are_refused_before_they_are_sent(form: Form, clock: Clock) -> None:
    dropped = page(form, "mediaUploads.portrait", clock)
    control(form, "mediaUploads.portrait").value = ("a face.png", "faces/b.png")

    answer = dropped.drop(("c.png", picture()))

    assert answer == {"no": "one file and 2 chosen before: at most 2 are allowed"}
    assert dropped.sent == 1


MB = 1_000_000


@pytest.mark.parametrize(
    ("parameter", "offers", "sentence"),
    [
        (PORTRAIT, [Offer("a.png", "image/png", 1)], None),
        (PORTRAIT, [Offer("a.PNG", "", 50 * MB)], None),
        (PORTRAIT, [Offer("a face", "", 9)], None),
        (PORTRAIT, [Offer("a.bin", "application/octet-stream", 9)], None),
        (VOICE, [Offer("a.wav", "audio/x-wav", 100 * MB)], None),
        (VOICE, [Offer("a.mov", "video/quicktime", 9)], None),
        (PORTRAIT, [Offer("a.mp3", "", 9)], "takes a picture, and 'a.mp3' is a sound"),
        (PORTRAIT, [Offer("a.mp4", "video/mp4", 9)], "takes a picture, and 'a.mp4' is a video"),
        (VOICE, [Offer("a.pdf", "application/pdf", 9)], "'a.pdf' is of type application/pdf"),
        (PORTRAIT, [Offer("a.png", "", 9), Offer("b.png", "", 0)], "'b.png' is empty"),
        (
            PORTRAIT,
            [Offer("a.png", "", 50 * MB + 1)],
            "'a.png' has 50.0 MB, and a picture may have at most 50 MB",
        ),
        (PORTRAIT, [Offer("a.png", "", 9)] * 3, "3 files and 0 chosen before: at most 2"),
        (VOICE, [Offer("a.mp3", "", 9)] * 2, "takes one file, not 2"),
        (wire.Parameter(name="x", type="mesh", media=True), [Offer("a.obj", "", 10**12)], None),
    ],
)
def test_a_parameter_takes_files_of_its_type_and_size(
    parameter: wire.Parameter, offers: list[Offer], sentence: str | None
) -> None:
    found = explain_refusal(parameter, offers, chosen=0)

    assert found is None if sentence is None else sentence in (found or "")


@pytest.mark.parametrize(
    ("parameter", "offer", "sentence"),
    [
        (PORTRAIT, Offer("a.png", "image/png", 50 * MB + 1), None),
        (VOICE, Offer("a.mid", "audio/midi", 10**12), None),
        (PORTRAIT, Offer("scan.dcm", "application/dicom", 9), None),
        (PORTRAIT, Offer("a.mp4", "video/mp4", 9), "takes a picture, and 'a.mp4' is a video"),
        (PORTRAIT, Offer("a.png", "", 0), "'a.png' is empty"),
    ],
)
def test_limits_of_size_and_format_do_not_apply_to_other_services(
    parameter: wire.Parameter, offer: Offer, sentence: str | None
) -> None:
    assert explain_refusal(parameter, [offer], chosen=0, own=False) == sentence
    assert describe_drop_zone(parameter, own=False)["hint"] == ""


def test_a_form_shows_size_limits_of_our_service_only(clock: Clock, api: Api, folder: Path) -> None:
    for rule, hint in ((RULE, "up to 50 MB each"), (None, "")):
        changed = model(media_parameters=[PORTRAIT], pricing=rule)
        form = Form(changed, service=api, background=clock.background)
        assert widget(form, "mediaUploads.portrait").children[1].hint == hint


def test_a_drop_zone_describes_the_files_that_it_takes() -> None:
    assert describe_drop_zone(PORTRAIT) == {
        "call": "Drop pictures here, or",
        "accept": "image/*",
        "hint": "up to 50 MB each",
        "several": True,
    }
    assert describe_drop_zone(VOICE)["hint"] == "up to 100 MB"
    other = wire.Parameter(name="x", type="mesh", media=True)
    assert describe_drop_zone(other) == {
        "call": "Drop a file here, or",
        "accept": "",
        "hint": "",
        "several": False,
    }


def test_a_drop_zone_has_its_script_and_the_form_has_its_styles(form: Form) -> None:
    state = widget(form, "mediaUploads.portrait").children[1].get_state()

    assert "export default" in state["_esm"]
    assert ".kit-drop{" in SHEET
    assert state["label"] == "portrait"


def test_a_form_without_a_service_accepts_no_dropped_file(clock: Clock, folder: Path) -> None:
    form = Form(MODEL, background=clock.background)

    answer = page(form, "mediaUploads.portrait", clock).drop(("x.png", b"1"))

    assert answer == {"no": "this form has no place for files"}


def test_a_dropped_file_that_cannot_be_stored_is_reported(api: Api, clock: Clock) -> None:
    def fail(name: str, content: bytes | memoryview, settle: Any = None) -> Path:
        raise UploadError("the disk is full")

    api.save = fail  # type: ignore[method-assign]
    form = Form(MODEL, service=api, background=clock.background)
    answer = page(form, "mediaUploads.portrait", clock).drop(("x.png", b"1"))

    assert answer == {"no": "The file was not kept: the disk is full"}
    assert form.value["media"] == {}


def choose(form: Form, path: str, clock: Clock, *entries: str) -> None:
    """Open the file browser, and choose one entry after another."""
    find(widget(form, path), "Browse").click()
    clock.run()
    for entry in entries:
        (listing,) = every(widget(form, path), Select)
        listing.value = dict(listing.options)[entry]
        find(widget(form, path), "Choose").click()


def test_a_file_can_be_chosen_from_the_folders_of_the_kernel(form: Form, clock: Clock) -> None:
    choose(form, "mediaUploads.portrait", clock)
    (listing,) = every(widget(form, "mediaUploads.portrait"), Select)
    assert tuple(label for label, _ in listing.options) == (
        "⬑ ..", "faces/", "a face.png", "empty.png"
    )  # fmt: skip
    find(widget(form, "mediaUploads.portrait"), "Browse").click()
    assert every(widget(form, "mediaUploads.portrait"), Select) == []

    choose(form, "mediaUploads.portrait", clock, "faces/", "b.png")

    assert form.value["media"] == {"portrait": ["faces/b.png"]}
    assert every(widget(form, "mediaUploads.portrait"), Select) == []


def test_an_unreadable_folder_is_reported_and_not_opened(folder: Path) -> None:
    picker = Picker(WidgetFactory(), "image", lambda _: None)

    picker.open(folder / "gone")

    assert "cannot be read" in picker.widget.children[0].value
    assert picker.folder == folder


def test_folders_are_listed_first_and_hidden_files_are_not_listed(folder: Path) -> None:
    assert [path.name for path in entries(folder, "image")] == ["faces", "a face.png", "empty.png"]
    assert [path.name for path in entries(folder, "audio")] == ["faces", "voice.mp3"]
    assert len(entries(folder, "")) == 5
