"""Forms: a model's parameters as controls, with the exact price and what comes out.

Importing this loads ipywidgets, which nothing else of the kit does before a form is asked for.
"""

from kit.parameters import Request
from kit.widgets.background import BackgroundRunner
from kit.widgets.form.form import Form
from kit.widgets.form.presets import Presets
from kit.widgets.form.runs import Run
from kit.widgets.form.service import Service

__all__ = ["BackgroundRunner", "Form", "Presets", "Request", "Run", "Service"]
