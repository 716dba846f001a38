import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.commands import doctor
from kit.engines.configured.place import EngineList
from kit.engines.registry import survey
from kit.service import settings as service_settings
from tests.buckets import KEYS
from tests.clusters import scheduler
from tests.commands.conftest import Kit
from tests.ports import free_port


def test_the_doctor_finds_no_problem_and_requests_no_other_service(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("KIT_API_KEY", "cs_test_abc")
    monkeypatch.setenv("KIT_PUBLIC_URL", f"http://127.0.0.1:{free_port()}")
    findings = [*doctor.examine(service_settings.load(), lambda at: EngineList(survey(at).engines))]

    assert [finding for finding in findings if not finding.ok] == []
    how = "without" if sys.platform == "linux" else "with"
    uploads = [finding.found for finding in findings if finding.name == "uploads"]
    assert uploads == [f"are inspected {how} network access"]


def test_doctor_and_gallery_leave_nothing_in_shared_storage_or_database(
    kit: Kit, account: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIT_DATABASE_URL", f"sqlite:///{tmp_path}/data/kit.db")
    monkeypatch.setenv("KIT_STORAGE_URL", f"file://{tmp_path}/shared")

    kit("doctor")
    kit("models", "--gallery", tmp_path / "page.html", "--model", "clay")

    assert [one["id"] for one in kit("accounts", "list", "--json").json] == [account]
    assert [path for path in (tmp_path / "shared").rglob("*") if path.is_file()] == []


def test_the_doctor_lists_a_broken_plug_in_with_the_reason(kit: Kit) -> None:
    found = kit("doctor", "--json")

    [broken] = [finding for finding in found.json if not finding["ok"]]
    assert broken["name"] == "left out"
    assert "'broken' of the package 'demo-engines' (demo_engines:Missing)" in broken["found"]
    assert "AttributeError: module 'demo_engines' has no attribute 'Missing'" in broken["found"]
    assert broken["remedy"] == "update or uninstall that package"
    assert found.code == 1


_HOMELESS = """
import os
os.environ.pop("HOME", None)
os.getuid = lambda: 2**31 - 7  # of nobody, as in containers that choose one at random
from kit.commands import doctor
from kit.service import settings
for finding in doctor.examine(settings.load()):
    if not finding.ok:
        print(finding.name, finding.found)
"""


@pytest.mark.skipif(os.name == "nt", reason="there everybody has a profile")
def test_the_doctor_reports_a_missing_home_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HOMELESS],
        env=os.environ | {"KIT_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
    )

    assert "home there is no home folder; Jupyter needs one" in done.stdout, done.stderr
    assert "data folder" not in done.stdout


def test_the_doctor_reports_problems_of_configured_models(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAR_KEY", raising=False)
    data = tmp_path / "data"
    data.mkdir()
    (data / "engines.toml").write_text(
        '[[images]]\nid = "far"\nurl = "http://127.0.0.1:9"\nmodel = "m"\nprice = 1\n'
        'key_env = "FAR_KEY"\n[[image]]\nid = "near"\n'
    )

    done = kit("doctor")

    assert done.code == 1
    assert "FAIL  left out: 'image' in " in done.out
    assert "FAIL  not ready: the configured model images 1 (far) cannot be used yet" in done.out
    assert "FAR_KEY" in done.out
    assert f"correct {data / 'engines.toml'}" in done.out
    assert "set that variable where the service runs" in done.out


def test_the_doctor_names_a_remedy(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = kit("doctor", "--data", tmp_path / "file" / "data")

    assert done.code == 1
    assert "set KIT_DATA to another folder" in done.out


def test_the_doctor_skips_checks_of_jupyter_where_it_is_not_installed(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jupyter_core", None)

    names = [finding["name"] for finding in kit("doctor", "--json").json]

    assert "a picture" in names
    assert not {"jupyterlab", "ipykernel", "JupyterLab", "kernel"} & {*names}


def test_the_doctor_checks_a_bucket_and_a_cluster(
    kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("KIT_CLUSTER", f"tcp://127.0.0.1:{port}")
    monkeypatch.setenv("KIT_STORAGE_URL", f"s3://media?endpoint=http://127.0.0.1:{free_port()}")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with scheduler(port, tmp_path / "log").run():
        done = kit("doctor")

    assert "FAIL  storage: the storage s3://media cannot be written" in done.out
    assert f"FAIL  cluster: nothing renders at tcp://127.0.0.1:{port}: start `kit" in done.out
    assert "ok    a picture" in done.out  # in a temporary folder


@pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")
def test_a_folder_that_is_no_data_folder_keeps_its_permissions(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "srv" / "site").mkdir(parents=True)
    (tmp_path / "srv").chmod(0o755)

    kit("doctor", "--data", tmp_path / "srv")

    assert (tmp_path / "srv").stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.name != "posix", reason="Windows has other rights")
def test_exposed_files_are_reported_once_and_made_private(kit: Kit, tmp_path: Path) -> None:
    kit("accounts", "create", "--name", "Ada", "--email", "ada@example.org", "--credits", "1")
    found = [tmp_path / "data" / name for name in ("", "kit.db")]
    for path in found:
        path.chmod(path.stat().st_mode | 0o055)

    [first] = [each for each in kit("doctor", "--json").json if each["name"] == "privacy"]
    [second] = [each for each in kit("doctor", "--json").json if each["name"] == "privacy"]

    assert not first["ok"]
    assert all(str(path) in first["found"] for path in found)
    assert "create new keys" in first["remedy"]
    assert [path.stat().st_mode & 0o777 for path in found] == [0o700, 0o600]
    assert (second["ok"], second["found"]) == (True, "only you can read what is kept")


def test_the_doctor_checks_the_requirements_of_the_tests(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / ("openssl.exe" if os.name == "nt" else "openssl")).touch(mode=0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        found = {one["name"]: one for one in kit("doctor", "--tests", "--json").json}

    assert found["tests"]["ok"]
    assert (found["certificates"]["ok"], found["certificates"]["found"]) == (True, "openssl")
    assert found["a browser for widgets"] == {
        "name": "a browser for widgets",
        "ok": False,
        "found": "no chromium-headless-shell or chromium or google-chrome; tests of it are skipped",
        "remedy": "apt-get install chromium-headless-shell",
    }
