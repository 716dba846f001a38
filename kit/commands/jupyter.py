"""Whether JupyterLab, its widget extensions and the kernel fit together, for ``kit doctor``.

They may come from different environments: what Lab shows is drawn by the extension that Lab finds
first, and what runs is decided by the kernel that it starts.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kit.commands.findings import Finding


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
        What installs it.
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
        "pip install --force-reinstall 'jupyterlab_widgets>=3,<4' and reload the page",
    ),
    # it asks for its own minor release
    Extension(
        "extension of drop zones and keys",
        "anywidget",
        "anywidget",
        lambda release: ".".join(release.split(".")[:2]) or None,
        "pip install --force-reinstall anywidget and reload the page",
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where things are looked for; tests pass folders of their own.

    Parameters
    ----------
    extensions : sequence of Path
        Folders with Lab's extensions, in the order in which Lab looks.
    configs : sequence of Path
        Folders with Jupyter's configuration.
    kernel : Path or None
        The interpreter that the kernel ``python3`` is started with; None where there is no kernel.
    lab : Path or None
        The ``jupyter-lab`` that the shell would start.
    releases : mapping
        Packages with widgets -> their releases here.
    """

    extensions: Sequence[Path]
    configs: Sequence[Path]
    kernel: Path | None
    lab: Path | None
    releases: Mapping[str, str]

    @classmethod
    def here(cls) -> Place:
        """Return where Jupyter looks from this environment."""
        from jupyter_core.paths import jupyter_config_path, jupyter_path

        lab = shutil.which("jupyter-lab")
        return cls(
            extensions=[Path(folder) for folder in jupyter_path("labextensions")],
            configs=[Path(folder) for folder in jupyter_config_path()],
            kernel=_kernel(),
            lab=Path(lab) if lab else None,
            releases={each.package: _release(each.package) for each in _EXTENSIONS},
        )


def examine(place: Place | None = None) -> Iterator[Finding]:
    """Yield what was found of Lab, extension and kernel; each mismatch names its one cure."""
    place = place or Place.here()
    yield _lab(place)
    for extension in _EXTENSIONS:
        yield _extension(place, extension)
    yield _started(place)


def _lab(place: Place) -> Finding:
    name = "JupyterLab's environment"
    if place.lab is None:
        return Finding(name, True, "no jupyter-lab on the path; `kit lab` starts the one here")
    same = place.lab.parent.resolve() == Path(sys.executable).parent.resolve()
    if same:
        return Finding(name, True, str(place.lab))
    # nothing is broken as long as it is not the one that is started
    cure = "start JupyterLab with `kit lab`, which takes the one beside the kit"
    return Finding(name, True, f"{place.lab} belongs to another environment", cure)


def _extension(place: Place, wanted: Extension) -> Finding:
    # Lab takes the first that it finds, and never looks further
    described = [folder / wanted.folder / "package.json" for folder in place.extensions]
    there = [path for path in described if path.is_file()]
    if not there:
        return Finding(wanted.name, False, "Lab has none that draws these widgets", wanted.cure)
    release, folder = str(_json(there[0]).get("version", "?")), there[0].parent
    if any(_disabled(config, wanted.folder) for config in place.configs):
        remedy = f"jupyter labextension enable {wanted.folder}"
        return Finding(wanted.name, False, f"{release} is switched off", remedy)
    package = f"{wanted.package} {place.releases[wanted.package]}"
    begins = wanted.fits(place.releases[wanted.package])
    if begins is not None and not f"{release}.".startswith(f"{begins}."):
        hidden = f"remove the folder {folder}: it hides the right one"
        found = f"{release} in {folder} does not fit {package}, which needs {begins}.x"
        return Finding(wanted.name, False, found, hidden if len(there) > 1 else wanted.cure)
    return Finding(wanted.name, True, f"{release} for {package}")


def _started(place: Place) -> Finding:
    name = "kernel"
    cure = f"{sys.executable} -m ipykernel install --sys-prefix"
    if place.kernel is None:
        return Finding(name, False, "there is no kernel 'python3'", cure)
    same = place.kernel.parent.resolve() == Path(sys.executable).parent.resolve()
    found = str(place.kernel) if same else f"{place.kernel} is not where the kit is installed"
    return Finding(name, same, found, "" if same else cure)


def _kernel() -> Path | None:
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        command = KernelSpecManager().get_kernel_spec("python3").argv[0]
    except NoSuchKernel:
        return None
    # a bare name is replaced by the server's own interpreter
    return Path(command) if Path(command).is_absolute() else Path(sys.executable)


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
