"""The toolkit without the packages of its extras, with any service."""

import os
import subprocess
import sys

import pytest

from tests.conftest import Service

#: Packages that only extras install.
WITHOUT = ["altair", "apsw", "av", "cv2", "duckdb", "jupyterlab", "matplotlib", "orjson"]
WITHOUT += ["prometheus_client", "pyarrow", "starlette", "uvicorn", "uvloop", "xlsxwriter"]

HEAD = f"import sys\nsys.modules.update(dict.fromkeys({WITHOUT!r}))\n"
PROGRAM = """
import os

import kit

studio = kit.connect()
assert len(studio.models.frame()) > 10
lake = studio.generate("poster", "a lake at dawn", size=512)
assert lake.image().width == 512 and "image/jpeg" in str(lake._repr_mimebundle_())
assert studio.generate("retouch", media={"image": lake}).status == "completed"
assert len(studio.history.list()) == 2
assert studio.form("scene").quote.total > 0
assert len(studio.sweep("poster", "a lake", seed=[1, 2], size=512).run().frame()) == 2
assert studio.panel() and kit.gallery(studio.history.list())

def refuse(ask):
    try:
        ask()
    except kit.errors.ConfigError as error:
        print(error)

refuse(studio.history.frame)
refuse(lambda: studio.history.frame(5))
refuse(lambda: studio.costs.by("model"))
del os.environ["KIT_BASE_URL"], os.environ["KIT_API_KEY"]
refuse(kit.connect)
"""


def run(program: str, service: Service, key: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "KIT_BASE_URL": service.url, "KIT_API_KEY": key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_toolkit_alone_works_and_names_the_extra_of_what_it_lacks(
    service: Service, key: str
) -> None:
    ended = run(HEAD + PROGRAM, service, key)

    assert ended.returncode == 0, ended.stderr
    history, newest, costs, embedded = ended.stdout.splitlines()
    sentence = "the synced history needs pyarrow: pip install 'creative-studio-kit[history]'"
    assert history == costs == sentence
    assert newest == sentence.replace("the synced", "a dataframe of the")
    assert embedded.startswith("the embedded service")
    assert embedded.endswith("pip install 'creative-studio-kit[service]'")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--help"], 0, "generate"),
        (["models"], 0, "poster"),
        (["profiles"], 0, "kit login"),
        (["serve"], 2, "pip install 'creative-studio-kit[service]'"),
        (["lab"], 2, "pip install 'creative-studio-kit[lab]'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_works_without_extras_or_names_the_one_it_needs(
    arguments: list[str], code: int, text: str, service: Service, key: str
) -> None:
    program = f"sys.argv[1:] = {arguments!r}\nfrom kit.__main__ import main\nmain()"
    ended = run(HEAD + program, service, key)

    assert (ended.returncode, text in ended.stdout + ended.stderr) == (code, True), ended
