"""The writing panel: titles and scripts in a notebook, with their prices.

Importing this loads ipywidgets.
"""

from kit.widgets.writing.card import ScriptCard
from kit.widgets.writing.writing import Brief, Writer, Writing

__all__ = ["Brief", "ScriptCard", "Writer", "Writing"]
