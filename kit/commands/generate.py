"""``kit generate``: generates a picture or a video from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

import kit
from kit import typed, wire
from kit.client.uploads import is_web_url
from kit.commands.options import Data, Json, Output, Profile, check_folder, show
from kit.endings import guess_type
from kit.errors import ConfigError, GenerationFailedError
from kit.parameters import suggest


def command(
    model: Annotated[str | None, typer.Argument(help="Model id, as `kit models` shows it.")] = None,
    prompt: Annotated[str | None, typer.Argument(help="What to make.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", "--parameter", metavar="NAME=VALUE", help="A parameter; repeatable."),
    ] = None,
    media: Annotated[
        list[str] | None,
        typer.Option(
            "--media", metavar="NAME=FILE", help="An input file, or its https URL; repeatable."
        ),
    ] = None,
    output: Output = None,
    like: Annotated[
        Path | None,
        typer.Option("--from", help="Use the request in this file's metadata.", show_default=False),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="KEY=VALUE", help="A tag; repeatable.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Generate and pay again, even if it exists.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(help="Most credits that it may cost; with 0 it only names the price."),
    ] = None,
    profile: Profile = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Generate a picture or a video and write it to a file."""
    check_folder(output)
    with (
        kit.connect(profile=profile, data=data) as studio,
        nullcontext() if budget is None else studio.budget(credits=budget),
    ):
        name = model or (studio.read(like).model if like else None)
        if name is None:
            raise ConfigError("name a model, or a generated file with --from")
        definition = studio.models[name]
        check_ending(definition, output)
        given = typed.parse_pairs(parameter or (), "-p")
        for medium in definition.media_parameters:
            if medium.name in given:
                raise ConfigError(f"{medium.name} takes a file: --media {medium.name}=FILE")
        values = typed.parse_values(definition, given)
        files = read_media(definition, media or ()) or None
        tags = {name: texts[-1] for name, texts in typed.parse_pairs(tag or (), "--tag").items()}
        options: Any = {"media": files, "again": again, "tags": tags}
        if like is None:
            generation = studio.generate(definition, prompt, parameters=values, **options)
        else:
            options |= {} if prompt is None else {"prompt": prompt}
            generation = studio.recreate(like, model=definition, parameters=values, **options)
        if generation.status != "completed":
            raise GenerationFailedError(generation.error or f"it is {generation.status}")
        path = generation.output.save(output if output is not None else Path.cwd())
    facts = {
        "id": generation.id,
        "modelId": generation.model_id,
        "file": str(path),
        "credits": generation.credits,
        "madeBefore": generation.made_before,
        "parameters": generation.parameters,
        "tags": generation.tags,
    }
    show(as_json, facts, str(path))
    if not as_json and generation.credits is not None and sys.stderr.isatty():
        reused = ", made before" if generation.made_before else ""
        typer.echo(f"{generation.credits:g} credits{reused}", err=True)


def check_ending(model: wire.Model, output: Path | None) -> None:
    """Refuse an image suffix for a video and vice versa, before anything is charged."""
    if output is None or output.is_dir():
        return
    kind = guess_type(output.name).partition("/")[0]
    if kind in ("image", "video", "audio") and kind != model.asset_type:
        raise ConfigError(
            f"the model {model.id!r} makes files of type {model.asset_type}, and -o {output.name} "
            f"names one of type {kind}"
        )


def read_media(model: wire.Model, given: Sequence[str]) -> dict[str, list[str]]:
    """Return input files by parameter name."""
    names = {p.name for p in model.media_parameters}
    files = typed.parse_pairs(given, "--media")
    for name, values in files.items():
        if name not in names:
            hint = suggest(name, names)
            raise ConfigError(f"the model {model.id!r} has no medium {name!r}{hint}")
        # not every shell replaces the ~ after a "="
        files[name] = [v if is_web_url(v) else str(Path(v).expanduser()) for v in values]
        for value in files[name]:
            if not is_web_url(value) and not Path(value).is_file():
                raise ConfigError(f"--media {name}: there is no file {value!r}")
    return files
