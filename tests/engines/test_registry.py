"""The list of engines: entry points, and plug-ins that cannot break other engines."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from kit.engines.registry import engine_for, list_engines, load_any
from kit.errors import ConfigError

_LISTED = "from kit.engines.registry import list_engines; print(*list_engines())"


_LISTED_CHECKED = (
    "from kit.engines.registry import read_listing; found = read_listing(seconds=2.0);"
    "print(*found.engines); print(*found.left_out, sep='\\n', file=sys.stderr)"
)
_TITLES = (
    "from kit.engines.registry import engine_for, list_engines;"
    "print(*(e.definition.title for e in list_engines().values()));"
    "print(*(engine_for(name).definition.title for name in list_engines()))"
)


def list_with(
    folder: Path, points: str, module: str, work: str = _LISTED
) -> subprocess.CompletedProcess[str]:
    """List the engines in a process with one more plug-in."""
    info = folder / "more-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kit.engines]\n{points}\n")
    (folder / "more.py").write_text(module)
    script = f"import sys; sys.path.insert(0, {str(folder)!r}); {work}"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def test_plug_ins_are_listed_with_the_built_in_engines() -> None:
    assert {"flat", "clay", "poster", "drift"} <= list_engines().keys()
    assert list(list_engines()) == sorted(list_engines())
    assert all(engine.definition.id == name for name, engine in list_engines().items())


@pytest.mark.parametrize("absent", ["broken", "nothing"])
def test_an_engine_is_found_by_its_model_unless_it_is_left_out(absent: str) -> None:
    assert engine_for("flat").definition.title == "Flat"
    assert absent not in list_engines()
    with pytest.raises(ConfigError, match=f"'{absent}'"):
        engine_for(absent)


ENGINE = """
from decimal import Decimal
from kit.engines.base import Definition, Engine
from kit.wire import Parameter, Rule, UnitPrice

def definition(**changes):
    plain = dict(id="odd", title="Odd", asset_type="image", category="Fast", description="")
    return Definition(**{**plain, "pricing": Rule(base=Decimal(1)), **changes})

def unit(name):
    return Rule(units=[UnitPrice(parameter=name, credits=Decimal(1))])

class Odd(Engine):
    def render(self, job, progress): ...
"""
ODD = "odd = more:Odd"


def settings(given: str) -> str:
    return f"{ENGINE}    definition = definition(settings=[Parameter({given})])"


def define(changes: str) -> str:
    return f"{ENGINE}    definition = definition({changes})"


#: The object of the entry point, the source of its module, and the reported reason.
FAULTS = [
    ("thing", "thing = 7", "is not an Engine"),
    ("thing", "raise RuntimeError('no license')", "RuntimeError: no license"),
    ("thing", "import sys; sys.exit('no license')", "SystemExit: no license"),
    ("Missing", "", "AttributeError"),
    ("Odd", "def Odd(\n", 'more4.py", line 1)'),
    ("not an object", "", "AttributeError"),
    ("Odd", define("id='flat'"), "its model's id is 'flat'"),
    ("Odd", ENGINE, "it has no definition"),
    ("Odd", f"{ENGINE}    definition = 7", "is not a Definition, but of type 'int'"),
    ("Odd", define("category='Nope'"), "category 'Nope'"),
    ("Odd", define("asset_type='song'"), "asset type 'song'"),
    ("Odd", define("pricing=None"), "no price rule"),
    ("Odd", define("pricing=Rule(base=Decimal(-1))"), "negative price"),
    ("Odd", define("pricing=unit('no')"), "the parameter 'no'"),
    ("Odd", define("pricing=7"), "its pricing is not a Rule"),
    ("Odd", define("pricing=Rule()"), "its pricing is an empty Rule"),
    ("Odd", define("pricing=Rule(bases=1)"), "did you mean 'base'?"),
    ("Odd", define("settings=Parameter(name='x')"), "its settings is not a list"),
    ("Odd", settings("name='x', type=int"), "Parameter.type: Input should be a valid string"),
    ("Odd", define("settings=[7]"), "not a Parameter, but 7"),
    ("Odd", define("title=7"), "its title is not a text"),
    ("Odd", settings("name='x', type='integer', default='y'"), "the default of its parameter 'x'"),
    ("Odd", settings("name='x'), Parameter(name='x'"), "two of its parameters have the name 'x'"),
    (
        "Odd",
        settings("name='x', enum=[1, float('nan')], type='number'"),
        "a choice of its parameter",
    ),
    ("Odd", settings("name='x', type='int'"), "the type 'int', which is none of string, integer"),
    ("Odd", settings("name='my size'"), "'my size' cannot be typed as a name"),
    ("Odd", settings("name='prompt'"), "no parameter may be called 'prompt'"),
    ("Odd", define("media=[Parameter(name='x', type='image')]"), "'x' is not marked media=True"),
    ("Odd", settings("name='x', type='image', media=True"), "a medium, but is in the settings"),
    ("Odd", define("id='Odd_1'"), "small letters, digits, dots and dashes only"),
    ("Odd", define("").replace("def render", "async def render"), "its render is not plain"),
    ("Odd", define("").replace("...", "yield 1"), "its render is not plain"),
    (
        "Odd",
        define("").replace("job, progress", "job"),
        "cannot be called as render(job, progress)",
    ),
    ("Odd", f"{define('')}\n    resident = 'a little'", "its 'resident' must be True or False"),
]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """List the engines beside plug-ins with every fault."""
    folder, points = tmp_path_factory.mktemp("faults"), []
    for number, (name, module, _) in enumerate(FAULTS):
        model = "Odd_1" if "Odd_1" in module else f"odd-{number}"
        points.append(f"{model} = more{number}:{name}")
        (folder / f"more{number}.py").write_text(module.replace('id="odd"', f'id="{model}"'))
    return list_with(folder, "\n".join(points), "")


@pytest.mark.parametrize(("number", "sentence"), [(n, fault[2]) for n, fault in enumerate(FAULTS)])
def test_an_invalid_plug_in_is_reported_and_left_out(
    done: subprocess.CompletedProcess[str], number: int, sentence: str
) -> None:
    assert done.returncode == 0, done.stderr
    assert {"drift", "poster"} <= set(done.stdout.split())
    assert not [name for name in done.stdout.split() if name.lower().startswith("odd")]
    [line] = [line for line in done.stderr.splitlines() if f"(more{number}:" in line]
    assert line.startswith("the engine '")
    assert "of the package 'more' (" in line
    assert sentence in line


#: Code that ends or blocks the process that loads a plug-in, and the reported reason.
FATAL_CODE = {
    "import os; os._exit(3)": "it ends the process that loads it (exit code 3)",
    "import os; os._exit(0)": "it ends the process that loads it (exit code 0)",
    "import threading; threading.Event().wait()": "it is not loaded within 2 s",
}
if os.name != "nt":
    FATAL_CODE["import os; os.abort()"] = "it ends the process that loads it (SIGABRT)"


def test_plug_ins_that_end_their_process_are_left_out_and_others_are_served(tmp_path: Path) -> None:
    points = [ODD]
    for number, code in enumerate(FATAL_CODE):
        (tmp_path / f"deadly{number}.py").write_text(f"print('0\\nend')\n{code}")
        points.append(f"deadly{number} = deadly{number}:Engine")
    module = f"print('Welcome!')\n{ENGINE}    definition = definition()"
    done = list_with(tmp_path, "\n".join(points), module, _LISTED_CHECKED)

    assert done.returncode == 0, done.stderr
    assert {"odd", "poster"} <= set(done.stdout.split())
    assert ("Welcome!" in done.stdout, "Welcome!" in done.stderr) == (False, True)
    assert "deadly" not in done.stdout
    for number, sentence in enumerate(FATAL_CODE.values()):
        whose = f"the engine 'deadly{number}' of the package 'more' (deadly{number}:Engine)"
        assert f"{whose} is left out: {sentence}" in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_plug_ins_are_listed_although_the_checking_process_was_killed(tmp_path: Path) -> None:
    once = tmp_path / "once"
    code = f"import os\nif not os.path.exists({str(once)!r}):\n    open({str(once)!r}, 'x')\n"
    code += "    os.kill(os.getpid(), 9)\n"
    done = list_with(tmp_path, ODD, f"{code}{ENGINE}    definition = definition()")

    assert once.exists()
    assert "odd" in done.stdout.split()


@pytest.mark.parametrize(
    ("taken", "sentence"),
    [
        ("poster", "a built-in engine has this id"),
        ("flat", "the engine 'flat' of the package 'demo-engines' (demo_engines:Flat) has this id"),
    ],
)
def test_of_two_engines_for_a_model_the_built_in_or_first_one_is_served(
    tmp_path: Path, taken: str, sentence: str
) -> None:
    module = f"{ENGINE}    definition = definition(id={taken!r}, title='Stolen')"
    done = list_with(tmp_path, f"{taken} = more:Odd", module, _TITLES)

    assert done.returncode == 0, done.stderr
    assert f"the engine {taken!r} of the package 'more' (more:Odd) is left out" in done.stderr
    assert sentence in done.stderr
    assert "Stolen" not in done.stdout


def test_a_plug_in_from_the_kits_modules_is_reported_as_a_plug_in(tmp_path: Path) -> None:
    done = list_with(tmp_path, "odd = kit.engines.models.poster:Nothing", "")

    assert done.returncode == 0, done.stderr
    assert "the engine 'odd' of the package 'more'" in done.stderr


def test_a_broken_built_in_engine_raises_an_error() -> None:
    point = EntryPoint("poster", "kit.engines.models.poster:Nothing", "kit.engines")

    with pytest.raises(ConfigError, match="the built-in engine 'poster' is broken"):
        load_any(point)


def test_an_interrupt_is_passed_on(tmp_path: Path) -> None:
    done = list_with(tmp_path, ODD, "raise KeyboardInterrupt")

    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
