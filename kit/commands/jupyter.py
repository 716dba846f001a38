"""Whether JupyterLab, its widget extension and the kernel fit together, for ``kit doctor``.

They may come from different environments: what Lab shows is drawn by the extension that Lab finds
first, and what runs is decided by the kernel that it starts.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kit.commands.findings import Finding

_EXTENSION = "@jupyter-widgets/jupyterlab-manager"
#: Major release of ipywidgets -> that of the extension which draws its widgets.
_FITS = {8: 5, 7: 3}


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
    ipywidgets : str
        Its release here.
    """

    extensions: Sequence[Path]
    configs: Sequence[Path]
    kernel: Path | None
    lab: Path | None
    ipywidgets: str

    @classmethod
    def here(cls) -> Place:
        """Return where Jupyter looks from this environment."""
        from jupyter_core.paths import jupyter_config_path, jupyter_path

        lab = shutil.which("jupyter-lab")
        try:
            release = version("ipywidgets")
        except PackageNotFoundError:
            release = ""
        return cls(
            extensions=[Path(folder) for folder in jupyter_path("labextensions")],
            configs=[Path(folder) for folder in jupyter_config_path()],
            kernel=_kernel(),
            lab=Path(lab) if lab else None,
            ipywidgets=release,
        )


def examine(place: Place | None = None) -> Iterator[Finding]:
    """Yield what was found of Lab, extension and kernel; each mismatch names its one cure."""
    place = place or Place.here()
    yield _lab(place)
    yield _extension(place)
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


def _extension(place: Place) -> Finding:
    name = "widget extension"
    cure = "pip install --force-reinstall 'jupyterlab_widgets>=3,<4' and reload the page"
    # Lab takes the first that it finds, and never looks further
    found = next((path for path in map(_described, place.extensions) if path.is_file()), None)
    if found is None:
        return Finding(name, False, "Lab has no extension that draws widgets", cure)
    release = str(_json(found).get("version", "?"))
    folder = found.parent
    if any(_disabled(config) for config in place.configs):
        remedy = f"jupyter labextension enable {_EXTENSION}"
        return Finding(name, False, f"{release} is switched off", remedy)
    wanted = _FITS.get(_major(place.ipywidgets))
    if wanted is not None and _major(release) != wanted:
        shadowed = sum(_described(each).is_file() for each in place.extensions) > 1
        return Finding(
            name,
            False,
            f"{release} in {folder} does not fit ipywidgets {place.ipywidgets}, which needs "
            f"{wanted}.x",
            f"remove the folder {folder}: it hides the right one" if shadowed else cure,
        )
    return Finding(name, True, f"{release} for ipywidgets {place.ipywidgets}")


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


def _described(folder: Path) -> Path:
    return folder / _EXTENSION / "package.json"


def _disabled(config: Path) -> bool:
    listed = _json(config / "labconfig" / "page_config.json").get("disabledExtensions", {})
    return bool(listed.get(_EXTENSION)) if isinstance(listed, dict) else _EXTENSION in listed


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _major(release: str) -> int:
    first = release.partition(".")[0]
    return int(first) if first.isdigit() else 0
