"""The writing panel: titles and scripts in a notebook, with their prices.

Importing this loads ipywidgets.
"""

from kit.widgets.writing.brief import WritingBackend, WritingOrder
from kit.widgets.writing.card import ScriptCard
from kit.widgets.writing.writing import Writing

__all__ = ["ScriptCard", "Writing", "WritingBackend", "WritingOrder"]
