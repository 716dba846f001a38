"""Views of a studio: what gallery, comparison and table need, made of generations.

Files are fetched by blocking, whichever face a generation has: what shows itself in a notebook
cannot be awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, overload

from kit import wire
from kit.client import calls, flows
from kit.errors import ConfigError, KitError, NotFoundError
from kit.studio.generation import (
    MADE_BEFORE,
    BaseGeneration,
    G,
    Session,
    cached_thumbnail,
    fetch_files,
    fetch_thumbnail,
    render_media,
)
from kit.studio.operations import FETCHED, Operations
from kit.widgets import media, preview
from kit.widgets.compare import Comparison
from kit.widgets.gallery import Gallery, GalleryItem

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.http import LastResponse
    from kit.explore.filters import Moment
    from kit.explore.ratings import Ratings
    from kit.widgets.blind import BlindComparison
    from kit.widgets.result import ResultCard
    from kit.widgets.table import HistoryTable

#: Bytes up to which a video plays in the preview below a table, where no file can be named.
_LIVE = 6_000_000
#: Generations that are asked for at the same time.
_AT_ONCE = 6


def gallery(
    generations: Any,
    *,
    studio: BaseStudio | None = None,
    columns: int | None = None,
    size: int = 220,
    embed: bool = False,
) -> Gallery:
    """Return a grid of generations with captions and costs; a click enlarges one.

    They are one or many generations, ids or rows of a history frame; ids and rows need the `studio`
    that made them. There are as many `columns` of `size` pixels as there is room for. Short videos
    are files in ``outputs/`` beside the notebook, or inside it, for mailing it, with `embed`.

    Examples
    --------
    ``kit.gallery(studio.history.list(12))``, or, with what was chosen in a table,
    ``kit.gallery(table.selected, columns=3)``
    """
    return Gallery(_gallery_items(generations, studio), columns, size, embed)


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
    """Return generations side by side, with the parameters that differ marked.

    They are given as to `gallery`; there are two at least. Differences in price are to the first.
    `blind` shows two at a time without what made them, and lets you choose the better:
    ``ranking()`` of what is returned is the order that comes of it.

    Examples
    --------
    ``kit.compare(night, day)``, or ``kit.compare(sweep, blind=True)``
    """
    from kit.explore.ratings import rank
    from kit.widgets.blind import BlindComparison

    shown = _gallery_items(generations, studio)
    if len(shown) < 2:
        raise ConfigError(f"a comparison needs at least two generations, not {len(shown)}")
    return BlindComparison(shown, rank, size=size) if blind else Comparison(shown, size)


def history_table(
    session: Session[Any],
    frame: pd.DataFrame,
    size: int = 20,
    renew: Callable[[], pd.DataFrame] | None = None,
) -> HistoryTable:
    """Return the table of a history frame, which fetches its pictures through a client."""
    from kit.widgets.table import HistoryTable

    get = partial(_get, session)

    def thumbnail(name: str) -> bytes | str | None:
        """Return the thumbnail of a generation, or why there is none."""
        generation = get(name)
        return fetch_thumbnail(generation) or generation.facts.deletion

    return HistoryTable(
        frame,
        search=partial(_search, session, set()),
        thumbnail=thumbnail,
        near=partial(cached_thumbnail, session.operations.cache),
        card=partial(result_card, session),
        get=get,
        renew=renew,
        subscribe=session.subscribe,
        size=size,
    )


def _search(session: Session[Any], asked: set[str], frame: pd.DataFrame, text: str) -> Any:
    """Return the positions of rows in which words occur, or that look like ``like:ID``.

    What is asked for a second time fetches nothing: the table is looked through again and again.
    """
    from kit.explore.archive import search_rows

    prefix, _, name = text.partition(":")
    if prefix != "like" or not name:
        return search_rows(frame, text)
    archive = session.client.block(session.operations.history_sync.archive())
    fetch = 0 if text in asked else FETCHED
    flow = session.operations.find_similar(name.strip(), archive, fetch=fetch)
    places = frame.index.get_indexer(session.client.block(flow).index)
    asked.add(text)
    return places[places >= 0]


def result_card(session: Session[Any], name: str) -> ResultCard:
    """Return a generation with what can be done with it, wherever it was opened."""
    from kit.studio.forms import FormService
    from kit.widgets.result import show_result

    generation = _get(session, name)
    return show_result(_preview(generation), generation.facts, FormService(session))


class BaseHistory(Generic[G]):
    """What both faces of a history share."""

    def __init__(self, session: Session[G]) -> None:
        self._session = session
        self._client: Any = session.client
        self._history = session.operations.history_sync

    def __repr__(self) -> str:
        return '<History of generations: table(), frame(), list(), search("lake"), sql("...")>'

    def __bool__(self) -> bool:
        return True  # whether it is there, and not how long it is

    def __contains__(self, generation: object) -> bool:
        """Whether a generation, or the one of an id, is the account's."""
        name = generation.id if isinstance(generation, BaseGeneration) else generation
        try:
            self._client.block(self._session.operations.get(str(name)))
        except NotFoundError:
            return False
        return True


class BaseCosts:
    """What both faces of the costs share, because nothing is asked of the service for it."""

    def __init__(self, client: Any, operations: Operations, ratings: Ratings) -> None:
        from kit.explore.costs.spending import Rates  # loads pandas

        self._client = client
        self._operations = operations
        self._ratings = ratings
        self._rates = Rates(operations.settings.records("rates"))

    def __repr__(self) -> str:
        return '<Costs: summary(), by("model"), trend(), trend().plot(), report()>'

    def rate(
        self, currency: str, amount: Decimal | float | str | None, since: Moment | None = None
    ) -> None:
        """Say what a credit is worth in money, always or from a day on.

        From then on `by`, `trend`, `summary` and `frame` have the net in that currency too. It is
        kept on this computer; None as the amount takes the rate of that day away.

        Raises
        ------
        ConfigError
            The currency is no code such as EUR, or the amount is none.

        Examples
        --------
        ``studio.costs.rate("EUR", 0.012)`` and later ``costs.rate("EUR", 0.011, "2026-07-01")``
        """
        self._rates.add(currency, amount, since)


class EntryList(list[wire.Entry]):
    """Entries of the ledger, shown as a table in a notebook."""

    def _repr_html_(self) -> str:
        return preview.entries(self)


class BaseStudio:
    """What both faces of a studio share: the session that it works with, and how it looks."""

    session: Session[Any]
    #: What opens it in another process; None where its key was passed.
    reopen: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        return f"<Studio {self._name}>"

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in ("client", "session", "reopen")]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.reopen is None:
            raise ConfigError(
                "a studio with a key that was passed cannot be pickled, as that would write the "
                "key down: kit.connect() to a saved profile, or with KIT_BASE_URL and KIT_API_KEY"
            )
        return self.reopen, ()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return what its service says now, or only where it is."""
        client, owner, models = self.session.client, None, list[wire.Model]()
        try:
            owner = client.block(flows.ask(calls.get_account(), flows.ONCE))
            models = [*client.block(self.session.operations.models()).values()]
        except KitError:
            pass  # what it says is left out
        return {
            "text/plain": preview.studio_text(self._name, owner, models),
            "text/html": preview.studio(self._name, owner, models),
        }

    @property
    def last_response(self) -> LastResponse | None:
        """Facts about the last answer of the service, with the request id that support asks for."""
        return self.session.client.last_response

    @property
    def _name(self) -> str:
        settings = self.session.client.settings
        return settings.name or settings.base_url


class SuggestedTitle(wire.Title):
    """A title, and whether an equal request led to it earlier, so that it cost nothing now."""

    made_before: bool = False

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        text, html = (draw(self) for draw in preview.DRAWINGS[wire.Title])
        if self.made_before:
            text, html = f"{text[:-1]}, made before>", html + preview.remark(MADE_BEFORE)
        return {"text/plain": text, "text/html": html}


class ScriptList(list[wire.Script]):
    """The scripts of one request, shown side by side; made before, they cost nothing now."""

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
    """Return a generation with the means to show it."""

    def card() -> ResultCard:
        session = Session(generation.operations, generation.client, type(generation))
        return result_card(session, generation.id)

    charged = generation.operations.find_charge(generation.facts)
    return GalleryItem(generation.facts, charged, partial(fetch_files, generation), card)


def _gallery_items(items: Any, studio: BaseStudio | None) -> list[GalleryItem]:
    """Return what is to be shown, in its order; ids are asked for side by side."""
    wanted = list(_flatten(items))
    ids = [item for item in wanted if isinstance(item, str)]
    if ids and studio is None:
        raise ConfigError("ids need the studio that made them: pass studio=studio")
    found: dict[str, BaseGeneration] = {}
    if studio is not None:
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="kit-views") as pool:
            found = dict(zip(ids, pool.map(partial(_get, studio.session), ids), strict=True))
    return [gallery_item(found[item] if isinstance(item, str) else item) for item in wanted]


def _flatten(items: Any) -> Iterable[BaseGeneration | str]:
    """Yield generations and ids out of whatever holds them."""
    if isinstance(items, BaseGeneration | str):
        yield items
    elif isinstance(items, wire.Generation):
        yield items.id
    elif hasattr(items, "columns") and hasattr(items, "index"):
        yield from map(str, items["id"] if "id" in items.columns else items.index)
    elif hasattr(items, "index") and hasattr(items, "name") and "status" in items.index:
        yield str(items.get("id", items.name))
    elif isinstance(items, Iterable):
        for item in items:
            yield from _flatten(item)
    else:
        raise ConfigError(f"a {type(items).__name__} is neither a generation nor the id of one")


def _get(session: Session[Any], name: str) -> BaseGeneration:
    found: BaseGeneration = session.hold(session.client.block(session.operations.get(name)))
    return found


def _preview(generation: BaseGeneration) -> str:
    """Return the preview of a generation inside a widget, where relative addresses lead nowhere."""
    style = "max-width:min(100%,340px);height:auto;border-radius:4px"
    fit = media.Fit(embed=_LIVE, beside=False, style=style)
    facts, weight = generation.facts, (generation.facts.output or wire.Output()).size_bytes
    if facts.asset_type == "video" and (weight is None or weight > _LIVE):
        small, title = fetch_thumbnail(generation), generation.prompt or ""
        shown, note = media.large_video(small, weight, title=title, fit=fit), facts.deletion or ""
    else:
        shown, note = render_media(generation, fit)
    charged = generation.operations.find_charge(facts)
    return preview.generation(facts, charged, media=shown, note=note)
