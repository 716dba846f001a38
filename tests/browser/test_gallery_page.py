"""The gallery page of examples in a browser, opened as a file."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from kit import wire
from kit.commands.gallery.page import Card, CardMedium, page
from kit.commands.gallery.plan import Example
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.sound import Sound

pytestmark = pytest.mark.browser
# A browser shares few processors with the other tests.
expect.set_options(timeout=30_000)

WIDTHS = (1400, 1000, 720, 380)
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
MODELS = 16
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def gallery_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the pictures of one model and the videos of many."""
    folder = tmp_path_factory.mktemp("gallery")
    tone = np.sin(np.arange(48_000) / 40).astype(np.float32)[None] * 0.1
    with Clip(folder / "a.webm", 64, 36, fps=10, codec="vp9", sound=Sound.of(tone)) as clip:
        for shade in range(10):
            clip.add(rgb_frame(np.full((36, 64, 3), shade * 25, np.uint8)))
    still = CardMedium(kind="image", width=1, height=1, picture=DOT)
    film = CardMedium(kind="video", width=64, height=36, picture=DOT, file="a.webm", sound=True)
    voice = CardMedium(kind="audio", file="voice.m4a")
    edits = wire.Model(id="edits", title="Edits", asset_type="image")
    cards = [Card(example=Example(model=edits, media={"image": ("picture",)}), medium=still)]
    for number in range(1, MODELS):
        model = wire.Model(
            id=f"film-{number}", title=f"A model of films, {number}", asset_type="video"
        )
        cards += [Card(example=Example(model=model), medium=film)] * 3
    path = folder / "page.html"
    path.write_text(page(cards, {"picture": still, "voice": voice}), encoding="utf-8")
    return path


@pytest.fixture
def open_page(browser: Browser, gallery_page: Path) -> Iterator[Open]:
    """Return a function that opens the page; it must request no other host and cause no error."""
    messages: list[str] = []
    urls: list[str] = []
    contexts: list[BrowserContext] = []

    def visit(width: int = 1400, *, part: str = "", **how: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **how)  # type: ignore[arg-type]
        contexts.append(context)
        view = context.new_page()
        view.on("console", lambda message: messages.append(message.text))
        view.on("pageerror", lambda error: messages.append(str(error)))
        view.on("request", lambda request: urls.append(request.url))
        view.goto(gallery_page.as_uri() + part)
        return view

    yield visit
    for context in contexts:
        context.close()
    assert messages == []
    assert {url.partition(":")[0] for url in urls} <= {"file", "data"}


def scroll_to(view: Page, part: str) -> None:
    """Scroll to a part at once: an interrupted smooth scroll would end anywhere."""
    view.locator(f"#{part}").evaluate("part => part.scrollIntoView({ behavior: 'instant' })")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_model_is_linked_and_nothing_overflows_the_page(open_page: Open, width: int) -> None:
    view = open_page(width)
    if width < 1088:
        view.locator("nav summary").click()

    links = view.locator("nav a")
    assert links.count() == MODELS + 1
    for link in links.all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert view.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1400, 380])
def test_the_visible_model_is_marked_in_the_menu(open_page: Open, width: int) -> None:
    view = open_page(width, part="#model-film-5")

    here = view.locator("nav a[aria-current]")
    expect(here).to_have_count(1)
    expect(here).to_have_text("A model of films, 5")
    if width == 380:
        expect(view.locator("nav .here")).to_have_text("A model of films, 5")


def test_the_menu_of_a_narrow_page_closes_when_a_model_is_chosen(open_page: Open) -> None:
    view = open_page(380)
    menu = view.locator("nav details")
    expect(menu).not_to_have_attribute("open", "")

    view.locator("nav summary").click()
    view.get_by_role("link", name="A model of films, 9").click()

    expect(menu).not_to_have_attribute("open", "")
    expect(view.locator("nav .here")).to_have_text("A model of films, 9")


def test_videos_play_muted_while_visible_and_stop_out_of_sight(open_page: Open) -> None:
    view = open_page(part="#model-film-1")
    video = view.locator("#model-film-1 video").first

    expect(view.locator("#model-film-1 .playing")).to_have_count(3)
    assert video.evaluate("video => [video.muted, video.controls]") == [True, False]

    scroll_to(view, "model-film-12")
    expect(view.locator("#model-film-12 .playing")).to_have_count(3)
    expect(view.locator("#model-film-1 .playing")).to_have_count(0)

    scroll_to(view, "model-film-1")
    expect(view.locator("#model-film-1 .playing")).to_have_count(3)


def test_a_video_that_was_paused_by_the_user_stays_paused(open_page: Open) -> None:
    view = open_page(part="#model-film-1")
    video = view.locator("#model-film-1 video").first
    expect(view.locator("#model-film-1 .playing")).to_have_count(3)

    video.evaluate("video => video.pause()")
    expect(view.locator("#model-film-1 .held")).to_have_count(1)
    scroll_to(view, "model-film-12")
    expect(view.locator("#model-film-12 .playing")).to_have_count(3)
    scroll_to(view, "model-film-1")

    expect(view.locator("#model-film-1 .playing")).to_have_count(2)
    view.locator("#model-film-1 .play").first.click()
    expect(view.locator("#model-film-1 .playing")).to_have_count(3)


def test_controls_are_shown_on_hover_and_on_focus_only(open_page: Open) -> None:
    view = open_page(part="#model-film-1")
    video = view.locator("#model-film-1 video").first

    video.hover()
    expect(video).to_have_attribute("controls", "")
    view.locator("#model-film-1 h2").hover()
    expect(video).not_to_have_attribute("controls", "")

    video.focus()
    expect(video).to_have_attribute("controls", "")
    view.locator("nav a").first.focus()
    expect(video).not_to_have_attribute("controls", "")


def test_only_one_video_has_sound_at_a_time(open_page: Open) -> None:
    view = open_page(part="#model-film-1")
    one, other = view.locator("#model-film-1 .sound").all()[:2]

    one.click()
    expect(one).to_have_attribute("aria-pressed", "true")
    other.click()

    expect(other).to_have_attribute("aria-pressed", "true")
    expect(one).to_have_attribute("aria-pressed", "false")
    unmuted = "videos => videos.filter(video => !video.muted).length"
    assert view.locator("video").evaluate_all(unmuted) == 1


def test_no_video_plays_with_reduced_motion_until_play_is_clicked(open_page: Open) -> None:
    view = open_page(part="#model-film-1", reduced_motion="reduce")

    expect(view.locator("#model-film-1 .play").first).to_be_visible()
    expect(view.locator(".playing")).to_have_count(0)

    view.get_by_role("button", name="Play videos").click()
    expect(view.locator("#model-film-1 .playing")).to_have_count(3)

    view.get_by_role("button", name="Pause videos").click()
    expect(view.locator(".playing")).to_have_count(0)


def test_the_page_can_be_read_and_played_without_javascript(open_page: Open) -> None:
    view = open_page(380, java_script_enabled=False)

    expect(view.locator("nav details")).to_have_attribute("open", "")
    expect(view.locator("nav a").last).to_be_visible()
    assert view.locator("video[controls]").count() == 3 * (MODELS - 1)
    expect(view.locator("button")).to_have_count(0)


def test_a_picture_shows_its_input_while_its_button_is_held(open_page: Open) -> None:
    view = open_page()
    under = view.locator("#model-edits .made .under")
    button = view.get_by_role("button", name="Before")

    button.hover()
    view.mouse.down()
    expect(under).to_be_visible()
    view.mouse.up()
    expect(under).to_be_hidden()

    button.focus()
    view.keyboard.down("Enter")
    expect(under).to_be_visible()
    view.keyboard.up("Enter")
    expect(under).to_be_hidden()
