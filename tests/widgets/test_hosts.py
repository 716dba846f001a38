"""A video in each notebook host: a file beside the notebook, embedded, or a still with a link."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import nbformat
import pytest
from nbconvert import HTMLExporter

from kit.errors import ConfigError
from kit.widgets import hosts, media
from kit.widgets.form import Form
from kit.widgets.hosts import COLAB, JUPYTER, MARIMO, REMOTE, VOILA, VSCODE, Host, find_host
from tests.widgets.forms import model
from tests.widgets.test_media import video

__all__ = ["video"]

MARIMO_RUNS = SimpleNamespace(running_in_notebook=lambda: True)
MARIMO_LOADED = SimpleNamespace(running_in_notebook=lambda: False)


@pytest.mark.parametrize(
    ("environ", "modules", "host"),
    [
        ({}, {}, JUPYTER),
        ({"SERVER_SOFTWARE": "voila/0.5.13"}, {}, VOILA),
        ({"SERVER_SOFTWARE": "gunicorn/23"}, {}, JUPYTER),
        ({"VSCODE_PID": "7"}, {}, VSCODE),
        ({"VSCODE_PID": "7", "JPY_PARENT_PID": "8"}, {}, JUPYTER),  # JupyterLab in its terminal
        ({}, {"google.colab": object()}, COLAB),
        ({"KAGGLE_KERNEL_RUN_TYPE": "Interactive"}, {}, REMOTE),
        ({"DATABRICKS_RUNTIME_VERSION": "17.3"}, {}, REMOTE),
        ({}, {"marimo": MARIMO_RUNS}, MARIMO),
        ({}, {"marimo": MARIMO_LOADED}, JUPYTER),
    ],
)
def test_a_host_is_recognized(environ: dict[str, str], modules: dict[str, Any], host: Host) -> None:
    assert find_host(environ, modules) is host


def test_widgets_are_enabled_in_colab() -> None:
    colab = Mock()
    hosts.allow_widgets({})
    hosts.allow_widgets({"google.colab": colab})

    colab.output.enable_custom_widget_manager.assert_called_once_with()


def test_marimo_gets_the_snapshot_of_a_widget_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "marimo", MARIMO_RUNS)
    assert [*Form(model())._repr_mimebundle_()] == ["text/plain", "text/html"]


def render_video(video: Path, folder: Path, host: Host, **fit: Any) -> str:
    return media.html(video, name="gen_1", folder=folder, fit=media.Fit(host=host, **fit))


@pytest.mark.parametrize("host", [VOILA, MARIMO, Host(codecs=frozenset({"mpeg4"}))])
def test_a_short_video_is_embedded_where_files_cannot_be_played(
    video: Path, tmp_path: Path, host: Host
) -> None:
    html = render_video(video, tmp_path, host)

    assert '<video src="data:video/mp4;base64,' in html
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("host", "fit"),
    [(VSCODE, {}), (COLAB, {}), (MARIMO, {"embed": 100})],
    ids=["another codec", "another codec", "large"],
)
def test_an_unplayable_video_is_a_still_with_its_size_and_a_link(
    video: Path, tmp_path: Path, host: Host, fit: dict[str, Any]
) -> None:
    html = render_video(video, tmp_path, host, **fit)

    assert "<video" not in html
    assert html.startswith('<img src="data:image/jpeg;base64,')
    assert re.search(r'<a href="outputs/gen_1.mp4"><span [^>]*>video · [\d.]+ k?B</span></a>', html)
    assert (tmp_path / "outputs" / "gen_1.mp4").read_bytes() == video.read_bytes()


@pytest.mark.parametrize("fit", [{"host": VOILA}, {"host": JUPYTER, "beside": False}])
def test_no_file_is_linked_where_none_can_be_opened(
    video: Path, tmp_path: Path, fit: dict[str, Any]
) -> None:
    html = render_video(video, tmp_path, embed=100, **fit)

    assert "<video" not in html
    assert "video · " in html
    assert "outputs" not in html


def test_an_exported_page_has_a_still_and_a_link_beside_the_video(
    video: Path, tmp_path: Path
) -> None:
    shown = {"text/html": render_video(video, tmp_path, JUPYTER), "text/plain": ""}
    output = nbformat.v4.new_output("display_data", shown)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])

    page, _ = HTMLExporter().from_notebook_node(notebook)

    found = re.findall(r'<(\w+) [^>]*(?:src|href)="(outputs/gen_1.mp4|data:image/jpeg)', page)
    assert found == [
        ("video", "outputs/gen_1.mp4"),
        ("img", "data:image/jpeg"),
        ("a", "outputs/gen_1.mp4"),
    ]


def test_a_page_of_panel_refuses_widgets_whose_results_it_would_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets_bokeh", Mock())
    shell = None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with pytest.raises(ConfigError, match="Panel would not show its results"):
        Form(model())

    shell = Mock()  # Panel in a notebook
    Form(model()).close()
