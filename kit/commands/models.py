"""``kit models``: the catalog of models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import kit
from kit import wire
from kit.client import settings
from kit.commands import clean
from kit.commands.options import Data, Json, Profile, show, table
from kit.engines.configured.place import ModelSource
from kit.engines.registry import read_listing
from kit.parameters import suggest
from kit.service import settings as service_settings
from kit.service.domain import catalog
from kit.widgets.prices import price_sentence, usual_price


def command(
    only: Annotated[
        str | None,
        typer.Argument(metavar="model", help="Show this model's parameters.", show_default=False),
    ] = None,
    asset_type: Annotated[
        str | None, typer.Option("--type", help="Only this type: image or video.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    gallery: Annotated[
        Path | None,
        typer.Option(
            help="Render examples of the installed models into this HTML page.", show_default=False
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="ID", help="With --gallery: only this model; repeatable."),
    ] = None,
    profile: Profile = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the models with their prices, or show one with its parameters."""
    if asset_type not in (None, "image", "video"):
        raise kit.errors.ConfigError(f"--type must be image or video, not {asset_type!r}")
    if gallery is not None:
        show_gallery(gallery, [*filter(None, (only,)), *(model or ())], data=data)
        return
    if model:
        raise kit.errors.ConfigError("--model goes with --gallery")
    embedded = settings.resolve(profile=profile, data=data) is None
    listing = None
    if embedded and not as_json:  # installed models are known without the service
        ours = service_settings.load(data=data)
        listing = read_listing(ModelSource(ours.engines_file, ours.engine_copies))
        models: Iterable[wire.Model] = catalog.load_engines(listing.engines).models.values()
    else:
        with kit.connect(profile=profile, data=data) as studio:
            models = studio.models.values()
    if only is not None:
        show_model(only, {m.id: m for m in models}, as_json=as_json)
        return
    found = [m for m in models if asset_type in (None, m.asset_type)]
    if category and category not in (known := {m.category for m in found} - {""}):
        raise kit.errors.ConfigError(f"there is no category {category!r}{suggest(category, known)}")
    found = [m for m in found if category in (None, m.category)]
    bodies = [m.model_dump(mode="json", by_alias=True) for m in found]
    groups = {kind: [m for m in bodies if m["assetType"] == kind] for kind in wire.CATEGORIES}
    lines = [(m.id, m.asset_type, m.category, usual_price(m) or "?", m.title) for m in found]
    show(as_json, groups, table(("ID", "TYPE", "CATEGORY", "CREDITS", "TITLE"), lines))
    for broken in listing.left_out if listing else ():
        typer.echo(broken, err=True)


def show_model(name: str, models: Mapping[str, wire.Model], *, as_json: bool) -> None:
    """Print the description, prices and parameters of a model."""
    # Imported here: the list does not need it.
    from kit.studio.catalog import Models
    from kit.widgets.preview import limits_text

    model = Models(models, fetch_again=dict)[name]
    rows = [
        (p.name + "*" * p.required, p.type, default, limits_text(p), p.description)
        for p in model.parameters
        for default in ["" if p.default is None else p.default]
    ]
    words = "\n".join(filter(None, (f"{model.title}: {price_sentence(model)}", model.description)))
    text = f"{clean(words)}\n\n{table(('NAME', 'TYPE', 'DEFAULT', 'ALLOWED', 'DESCRIPTION'), rows)}"
    show(as_json, model.model_dump(mode="json", by_alias=True), text)


def show_gallery(target: Path, only: Sequence[str], **options: Any) -> None:
    """Write the gallery page and print its path; exits with 1 if a model failed."""
    # Imported here: drawing and encoding is heavy, and the list does not need it.
    from kit.commands.gallery import make

    failed = make(target, only, say=partial(typer.echo, err=True), **options)
    typer.echo(target)
    if failed:
        raise typer.Exit(1)
