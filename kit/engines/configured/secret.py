"""Entries that need a secret: they name the environment variable that holds it."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from kit.engines.configured.entries import Entry

#: Variables that are the service's own.
_KEPT_BACK = frozenset({"KIT_API_KEY", "KIT_WRITER_KEY", "KIT_DATABASE_URL", "KIT_STORAGE_URL"})
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
#: No variable is called so: a long text of small letters and digits, or one that begins as keys do.
_KEY = re.compile(
    r"(?=.{20})((?=.*[a-z])(?=.*[0-9])|(?=.*[a-z])(?=.*[A-Z])(?!.*_)|(sk|cs|hf|gsk|r8|xai)_).*"
)


def _readable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or _KEY.fullmatch(name):
        # Without the text: it may well be a key.
        raise ValueError("name an environment variable, not the key itself")
    if name in _KEPT_BACK:
        raise ValueError(f"{name} is kept from render processes; give this key its own variable")
    return name


class SecretEntry(Entry):
    """What every entry has whose models may need a secret; only their jobs are given it.

    Parameters
    ----------
    key_env : str, optional
        Name of the environment variable that holds the key; the key itself never stands here.
    """

    key_env: Annotated[str, AfterValidator(_readable)] | None = None

    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        return (self.key_env,) if self.key_env else ()
