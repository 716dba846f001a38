"""``kit outputs``: the output files of generations."""

from __future__ import annotations

from typing import Annotated

import typer

import kit
from kit import wire
from kit.commands import clean
from kit.commands.options import Data, Json, Profile, group, show

app = group()


@app.command()
def delete(
    generations: Annotated[list[str], typer.Argument(help="Ids of generations.")],
    profile: Profile = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Delete the files of generations permanently; the generations stay."""
    with kit.connect(profile=profile, data=data) as studio:
        # check all ids first, so that a mistyped one deletes nothing
        found = [studio.history[name] for name in generations]
        deleted = [one.delete_outputs() for one in found]
    moments = [(one.id, one.facts.outputs_deleted_at) for one in deleted]
    rows = [{"id": name, "outputsDeletedAt": at and wire.timestamp(at)} for name, at in moments]
    lines = [f"{clean(one.id)}: {one.facts.deletion or 'had no file'}" for one in deleted]
    show(as_json, rows, "\n".join(lines))
