"""The writing panel: titles and scripts in a notebook, with their prices.

Importing this loads ipywidgets.
"""

from kit.widgets.writing.panel import Writing, WritingBackend, WritingOrder
from kit.widgets.writing.scripts import ScriptCard

__all__ = ["ScriptCard", "Writing", "WritingBackend", "WritingOrder"]
