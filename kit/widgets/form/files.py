"""Media fields: chosen files as chips; they are typed, picked, dropped, or earlier results.

Files from the browser are saved in the kit's folder, so a field always has paths, which can be
saved in a preset and written as code. Only file names are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

from kit import file_metadata, wire
from kit.endings import SOUND_CONTAINERS, guess_type
from kit.errors import KitError
from kit.pictures import INPUT_FORMATS
from kit.private import user_path
from kit.widgets import markup, media
from kit.widgets.background import BackgroundRunner, Debounced
from kit.widgets.boxes import OpenedBox, close_all, mark_open
from kit.widgets.form import controls, parts
from kit.widgets.form.fields import Field, build_note
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.picking import Picker, thumbnails
from kit.widgets.form.service import Service
from kit.widgets.markup import size as size_text
from kit.wire import MEDIA_TYPES, Parameter

if TYPE_CHECKING:
    from kit.widgets.form.uploads import Offer

_WORDS = {"image": "a picture", "video": "a video", "audio": "a sound"}
_PLURALS = {"image": "pictures", "video": "videos", "audio": "sounds"}
#: Maximum upload sizes in bytes of this service; those of other services are unknown.
#: Source: contract, "Uploads".
UPLOAD_LIMITS = {"image": 50_000_000, "audio": 100_000_000, "video": 1_000_000_000}
#: Image types that all services support.
_CHECKED_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")
#: Types that do not tell the content.
_VAGUE = ("", "application/octet-stream", "application/mp4", "application/ogg")
_SOUNDS = {("audio", kind) for kind in SOUND_CONTAINERS}
#: Maximum bytes of audio that can be played in the form, and of a thumbnail.
_SOUND_LIMIT, _THUMBNAIL_LIMIT = 2_000_000, 12_000


#: Seconds without typing after which a typed file becomes a chip.
QUIET_SECONDS = 0.4


class FileField(ipywidgets.VBox):
    """The control of a media parameter: a text box, and a chip for each chosen file.

    `own`: whether the model is of this service, whose limits are known; see `parameters.is_own`.
    """

    #: The paths of the chips, as text. Observers are also notified of typing.
    value = traitlets.Tuple()
    children: Any

    def __init__(
        self,
        *,
        parameter: Parameter,
        factory: WidgetFactory,
        service: Service | None,
        background: BackgroundRunner,
        own: bool,
        **traits: Any,
    ) -> None:
        from kit.widgets.form.uploads import Drop  # loads anywidget, which nothing else needs

        self._parameter = parameter
        self._own, self._factory, self._service = own, factory, service
        self._background = background
        self._several = controls.takes_list(parameter)
        self._names: dict[str, str] = {}
        self._previews: dict[str, str] = {}
        self._broken: dict[str, str] = {}
        self._open = ""
        self.box = factory.new(
            ipywidgets.Text, description=parts.label(parameter), placeholder="path or address"
        )
        self.drop = factory.new(
            Drop,
            label=parameter.name.replace("_", " "),
            **describe_drop_zone(parameter, own=own),
            check=self._find_refusal if service else lambda _: "this form has no place for files",
            keep=service.save if service else lambda name, *_: Path(name),
            take=self.add,
            background=background,
            folder=service.uploads if service else None,
        )
        opener = partial(factory.button, _dom_classes=("kit-opens",))
        folder = partial(Picker, factory, parameter.type, self._choose)
        toggle = partial(self._toggle, "folders", lambda: folder().widget)
        self._openers = {"folders": opener("Browse", "folder-open", toggle)}
        if service is not None and parameter.type != "audio":
            toggle = partial(self._toggle, "results", partial(self._list_results, service))
            words = "Choose among earlier results"
            self._openers["results"] = opener("Earlier", "history", toggle, tooltip=words)
        row = (self.box, *self._openers.values())
        line = factory.new(ipywidgets.HBox, children=row, _dom_classes=("kit-row",))
        self._chips = factory.new(ipywidgets.VBox, _dom_classes=("kit-chips",))
        self._opened = factory.new(OpenedBox, background=background)
        super().__init__(
            children=(line, self.drop, self._chips, self._opened),
            _dom_classes=("kit-wide",),
            **traits,
        )
        self._add_soon = Debounced(self._add_typed, QUIET_SECONDS, background)
        self.box.observe(lambda _: self._notify_typing(), "value")
        self.box.observe(lambda _: self._add_soon(), "value")
        self.box.on_msg(self._fetch_entered)

    def read(self) -> list[Path] | None:
        """Return the chosen files; raises `ValueError` if one does not exist or is not accepted."""
        lines = self._lines()
        for line in lines:
            problem = self._broken.get(line)
            if problem is None and _is_url(line):
                problem = "press Enter to fetch it"
            if problem := problem or self._find_problem(user_path(line)):
                raise ValueError(problem)
        return [user_path(line) for line in lines] or None

    def write(self, value: Sequence[Path] | None) -> None:
        """Show files as chosen."""
        self.box.value, self.value = "", tuple(map(str, value or ()))

    def add(self, path: Path, name: str = "") -> None:
        """Add a file, or replace the file if only one is allowed."""
        line = _shorten_path(path)
        self._names[line] = name or path.name
        self.value = (*(self.value if self._several else ()), line)

    def _lines(self) -> tuple[str, ...]:
        """Return the chosen paths, and finally the path in the text box."""
        typed = self.box.value.strip().strip('"')
        chips = self.value if self._several or not typed else ()
        return (*chips, *filter(None, [typed]))

    def _notify_typing(self) -> None:
        """Notify observers, so that the field is read again."""
        same = self.value
        change = {"name": "value", "type": "change", "owner": self, "old": same, "new": same}
        self.notify_change(traitlets.Bunch(change))

    def _add_typed(self) -> None:
        """Turn the typed path into a chip, if it names an existing file."""
        typed = user_path(self.box.value.strip().strip('"'))
        if typed.suffix and self._find_problem(typed) is None:
            self.box.value = ""
            self.add(typed)

    def _fetch_entered(self, _: Any, message: Any, __: Any) -> None:
        """Download a typed URL on Enter: an incomplete URL would lead elsewhere."""
        address = self.box.value.strip()
        if message.get("event") == "submit" and _is_url(address) and self._service:
            self._background.begin(partial(self._fetch, self._service, address))

    def _fetch(self, service: Service, address: str) -> None:
        try:
            path = service.path(address)
        except (KitError, OSError) as error:
            self._broken[address] = str(error)
            self._notify_typing()
        else:
            self.box.value = ""
            self.add(path)

    def _find_problem(self, path: Path) -> str | None:
        """Return the problem with a file, judged by its name and size."""
        name = path.name[:200]
        try:
            if path.is_dir():
                return f"{name!r} is a folder: name a file in it"
            if not path.is_file():
                parent = "" if path.parent.is_dir() else f", nor a folder {path.parent.name!r}"
                return f"there is no file {name!r}{parent}"
            size = path.stat().st_size
        except OSError as error:  # e.g. the name is too long, or the folder is not accessible
            return f"{name!r} cannot be read: {error.strerror}"
        return _explain_refusal(self._parameter.type, path.name, "", size, self._own)

    def _find_refusal(self, offers: Sequence[Offer]) -> str | None:
        chosen = len(self._lines())
        return explain_refusal(self._parameter, offers, chosen=chosen, own=self._own)

    # ── ways to choose ───────────────────────────────────────────────────────────────────────────

    def _toggle(self, name: str, make: Callable[[], Any]) -> None:
        """Open a way to choose files instead of the open one, or close it."""
        self._open = "" if self._open == name else name
        for one, button in self._openers.items():
            mark_open(button, one == self._open)
        self._opened.fill(make if self._open else None)

    def _list_results(self, service: Service) -> Any:
        found = service.list_earlier(self._parameter.type)
        return thumbnails(self._factory, found, partial(self._choose_result, service))

    def _choose(self, path: Path, name: str = "") -> None:
        self._toggle(self._open, lambda: None)
        self.add(path, name)

    def _choose_result(self, service: Service, facts: wire.Generation) -> None:
        def fetch() -> Any:
            self._choose(service.fetch_output(facts), facts.prompt or "")
            return self._factory.new(ipywidgets.HTML)

        self._opened.fill(fetch)

    # ── chips ────────────────────────────────────────────────────────────────────────────────────

    @traitlets.observe("value")  # type: ignore[untyped-decorator]
    def _show_chips(self, change: Any) -> None:
        if change.old == change.new:
            return
        before = self._chips.children
        self._chips.children = tuple(map(self._chip, range(len(self.value))))
        for one in before:
            close_all(one)

    def _chip(self, index: int) -> Any:
        """Return the chip of a file with its buttons."""
        line, last, button = self.value[index], len(self.value) - 1, self._factory.button
        name = self._names[line] = self._names.get(line) or read_name(user_path(line))
        shown = self._factory.new(ipywidgets.HTML, value=self._previews.get(line, _caption(name)))
        if line not in self._previews:
            self._background.begin(partial(self._draw, line, shown))
        row = [shown]
        for icon, offset, word in (("arrow-up", -1, "earlier"), ("arrow-down", 1, "later")):
            if last:
                move, possible = partial(self._move, index, offset), 0 <= index + offset <= last
                words = f"Move {name} {word}"
                row.append(button("", icon, move, tooltip=words, disabled=not possible))
        remove = partial(setattr, self, "value", (*self.value[:index], *self.value[index + 1 :]))
        row.append(button("", "times", remove, tooltip=f"Remove {name}"))
        return self._factory.new(ipywidgets.HBox, children=row, _dom_classes=("kit-chip",))

    def _move(self, index: int, offset: int) -> None:
        lines = list(self.value)
        lines.insert(index + offset, lines.pop(index))
        self.value = tuple(lines)

    def _draw(self, line: str, shown: Any) -> None:
        """Draw a thumbnail on a chip, or show at the field why there is none."""
        path, problem = user_path(line), ""
        try:
            self._previews[line] = shown.value = preview(path, self._names[line])
        except OSError:
            if guess_type(path.name) in _CHECKED_TYPES and path.is_file():
                problem = f"{path.name!r} cannot be read as a picture"
        except Exception:  # noqa: BLE001, S110 - too large for a preview is not too large for a service
            pass
        if problem != self._broken.pop(line, ""):
            self._broken |= {line: problem} if problem else {}
            self._notify_typing()


def read_name(path: Path) -> str:
    """Return the name of a file, or the prompt of an output in the cache, named by its hash."""
    found = file_metadata.read(path) if re.fullmatch(r"[0-9a-f]{64}", path.stem) else None
    return found.prompt[:100] if found and found.prompt else path.name


def _is_url(line: str) -> bool:
    return line.lower().startswith(("https://", "http://"))


def build(
    parameter: Parameter,
    factory: WidgetFactory,
    *,
    service: Service | None,
    background: BackgroundRunner,
    own: bool = True,
) -> Field:
    """Return the field of a media parameter; see `FileField`."""
    options = {"parameter": parameter, "service": service, "background": background, "own": own}
    control = factory.new(FileField, factory=factory, **options)
    path, note = f"mediaUploads.{parameter.name}", build_note(parameter, factory)
    return Field(path, parameter, control, note, control.read, control.write, control)


def build_zone(factory: WidgetFactory, service: Service, form: Any) -> Any:
    """Return a zone for files with metadata; the form is filled in and switched to their model."""
    from kit.widgets.form.uploads import Drop  # loads anywidget, which nothing else needs

    def read(path: Path) -> None:
        if (found := file_metadata.read(path)) is None:
            message.value = markup.problem(f"{path.name} has no metadata about its generation")
            return
        by = ""
        if found.model not in (None, form.model.id):
            switched = form.switch(found.model)
            change = "; the form is changed to it" if switched else ", which this service lacks"
            by = f", made by {found.model}{change}"
        unused = form.fill(found)
        note = f" (not used: {'; '.join(unused)})" if unused else ""
        message.value = markup.notice(f"filled in from {path.name}{by}{note}")

    message = factory.new(ipywidgets.HTML)
    drop = factory.new(
        Drop,
        label="a generated file",
        call="Drop a generated picture or video here, or",
        accept="image/*,video/*",
        whole=True,
        check=lambda _: None,
        keep=service.save,
        take=read,
        background=form.background,
        folder=service.uploads,
    )
    return factory.new(ipywidgets.VBox, children=(drop, message))


def describe_drop_zone(parameter: Parameter, *, own: bool = True) -> dict[str, Any]:
    """Return the labels of a drop zone for a parameter, as traits of `Drop`."""
    kind, several = parameter.type, controls.takes_list(parameter)
    most = UPLOAD_LIMITS.get(kind) if own else None
    what = _PLURALS.get(kind, "files") if several else _WORDS.get(kind, "a file")
    return {
        "call": f"Drop {what} here, or",
        "accept": f"{kind}/*" if kind in MEDIA_TYPES else "",
        "hint": f"up to {most // 1_000_000:,} MB{' each' * several}" if most else "",
        "several": several,
    }


def explain_refusal(
    parameter: Parameter, offers: Sequence[Offer], *, chosen: int, own: bool = True
) -> str | None:
    """Return why a parameter rejects files from the browser, before any of them is sent."""
    several, most = controls.takes_list(parameter), parameter.max_items or 1
    if several and chosen + len(offers) > most:
        count = f"{len(offers)} files" if len(offers) > 1 else "one file"
        return f"{count} and {chosen} chosen before: at most {most} are allowed"
    if not several and len(offers) > 1:
        return f"takes one file, not {len(offers)}"
    found = (_explain_refusal(parameter.type, o.name, o.type, o.size, own) for o in offers)
    return next(filter(None, found), None)


def preview(path: Path, name: str = "") -> str:
    """Return a thumbnail of a file, or a player for short audio, with name and size.

    Raises `Exception` if the content does not match the name.
    """
    kind = guess_type(path.name).partition("/")[0]
    drawn = _PREVIEWS[kind](path) if kind in _PREVIEWS else ""
    return _caption(f"{name or path.name} · {size_text(path.stat().st_size)}", drawn)


def _caption(words: str, drawn: str = "") -> str:
    return f'<span class="kit-file">{drawn}<span class="kit-note">{escape(words)}</span></span>'


def _explain_refusal(wanted: str, name: str, kind: str, size: int, own: bool) -> str | None:
    """Return why a file is surely not of the required kind; other services support other types."""
    kind = kind or guess_type(name)
    group = "audio" if (wanted, kind) in _SOUNDS else kind.partition("/")[0]
    if wanted in _WORDS and kind not in _VAGUE and group != wanted and (own or group in _WORDS):
        found = _WORDS.get(group, f"of type {kind}")
        return f"takes {_WORDS[wanted]}, and {name!r} is {found}"
    if size < 1:
        return f"{name!r} is empty"
    if own and size > UPLOAD_LIMITS.get(wanted, size):
        most = f"at most {UPLOAD_LIMITS[wanted] // 1_000_000:,} MB"
        return f"{name!r} has {size_text(size)}, and {_WORDS[wanted]} may have {most}"
    return None


def _thumbnail(content: bytes | None) -> str:
    if content is None:
        return ""
    address = media.picture(content, limit=_THUMBNAIL_LIMIT, width=160, formats=INPUT_FORMATS)
    return f'<img src="{address}" alt="" style="border-radius:4px">'


def _audio_player(path: Path) -> str:
    if path.stat().st_size > _SOUND_LIMIT:
        return ""
    address = media.data_address(guess_type(path.name) or "audio/mpeg", path.read_bytes())
    return f'<audio controls src="{address}" style="height:32px"></audio>'


def _shorten_path(path: Path) -> str:
    """Return a short path that is valid on any system: relative to the working or home folder."""
    if path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd()).as_posix()
    with suppress(ValueError, RuntimeError):  # not below it, or without a home folder
        return f"~/{path.relative_to(Path.home()).as_posix()}"
    return path.as_posix()


#: Kind of a file -> function that draws it.
_PREVIEWS: dict[str, Callable[[Path], str]] = {
    "image": lambda path: _thumbnail(path.read_bytes()),
    "video": lambda path: _thumbnail(media.first_frame(path)),
    "audio": _audio_player,
}
