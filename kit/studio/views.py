"""Galleries, comparisons and tables of generations, and the shared parts of both studios.

Files are downloaded with blocking calls, also for async generations: a notebook cannot await what
it displays.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, overload

from kit import wire
from kit.client import calls, downloads, flows
from kit.client.calls import Flow
from kit.errors import ConfigError, KitError, NotFoundError, show_own_lines
from kit.explore.filters import ALL, PAGE, HistoryFilter
from kit.parameters import check_count
from kit.studio.generation import (
    MADE_BEFORE,
    BaseGeneration,
    G,
    Session,
    cached_thumbnail,
    fetch_files,
    fetch_thumbnail,
    render_media,
    save_file,
)
from kit.studio.operations import DEFAULT_FETCHES
from kit.widgets import media, preview
from kit.widgets.compare import Comparison
from kit.widgets.gallery import MAX_TILES, Gallery, GalleryItem

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.http import LastResponse
    from kit.widgets.blind import BlindComparison
    from kit.widgets.result import ResultCard
    from kit.widgets.table import HistoryTable

#: Bytes up to which a video is embedded in the preview below a table.
_MAX_EMBEDDED_BYTES = 6_000_000
#: Maximum of generations in a comparison.
_MAX_COMPARED = 200
#: Generations that are fetched at the same time.
_MAX_FETCHES = 6


def gallery(
    generations: Any,
    *,
    studio: BaseStudio | None = None,
    columns: int | None = None,
    size: int = 220,
    embed: bool = False,
) -> Gallery:
    """Return a grid of generations with captions and costs; a click enlarges one.

    They are given as generations, ids or rows of a history frame; ids and rows need their `studio`.
    By default the number of `columns`, each `size` pixels wide, fits the page. Short videos are
    saved in ``outputs/`` beside the notebook; with `embed` inside the notebook, to send it by mail.

    Examples
    --------
    ``kit.gallery(studio.history.list(12))``, or the selected rows of a table,
    ``kit.gallery(table.selected, columns=3)``
    """
    per_row = columns if columns is None else check_count("columns", columns, 1)
    items = _gallery_items(generations, studio, MAX_TILES)
    return Gallery(items, per_row, check_count("size", size, 1), embed)


@overload
def compare(
    *generations: Any,
    studio: BaseStudio | None = None,
    size: int = 320,
    blind: Literal[False] = False,
) -> Comparison: ...
@overload
def compare(
    *generations: Any, studio: BaseStudio | None = None, size: int = 320, blind: Literal[True]
) -> BlindComparison: ...
def compare(
    *generations: Any, studio: BaseStudio | None = None, size: int = 320, blind: bool = False
) -> Comparison | BlindComparison:
    """Return generations side by side, with different parameters highlighted.

    They are given as to `gallery`, at least two. Price differences are relative to the first. With
    `blind`, you see two at a time, without model and parameters, and choose the better one;
    ``ranking()`` of the returned widget has the resulting order.

    Examples
    --------
    ``kit.compare(night, day)``, or ``kit.compare(sweep, blind=True)``
    """
    from kit.explore.ratings import rank
    from kit.widgets.blind import BlindComparison

    items = _gallery_items(generations, studio, _MAX_COMPARED)
    if not 2 <= len(items) <= _MAX_COMPARED:
        raise ConfigError(f"a comparison needs 2 to {_MAX_COMPARED} generations, not {len(items)}")
    check_count("size", size, 1)
    return BlindComparison(items, rank, size=size) if blind else Comparison(items, size)


def history_table(
    session: Session[Any],
    frame: pd.DataFrame,
    size: int = 20,
    renew: Callable[[], pd.DataFrame] | None = None,
) -> HistoryTable:
    """Return the table of a history frame; it fetches pictures with the session's client."""
    from kit.widgets.table import HistoryTable

    get = partial(_get, session)

    def thumbnail(name: str) -> bytes | str | None:
        """Return the thumbnail of a generation, or the reason why it has none."""
        generation = get(name)
        return fetch_thumbnail(generation) or generation.facts.deletion

    return HistoryTable(
        frame,
        search=partial(_search, session, set()),
        thumbnail=thumbnail,
        find_cached=partial(cached_thumbnail, session.operations.cache),
        card=partial(result_card, session),
        get=get,
        renew=renew,
        subscribe=session.subscribe,
        size=check_count("size", size, 1),
    )


def _search(session: Session[Any], indexed: set[str], frame: pd.DataFrame, text: str) -> Any:
    """Return the positions of rows that contain words, or look like the generation in ``like:ID``.

    A repeated search fetches nothing, because the table repeats it often.
    """
    from kit.explore.archive import search_rows

    prefix, _, name = text.partition(":")
    if prefix != "like" or not name:
        return search_rows(frame, text)
    archive = session.client.block(session.operations.history_sync.archive())
    fetch = 0 if text in indexed else DEFAULT_FETCHES
    flow = session.operations.find_similar(name.strip(), archive, fetch=fetch)
    positions = frame.index.get_indexer(session.client.block(flow).index)
    indexed.add(text)
    return positions[positions >= 0]


def result_card(session: Session[Any], name: str) -> ResultCard:
    """Return a card of a generation with buttons for the possible actions."""
    from kit.studio.forms import FormService
    from kit.widgets.result import show_result

    generation = _get(session, name)
    return show_result(_preview(generation), generation.facts, FormService(session))


class BaseHistory(Generic[G]):
    """The common base of the blocking and the async history."""

    def __init__(self, session: Session[G]) -> None:
        self._session = session
        self._client: Any = session.client
        self._history = session.operations.history_sync

    def __repr__(self) -> str:
        return '<History of generations: table(), frame(), list(), search("lake"), sql("...")>'

    def __bool__(self) -> bool:
        return True  # without it, an empty history would be false

    def __contains__(self, generation: object) -> bool:
        """Whether a generation, given by itself or by id, belongs to the account."""
        name = generation.id if isinstance(generation, BaseGeneration) else generation
        try:
            self._client.block(self._session.operations.get(str(name)))
        except NotFoundError:
            return False
        return True

    def _read_at(self, position: int) -> Flow[wire.Generation]:
        if 0 <= operator.index(position) < PAGE:
            found: list[Any] = yield from self._history.list_newest(position + 1, ALL)
        else:  # without fetching every page before it
            found = (yield from self._history.current()).frame(columns=["status"]).index.tolist()
        try:
            one = found[position]
        except IndexError:
            why = f"there are {len(found)} generations, and none at {position}"
            raise show_own_lines(IndexError(why)) from None
        return (yield from self._session.operations.get(one)) if isinstance(one, str) else one

    def _read_slice(self, which: slice) -> Flow[list[wire.Generation]]:
        """Return those at positions from as few pages as possible, maybe with the copy here."""
        steps, ours = (which.start, which.stop, which.step), self._session.operations.settings.ours
        is_first = which.stop is not None and all(step is None or step >= 0 for step in steps)
        is_last = which.stop is which.step is None and (which.start or 0) < 0
        if is_first or not (ours or is_last):  # another service may support no filters
            limit = which.stop if is_first else None
            return (yield from self._history.list_newest(limit, ALL))[which]
        archive = yield from self._history.current()
        created = archive.frame(columns=["created_at"])["created_at"].iloc[which]
        found: dict[str, wire.Generation] = {}
        if ours and len(created):
            choice = HistoryFilter(created.min(), created.max() + timedelta(milliseconds=1))
            found = {one.id: one for one in (yield from self._history.list_newest(None, choice))}
        for name in created.index:
            if name not in found:
                found[name] = yield from self._session.operations.get(name)
        return [found[name] for name in created.index]

    def _save_all(self, names: Iterable[str], folder: Path) -> Flow[Path]:
        """Save generations to a folder and return the file that lists them."""
        folder.mkdir(parents=True, exist_ok=True)
        lines = []
        for name in names:
            try:
                result = self._session.wrap((yield from self._session.operations.get(name)))
                file = yield from save_file(result, folder, True)
            except (downloads.GoneError, NotFoundError):
                continue
            facts = {"id": result.id, "model": result.model_id, "parameters": result.parameters}
            lines.append({"file_name": file.name, "text": result.prompt, **facts})
        index = folder / "metadata.jsonl"
        known = {index.name, *(line["file_name"] for line in lines)}
        if others := sum(path.name not in known for path in folder.iterdir()):
            self._session.operations.notices.log(
                f"{folder} has other files, which are not in {index.name}: {others:,}; "
                "a new folder would have none"
            )
        index.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        return index


class EntryList(list[wire.Entry]):
    """Entries of the ledger, shown as a table in a notebook."""

    def _repr_html_(self) -> str:
        return preview.entries(self)


class BaseStudio:
    """The common base of the blocking and the async studio."""

    session: Session[Any]
    #: Opens it in another process; None if the key was passed as an argument.
    reopen: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        return f"<Studio {self.session.client.settings.label}>"

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ("client", "session", "reopen")]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.reopen is None:
            raise ConfigError(
                "a studio whose key was passed as an argument cannot be pickled, as that would "
                "save the key: use kit.connect() with a saved profile, or the environment's key"
            )
        return self.reopen, ()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return account and models as the service reports them now, or only its address."""
        client, owner, models = self.session.client, None, list[wire.Model]()
        try:
            owner = client.block(flows.ask(calls.get_account(), flows.ONCE))
            models = [*client.block(self.session.operations.models()).values()]
        except KitError:
            pass  # shown without account and models
        return {
            "text/plain": preview.studio_text(client.settings.label, owner, models),
            "text/html": preview.studio(client.settings.label, owner, models),
        }

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the service's last response, such as the request id to quote to support."""
        return self.session.client.last_response


class SuggestedTitle(wire.Title):
    """A title; `made_before` if it was reused from an earlier request at no cost."""

    made_before: bool = False

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text[:-1]}, made before>" if self.made_before else text

    def _repr_html_(self) -> str:
        return preview.title(self) + (preview.remark(MADE_BEFORE) if self.made_before else "")


class ScriptList(list[wire.Script]):
    """The scripts of one request; `made_before` if they were reused at no cost."""

    def __init__(self, scripts: Iterable[wire.Script] = (), *, made_before: bool = False) -> None:
        super().__init__(scripts)
        self.made_before = made_before

    def __repr__(self) -> str:
        write, _ = preview.DRAWINGS[wire.Script]
        shown = ", ".join(map(write, self))
        return f"[{shown}]{', made before' if self.made_before else ''}"

    def _repr_html_(self) -> str:
        shown = "".join(map(preview.script, self))
        return shown + (preview.remark(MADE_BEFORE) if self.made_before else "")


def gallery_item(generation: BaseGeneration) -> GalleryItem:
    """Return a generation as an item of a gallery."""

    def card() -> ResultCard:
        session = Session(generation.operations, generation.client, type(generation))
        return result_card(session, generation.id)

    charged = generation.operations.find_charge(generation.facts)
    return GalleryItem(generation.facts, charged, partial(fetch_files, generation), card)


def _gallery_items(items: Any, studio: BaseStudio | None, most: int) -> list[GalleryItem]:
    """Return the items to show, in order; ids of the first ones are fetched, in parallel."""
    chosen = list(_flatten(items))
    ids = list(dict.fromkeys(item for item in chosen[:most] if isinstance(item, str)))
    found: dict[str, BaseGeneration] = {}
    if studio is not None:
        with ThreadPoolExecutor(_MAX_FETCHES, thread_name_prefix="kit-views") as pool:
            found = dict(zip(ids, pool.map(partial(_get, studio.session), ids), strict=True))
    elif ids:
        raise ConfigError("ids need the studio that made them: pass studio=studio")
    generations = [found.get(item, item) if isinstance(item, str) else item for item in chosen]
    return [
        gallery_item(one)
        if isinstance(one, BaseGeneration)
        else GalleryItem(wire.Generation(id=one), None, lambda _: (None, None))  # counted only
        for one in generations
    ]


def _flatten(items: Any) -> Iterable[BaseGeneration | str]:
    """Yield generations and ids from nested lists, frames and rows."""
    if isinstance(items, BaseGeneration | str):
        yield items
    elif isinstance(items, wire.Generation):
        yield items.id
    elif hasattr(items, "columns") and hasattr(items, "shape"):
        frame = items.to_pandas() if hasattr(items, "to_pandas") else items  # of polars or Arrow
        yield from map(str, frame["id"] if "id" in frame.columns else frame.index)
    elif hasattr(items, "index") and hasattr(items, "name") and "status" in items.index:
        yield str(items.get("id", items.name))
    elif isinstance(items, Iterable):
        for item in items:
            yield from _flatten(item)
    else:
        raise ConfigError(
            f"this is neither a generation nor the id of one, but of type {type(items).__name__}"
        )


def _get(session: Session[BaseGeneration], name: str) -> BaseGeneration:
    return session.wrap(session.client.block(session.operations.get(name)))


def _preview(generation: BaseGeneration) -> str:
    """Return the preview of a generation in a widget, where relative addresses do not work."""
    style = "max-width:min(100%,340px);height:auto;border-radius:4px"
    fit = media.Fit(embed=_MAX_EMBEDDED_BYTES, beside=False, style=style)
    facts, size = generation.facts, (generation.facts.output or wire.Output()).size_bytes
    if facts.asset_type == "video" and (size is None or size > _MAX_EMBEDDED_BYTES):
        thumbnail, title = fetch_thumbnail(generation), facts.prompt or facts.model_id or ""
        html, note = media.large_video(thumbnail, size, title=title, fit=fit), facts.deletion or ""
    else:
        html, note = render_media(generation, fit)
    charged = generation.operations.find_charge(facts)
    return preview.generation(facts, charged, media=html, note=note)
