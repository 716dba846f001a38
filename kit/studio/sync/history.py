"""The blocking history of a studio; made by `tests/sync_face.py` of `aio`: change that."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, overload

from kit import wire
from kit.client import calls, flows
from kit.client.downloads import GoneError
from kit.explore.filters import Filters, LongNames, Moment, Tags, Words, parse_filter
from kit.studio.history_sync import show_progress
from kit.studio.sync.generation import Generation
from kit.studio.views import BaseHistory, history_table

if TYPE_CHECKING:
    import pandas as pd

    from kit.client.sync import Client
    from kit.explore.archive import Archive
    from kit.explore.filters import HistoryFilter
    from kit.explore.syncing import Synced
    from kit.widgets.table import HistoryTable


class History(BaseHistory[Generation]):
    """The account's generations, newest first.

    What is read of all of them lies on this computer; every look at it asks the service first for
    what is new, which is one request, and ``sync=False`` leaves that out.

    Examples
    --------
    ``studio.history.sql("select model_id, sum(net) from generations group by all")`` or
    ``studio.history.frame(since="2026-01-01", status="completed")``
    """

    _client: Client

    @overload
    def __getitem__(self, which: str | int) -> Generation: ...
    @overload
    def __getitem__(self, which: slice) -> builtins.list[Generation]: ...
    def __getitem__(self, which: str | int | slice) -> Generation | builtins.list[Generation]:
        """Return the generation of an id, or those of positions, the newest being the first.

        Positions from the end, such as ``[-1]`` and ``[-3:]``, are those of the history here.
        """
        return self._get(which) if isinstance(which, str) else self._at(which)

    def __iter__(self) -> Iterator[Generation]:
        following: calls.Call[builtins.list[wire.Generation]] | None = calls.list_generations()
        seen, shown = set[str](), set[str]()
        while following and following.path not in seen:
            seen.add(following.path)  # a list that leads back to itself has no end
            page, following = self._client.run(flows.fetch_page(following))
            for facts in page:
                if facts.id not in shown:  # pages move on while they are read
                    yield self._session.hold(facts)
                shown.add(facts.id)
            following = following if page else None

    def _at(self, which: int | slice) -> Generation | builtins.list[Generation]:
        if isinstance(which, slice):
            if which.stop is which.step is None and (which.start or 0) < 0:
                return [self._get(each) for each in (self._ids())[which]]
            ends = which.stop
            steps = (which.start, which.stop, which.step)
            forward = ends is not None and all(step is None or step >= 0 for step in steps)
            return (self.list(ends if forward else None))[which]
        found = (self.list(which + 1)) if which >= 0 else (self._ids())
        try:
            one = found[which]
        except IndexError:
            raise IndexError(f"there are {len(found)} generations, and none at {which}") from None
        return self._get(one) if isinstance(one, str) else one

    def _ids(self) -> builtins.list[str]:
        """Return all ids, newest first, without a list of so many pages from the service."""
        return (self.frame(columns=["status"])).index.tolist()

    def list(self, limit: int | None = 50, **filters: Unpack[Filters]) -> builtins.list[Generation]:
        """Return the newest generations, at most `limit`; None asks for all.

        The filters are those of `frame`.
        """
        found = self._client.run(self._history.list_newest(limit, parse_filter(**filters)))
        return [self._session.hold(facts) for facts in found]

    def sync(self) -> Synced:
        """Bring the history on this computer up to date and return what that brought.

        It may be interrupted and goes on where it was; two notebooks may sync at once. Finished
        generations lie in the data folder as Parquet files, one folder for a service and an
        account; the ledger lies beside them from the first question about costs on.
        """
        with show_progress(self._session.operations.progress, "history") as on_progress:
            return self._client.run(self._history.sync(on_progress))

    def frame(
        self,
        limit: int | None = None,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        status: Words | None = None,
        model: Words | None = None,
        asset_type: Words | None = None,
        tag: Tags | None = None,
        columns: Sequence[str] | None = None,
        parameters: bool = False,
        media: bool = False,
        sync: bool = True,
        **filters: Unpack[LongNames],
    ) -> pd.DataFrame:
        """Return generations as a table, newest first; see `kit.explore.frames.GENERATIONS`.

        Parameters
        ----------
        limit : int, optional
            Ask the service for this many and no more. Without it the table is made of the history
            on this computer.
        since, until : str, date or datetime, optional
            Made at or after, made before; without a zone in UTC.
        tag : str, sequence of str or mapping, optional
            ``campaign=winter``, or several that all have to be there.
        columns : sequence of str, optional
            Only these; ``parameters.NAME``, ``media.NAME`` and ``tag.KEY`` as well.
        parameters, media : bool
            Whether each parameter, each input file becomes a column too.
        sync : bool
            False takes the history as the last sync left it, without a look at the service.
        """
        words: dict[str, Any] = {"status": status, "model": model, "asset_type": asset_type}
        choice = parse_filter(since=since, until=until, tag=tag, **words, **filters)
        if limit is not None:
            from kit.explore.arrow import Columns

            wanted = Columns(columns, parameters, media)
            return wanted.frame(self._client.run(self._history.newest(limit, choice)))
        archive = self._archive(sync, choice)
        return archive.frame(choice, columns, parameters=parameters, media=media)

    def search(self, words: str, *, sync: bool = True, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Return the generations in which all words occur, the best first, as `frame` does.

        A word is looked for in prompt, tags (``campaign=winter``) and model, also as a part of
        another one, in any case and without accents; several in double quotes are one. ``score`` is
        1 where each is a whole word of the prompt, and less where some are not.

        Examples
        --------
        ``kit.gallery(studio.history.search("snowy lake", since="2026-10-01"), studio=studio)``
        """
        choice = parse_filter(**filters)
        archive = self._archive(sync, choice)
        return archive.search(words, choice)

    def similar(
        self,
        picture: Any,
        n: int = 20,
        *,
        fetch: int = 100,
        sync: bool = True,
        **filters: Unpack[Filters],
    ) -> pd.DataFrame:
        """Return the generations that look most like a picture, as `frame` does.

        The picture is a generation, an id, a path, bytes, or one of Pillow or NumPy; anything else
        raises `ConfigError`. Light and colors are compared, and where they are: ``likeness`` is 1
        for the same. Of a video it is the picture that stands for it. What pictures look like is
        kept on this computer; each call looks at up to `fetch` new ones that the filters let
        through, the newest first, and a line of the log says how many are left.

        Examples
        --------
        ``kit.gallery(studio.history.similar(lake, n=8), studio=studio)``
        """
        choice = parse_filter(**filters)
        archive = self._archive(sync, choice)
        flow = self._session.operations.find_similar(picture, archive, choice, n, fetch)
        return self._client.run(flow)

    def sql(self, query: str, *, sync: bool = True, **tables: Any) -> pd.DataFrame:
        """Return what a query in DuckDB's SQL finds in the tables ``generations`` and ``usage``.

        More tables, frames of pandas or Arrow, are given by name, to join. `sync` is that of
        `frame`.

        Examples
        --------
        ``history.sql('select "parameters.resolution" as size, avg(net) from generations group by
        all')``
        """
        archive = self._archive(sync, usage="usage" in query.lower())
        return archive.sql(query, **tables)

    def export(
        self,
        path: Path | str,
        *,
        columns: Sequence[str] | None = None,
        sync: bool = True,
        **filters: Unpack[Filters],
    ) -> Path:
        """Write the history to a ``.parquet``, ``.csv`` or ``.xlsx`` file and return its path."""
        choice = parse_filter(**filters)
        archive = self._archive(sync, choice)
        return archive.export(path, choice, columns)

    def export_dataset(
        self, folder: Path | str, limit: int | None = None, **filters: Unpack[Filters]
    ) -> Path:
        """Copy the files of completed generations to a folder and return their ``metadata.jsonl``.

        It is what ``datasets.load_dataset("imagefolder", data_dir=folder)`` reads, or
        ``"videofolder"``: a line a file, with the prompt as ``text``. Outputs that were deleted are
        left out.
        """
        target = Path(folder).expanduser()
        target.mkdir(parents=True, exist_ok=True)
        wanted: Filters = {**filters, "status": "completed"}
        frame = self.frame(limit, **wanted)
        lines = []
        for name in frame.index:
            made = self._get(name)
            try:
                file = made.output.save(target)
            except GoneError:
                continue
            facts = {"id": made.id, "model": made.model_id, "parameters": made.parameters}
            lines.append({"file_name": file.name, "text": made.prompt, **facts})
        described = target / "metadata.jsonl"
        described.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
        return described

    def files(self, table: str = "generations", *, sync: bool = True) -> builtins.list[str]:
        """Return the Parquet files of ``generations`` or ``usage``, for larger machinery.

        On one machine ``sql`` is the fastest; ``dask.dataframe.read_parquet(history.files())`` runs
        on a cluster that sees the same disk. Of an archive that `publish` has copied to a bucket,
        each worker reads with keys of its own: ``read_parquet(archive.files(),
        filesystem=archive.store.filesystem)``.
        """
        return (self._archive(sync, usage=table == "usage")).files(table)

    def publish(self, url: str, *, sync: bool = True) -> None:
        """Copy history and ledger to a bucket, or bring the copy that is there up to date.

        Others read them there without a key to the service, and without copying them:
        ``kit.explore.bucket.open_archive(url)`` has ``frame`` and ``sql``, and `kit.explore.costs`
        takes it. Only what is new is sent. A prefix is for one account; who may read it reads the
        prompts, too.

        Parameters
        ----------
        url : str
            ``s3://BUCKET/PREFIX?endpoint=URL&region=NAME``; see `kit.explore.bucket.open_archive`.

        Raises
        ------
        ConfigError
            The extra ``s3`` is not installed, or the bucket cannot be reached.

        Examples
        --------
        ``studio.history.publish("s3://team/history?region=eu-central-1")``
        """
        store = (self._archive(sync, usage=True)).store
        from kit.explore.bucket import publish

        publish(store, url)

    def pending(self) -> builtins.list[Generation]:
        """Return what this computer started and has not seen end yet, oldest first.

        What ended in the meantime, while no kernel ran, is among them once: ``wait()`` fetches it.
        """
        found = self._client.run(self._session.operations.pending())
        return [self._session.hold(facts) for facts in found]

    def __len__(self) -> int:
        """Return how many generations there are, after a look at the service."""
        counted = self._client.wait_for(self.sql("select count(*) as n from generations"))
        return int(counted["n"].iloc[0])

    def table(
        self,
        limit: int | None = None,
        *,
        frame: pd.DataFrame | None = None,
        size: int = 20,
        **filters: Unpack[Filters],
    ) -> HistoryTable:
        """Return a table of the history: sort, filter, turn pages and choose in it.

        It shows the newest `limit`, or all, that fit filters as of `frame`; or a `frame` that is
        given, a million rows are fine; `size` rows a page.

        Examples
        --------
        ``table = studio.history.table(status="completed")`` and then ``table.selected``
        """
        if frame is not None:
            return history_table(self._session, frame, size)

        def renew() -> pd.DataFrame:
            """Return the frame as it is now; called on a thread, which may block."""
            return self._client.wait_for(self.frame(limit, **filters))

        return history_table(self._session, self.frame(limit, **filters), size, renew)

    def _get(self, generation_id: str) -> Generation:
        found = self._client.run(self._session.operations.get(generation_id))
        return self._session.hold(found)

    def _archive(
        self, sync: bool, choice: HistoryFilter | None = None, *, usage: bool = False
    ) -> Archive:
        """Return the archive; a choice of it that makes no sense is refused."""
        current = self._history.current(sync=sync, usage=usage, choice=choice)
        return self._client.run(current)
