"""The page of examples in a browser, as a file: it moves, falls silent, marks and folds."""

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
# A browser shares few processors with other tests.
expect.set_options(timeout=30_000)

WIDTHS = (1400, 1000, 720, 380)
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs="
MODELS = 16
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with the pictures of one model and the videos of many."""
    folder = tmp_path_factory.mktemp("gallery")
    tone = np.sin(np.arange(48_000) / 40).astype(np.float32)[None] * 0.1
    with Clip(folder / "a.webm", 64, 36, fps=10, codec="vp9", sound=Sound.of(tone)) as clip:
        for shade in range(10):
            clip.add(rgb_frame(np.full((36, 64, 3), shade * 25, np.uint8)))
    still = CardMedium(kind="image", width=1, height=1, picture=DOT)
    film = CardMedium(kind="video", width=64, height=36, picture=DOT, file="a.webm", sound=True)
    heard = CardMedium(kind="audio", file="voice.m4a")
    edits = wire.Model(id="edits", title="Edits", asset_type="image")
    cards = [Card(example=Example(model=edits, media={"image": ("picture",)}), medium=still)]
    for number in range(1, MODELS):
        model = wire.Model(
            id=f"film-{number}", title=f"A model of films, {number}", asset_type="video"
        )
        cards += [Card(example=Example(model=model), medium=film)] * 3
    path = folder / "page.html"
    path.write_text(page(cards, {"picture": still, "voice": heard}), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, written: Path) -> Iterator[Open]:
    """Open the page; it must ask nobody and break nothing."""
    said: list[str] = []
    asks: list[str] = []
    contexts: list[BrowserContext] = []

    def visit(width: int = 1400, *, part: str = "", **how: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **how)  # type: ignore[arg-type]
        contexts.append(context)
        shown = context.new_page()
        shown.on("console", lambda message: said.append(message.text))
        shown.on("pageerror", lambda error: said.append(str(error)))
        shown.on("request", lambda asked: asks.append(asked.url))
        shown.goto(written.as_uri() + part)
        return shown

    yield visit
    for context in contexts:
        context.close()
    assert said == []
    assert {address.partition(":")[0] for address in asks} <= {"file", "data"}


def look_at(shown: Page, part: str) -> None:
    """Go to a part at once: a way there that is cut short by the next ends anywhere."""
    shown.locator(f"#{part}").evaluate("part => part.scrollIntoView({ behavior: 'instant' })")


@pytest.mark.parametrize("width", WIDTHS)
def test_every_model_can_be_reached_and_nothing_runs_out_of_the_page(
    opened: Open, width: int
) -> None:
    shown = opened(width)
    if width < 1088:
        shown.locator("nav summary").click()

    links = shown.locator("nav a")
    assert links.count() == MODELS + 1
    for link in links.all():
        box = link.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1400, 380])
def test_the_model_that_is_read_is_marked(opened: Open, width: int) -> None:
    shown = opened(width, part="#model-film-5")

    here = shown.locator("nav a[aria-current]")
    expect(here).to_have_count(1)
    expect(here).to_have_text("A model of films, 5")
    if width == 380:
        expect(shown.locator("nav .here")).to_have_text("A model of films, 5")


def test_the_menu_of_a_narrow_page_closes_when_a_model_is_chosen(opened: Open) -> None:
    shown = opened(380)
    menu = shown.locator("nav details")
    expect(menu).not_to_have_attribute("open", "")

    shown.locator("nav summary").click()
    shown.get_by_role("link", name="A model of films, 9").click()

    expect(menu).not_to_have_attribute("open", "")
    expect(shown.locator("nav .here")).to_have_text("A model of films, 9")


def test_videos_play_silently_while_they_are_seen_and_stop_out_of_sight(opened: Open) -> None:
    shown = opened(part="#model-film-1")
    video = shown.locator("#model-film-1 video").first

    expect(shown.locator("#model-film-1 .playing")).to_have_count(3)
    assert video.evaluate("video => [video.muted, video.controls]") == [True, False]

    look_at(shown, "model-film-12")
    expect(shown.locator("#model-film-12 .playing")).to_have_count(3)
    expect(shown.locator("#model-film-1 .playing")).to_have_count(0)

    look_at(shown, "model-film-1")
    expect(shown.locator("#model-film-1 .playing")).to_have_count(3)


def test_a_video_that_a_reader_has_stopped_stays_so(opened: Open) -> None:
    shown = opened(part="#model-film-1")
    video = shown.locator("#model-film-1 video").first
    expect(shown.locator("#model-film-1 .playing")).to_have_count(3)

    video.evaluate("video => video.pause()")
    expect(shown.locator("#model-film-1 .held")).to_have_count(1)
    look_at(shown, "model-film-12")
    expect(shown.locator("#model-film-12 .playing")).to_have_count(3)
    look_at(shown, "model-film-1")

    expect(shown.locator("#model-film-1 .playing")).to_have_count(2)
    shown.locator("#model-film-1 .play").first.click()
    expect(shown.locator("#model-film-1 .playing")).to_have_count(3)


def test_controls_come_with_the_mouse_or_the_keyboard_and_go(opened: Open) -> None:
    shown = opened(part="#model-film-1")
    video = shown.locator("#model-film-1 video").first

    video.hover()
    expect(video).to_have_attribute("controls", "")
    shown.locator("#model-film-1 h2").hover()
    expect(video).not_to_have_attribute("controls", "")

    video.focus()
    expect(video).to_have_attribute("controls", "")
    shown.locator("nav a").first.focus()
    expect(video).not_to_have_attribute("controls", "")


def test_one_video_is_heard_at_a_time(opened: Open) -> None:
    shown = opened(part="#model-film-1")
    one, other = shown.locator("#model-film-1 .sound").all()[:2]

    one.click()
    expect(one).to_have_attribute("aria-pressed", "true")
    other.click()

    expect(other).to_have_attribute("aria-pressed", "true")
    expect(one).to_have_attribute("aria-pressed", "false")
    heard = "videos => videos.filter(video => !video.muted).length"
    assert shown.locator("video").evaluate_all(heard) == 1


def test_nothing_moves_for_who_asked_for_less_motion_until_it_is_wanted(opened: Open) -> None:
    shown = opened(part="#model-film-1", reduced_motion="reduce")

    expect(shown.locator("#model-film-1 .play").first).to_be_visible()
    expect(shown.locator(".playing")).to_have_count(0)

    shown.get_by_role("button", name="Play videos").click()
    expect(shown.locator("#model-film-1 .playing")).to_have_count(3)

    shown.get_by_role("button", name="Pause videos").click()
    expect(shown.locator(".playing")).to_have_count(0)


def test_without_a_script_everything_can_be_read_and_played(opened: Open) -> None:
    shown = opened(380, java_script_enabled=False)

    expect(shown.locator("nav details")).to_have_attribute("open", "")
    expect(shown.locator("nav a").last).to_be_visible()
    assert shown.locator("video[controls]").count() == 3 * (MODELS - 1)
    expect(shown.locator("button")).to_have_count(0)


def test_a_picture_shows_what_it_was_made_from_while_its_button_is_held(opened: Open) -> None:
    shown = opened()
    under = shown.locator("#model-edits .made .under")
    button = shown.get_by_role("button", name="Before")

    button.hover()
    shown.mouse.down()
    expect(under).to_be_visible()
    shown.mouse.up()
    expect(under).to_be_hidden()

    button.focus()
    shown.keyboard.down("Enter")
    expect(under).to_be_visible()
    shown.keyboard.up("Enter")
    expect(under).to_be_hidden()
