"""Uploads from the browser: large files, dropped files, refused files, interrupted uploads."""

import base64
import hashlib
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook
from tests.client.third_party import png

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = ("import kit\nstudio = kit.connect()", 'clay = studio.form("clay")\nclay')
DROP = """(zone, [name, type, content]) => {
    const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
    const carried = new DataTransfer();
    carried.items.add(new File([bytes], name, { type }));
    for (const kind of ['dragenter', 'dragover', 'drop']) {
        const options = { dataTransfer: carried, bubbles: true, cancelable: true };
        zone.dispatchEvent(new DragEvent(kind, options));
    }
}"""
#: Script that delays reading each piece, so that the upload can be interrupted.
SLOW = """() => {
    const read = Blob.prototype.arrayBuffer;
    change(Blob.prototype, 'arrayBuffer', { async value() {
        await new Promise(resolve => setTimeout(resolve, 2500));
        return read.call(this);
    } });
}"""
WIDEST = """zone => {
    const card = zone.closest('.kit-form');
    const edges = [...card.querySelectorAll('.kit-fields > *, .kit-drop')]
        .map(part => part.getBoundingClientRect().right);
    return Math.max(...edges) - card.getBoundingClientRect().right;
}"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The user's folder with files to upload."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name, megabytes in (("short.wav", 12), ("long.wav", 24)):
        (folder / name).write_bytes(os.urandom(megabytes * 1_000_000))
    with (folder / "huge.png").open("wb") as file:
        file.truncate(51_000_000)
    (folder / "notes.txt").write_text("a lake")
    return folder


def zone(notebook: Notebook, label: str) -> Locator:
    return notebook.page.get_by_role("group", name=f"Upload: {label}")


def choose(notebook: Notebook, label: str, path: Path) -> None:
    """Choose a file with the keyboard."""
    button = zone(notebook, label).get_by_role("button", name="Choose")
    with notebook.page.expect_file_chooser() as chooser:
        button.press("Enter")
    chooser.value.set_files(path)


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stored_files(tmp_path: Path) -> dict[str, str]:
    """Return the names and hashes of the files in the upload folder."""
    found = (tmp_path / "data" / "notebook" / "uploads").rglob("*")
    return {path.name: digest(path) for path in found if path.is_file()}


def test_files_of_any_size_are_uploaded_and_used(
    notebook: Notebook, files: Path, tmp_path: Path
) -> None:
    portrait, voice = zone(notebook, "portrait"), zone(notebook, "voice")
    chip = notebook.page.locator(".kit-chip")
    edge = portrait.evaluate(WIDEST)
    assert edge <= 0, f"something is {edge} pixels outside the card"

    for name in ("short.wav", "long.wav"):
        choose(notebook, "voice", files / name)
        expect(voice.get_by_role("progressbar")).to_be_visible()
        expect(voice.get_by_role("status")).to_have_text(f"Arrived: {name}")
        expect(chip).to_contain_text(f"{name} · ")
    assert stored_files(tmp_path) == {n: digest(files / n) for n in ("short.wav", "long.wav")}
    notebook.page.get_by_role("button", name="Remove long.wav").click()
    expect(chip).to_have_count(0)

    # a file that the field does not take is reported before it is sent
    choose(notebook, "portrait", files / "huge.png")
    expect(portrait.get_by_role("alert")).to_contain_text("'huge.png' has 51.0 MB")
    choose(notebook, "portrait", files / "notes.txt")
    expect(portrait.get_by_role("alert")).to_have_text(
        "takes a picture, and 'notes.txt' is of type text/plain"
    )
    check_part(notebook, "upload-refused", ".kit-form")
    assert set(stored_files(tmp_path)) == {"short.wav", "long.wav"}

    portrait.evaluate(DROP, ["my face.png", "image/png", base64.b64encode(png()).decode()])
    expect(notebook.page.locator(".kit-file img")).to_be_visible()
    check_part(notebook, "upload", ".kit-form")
    notebook.page.get_by_role("button", name="Generate").click()
    expect(
        notebook.page.locator(".kit-result").get_by_text("completed", exact=True).first
    ).to_be_visible()

    notebook.save()
    saved = (notebook.lab.root / notebook.path).read_text(encoding="utf-8")
    assert len(saved) < 40_000


def test_an_interrupted_upload_is_reported_and_leaves_no_file(
    notebook: Notebook, files: Path, tmp_path: Path
) -> None:
    voice, page = zone(notebook, "voice"), notebook.page
    bar = voice.get_by_role("progressbar")
    notebook.save()  # otherwise there is no form after a reload
    page.evaluate(SLOW)

    choose(notebook, "voice", files / "long.wav")
    expect(voice).to_contain_text("4.2 of 24.0 MB · 17 %")
    check_part(notebook, "upload-running", ".kit-form")
    voice.get_by_role("button", name="Cancel").click()
    expect(voice.get_by_role("alert")).to_have_text("Canceled.")
    expect(voice.get_by_role("button", name="Choose")).to_be_focused()

    choose(notebook, "voice", files / "long.wav")
    expect(bar).to_be_visible()
    page.reload()
    expect(voice.get_by_role("alert")).to_contain_text("long.wav did not arrive")
    page.evaluate(SLOW)

    choose(notebook, "voice", files / "long.wav")
    expect(bar).to_be_visible()
    page.evaluate(f"() => {{ {Notebook.KERNEL}.restart(); }}")
    expect(voice.get_by_role("alert")).to_contain_text("The kernel was restarted")
    assert stored_files(tmp_path) == {}


CHOSEN = (
    "import kit\nstudio = kit.connect()\n"
    'made = [studio.generate("poster", p, size=512, seed=3) for p in ("a lake", "a red hill")]\n'
    'made[0].save("own picture.png")\nopen("broken.png", "w").write("no picture")',
    'clay = studio.form("clay")\nclay',
    'print([p.rpartition("/")[2] for p in clay.value["media"].get("portrait", ())])',
)


def test_files_are_typed_chosen_by_thumbnail_ordered_and_removed(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *CHOSEN) as notebook:
        notebook.run_all()
        form = notebook.page.locator(".kit-form")
        box, chips = form.get_by_label("portrait *", exact=True), form.locator(".kit-chip")
        alert = form.get_by_role("alert")

        # problems are reported while typing
        box.press_sequentially("own picture", delay=20)
        expect(alert.filter(has_text="there is no file 'own picture'")).to_be_visible()
        expect(box).to_have_attribute("aria-invalid", "true")
        box.fill("https://127.0.0.1/lake.png")
        expect(alert.filter(has_text="press Enter to fetch it")).to_be_visible()
        box.press("Enter")
        expect(alert.filter(has_text="private")).to_be_visible()
        box.fill("broken.png")
        expect(chips).to_have_count(1)
        expect(alert.filter(has_text="'broken.png' cannot be read as a picture")).to_be_visible()
        check_part(notebook, "files-broken", ".kit-form")
        form.get_by_role("button", name="Remove broken.png").click()
        expect(alert.filter(has_text="is required")).to_be_visible()
        box.fill(str(notebook.lab.root / "own picture.png"))
        expect(chips).to_contain_text(["own picture.png"])
        expect(box).to_have_value("")
        expect(form.locator(".kit-file img")).to_be_visible()

        # earlier results are chosen by their thumbnails
        form.get_by_role("button", name="Earlier").first.click()
        expect(form.locator(".kit-earlier")).to_have_count(2)
        check_part(notebook, "files-earlier", ".kit-form")
        form.get_by_role("button", name="a red hill").click()
        expect(chips).to_contain_text(["own picture.png", "a red hill"])
        expect(form.locator(".kit-earlier")).to_have_count(0)

        # the order is changed by keyboard, and the focus stays
        up = form.get_by_role("button", name="Move a red hill earlier")
        up.focus()
        notebook.page.keyboard.press("Enter")
        expect(chips).to_contain_text(["a red hill", "own picture.png"])
        expect(form.locator(":focus")).to_have_count(1)
        check_part(notebook, "files", ".kit-form")
        expect(form).not_to_contain_text(str(notebook.lab.root))
        form.get_by_role("button", name="Generate").click()
        expect(form.get_by_text("completed", exact=True)).to_be_visible()
        form.get_by_role("button", name="Remove a red hill").click()
        expect(chips).to_have_count(1)
        expect(form.locator(":focus")).to_have_count(1)
        notebook.page.locator(".jp-Notebook .jp-Cell").nth(2).click()
        notebook.command("notebook:run-cell")
        expect(notebook.output(2)).to_contain_text("['own picture.png']")
        assert notebook.errors() == []
