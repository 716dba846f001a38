"""A pytest plug-in that isolates tests and notebooks from the user's settings and data.

It also distributes the whole suite over processes. `pyproject.toml` names it, so that it also
applies to `pytest notebooks/01_quickstart.ipynb` alone.
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
#: Two more than processors: much of the suite waits for browsers, servers and timers.
PROCESSES = min((os.cpu_count() or 1) + 2, 4)

# Its import takes a second, with jsonschema; it checks international URLs, which no test has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
#: The user's own modules. Tests add their plug-ins, which notebooks do not have.
PYTHONPATH = os.environ.get("PYTHONPATH")

# Before anything reads them: the user's variables must not affect the tests.
for _name in [name for name in os.environ if name.startswith("KIT_") and "TEST" not in name]:
    del os.environ[_name]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take ``--times``, for `pytest tests/browser --times=20`."""
    text = "run each test so many times, to find what fails now and then"
    parser.addoption("--times", type=int, default=1, help=text)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat each test as often as ``--times`` says."""
    if metafunc.config.option.times > 1:
        metafunc.fixturenames.append("time")
        metafunc.parametrize("time", range(1, metafunc.config.option.times + 1))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Distribute the whole suite over processes, unless their number is given."""
    whole = config.args_source is config.ArgsSource.TESTPATHS and not config.option.collectonly
    if whole and config.option.numprocesses is None and not hasattr(config, "workerinput"):
        config.option.dist, config.option.tx = "loadfile", ["popen"] * PROCESSES
        config.option.loadscopereorder = False


def pytest_configure(config: pytest.Config) -> None:
    """Let everything work in a temporary folder, and nothing outside it."""
    # Background processes of a shell ignore this signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[FOLDER] = folder = tempfile.TemporaryDirectory(
        prefix="kit-tests-", ignore_cleanup_errors=True
    )
    if not hasattr(config, "workerinput"):  # the processes of one run share a folder
        # A short name: the path of a socket may have about a hundred characters.
        os.environ["TMPDIR"] = tempfile.tempdir = folder.name
        Path(folder.name).chmod(0o755)  # PostgreSQL does not run as root
    own = {"KIT_DATA": "data", "IPYTHONDIR": "ipython", "JUPYTER_RUNTIME_DIR": "runtime"}
    # For profiles, and for the files of Chromium and Matplotlib.
    own |= {"XDG_CONFIG_HOME": "config", "XDG_CACHE_HOME": "cache"}
    os.environ.update({name: str(Path(folder.name, part)) for name, part in own.items()})


def pytest_unconfigure(config: pytest.Config) -> None:
    """Delete the temporary folder."""
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
    """Return variables with which a notebook prints the same everywhere and leaves no files.

    Data, profiles, and packages that it installs go into a folder, and the built-in writer has a
    fixed seed.
    """
    packages = str(Path(folder, "packages"))
    Path(packages).mkdir()  # Python ignores a folder that does not exist when it starts
    return {
        "KIT_DATA": str(Path(folder, "data")),
        "KIT_WRITER_SEED": "1",
        "XDG_CONFIG_HOME": str(Path(folder, "config")),
        "PYTHONWARNINGS": "ignore::UserWarning:kit.connect",  # of the user's own plug-ins
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "PIP_TARGET": packages,
        "PYTHONPATH": os.pathsep.join(filter(None, (packages, PYTHONPATH))),
    }


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside a block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
