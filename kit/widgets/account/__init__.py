"""The account panel: who pays, what is left, what was spent; keys, profiles, signing in.

Importing this loads ipywidgets; `kit.widgets.account.signing`, with its field for a secret, is
loaded when somebody signs in.
"""

from kit.widgets.account.markup import Facts
from kit.widgets.account.panel import AccountPanel

__all__ = ["AccountPanel", "Facts"]
