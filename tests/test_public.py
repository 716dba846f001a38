"""The public interface: the names that tutorials use, each with a docstring and an example."""

import inspect
import subprocess
import sys

import pytest

import kit

NAMES = {
    "AsyncStudio",
    "Studio",
    "__version__",
    "aconnect",
    "compare",
    "connect",
    "errors",
    "gallery",
    "template",
}


def test_the_public_names_exist() -> None:
    assert set(kit.__all__) >= NAMES
    assert set(kit.__all__) <= set(dir(kit))


@pytest.mark.parametrize("name", sorted(NAMES - {"__version__", "errors"}))
def test_a_public_name_is_documented_with_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(kit, name)) or ""

    assert "Examples" in text


def test_an_unknown_name_raises_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        _ = kit.nothing_like_this
    with pytest.raises(AttributeError, match=r"'KitError'; errors are in kit\.errors$"):
        _ = kit.KitError


def test_importing_kit_imports_no_large_package() -> None:
    code = "import kit, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"httpx", "pydantic", "pandas", "numpy", "ipywidgets", "fastapi", "cv2"}

    assert heavy & set(done.stdout.split()) == set()
