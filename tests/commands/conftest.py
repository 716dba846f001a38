"""The command line, called in this process as from a shell."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kit import local
from kit.commands import build_parser, run


@dataclass(frozen=True)
class Result:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Kit = Callable[..., Result]


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    """Undo the logging setup of a command."""
    root, ours = logging.getLogger(), logging.getLogger("kit")
    handlers, level, our_level = [*root.handlers], root.level, ours.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    ours.setLevel(our_level)


@pytest.fixture
def kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Kit]:
    """Call a command on an empty data folder."""
    monkeypatch.setenv("KIT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("KIT_WORKERS", "1")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Result:
        capsys.readouterr()
        code = 0
        try:
            given = [str(argument) for argument in arguments]
            run(build_parser(given), given)
        except SystemExit as end:
            code = int(end.code or 0)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    yield call
    local.stop()


@pytest.fixture
def account(kit: Kit) -> str:
    """An account with 5 credits."""
    arguments = ("--name", "Ada", "--email", "ada@example.org", "--credits", 5, "--json")
    return str(kit("accounts", "create", *arguments).json["id"])
