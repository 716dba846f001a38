"""Media fields: paths in a box, a browser of the kernel's folders, and uploads from this computer.

What comes through the browser becomes a file in the kit's folder, so a field always holds paths:
they can be typed, pasted, saved in a preset and written as code.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Callable
from html import escape
from pathlib import Path

import ipywidgets

from kit.errors import KitError
from kit.widgets import media, rules
from kit.widgets.form import looks
from kit.widgets.form.fields import Field, Stock, note
from kit.widgets.form.picker import Picker
from kit.widgets.form.service import Background
from kit.wire import MEDIA_TYPES, Parameter

_WORDS = {"image": "a picture", "video": "a video", "audio": "a sound"}
#: Bytes of a sound that is played in the form, and of a picture in it.
_SOUND_LIMIT, _THUMBNAIL_LIMIT = 2_000_000, 12_000


class Files:
    """The control of a media parameter.

    Parameters
    ----------
    keep : callable
        Takes the name and content of a file from the browser; returns where it is kept.
    background : Background
        Where previews are made.
    """

    def __init__(
        self,
        parameter: Parameter,
        stock: Stock,
        *,
        keep: Callable[[str, bytes], Path],
        background: Background,
    ) -> None:
        self.parameter = parameter
        self._stock = stock
        self._keep = keep
        self._background = background
        self._picker: Picker | None = None
        self._several = rules.several(parameter)
        self.box = stock.new(
            ipywidgets.Textarea if self._several else ipywidgets.Text,
            description=looks.label(parameter),
            placeholder="paths, one a line" if self._several else "path of a file",
            **({"rows": 2} if self._several else {}),
        )
        browse = stock.new(ipywidgets.Button, description="Browse", icon="folder-open")
        self.upload = stock.new(
            ipywidgets.FileUpload,
            accept=f"{parameter.type}/*" if parameter.type in MEDIA_TYPES else "",
            multiple=self._several,
            tooltip=f"From this computer, up to {rules.UPLOAD_LIMIT} MB: put a larger file beside "
            "the notebook and give its path",
        )
        self._shown = stock.new(ipywidgets.HTML)
        parts = (self.box, browse, self.upload)
        row = stock.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-row",))
        self.widget = stock.new(ipywidgets.VBox, children=(row,), _dom_classes=("kit-wide",))
        self._row = row
        browse.on_click(lambda _: self._browse())
        self.upload.observe(lambda _: self._uploaded(), "value")
        self.box.observe(lambda _: self._preview(), "value")

    def read(self) -> list[Path] | None:
        """Return the chosen files; raises `ValueError` where one is not there or does not fit."""
        lines = [line.strip().strip('"') for line in self.box.value.split("\n")]
        paths = [Path(line).expanduser() for line in lines if line]
        for path in paths:
            if not path.is_file():
                raise ValueError(f"there is no file {str(path)!r}")
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
        self.box.value = "\n".join([*filter(None, kept), _short(path)])

    def _check_kind(self, path: Path) -> None:
        wanted = self.parameter.type
        kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
        if wanted in _WORDS and kind in _WORDS and kind != wanted:
            raise ValueError(f"takes {_WORDS[wanted]}, and {path.name!r} is {_WORDS[kind]}")

    def _browse(self) -> None:
        if self._picker is None:
            self._picker = Picker(self._stock, self.parameter.type, self.add)
            self._arrange()
        else:
            self._picker.toggle()

    def _uploaded(self) -> None:
        files = self.upload.value
        if not files:
            return
        try:
            for file in files:
                self.add(self._keep(file["name"], bytes(file["content"])))
        except (KitError, OSError) as problem:
            self._say(looks.problem(f"the file was not kept: {problem}"))
        finally:
            self.upload.value = ()  # its content has a place, and must not stay in the widget

    def _preview(self) -> None:
        self._background.begin(self._draw)

    def _draw(self) -> None:
        text = self.box.value
        try:
            drawn = "".join(map(preview, self.read() or ()))
        except (ValueError, OSError):
            drawn = ""
        if text == self.box.value:  # else somebody typed on, and the next preview is on its way
            self._say(drawn)

    def _say(self, html: str) -> None:
        self._shown.value = html
        self._arrange()

    def _arrange(self) -> None:
        """Show what is needed, and no more."""
        picker = (self._picker.widget,) if self._picker else ()
        shown = (self._shown,) if self._shown.value else ()
        self.widget.children = (self._row, *picker, *shown)


def build(
    parameter: Parameter,
    stock: Stock,
    *,
    keep: Callable[[str, bytes], Path],
    background: Background,
) -> Field:
    """Return the field of a media parameter."""
    files = Files(parameter, stock, keep=keep, background=background)
    path = f"mediaUploads.{parameter.name}"
    return Field(
        path,
        parameter,
        files.widget,
        note(parameter, stock),
        files.read,
        files.write,
        files.box,
    )


def preview(path: Path) -> str:
    """Return a small picture of a file, or a player for a short sound, with name and size."""
    kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
    try:
        drawn = _DRAWN[kind](path) if kind in _DRAWN else ""
    except (OSError, ValueError):
        drawn = ""  # what it is will be said by whoever has to use it
    size = _size(path.stat().st_size)
    return (
        f'<span class="kit-file">{drawn}'
        f'<span class="kit-note">{escape(path.name)} · {size}</span></span>'
    )


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


def _short(path: Path) -> str:
    """Return a path as one would type it: from here, or from home."""
    here, home = Path.cwd(), Path.home()
    if path.is_relative_to(here):
        return str(path.relative_to(here))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{max(1, count // 1000)} kB"


#: Kind of a file -> how it is drawn.
_DRAWN: dict[str, Callable[[Path], str]] = {"image": _picture, "video": _video, "audio": _sound}
