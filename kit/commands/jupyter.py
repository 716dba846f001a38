"""Whether JupyterLab, its widget extensions and the kernel fit together, for ``kit doctor``.

They may come from different environments: what Lab shows is drawn by the extension that Lab finds
first, and what runs is decided by the kernel that it starts.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was examined."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Extension:
    """A part of Lab that draws the widgets of a package.

    Parameters
    ----------
    folder : str
        Where it lies among Lab's extensions.
    fits : callable
        The package's release -> how that of the extension begins; None where that is not known.
    cure : str
        What pip is told to install.
    """

    name: str
    package: str
    folder: str
    fits: Callable[[str], str | None]
    cure: str


_EXTENSIONS = (
    Extension(
        "widget extension",
        "ipywidgets",
        "@jupyter-widgets/jupyterlab-manager",
        lambda release: {"8": "5", "7": "3"}.get(release.partition(".")[0]),
        "'jupyterlab_widgets>=3,<4'",
    ),
    # it asks for its own minor release
    Extension(
        "extension of drop zones and keys",
        "anywidget",
        "anywidget",
        lambda release: ".".join(release.split(".")[:2]) or None,
        "anywidget",
    ),
)


@dataclass(frozen=True, slots=True)
class JupyterPlace:
    """Where things are looked for; tests pass folders of their own.

    Parameters
    ----------
    extensions : sequence of Path
        Folders with Lab's extensions, in the order in which Lab looks.
    configs : sequence of Path
        Folders with Jupyter's configuration.
    kernel : Path or None
        The interpreter of the kernel ``python3``, and in a Lab of another environment of one that
        finds the kit; None where there is no kernel.
    lab : Path or None
        The ``jupyter-lab`` that the shell would start, or that this is called from.
    releases : mapping
        Packages with widgets -> their releases here.
    inside : str
        The release of a Lab of another environment, where this is called from one: what counts is
        what that Lab has, and what it starts. Empty elsewhere.
    """

    extensions: Sequence[Path]
    configs: Sequence[Path]
    kernel: Path | None
    lab: Path | None
    releases: Mapping[str, str]
    inside: str = ""

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ) -> JupyterPlace:
        """Return where Jupyter looks from this environment."""
        from jupyter_core.paths import jupyter_config_path, jupyter_path

        lab = _around(environ) or _shell()
        strange = lab is not None and not _ours(lab) and bool(_IN_LAB & set(environ))
        prefix = lab.parents[1] if lab and strange else Path(sys.prefix)
        kernels = _seen(jupyter_path("kernels"), prefix)
        return cls(
            extensions=_seen(jupyter_path("labextensions"), prefix),
            configs=_seen(jupyter_config_path(), prefix),
            kernel=_offered(kernels, lab) if lab and strange else _kernel(),
            lab=lab,
            releases={each.package: _release(each.package) for each in _EXTENSIONS},
            inside=_told(lab) if lab and strange else "",
        )

    @property
    def pip(self) -> str:
        """What installs something where Lab finds it."""
        python = self.lab.with_name("python") if self.lab and self.inside else sys.executable
        return f"{shlex.quote(str(python))} -m pip install"


#: What servers of Jupyter tell their kernels, and their terminals.
_PARENT = "JPY_PARENT_PID"
_IN_LAB = {_PARENT, "JUPYTER_SERVER_URL"}


def examine(place: JupyterPlace | None = None) -> Iterator[Finding]:
    """Yield what was found of Lab, extension and kernel; each mismatch names its one cure."""
    place = place or JupyterPlace.here()
    yield _lab(place)
    for extension in _EXTENSIONS:
        yield _extension(place, extension)
    yield _started(place)


def _lab(place: JupyterPlace) -> Finding:
    name = "JupyterLab's environment"
    if place.lab is None:
        return Finding(name, True, "no jupyter-lab on the path; `kit lab` starts the one here")
    if _ours(place.lab):
        return Finding(name, True, str(place.lab))
    found = f"{place.lab} belongs to another environment"
    if place.inside:
        fits = place.inside.startswith("4.")
        cure = "" if fits else f"{place.pip} 'jupyterlab>=4.4,<5', and start it again"
        return Finding(name, fits, f"{found}, with JupyterLab {place.inside}", cure)
    # nothing is broken as long as it is not the one that is started
    cure = "start JupyterLab with `kit lab`, which takes the one beside the kit"
    return Finding(name, True, found, cure)


def _extension(place: JupyterPlace, wanted: Extension) -> Finding:
    # Lab takes the first that it finds, and never looks further
    described = [folder / wanted.folder / "package.json" for folder in place.extensions]
    there = [path for path in described if path.is_file()]
    cure = f"{place.pip} --force-reinstall {wanted.cure}, and reload the page"
    if not there:
        return Finding(wanted.name, False, "Lab has none that draws these widgets", cure)
    release, folder = str(_json(there[0]).get("version", "?")), there[0].parent
    if any(_disabled(config, wanted.folder) for config in place.configs):
        remedy = f"jupyter labextension enable {wanted.folder}"
        return Finding(wanted.name, False, f"{release} is switched off", remedy)
    package = f"{wanted.package} {place.releases[wanted.package]}"
    begins = wanted.fits(place.releases[wanted.package])
    if begins is not None and not f"{release}.".startswith(f"{begins}."):
        hidden = f"remove the folder {folder}: it hides the right one"
        found = f"{release} in {folder} does not fit {package}, which needs {begins}.x"
        return Finding(wanted.name, False, found, hidden if len(there) > 1 else cure)
    return Finding(wanted.name, True, f"{release} for {package}")


def _started(place: JupyterPlace) -> Finding:
    name = "kernel"
    python = shlex.quote(sys.executable)
    cure = f"{python} -m ipykernel install --sys-prefix"
    if place.inside:
        cure = (
            f"{python} -m ipykernel install --user --name creative-studio, and choose that kernel"
        )
    if place.kernel is None:
        return Finding(name, False, "there is no kernel 'python3'", cure)
    same = _ours(place.kernel)
    found = str(place.kernel) if same else f"{place.kernel} is not where the kit is installed"
    return Finding(name, same, found, "" if same else cure)


def _ours(program: Path) -> bool:
    """Whether a program lies in this environment."""
    return program.parent.resolve() == Path(sys.executable).parent.resolve()


def _around(environ: Mapping[str, str]) -> Path | None:
    """Return the ``jupyter-lab`` beside the server that this is called from; None where unknown."""
    try:
        number = int(environ.get(_PARENT, ""))
        command = Path(f"/proc/{number}/cmdline").read_bytes()  # only Linux has it
        lab = Path(os.fsdecode(command.partition(b"\0")[0])).with_name("jupyter-lab")
    except (OSError, ValueError):
        return None
    return lab if lab.is_absolute() and lab.is_file() else None


def _shell() -> Path | None:
    found = shutil.which("jupyter-lab")
    return Path(found) if found else None


def _told(lab: Path) -> str:
    """Return the release of a JupyterLab, as it says itself."""
    command = [str(lab), "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)  # noqa: S603 - the Lab that runs this
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    return done.stdout.strip() or "?"


def _seen(folders: Sequence[str], prefix: Path) -> list[Path]:
    """Return folders where an environment has them: those of this one are elsewhere in another."""
    here = Path(sys.prefix)
    paths = map(Path, folders)
    return [prefix / p.relative_to(here) if p.is_relative_to(here) else p for p in paths]


def _kernel() -> Path | None:
    """Return the interpreter that the kernel ``python3`` is started with here."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return None
    # a bare name is replaced by the server's own interpreter
    return Path(command) if Path(command).is_absolute() else Path(sys.executable)


def _offered(folders: Sequence[Path], lab: Path) -> Path:
    """Return the interpreter of a kernel of another Lab: one here if it has such, else its own."""
    described = [found for folder in folders for found in sorted(folder.glob("*/kernel.json"))]
    commands = [_json(path).get("argv") for path in described]
    programs = [Path(str(command[0])) for command in commands if isinstance(command, list)]
    return next((program for program in programs if _ours(program)), lab.with_name("python"))


def _disabled(config: Path, extension: str) -> bool:
    listed = _json(config / "labconfig" / "page_config.json").get("disabledExtensions", {})
    return bool(listed.get(extension)) if isinstance(listed, dict) else extension in listed


def _release(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
