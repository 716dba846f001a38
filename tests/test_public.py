"""The public interface: the names that tutorials use, each with a docstring and an example."""

import inspect

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
