"""The blocking face is made from the awaited one: ``python tests/sync_face.py`` writes it.

What is awaited is written once, in modules called ``aio``; the modules called ``sync`` beside them
are the same without ``await``. A test compares them with what this would write.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Folders whose module or folder ``aio`` is the source of ``sync``.
PLACES = ("kit/client", "kit/client/http", "kit/studio")

#: What is written otherwise, in this order.
WORDS = {
    r"AsyncGenerator\[(.+), None\]": r"Generator[\1, None, None]",
    r"Awaitable\[((?:[^][]|\[[^]]*\])+)\]": r"\1",
    r"\bAnyIOBackend\b": "SyncBackend",
    r"\b(_?)Async(?=[A-Z])": r"\1",
    r"\basynccontextmanager\b": "contextmanager",
    r"\basyncio\.CancelledError\b": "KeyboardInterrupt",
    r"^import asyncio$": "import asyncio\nimport time",
    r"\basyncio\.sleep\b": "time.sleep",
    r"\bawaited = True$": "awaited = False",
    r"\bLoopJob\[T\]|\bCoroutine\[Any, Any, T\]": "T",
    r"^.*  # of the awaited face alone\n": "",
    r"\bself\.blocking\.run\((.+)\)$": r"self._drive(\1)",
    r"\bbridge\.(?:run|submit)\((.+)\)$": r"\1",
    r"\bawait (?:asyncio\.)?to_thread\(((?:\w+\.)*\w+)(?:, |(?=\)))": r"\1(",
    r"\basync (def|with|for)\b": r"\1",
    r"\bawait ": "",
    r"\bkit\.aconnect\b": "kit.connect",
    r"\b__a(enter|exit|iter)__\b": r"__\1__",
    r"\basync_(?=\w)": "",
    r"\bhandle_async_request\b": "handle_request",
    r"\b(a)(read|close|iter_bytes)\b(?=\()": r"\2",
    r"\bAsync(?=HTTPTransport)": "",
    r"\bkit\.(\w+)\.aio\b": r"kit.\1.sync",
    r"\bkit\.(\w+)\.(\w+)\.aio\b": r"kit.\1.\2.sync",
    r"The blocking face is made from this module by `tests/sync_face.py`\.": (
        "Made from the awaited face by `tests/sync_face.py`: change that one."
    ),
    r"`tests/sync_face.py` makes the blocking face of it\.": (
        "made by `tests/sync_face.py` of `aio`: change that."
    ),
    r"\bThe awaited\b": "The blocking",
}


def made(text: str) -> str:
    """Return the blocking module of an awaited one."""
    for pattern, new in WORDS.items():
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    return text


def pairs() -> dict[Path, Path]:
    """Return the awaited modules with the blocking ones that are made from them."""
    sources = [p for place in PLACES for p in (ROOT / place).glob("aio*")]
    files = [f for p in sources for f in (p.rglob("*.py") if p.is_dir() else [p])]
    return {
        f: ROOT / re.sub(r"/aio(?=/|\.py)", "/sync", f.relative_to(ROOT).as_posix()) for f in files
    }


def write() -> None:
    """Write the blocking modules."""
    for source, target in pairs().items():
        target.parent.mkdir(exist_ok=True)
        target.write_text(made(source.read_text("utf-8")), "utf-8")
    tidy(list(pairs().values()))


def tidy(files: list[Path]) -> None:
    """Sort imports and lay out lines, as everywhere in the project."""
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(ROOT / "pyproject.toml")]
    names = [str(file) for file in files]
    inits = ["--config", "lint.ignore-init-module-imports=false"]  # what they import, they use
    subprocess.run(
        [*ruff, "check", "-q", "--fix-only", "--unsafe-fixes", *config, *inits, *names],
        check=True,
        cwd=ROOT,
    )
    subprocess.run([*ruff, "format", "-q", *config, *names], check=True, cwd=ROOT)


if __name__ == "__main__":
    write()
