"""Whether JupyterLab, its widget extensions and the kernel fit together, for ``kit doctor``.

What Lab shows is drawn by the extension that it finds first, and what runs is decided by the kernel
that it starts: both may be of another environment.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was examined."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


#: Package with widgets -> what draws them in Lab, and how the release of that begins.
_EXTENSIONS = {
    "ipywidgets": ("@jupyter-widgets/jupyterlab-manager", lambda _: "5."),
    # it asks for its own minor release
    "anywidget": ("anywidget", lambda release: ".".join(release.split(".")[:2]) + "."),
}


def examine_lab(
    folders: Sequence[Path] | None = None, kernel: Path | None = None, lab: Path | None = None
) -> Iterator[Finding]:
    """Yield what was found of Lab, its extensions and the kernel.

    Parameters
    ----------
    folders : sequence of Path, optional
        Those with Lab's extensions, in the order in which Lab looks.
    kernel, lab : Path, optional
        The interpreter of the kernel ``python3``, and the ``jupyter-lab`` of the shell.
    """
    from jupyter_core.paths import jupyter_path

    lab = lab or Path(shutil.which("jupyter-lab") or sys.executable)
    # nothing is broken as long as it is not the one that is started
    cure = (
        "" if _is_ours(lab) else "start JupyterLab with `kit lab`: it takes the one beside the kit"
    )
    where = str(lab.parent) if _is_ours(lab) else f"{lab} belongs to another environment"
    yield Finding("JupyterLab", True, where, cure)
    places = [*map(Path, jupyter_path("labextensions"))] if folders is None else folders
    for package in _EXTENSIONS:
        yield _examine_extension(package, places)
    kernel = kernel or _find_kernel()
    if kernel is not None and _is_ours(kernel):
        yield Finding("kernel", True, str(kernel))
    else:
        found = f"{kernel} is not where the kit is installed" if kernel else "there is none"
        cure = f"{shlex.quote(sys.executable)} -m ipykernel install --sys-prefix"
        yield Finding("kernel", False, found, cure)


def _examine_extension(package: str, folders: Sequence[Path]) -> Finding:
    extension, begins = _EXTENSIONS[package]
    name, here = f"Lab's part of {package}", version(package)
    there = [path for each in folders if (path := each / extension / "package.json").is_file()]
    cure = f"{shlex.quote(sys.executable)} -m pip install --force-reinstall {package}"
    if not there:
        return Finding(name, False, "Lab has none", f"{cure}, and reload the page")
    release = str(json.loads(there[0].read_text("utf-8")).get("version", "?"))
    if release.startswith(begins(here)):  # type: ignore[no-untyped-call]
        return Finding(name, True, f"{release} for {package} {here}")
    if len(there) > 1:
        cure = f"remove the folder {there[0].parent}, which hides the right one"
    found = f"{release} in {there[0].parent} does not fit {package} {here}"
    return Finding(name, False, found, f"{cure}, and reload the page")


def _find_kernel() -> Path | None:
    """Return the interpreter that the kernel ``python3`` is started with here."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        command = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    except NoSuchKernel:
        return None
    # a bare name is replaced by the server's own interpreter
    return command if command.is_absolute() else Path(sys.executable)


def _is_ours(program: Path) -> bool:
    """Whether a program lies in this environment."""
    return program.parent.resolve() == Path(sys.executable).parent.resolve()
