"""``kit doctor``: whether everything is here and works, and what to do where it does not."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import kit
from kit.client import profiles
from kit.commands.database import check_database
from kit.commands.lab_parts import Finding, examine_lab
from kit.commands.options import Data, Json, show_json
from kit.engines.configured.place import Listing, ModelSource
from kit.engines.registry import installed, survey
from kit.errors import KitError
from kit.private import is_exposed, tighten
from kit.service import settings as service_settings
from kit.service.settings import ServiceSettings, prepare
from kit.service.worker.signing import describe_signer
from kit.version import __version__
from kit.wire import Model

#: What a notebook needs, and the releases that the kit is tested with.
_PACKAGES = {
    "jupyterlab": (4, 5),
    "ipywidgets": (8, 9),
    "anywidget": (0, 1),
    "ipykernel": (6, 8),
    "pandas": (2, 4),
    "httpx": (0, 1),
}
_AGAIN = "reinstall creative-studio-kit"


#: What some tests need -> the programs or modules that will do, and how to get them.
_TEST_NEEDS = {
    "tests": (("pytest", "playwright"), "pip install -e '.[test]'"),
    "a browser for widgets": (("chromium", "google-chrome"), "apt-get install chromium"),
    "the proxy's configuration": (("nginx",), "apt-get install nginx-light"),
    "certificates": (("openssl",), "apt-get install openssl"),
    "the systemd unit": (("systemd-analyze",), "apt-get install systemd"),
    "local pipelines": (("diffusers",), "pip install -e '.[test,diffusers]'"),
    "a language model as writer": (("xllamacpp",), "pip install xllamacpp"),
}


def command(
    data: Data = None,
    tests: Annotated[
        bool, typer.Option("--tests", help="Say what tests need, and which are skipped here.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the installation, the data folder and the engines."""
    findings = list(examine_tests() if tests else examine(service_settings.load(data=data)))
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name}: {finding.found}")
            if finding.remedy:
                typer.echo(f"      {finding.remedy}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def examine_tests() -> Iterator[Finding]:
    """Yield what tests need besides Python; those without it are skipped and say so."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
    for need, (names, remedy) in _TEST_NEEDS.items():
        there = [name for name in names if shutil.which(name, path=path) or find_spec(name)]
        found = there[0] if there else f"no {' or '.join(names)}; tests of it are skipped"
        yield Finding(need, bool(there), found, "" if there else remedy)


def examine(
    settings: ServiceSettings, find_models: Callable[[ModelSource], Listing] = survey
) -> Iterator[Finding]:
    """Yield what was found, cheap things first.

    Parameters
    ----------
    find_models : callable
        Returns the models that there are, and why others are left out.
    """
    source = ModelSource(settings.engines_file, settings.engine_copies)

    def models() -> Listing:
        return find_models(source)

    yield Finding("kit", True, f"{__version__} on Python {platform.python_version()}")
    for name, (least, below) in _PACKAGES.items():
        yield _package(name, least, below)
    yield from examine_lab()
    yield _checked("data folder", lambda: _folder(settings.data), "set KIT_DATA to another folder")
    yield _privacy(settings)
    yield _checked("database", lambda: check_database(settings), "see the sentence above")
    yield _checked("signing", lambda: describe_signer(settings), "see the sentence above")
    yield _checked("models", lambda: ", ".join(models().engines), _AGAIN)
    yield from _engines(models)
    yield _checked("a picture", _picture, "see the sentence above")


def _engines(models: Callable[[], Listing]) -> Iterator[Finding]:
    """Yield what is not served, or will fail when it is asked for; each with the reason."""
    try:
        found = models()
    except KitError:  # the models' own finding has the sentence
        return
    for broken in found.left_out:
        yield Finding("left out", False, f"{broken.what}: {broken.why}", broken.remedy)
    for remark in found.remarks:
        yield Finding("not ready", False, remark, "set that variable where the service runs")


def _package(name: str, least: int, below: int) -> Finding:
    remedy = f"{shlex.quote(sys.executable)} -m pip install '{name}>={least},<{below}'"
    try:
        found = version(name)
    except PackageNotFoundError:
        return Finding(name, False, "not installed", remedy)
    fits = least <= int(found.partition(".")[0]) < below
    return Finding(name, fits, found, "" if fits else remedy)


def _checked(name: str, look: Callable[[], str], remedy: str) -> Finding:
    try:
        return Finding(name, True, look())
    except (KitError, OSError) as error:
        return Finding(name, False, str(error), remedy)


def _privacy(settings: ServiceSettings) -> Finding:
    """Return whether others on this machine can read what is kept; where they can, it is ended."""
    kept = dict.fromkeys((*settings.kept(), profiles.file()))
    open_to_all = [path for path in kept if is_exposed(path)]
    if not open_to_all:
        return Finding("privacy", True, "only you can read what is kept")
    names = ", ".join(str(path) for path in open_to_all)
    theirs = [path for path in open_to_all if not tighten(path)]
    if theirs:
        return Finding("privacy", False, f"others can read {names}", "use a folder of your own")
    return Finding(
        "privacy",
        False,
        f"others could read {names}: now only you can",
        "if somebody else uses this machine, make new keys (kit keys create, kit keys revoke)",
    )


def _folder(path: Path) -> str:
    prepare(path)
    with tempfile.TemporaryFile(dir=path):
        return str(path)


def _picture() -> str:
    """Make the cheapest picture there is, the whole way, on a folder that is thrown away."""
    from kit.local import stop

    with tempfile.TemporaryDirectory() as folder, kit.connect(data=folder) as studio:
        try:
            fit = [m for m in studio.models.values() if _is_ours(m)]
            cheapest = min(fit, key=lambda model: model.credits_from or 0)
            facts = studio.generate(cheapest.id, "a quiet lake").output.facts
            return f"{cheapest.id} made {facts.width} x {facts.height} pixels"
        finally:
            stop()


def _is_ours(model: Model) -> bool:
    """Whether a built-in engine draws it from words: others may need more than is here."""
    engine = installed().get(model.id)
    drawn = type(engine).__module__.startswith("kit.engines.models.")
    return drawn and model.supports_prompt and not any(p.required for p in model.media_parameters)
