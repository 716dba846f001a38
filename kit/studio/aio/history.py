"""The async history of a studio; `tests/sync_face.py` generates the blocking one."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from kit import wire
from kit.client import calls, flows
from kit.client.bridge import to_thread
from kit.explore.filters import Filters, LongNames, Moment, Tags, Words, parse_filter
from kit.private import user_path
from kit.studio.aio.generation import AsyncGeneration
from kit.studio.history_sync import show_progress
from kit.studio.views import BaseHistory, history_table

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.aio import AsyncClient
    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter
    from kit.explore.syncing import Synced
    from kit.widgets.table import HistoryTable


class AsyncHistory(BaseHistory[AsyncGeneration]):
    """The account's generations, newest first.

    A copy of the history is kept on this computer. Methods that use it first fetch what is new,
    with one request; ``sync=False`` skips that.

    Examples
    --------
    ``studio.history.sql("select model_id, sum(net) from generations group by all")`` or
    ``studio.history.frame(since="2026-01-01", status="completed")``
    """

    _client: AsyncClient
    __iter__ = None  # of the awaited face alone

    @overload
    def __getitem__(self, which: str | int) -> Awaitable[AsyncGeneration]: ...
    @overload
    def __getitem__(self, which: slice) -> Awaitable[builtins.list[AsyncGeneration]]: ...
    def __getitem__(
        self, which: str | int | slice
    ) -> Awaitable[AsyncGeneration | builtins.list[AsyncGeneration]]:
        """Return the generation with an id, or those at positions; the newest is at 0.

        Positions from the end, such as ``[-1]`` and ``[-3:]``, use the copy on this computer.
        """
        return self._get(which) if isinstance(which, str) else self._at(which)

    async def __aiter__(self) -> AsyncIterator[AsyncGeneration]:
        following: calls.Call[builtins.list[wire.Generation]] | None = calls.list_generations()
        paths, ids = set[str](), set[str]()
        while following and following.path not in paths:
            paths.add(following.path)  # protects against a list whose pages form a cycle
            page, following = await self._client.run(flows.fetch_page(following))
            for facts in flows.sort_newest_first(page):
                if facts.id not in ids:  # pages may shift while they are read
                    yield self._session.wrap(facts)
                ids.add(facts.id)
            following = following if page else None

    async def _at(self, which: int | slice) -> AsyncGeneration | builtins.list[AsyncGeneration]:
        if not isinstance(which, slice):
            return self._session.wrap(await self._client.run(self._read_at(which)))
        found = await self._client.run(self._read_slice(which))
        return [self._session.wrap(facts) for facts in found]

    async def list(
        self, limit: int | None = 50, **filters: Unpack[Filters]
    ) -> builtins.list[AsyncGeneration]:
        """Return the newest generations, at most `limit`; None returns all.

        The filters are those of `frame`.
        """
        found = await self._client.run(self._history.list_newest(limit, parse_filter(**filters)))
        return [self._session.wrap(facts) for facts in found]

    async def sync(self) -> Synced:
        """Update the history on this computer and return what was added.

        After an interrupt it resumes where it stopped; two notebooks may sync at once. Finished
        generations are stored as Parquet files in the data folder, one folder per service and
        account; the ledger is added when costs are first used.
        """
        with show_progress(self._session.operations.progress, "history") as on_progress:
            return await self._client.run(self._history.sync(on_progress))

    async def frame(
        self,
        limit: int | None = None,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        status: Words | None = None,
        model: Words | None = None,
        asset_type: Words | None = None,
        tag: Tags | None = None,
        timezone: str = "UTC",
        columns: Sequence[str] | None = None,
        parameters: bool = False,
        media: bool = False,
        sync: bool = True,
        **filters: Unpack[LongNames],
    ) -> pd.DataFrame:
        """Return generations as a dataframe, newest first; see `kit.explore.frames.GENERATIONS`.

        Its ``to_excel`` fails, as Excel has no time zones: use `export`, or ``write_excel`` of
        `kit.explore.frames`.

        Parameters
        ----------
        limit : int, optional
            Fetch at most this many from the service. By default, all are read from the history on
            this computer.
        since, until : str, date or datetime, optional
            Created at or after, and before; without a zone, they are in `timezone`.
        tag : str, sequence of str or mapping, optional
            ``campaign=winter``, or several, all of which have to match.
        columns : sequence of str, optional
            Columns to return, also ``parameters.NAME``, ``media.NAME`` and ``tag.KEY``.
        parameters, media : bool
            Whether to add a column for each parameter, or for each input file.
        sync : bool
            False uses the history of the last sync, without a request to the service.
        """
        words: dict[str, Any] = {"status": status, "model": model, "asset_type": asset_type}
        times: dict[str, Any] = {"since": since, "until": until, "timezone": timezone}
        choice = parse_filter(tag=tag, **times, **words, **filters)
        if limit is not None:
            wanted = columns, parameters, media
            return await self._client.run(self._history.newest(limit, choice, *wanted))
        archive = await self._archive(sync, choice)
        return await to_thread(archive.frame, choice, columns, parameters=parameters, media=media)

    async def search(
        self, words: str, *, sync: bool = True, **filters: Unpack[Filters]
    ) -> pd.DataFrame:
        """Return the generations that contain all words, best match first, as `frame` does.

        Prompt, tags (``campaign=winter``) and model are searched, also for parts of words, ignoring
        case and accents; double quotes search for a phrase. ``score`` is 1 if all are whole words
        of the prompt, and less otherwise.

        Examples
        --------
        ``kit.gallery(studio.history.search("snowy lake", since="2026-10-01"), studio=studio)``
        """
        choice = parse_filter(**filters)
        archive = await self._archive(sync, choice)
        return await to_thread(archive.search, words, choice)

    async def similar(
        self,
        picture: Any,
        n: int = 20,
        *,
        fetch: int = 100,
        sync: bool = True,
        **filters: Unpack[Filters],
    ) -> pd.DataFrame:
        """Return the generations that look most like a picture, as `frame` does.

        The picture is a generation, an id, a path, bytes, a Pillow image or a NumPy array; anything
        else raises `ConfigError`. Brightness and colors are compared by position, for videos in the
        thumbnail: ``likeness`` is 1 for identical pictures. Fingerprints of pictures are kept on
        this computer; each call adds up to `fetch` new ones that match the filters, newest first,
        and logs how many are left.

        Examples
        --------
        ``kit.gallery(studio.history.similar(lake, n=8), studio=studio)``
        """
        choice = parse_filter(**filters)
        archive = await self._archive(sync, choice)
        flow = self._session.operations.find_similar(picture, archive, choice, n, fetch)
        return await self._client.run(flow)

    async def sql(self, query: str, *, sync: bool = True, **tables: Any) -> pd.DataFrame:
        """Run a query in DuckDB's SQL on the tables ``generations`` and ``usage``.

        Keyword arguments add pandas or Arrow tables to join, by name. `sync` is as of `frame`.

        Examples
        --------
        ``history.sql('select "parameters.resolution" as size, avg(net) from generations group by
        all')``
        """
        archive = await self._archive(sync, usage="usage" in query.lower())
        return await to_thread(archive.sql, query, **tables)

    async def export(
        self,
        path: Path | str,
        *,
        columns: Sequence[str] | None = None,
        sync: bool = True,
        **filters: Unpack[Filters],
    ) -> Path:
        """Write the history as ``.parquet``, ``.csv`` or, for Excel, ``.xlsx``; return its path."""
        choice = parse_filter(**filters)
        archive = await self._archive(sync, choice)
        return await to_thread(archive.export, path, choice, columns)

    async def export_dataset(
        self, folder: Path | str, limit: int | None = None, **filters: Unpack[Filters]
    ) -> Path:
        """Copy the files of completed generations to a folder and return their ``metadata.jsonl``.

        ``datasets.load_dataset("imagefolder", data_dir=folder)``, or ``"videofolder"``, reads it:
        one line per file, with the prompt as ``text``. Outputs that are deleted, or that the
        service no longer has, are left out. Other files in the folder, such as those of an earlier
        export, stay there and are not listed; their number is logged.
        """
        completed: Filters = {**filters, "status": "completed"}
        frame = await self.frame(limit, **completed)
        save = self._session.resumable(self._save_all(frame.index, user_path(folder)))
        return await self._client.run(save)

    async def files(self, table: str = "generations", *, sync: bool = True) -> builtins.list[str]:
        """Return the Parquet files of ``generations`` or ``usage``, for use with other tools.

        On one machine `sql` is fastest; ``dask.dataframe.read_parquet(history.files())`` runs on a
        cluster that shares the disk. From an archive that `publish` has copied to a bucket, each
        worker reads with its own keys: ``read_parquet(archive.files(),
        filesystem=archive.store.filesystem)``.
        """
        return (await self._archive(sync, usage=table == "usage")).files(table)

    async def publish(self, url: str, *, sync: bool = True) -> None:
        """Copy history and ledger to a bucket, or update the copy there.

        Others can read the copy in place without an API key of the service:
        ``kit.explore.bucket.open_archive(url)`` has ``frame`` and ``sql``, and works with
        `kit.explore.costs`. Only what is new is sent. Use one prefix per account; everyone with
        read access can read the prompts. The `url` is that of `kit.explore.bucket.open_archive`.
        Raises `ConfigError` without the extra ``s3``, or if the bucket cannot be reached.

        Examples
        --------
        ``studio.history.publish("s3://team/history?region=eu-central-1")``
        """
        store = (await self._archive(sync, usage=True)).store
        from kit.explore.bucket import publish

        await to_thread(publish, store, url)

    async def pending(self) -> builtins.list[AsyncGeneration]:
        """Return generations started here and not yet known to have ended, oldest first.

        Those that ended while no kernel was running are listed once; ``wait()`` fetches the result.
        """
        found = await self._client.run(self._session.operations.pending())
        return [self._session.wrap(facts) for facts in found]

    def __len__(self) -> int:
        """Return the number of generations, after a sync."""
        frame = self._client.wait_for(self.sql("select count(*) as n from generations"))
        return int(frame["n"].iloc[0])

    async def table(
        self,
        limit: int | None = None,
        *,
        frame: pd.DataFrame | None = None,
        size: int = 20,
        **filters: Unpack[Filters],
    ) -> HistoryTable:
        """Return a widget that shows the history as a table, to sort, filter, page and select.

        It shows all generations that match filters as of `frame`, or the newest `limit`; or a given
        `frame` of up to a million rows and more. A page has `size` rows. An `ipywidgets.Tab` or
        another box takes ``table.controls``.

        Examples
        --------
        ``table = await studio.history.table(status="completed")`` and then ``table.selected``
        """
        if frame is not None:
            return history_table(self._session, frame, size)

        def renew() -> pd.DataFrame:
            """Fetch the current frame; called on a thread that may block."""
            return self._client.wait_for(self.frame(limit, **filters))

        return history_table(self._session, await self.frame(limit, **filters), size, renew)

    async def _get(self, generation_id: str) -> AsyncGeneration:
        found = await self._client.run(self._session.operations.get(generation_id))
        return self._session.wrap(found)

    async def _archive(
        self, sync: bool, choice: HistoryFilter | None = None, *, usage: bool = False
    ) -> Archive:
        """Return the archive; an invalid choice raises `ConfigError`."""
        return await self._client.run(self._history.current(sync=sync, usage=usage, choice=choice))
