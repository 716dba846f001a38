"""``kit doctor``: checks the installation, and says how to fix what does not work.

Lab uses the first extension that it finds for displaying widgets, and the kernel that it starts for
running code: both may be of another environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import kit
from kit.client import profiles
from kit.commands.database import check_database, isolate_services
from kit.commands.options import Data, Json, show
from kit.engines.configured.place import EngineList, ModelSource
from kit.engines.registry import list_engines, survey
from kit.errors import ConfigError, KitError
from kit.private import is_exposed, make_private
from kit.service import settings as service_settings
from kit.service.settings import ServiceSettings, prepare
from kit.service.worker.signing import describe_signer
from kit.version import __version__


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    remedy: str = ""


#: Packages for notebooks, with the releases that the kit is tested with.
_PACKAGES = {
    "jupyterlab": (4, 5),
    "ipywidgets": (8, 9),
    "anywidget": (0, 1),
    "ipykernel": (6, 8),
    "pandas": (2, 4),
    "httpx": (0, 1),
}
_LAB_PACKAGES = ("jupyterlab", "ipykernel")
#: Requirements of some tests: alternative programs or modules, and how to install them.
_TEST_NEEDS = {
    "tests": (("pytest", "playwright"), "pip install -e '.[test]'"),
    "a browser for widgets": (
        ("chromium-headless-shell", "chromium", "google-chrome"),
        "apt-get install chromium-headless-shell",
    ),
    "the proxy's configuration": (("nginx",), "apt-get install nginx-light"),
    "certificates": (("openssl",), "apt-get install openssl"),
    "the systemd unit": (("systemd-analyze",), "apt-get install systemd"),
    "signed results": (("c2pa",), "pip install -e '.[test,credentials]'"),
    "Kubernetes's schemas": (("kubernetes_validate",), "pip install kubernetes-validate"),
    "local pipelines": (("diffusers",), "pip install -e '.[test,diffusers]'"),
    "a language model as writer": (("xllamacpp",), "pip install xllamacpp"),
}
#: Extension of Lab by widget package; and the start of its version.
_EXTENSIONS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}
_SEE_ABOVE = "see the sentence above"
_join = subprocess.list2cmdline if os.name == "nt" else shlex.join
_PYTHON = _join([sys.executable])


def command(
    data: Data = None,
    tests: Annotated[
        bool, typer.Option("--tests", help="Show what the tests need, and which would be skipped.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the installation, the data folder and the models."""
    findings = list(examine_tests() if tests else examine(service_settings.load(data=data)))
    lines = []
    for finding in findings:
        lines.append(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name}: {finding.found}")
        lines += [f"      {finding.remedy}"] if finding.remedy else []
    show(as_json, [asdict(finding) for finding in findings], "\n".join(lines))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def examine_tests() -> Iterator[Finding]:
    """Yield the external requirements of tests; without one, its tests are skipped."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin"))
    for need, (names, remedy) in _TEST_NEEDS.items():
        present = [name for name in names if shutil.which(name, path=path) or find_spec(name)]
        found = present[0] if present else f"no {' or '.join(names)}; tests of it are skipped"
        yield Finding(need, bool(present), found, "" if present else remedy)


def examine(
    settings: ServiceSettings, find_models: Callable[[ModelSource], EngineList] = survey
) -> Iterator[Finding]:
    """Yield the findings, fast checks first."""

    def models() -> EngineList:
        return find_models(ModelSource(settings.engines_file, settings.engine_copies))

    yield Finding("kit", True, f"{__version__} on Python {platform.python_version()}")
    notebooks = find_spec("jupyter_core") is not None  # a server needs none
    yield from (_package(name) for name in _PACKAGES if notebooks or name not in _LAB_PACKAGES)
    if notebooks and _has_home():
        yield from examine_lab()
    elif notebooks:
        yield Finding(
            "home", False, "there is no home folder; Jupyter needs one", "set HOME to a folder"
        )
    yield _check("data folder", lambda: _folder(settings.data), "set KIT_DATA to another folder")
    yield _privacy(settings)
    yield _check("database", lambda: check_database(settings), _SEE_ABOVE)
    if settings.storage_url:
        yield _check("storage", lambda: _storage(settings), _SEE_ABOVE)
    if settings.cluster:
        yield _check("cluster", lambda: _cluster(settings), _SEE_ABOVE)
    yield _isolation()
    yield _check("signing", lambda: describe_signer(settings), _SEE_ABOVE)
    yield _check("models", lambda: ", ".join(models().engines), "reinstall creative-studio-kit")
    yield from _engines(models)
    yield _check("a picture", _picture, _SEE_ABOVE)


def _engines(models: Callable[[], EngineList]) -> Iterator[Finding]:
    """Yield models that are not offered or will fail when used, with the reason."""
    try:
        found = models()
    except KitError:  # reported by the finding about models
        return
    for broken in found.left_out:
        yield Finding("left out", False, f"{broken.subject}: {broken.reason}", broken.remedy)
    for notice in found.notices:
        yield Finding("not ready", False, notice, "set that variable where the service runs")


def _has_home() -> bool:
    with suppress(RuntimeError):
        return bool(Path.home())
    return False


def _package(name: str) -> Finding:
    minimum, limit = _PACKAGES[name]
    remedy = f'{_PYTHON} -m pip install "{name}>={minimum},<{limit}"'
    try:
        found = version(name)
    except PackageNotFoundError:
        return Finding(name, False, "not installed", remedy)
    is_supported = minimum <= int(found.partition(".")[0]) < limit
    return Finding(name, is_supported, found, "" if is_supported else remedy)


def _check(name: str, check: Callable[[], str], remedy: str) -> Finding:
    try:
        return Finding(name, True, check())
    except (KitError, OSError) as error:
        return Finding(name, False, str(error), remedy)


def _privacy(settings: ServiceSettings) -> Finding:
    """Check whether other users of this machine can read private files, and prevent it."""
    if os.name == "nt":
        return Finding("privacy", True, f"{settings.data} has the rights of the folder around it")
    paths = dict.fromkeys((*settings.private_paths(), profiles.file()))
    if not settings.secret_path.exists():  # not a data folder; other programs may use it
        paths.pop(settings.data, None)
    exposed = [path for path in paths if is_exposed(path)]
    if not exposed:
        return Finding("privacy", True, "only you can read what is kept")
    names = ", ".join(str(path) for path in exposed)
    if [path for path in exposed if not make_private(path)]:
        return Finding("privacy", False, f"others can read {names}", "use a folder of your own")
    found = f"others could read {names}: now only you can"
    remedy = "if other people use this machine, create new keys (kit keys create, kit keys revoke)"
    return Finding("privacy", False, found, remedy)


def _isolation() -> Finding:
    """Check in another process, because it is permanent, whether the network can be blocked."""
    code = "from kit.service.worker.sandbox import block_network; exit(not block_network())"
    if subprocess.run([sys.executable, "-c", code]).returncode == 0:  # noqa: S603 - no input
        return Finding("uploads", True, "are inspected without network access")
    remedy = "a Linux on x86-64 or ARM64 that allows seccomp filters can block it"
    return Finding("uploads", True, "are inspected with network access", remedy)


def _folder(path: Path) -> str:
    prepare(path)
    with tempfile.TemporaryFile(dir=path):
        return str(path)


def _storage(settings: ServiceSettings) -> str:
    from kit.service.app import create_storage  # imports the whole service

    url = settings.storage_url.partition("?")[0]
    if not asyncio.run(create_storage(settings, b"").is_writable()):
        raise ConfigError(f"the storage {url} cannot be written")
    return f"{url} can be written"


def _cluster(settings: ServiceSettings) -> str:
    from kit.service.app import load_cluster

    if not (slots := asyncio.run(load_cluster().count_slots(settings))):
        raise ConfigError(f"nothing renders at {settings.cluster}: start `kit worker` for it")
    return f"{settings.cluster} renders {slots} at a time"


def _picture() -> str:
    """Generate the cheapest picture with an embedded service in a temporary folder."""
    from kit.local import stop

    kinds = {name: type(engine).__module__ for name, engine in list_engines().items()}
    ours = {name for name, module in kinds.items() if module.startswith("kit.engines.models.")}
    with (
        isolate_services(),
        tempfile.TemporaryDirectory() as folder,
        kit.connect(data=folder, profile="embedded") as studio,  # no charge at another service
    ):
        try:
            # others may need files that are missing here
            usable = [m for m in studio.models.values() if m.id in ours and m.prompt_required]
            cheapest = min(usable, key=lambda model: model.credits_from or 0)
            facts = studio.generate(cheapest.id, "a quiet lake").output.facts
            return f"{cheapest.id} made {facts.width} x {facts.height} pixels"
        finally:
            stop()


def examine_lab(
    folders: Sequence[Path] | None = None, kernel: Path | None = None, lab: Path | None = None
) -> Iterator[Finding]:
    """Yield findings about the kernel ``python3``, the shell's JupyterLab, and its extensions.

    Folders of extensions are searched in the same order as Lab does.
    """
    from jupyter_core.paths import jupyter_path

    lab = lab or Path(shutil.which("jupyter-lab") or sys.executable)
    if _is_ours(lab):
        yield Finding("JupyterLab", True, str(lab.parent))
    else:  # not an error as long as that one is not started
        remedy = "start JupyterLab with `kit lab`: it takes the one beside the kit"
        yield Finding("JupyterLab", True, f"{lab} belongs to another environment", remedy)
    places = [*map(Path, jupyter_path("labextensions"))] if folders is None else folders
    for package in _EXTENSIONS:
        yield _examine_extension(package, places)
    kernel = kernel or _find_kernel()
    if kernel is not None and _is_ours(kernel):
        yield Finding("kernel", True, str(kernel))
    else:
        found = f"{kernel} is not where the kit is installed" if kernel else "there is none"
        yield Finding("kernel", False, found, f"{_PYTHON} -m ipykernel install --sys-prefix")


def _examine_extension(package: str, folders: Sequence[Path]) -> Finding:
    name, release_here = f"Lab's part of {package}", version(package)
    paths = [folder / _EXTENSIONS[package] / "package.json" for folder in folders]
    present = [path for path in paths if path.is_file()]
    remedy = f"{_PYTHON} -m pip install --force-reinstall {package}"
    if not present:
        return Finding(name, False, "Lab has none", f"{remedy}, and reload the page")
    release = str(json.loads(present[0].read_text("utf-8")).get("version", "?"))
    # anywidget requires its own minor release
    prefix = "5." if package == "ipywidgets" else f"{'.'.join(release_here.split('.')[:2])}."
    if release.startswith(prefix):
        return Finding(name, True, f"{release} for {package} {release_here}")
    if len(present) > 1:
        remedy = f"remove the folder {present[0].parent}, which hides the right one"
    found = f"{release} in {present[0].parent} does not fit {package} {release_here}"
    return Finding(name, False, found, f"{remedy}, and reload the page")


def _find_kernel() -> Path | None:
    """Return the interpreter that runs the kernel ``python3`` here."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        command = Path(KernelSpecManager().get_kernel_spec("python3").argv[0])
    except NoSuchKernel:
        return None
    # the server replaces a bare name by its own interpreter
    return command if command.is_absolute() else Path(sys.executable)


def _is_ours(program: Path) -> bool:
    """Whether a program is in this environment; on Windows it may be beside its Python."""
    folders = Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))
    return program.parent.resolve() in [folder.resolve() for folder in folders]
