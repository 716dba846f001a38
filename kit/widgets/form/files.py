"""Media fields: paths in a box, a picker of the kernel's files, and a zone to drop files on.

What comes through the browser becomes a file in the kit's folder, so a field always holds paths:
they can be typed, pasted, saved in a preset and written as code.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets

from kit.widgets import media
from kit.widgets.background import BackgroundRunner
from kit.widgets.form import controls, parts
from kit.widgets.form.fields import Field, build_note
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.service import Service
from kit.wire import MEDIA_TYPES, Parameter

if TYPE_CHECKING:
    from kit.widgets.form.parts import WidgetFactory
    from kit.widgets.form.uploads import Offer

#: Entries of a folder that are shown at most.
FOLDER_LIMIT = 500
_UP = "⬑ .."


class Picker:
    """A list of one folder; choosing a folder opens it, choosing a file takes it.

    Parameters
    ----------
    kind : str
        ``image``, ``video`` or ``audio``: other files are not shown; any other word shows all.
    take : callable
        Called with the file that was chosen.
    """

    def __init__(
        self,
        stock: WidgetFactory,
        kind: str,
        take: Callable[[Path], None],
        *,
        start: Path | None = None,
    ) -> None:
        self._kind = kind
        self._take = take
        self.list = stock.new(ipywidgets.Select, rows=8)
        self.choose = stock.new(ipywidgets.Button, description="Choose", icon="check")
        self._close = stock.new(ipywidgets.Button, description="Close")
        self._where = stock.new(ipywidgets.HTML)
        parts = (self.list, self.choose, self._close)
        row = stock.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-row",))
        # its own layout: it is hidden and shown
        self.widget = ipywidgets.VBox((self._where, row), _dom_classes=("kit-picker",))
        self.choose.on_click(lambda _: self.act())
        self._close.on_click(lambda _: self.toggle())
        self.open(start or Path.cwd())

    def toggle(self) -> None:
        """Show or hide it; what is shown again is read anew."""
        hidden = self.widget.layout.display == "none"
        self.widget.layout.display = None if hidden else "none"
        if hidden:
            self.open(self.folder)

    def open(self, folder: Path) -> None:
        """Show a folder."""
        try:
            found = entries(folder, self._kind)
        except OSError as problem:
            self._where.value = escape(f"{folder.name} cannot be read: {problem.strerror}")
            return
        self.folder = folder
        self._where.value = f'<span class="kit-note">{escape(str(folder))}</span>'
        self.list.options = [(_UP, folder.parent), *((_name(path), path) for path in found)]
        self.list.index = 1 if found else 0

    def act(self) -> None:
        """Do what the chosen entry asks for."""
        path: Any = self.list.value
        if path is None:
            return
        if path.is_dir():
            self.open(path)
        else:
            self._take(path)
            self.toggle()


def entries(folder: Path, kind: str) -> list[Path]:
    """Return the folders, then the files of a kind in a folder, by name; hidden ones are left out.

    Raises
    ------
    OSError
        The folder cannot be read.
    """
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    shown = [path for path in found if path.is_dir() or _is_of_kind(path, kind)]
    return sorted(shown, key=lambda path: (path.is_file(), path.name.lower()))[:FOLDER_LIMIT]


def _is_of_kind(path: Path, kind: str) -> bool:
    if kind not in MEDIA_TYPES:
        return True
    return (mimetypes.guess_type(path.name)[0] or "").startswith(f"{kind}/")


def _name(path: Path) -> str:
    return f"{path.name}/" if path.is_dir() else path.name


_WORDS = {"image": "a picture", "video": "a video", "audio": "a sound"}
_MANY = {"image": "pictures", "video": "videos", "audio": "sounds"}
#: Bytes of an upload at most, at this service; those of other services are unknown.
#: Source: contract, "Uploads".
UPLOAD_LIMITS = {"image": 50_000_000, "audio": 100_000_000, "video": 1_000_000_000}
#: Types that say nothing of what is inside.
_VAGUE = ("", "application/octet-stream", "application/mp4", "application/ogg")
#: Bytes of a sound that is played in the form, and of a picture in it.
_SOUND_LIMIT, _THUMBNAIL_LIMIT = 2_000_000, 12_000


class Files:
    """The control of a media parameter.

    Parameters
    ----------
    service : Service or None
        What keeps files from the browser; without one none is taken.
    background : Background
        Where files are kept and previews are made.
    own : bool
        Whether the model is of this service, whose limits are known; see `parameters.is_own`.
    """

    def __init__(
        self,
        parameter: Parameter,
        stock: WidgetFactory,
        *,
        service: Service | None,
        background: BackgroundRunner,
        own: bool,
    ) -> None:
        from kit.widgets.form.uploads import Drop  # loads anywidget, which only this needs

        self.parameter = parameter
        self._own = own
        self._stock = stock
        self._background = background
        self._picker: Picker | None = None
        self._several = controls.several(parameter)
        self.box = stock.new(
            ipywidgets.Textarea if self._several else ipywidgets.Text,
            description=parts.label(parameter),
            placeholder="paths, one a line" if self._several else "path of a file",
            **({"rows": 2} if self._several else {}),
        )
        browse = stock.new(ipywidgets.Button, description="Browse", icon="folder-open")
        self.drop = stock.new(
            Drop,
            label=parameter.name.replace("_", " "),
            **describe_drop_zone(parameter, own=own),
            check=self._refusal if service else lambda _: "this form has no place for files",
            keep=service.keep if service else lambda name, *_: Path(name),
            take=self.add,
            background=background,
            folder=service.uploads if service else None,
        )
        self._shown = stock.new(ipywidgets.HTML)
        row = stock.new(ipywidgets.HBox, children=(self.box, browse), _dom_classes=("kit-row",))
        self._always = (row, self.drop)
        self.widget = stock.new(ipywidgets.VBox, children=self._always, _dom_classes=("kit-wide",))
        browse.on_click(lambda _: self._toggle_picker())
        self.box.observe(lambda _: self._draw_soon(), "value")

    def read(self) -> list[Path] | None:
        """Return the chosen files; raises `ValueError` where one is not there or does not fit."""
        paths = [Path(line).expanduser() for line in self._read_lines()]
        for path in paths:
            if not path.is_file():
                what = "a folder is at" if path.is_dir() else "there is no file"
                raise ValueError(f"{what} {str(path)!r}")
            self._check_kind(path)
        return paths or None

    def write(self, value: list[Path] | None) -> None:
        """Show chosen files."""
        text = "\n".join(map(str, value or ()))
        if self.box.value != text:
            self.box.value = text

    def add(self, path: Path) -> None:
        """Take one more file, or another one where there can only be one."""
        kept = self.box.value.split("\n") if self._several else []
        self.box.value = "\n".join([*filter(None, kept), _shorten_path(path)])

    def _refusal(self, offers: Sequence[Offer]) -> str | None:
        return explain_refusal(self.parameter, offers, held=len(self._read_lines()), own=self._own)

    def _read_lines(self) -> list[str]:
        lines = [line.strip().strip('"') for line in self.box.value.split("\n")]
        return [line for line in lines if line]

    def _check_kind(self, path: Path) -> None:
        kind_found = mimetypes.guess_type(path.name)[0] or ""
        found = _name_other_kind(self.parameter.type, kind_found, own=self._own)
        if found:
            raise ValueError(f"takes {_WORDS[self.parameter.type]}, and {path.name!r} is {found}")

    def _toggle_picker(self) -> None:
        if self._picker is None:
            self._picker = Picker(self._stock, self.parameter.type, self.add)
            self._show_parts()
        else:
            self._picker.toggle()

    def _draw_soon(self) -> None:
        self._background.begin(self._draw)

    def _draw(self) -> None:
        text = self.box.value
        try:
            drawn = "".join(map(preview, self.read() or ()))
        except (ValueError, OSError):
            drawn = ""
        if text == self.box.value:  # else typing went on, and the next preview is on its way
            self._show_preview(drawn)

    def _show_preview(self, html: str) -> None:
        self._shown.value = html
        self._show_parts()

    def _show_parts(self) -> None:
        """Show what is needed, and no more."""
        picker = (self._picker.widget,) if self._picker else ()
        shown = (self._shown,) if self._shown.value else ()
        # what stands behind a change is drawn anew, and that would break off an upload
        self.widget.children = (*self._always, *picker, *shown)


def build(
    parameter: Parameter,
    stock: WidgetFactory,
    *,
    service: Service | None,
    background: BackgroundRunner,
    own: bool = True,
) -> Field:
    """Return the field of a media parameter; see `Files`."""
    files = Files(parameter, stock, service=service, background=background, own=own)
    path = f"mediaUploads.{parameter.name}"
    return Field(
        path,
        parameter,
        files.widget,
        build_note(parameter, stock),
        files.read,
        files.write,
        files.box,
    )


def describe_drop_zone(parameter: Parameter, *, own: bool = True) -> dict[str, Any]:
    """Return what a drop zone says of a parameter, as traits of `Drop`."""
    kind, several = parameter.type, controls.several(parameter)
    most = UPLOAD_LIMITS.get(kind) if own else None
    what = _MANY.get(kind, "files") if several else _WORDS.get(kind, "a file")
    return {
        "call": f"Drop {what} here, or",
        "accept": f"{kind}/*" if kind in MEDIA_TYPES else "",
        "hint": f"up to {most // 1_000_000:,} MB{' each' * several}" if most else "",
        "several": several,
    }


def explain_refusal(
    parameter: Parameter, offers: Sequence[Offer], *, held: int, own: bool = True
) -> str | None:
    """Return why a parameter does not take files from the browser, before any of them is sent.

    Parameters
    ----------
    held : int
        Files that the field holds already.
    own : bool
        Whether the limits of this service hold.
    """
    several, most = controls.several(parameter), parameter.max_items or 1
    if several and held + len(offers) > most:
        return f"{_count_files(len(offers))} and {held} chosen before: at most {most} are allowed"
    if not several and len(offers) > 1:
        return f"takes one file, not {len(offers)}"
    return next(
        filter(None, (_explain_refusal(parameter.type, offer, own) for offer in offers)), None
    )


def preview(path: Path) -> str:
    """Return a small picture of a file, or a player for a short sound, with name and size."""
    kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
    try:
        drawn = _DRAWN[kind](path) if kind in _DRAWN else ""
    except Exception:  # noqa: BLE001 - a picture may be broken or too large in many ways
        drawn = ""  # the check of the field or the service says what is wrong
    size = _format_size(path.stat().st_size)
    return (
        f'<span class="kit-file">{drawn}'
        f'<span class="kit-note">{escape(path.name)} · {size}</span></span>'
    )


def _explain_refusal(wanted: str, offer: Offer, own: bool) -> str | None:
    """Return why a file is none of a kind; what is unknown is taken."""
    kind_found = offer.type or mimetypes.guess_type(offer.name)[0] or ""
    found = _name_other_kind(wanted, kind_found, own=own)
    if found:
        return f"takes {_WORDS[wanted]}, and {offer.name!r} is {found}"
    if offer.size < 1:
        return f"{offer.name!r} is empty"
    if own and offer.size > UPLOAD_LIMITS.get(wanted, offer.size):
        most = f"at most {UPLOAD_LIMITS[wanted] // 1_000_000:,} MB"
        return (
            f"{offer.name!r} has {_format_size(offer.size)}, and {_WORDS[wanted]} may have {most}"
        )
    return None


def _name_other_kind(wanted: str, kind_found: str, *, own: bool) -> str:
    """Return what a file is instead of what is wanted; "" where it is that, or may be.

    Of types that this service takes for no kind another one may know better.
    """
    kind = kind_found.partition("/")[0]
    if wanted not in _WORDS or kind_found in _VAGUE or kind == wanted:
        return ""
    return _WORDS.get(kind, f"of type {kind_found}" if own else "")


def _thumbnail(content: bytes) -> str:
    address = media.picture(content, limit=_THUMBNAIL_LIMIT, width=160)
    return f'<img src="{address}" alt="" style="max-height:64px;border-radius:4px">'


def _picture(path: Path) -> str:
    return _thumbnail(path.read_bytes())


def _video(path: Path) -> str:
    frame = media.first_frame(path)
    return _thumbnail(frame) if frame else ""


def _sound(path: Path) -> str:
    if path.stat().st_size > _SOUND_LIMIT:
        return ""
    kind = mimetypes.guess_type(path.name)[0] or "audio/mpeg"
    content = base64.b64encode(path.read_bytes()).decode()
    return f'<audio controls src="data:{kind};base64,{content}" style="height:32px"></audio>'


def _shorten_path(path: Path) -> str:
    """Return a path as one would type it: from here, or from home."""
    here, home = Path.cwd(), Path.home()
    if path.is_relative_to(here):
        return str(path.relative_to(here))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _count_files(number: int) -> str:
    return f"{number} files" if number > 1 else "one file"


def _format_size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, count // 1000)} kB"


#: Kind of a file -> how it is drawn.
_DRAWN: dict[str, Callable[[Path], str]] = {"image": _picture, "video": _video, "audio": _sound}
