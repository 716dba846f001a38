"""A plug-in of pytest that keeps tests and notebooks off what is the user's: settings and data.

It also shares the whole suite between processes. `pyproject.toml` names it, so that it holds
for `pytest notebooks/01_quickstart.ipynb` alone, too.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
NOTEBOOK = pytest.StashKey[Path]()
#: One more than processors, for much of the suite waits for browsers, servers and timers.
PROCESSES = min((os.cpu_count() or 1) + 1, 4)

# Takes a second to import, with jsonschema, and checks international addresses: there are none.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
#: Where the user's own modules lie. Tests add plug-ins of theirs, which notebooks do not have.
PYTHONPATH = os.environ.get("PYTHONPATH")

# Before anything reads it: what the user has set is not what is tested.
for _name in [name for name in os.environ if name.startswith("KIT_") and "TEST" not in name]:
    del os.environ[_name]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take ``--times``, for `pytest tests/browser --times=20`."""
    told = "run each test so many times, to find what fails now and then"
    parser.addoption("--times", type=int, default=1, help=told)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat a test as often as it is asked for."""
    if metafunc.config.option.times > 1:
        metafunc.fixturenames.append("time")
        metafunc.parametrize("time", range(1, metafunc.config.option.times + 1))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Share the whole suite between processes, unless it is said how many there are."""
    whole = config.args_source is config.ArgsSource.TESTPATHS and not config.option.collectonly
    if whole and config.option.numprocesses is None and not hasattr(config, "workerinput"):
        config.option.dist, config.option.tx = "loadfile", ["popen"] * PROCESSES
        config.option.loadscopereorder = False


def pytest_configure(config: pytest.Config) -> None:
    """Let everything work on a folder that is thrown away, and nothing outside it."""
    # What runs in the background of a shell was told to ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[FOLDER] = folder = tempfile.TemporaryDirectory(
        prefix="kit-tests-", ignore_cleanup_errors=True
    )
    if not hasattr(config, "workerinput"):  # the processes of one run share a folder
        # Its name stays short: that of a socket may have about a hundred characters.
        os.environ["TMPDIR"] = tempfile.tempdir = folder.name
        Path(folder.name).chmod(0o755)  # PostgreSQL does not run as root
    own = {"KIT_DATA": "data", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "runtime"}
    # Profiles, and what Chromium and Matplotlib keep.
    own |= {"XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache"}
    os.environ.update({name: str(Path(folder.name, part)) for name, part in own.items()})


def pytest_unconfigure(config: pytest.Config) -> None:
    """Throw it away."""
    config.stash[FOLDER].cleanup()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """Start the kernel of each notebook on a data folder of its own."""
    if item.path.suffix != ".ipynb" or item.path == item.config.stash.get(NOTEBOOK, None):
        yield
        return
    item.config.stash[NOTEBOOK] = item.path
    with environment(notebook_variables(tempfile.mkdtemp(dir=item.config.stash[FOLDER].name))):
        yield


def notebook_variables(folder: str) -> dict[str, str]:
    """Return what a notebook prints the same with everywhere, and leaves nothing behind with.

    Data, profiles, and what it installs go into a folder, and the built-in writer draws the same
    each time.
    """
    packages = str(Path(folder, "packages"))
    Path(packages).mkdir()  # a folder that is not there when Python starts is never looked into
    return {
        "KIT_DATA": str(Path(folder, "data")),
        "KIT_WRITER_SEED": "1",
        "XDG_CONFIG_HOME": str(Path(folder, "config")),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "PIP_TARGET": packages,
        "PYTHONPATH": os.pathsep.join(filter(None, (packages, PYTHONPATH))),
    }


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables for what is started inside."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
