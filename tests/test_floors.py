"""The architecture, as a test: a package imports only from the packages listed beside it.

Imports are read from the AST, so those inside functions and under TYPE_CHECKING count too.
"""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: May be imported from everywhere: no logic, no imports of its own.
NEUTRAL = {"kit.version"}
GROUND = {"kit.errors", "kit.wire", "kit.parameters", "kit.pricing", "kit.typed"} | {
    "kit.file_metadata",
    "kit.containers",
    "kit.endings",
    "kit.pictures",
    "kit.private",
    "kit.internet",
}
CLIENT = GROUND | {"kit.client"}
SERVICE = GROUND | {"kit.service.settings"}
ENGINES = {"kit.engines", "kit.engines.base", "kit.engines.configured"} | {
    "kit.engines.media",
    "kit.engines.samples",
}
DOMAIN = SERVICE | ENGINES | {"kit.service.store", "kit.service.storage"}
#: Packages that every engine may import.
BASE = GROUND | {"kit.engines.base", "kit.engines.sizes"}
PICTURES = BASE | {"kit.engines.media", "kit.engines.prompt", "kit.engines.painting"}

#: Package -> packages that it may import. Modules in none of them are in `ROOF`: no limits.
ALLOWED: dict[str, set[str]] = {
    "kit.errors": set(),
    "kit.wire": {"kit.errors"},
    "kit.parameters": {"kit.errors", "kit.wire"},
    "kit.pricing": {"kit.errors", "kit.wire"},
    "kit.typed": {"kit.errors", "kit.wire", "kit.parameters"},
    "kit.containers": {"kit.errors"},
    "kit.file_metadata": set(),
    "kit.endings": set(),
    "kit.pictures": set(),
    "kit.private": set(),
    "kit.internet": set(),
    # the notebook wing
    "kit.client": GROUND,
    "kit.explore": GROUND,
    "kit.widgets": GROUND,
    "kit.studio": GROUND | {"kit.client", "kit.explore", "kit.widgets"},
    # the service wing
    "kit.engines.base": GROUND,
    "kit.engines.sizes": GROUND,
    "kit.engines.media": BASE,
    "kit.engines.text": BASE,
    "kit.engines.prompt": BASE,
    "kit.engines.painting": BASE | {"kit.engines.media", "kit.engines.prompt"},
    "kit.engines.film": BASE | {"kit.engines.media", "kit.engines.prompt", "kit.engines.painting"},
    "kit.engines.editing": PICTURES | {"kit.engines.film", "kit.engines.text"},
    "kit.engines.models": PICTURES | {"kit.engines.film", "kit.engines.editing"},
    "kit.engines.samples": PICTURES,
    "kit.engines.remote": BASE | {"kit.engines.media", "kit.engines.configured"},
    "kit.engines.diffusers": BASE | {"kit.engines.media", "kit.engines.configured"},
    "kit.engines.configured": BASE | {"kit.engines.media"},
    "kit.engines": BASE | {"kit.engines.configured", "kit.engines.remote", "kit.engines.diffusers"},
    "kit.service.machine": set(),
    "kit.service.settings": {"kit.errors", "kit.private", "kit.service.machine"},
    "kit.service.metrics": set(),
    "kit.service.logs": {"kit.errors"},
    "kit.service.store": GROUND,
    "kit.service.storage": SERVICE,
    "kit.service.domain": DOMAIN | {"kit.engines.text"},
    "kit.service.archive": {"kit.errors", "kit.private"},
    "kit.service.backup": DOMAIN | {"kit.service.domain", "kit.service.archive"},
    "kit.service.worker": DOMAIN | {"kit.service.domain", "kit.service.metrics"},
    "kit.service.writer": GROUND
    | {
        "kit.engines.text",
        "kit.engines",
        "kit.service.settings",
        "kit.service.store",
        "kit.service.domain",
    },
    "kit.service.http": DOMAIN
    | {"kit.service.domain", "kit.service.worker", "kit.service.metrics"}
    | {"kit.service.machine"},
    "kit.service.address": SERVICE | {"kit.service.storage"},
    "kit.service.databases": SERVICE | {"kit.service.store", "kit.service.metrics"},
    "kit.service.app": DOMAIN
    | {"kit.service.domain", "kit.service.worker", "kit.service.writer", "kit.service.http"}
    | {"kit.service.databases", "kit.service.machine"}
    | {"kit.service.metrics"},
    "kit.service.connections": SERVICE | {"kit.service.http"},
    "kit.service.server": SERVICE
    | {"kit.service.app", "kit.service.connections", "kit.service.address"}
    | {"kit.service.machine"},
    "kit.service.move": SERVICE
    | {
        "kit.service.backup",
        "kit.service.app",
        "kit.service.databases",
        "kit.service.domain",
        "kit.service.address",
        "kit.service.store",
    },
    "kit.service": set(),
}
ROOF = ("kit", "kit.__main__", "kit.commands", "kit.local")
#: Libraries that only these packages may import.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "httpx": ("kit.client.http", "kit.engines.remote.http", "kit.service.writer.client"),
    "ipywidgets": ("kit.widgets",),
    "anywidget": ("kit.widgets",),
    "c2pa": ("kit.file_metadata.signatures", "kit.service.worker.signing"),
    "apsw": ("kit.service.store.sqlite",),
    "obstore": ("kit.service.storage.s3", "kit.explore.bucket"),
    "prometheus_client": ("kit.service.metrics",),
    "asyncpg": ("kit.service.store.postgresql",),
    "distributed": ("kit.service.worker.cluster",),
    "starlette": ("kit.service",),
    "matplotlib": ("kit.explore.charts.figures",),
    "altair": ("kit.explore.charts.vega",),
    "duckdb": ("kit.explore.archive",),
    "msgspec": ("kit.explore",),
    "pyarrow": (
        "kit.explore",
        "kit.studio.history_sync",
        "kit.studio.aio.history",
        "kit.studio.sync.history",
    ),
}


def package_of(module: str) -> str | None:
    """Return the innermost listed package that contains a module."""
    packages = [package for package in ALLOWED if f"{module}.".startswith(f"{package}.")]
    return max(packages, key=len, default=None)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the names that a file imports."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


FILES = sorted((ROOT / "kit").rglob("*.py"))


def forbidden_imports(path: Path) -> set[str]:
    """Return the imports that a file may not have; for a file in no package, its own name."""
    here = package_of(module_of(path))
    if here is None:
        return set() if module_of(path).startswith(ROOF) else {module_of(path)}
    ours = {name for name in imports(path) if name == "kit" or name.startswith("kit.")}
    allowed = ALLOWED[here] | {here}
    # `from kit import wire` names `kit` first: the full name counts.
    found = {name for name in ours if package_of(name) not in allowed and name not in NEUTRAL}
    return {name for name in found if not name.startswith("kit.version.")}


def test_a_package_imports_only_what_it_may() -> None:
    assert {module_of(path): found for path in FILES if (found := forbidden_imports(path))} == {}


@pytest.mark.parametrize(("library", "packages"), ONLY_IN.items(), ids=ONLY_IN)
def test_a_library_is_imported_only_where_allowed(library: str, packages: tuple[str, ...]) -> None:
    users = {
        module_of(path)
        for path in FILES
        if any(f"{name}.".startswith(f"{library}.") for name in imports(path))
    }

    assert users
    inside = tuple(f"{package}." for package in packages)
    assert {user for user in users if not f"{user}.".startswith(inside)} == set()


#: Modules that open untrusted files for reading, or write videos.
OPENERS = {"kit.containers", "kit.pictures", "kit.engines.media.encoding"}


def test_media_are_opened_only_in_these_modules() -> None:
    openings = {"av.open", "Image.open", "cv2.imread", "cv2.imdecode", "cv2.VideoCapture"}
    openers = {
        module_of(path)
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if ast.unparse(node.func) in openings
    }

    assert openers == OPENERS


def test_every_package_exists() -> None:
    modules = {module_of(path) for path in FILES}

    assert {package for package in ALLOWED if package not in modules} == set()


def test_every_file_has_a_docstring_and_limited_length() -> None:
    assert [path for path in FILES if not ast.get_docstring(tree_of(path))] == []
    assert [path for path in FILES if len(path.read_text("utf-8").splitlines()) > 500] == []
    vague = {"utils", "helpers", "common", "misc", "manager", "handler"}
    assert [path for path in FILES if path.stem in vague] == []


def test_the_top_level_has_only_known_files() -> None:
    known = {"pyproject.toml", "README.md", "kit", "notebooks", "tests", "binder"}
    built = {"build", "dist", "__pycache__"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}

    assert found - built - known == set()
    assert known - found == set()


def import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports, inside functions and for types as well."""
    modules = {module_of(path): path for path in FILES}
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        names = {name if name in modules else name.rpartition(".")[0] for name in imports(path)}
        found[module] = (names & modules.keys()) - {module}
    return found


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return the modules that a module imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = graph[waiting.pop()] - found
        found |= fresh
        waiting += fresh
    return found


def test_there_are_no_import_cycles() -> None:
    graph = import_graph()
    reached = {module: reachable(graph, module) for module in graph}
    cycles = {
        tuple(sorted(m for m in reached[module] if module in reached[m]))
        for module in graph
        if module in reached[module]
    }

    assert cycles == set()
