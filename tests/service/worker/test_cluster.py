"""A cluster: certificates of its parts, and workers and schedulers that stop or restart."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from distributed import Client

from kit.errors import ConfigError
from kit.service import server, settings
from kit.service.worker.cluster import count_slots
from tests.buckets import KEYS, S3Server
from tests.clusters import Daemon, scheduler, worker
from tests.conftest import ALL_SCOPES, Service, sql
from tests.ports import free_port
from tests.service.test_chaos import children
from tests.service.worker.conftest import OWN_PLUGINS
from tests.waiting import generate, read, until, wait_for_end, wait_for_start

Start = Callable[..., Service]


class Parts(ExitStack):
    """The scheduler and the workers of a cluster, which run until the end of a test."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder, self._port = folder, free_port()
        self.cluster = f"tcp://127.0.0.1:{self._port}"
        self.storage = f"file://{folder / 'objects'}"

    def settings(self) -> dict[str, Any]:
        """Return the settings of a service that may be asked often."""
        address = {"cluster": self.cluster, "storage_url": self.storage}
        return {**address, "requests_per_minute": 100_000}

    def scheduler(self, *options: str) -> Daemon:
        return scheduler(self._port, self._folder / "scheduler.log", *options)

    def worker(self, name: str, *options: str, **environment: str) -> Daemon:
        return worker(self.cluster, self._folder / name, self.storage, *options, **environment)

    def run(self, part: Daemon) -> Daemon:
        """Run a part until the end of the test."""
        self.enter_context(part.run())
        return part


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    """A cluster without parts; requested before services, it outlives them."""
    with Parts(tmp_path) as parts:
        yield parts


@pytest.fixture
def certificate(tmp_path: Path) -> dict[str, str]:
    """The settings of one self-signed certificate, which all parts have."""
    return new_certificate(tmp_path)


def new_certificate(folder: Path) -> dict[str, str]:
    cert, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run(
        [*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True
    )
    return {"cluster_ca": str(cert), "cluster_cert": str(cert), "cluster_key": str(key)}


def open_client(service: Service) -> httpx.Client:
    return service.client(service.key(service.account(), *ALL_SCOPES))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates")
def test_parts_without_a_trusted_certificate_cannot_connect(
    tmp_path: Path, parts: Parts, certificate: dict[str, str], start_service: Start
) -> None:
    parts.cluster = parts.cluster.replace("tcp:", "tls:")
    given = {f"KIT_{name.upper()}": text for name, text in certificate.items()}
    options = [f"--tls-{name.split('_')[1]}" for name in certificate]
    options[0] += "-file"
    pairs = [part for pair in zip(options, certificate.values(), strict=True) for part in pair]
    parts.run(parts.scheduler("--protocol", "tls", *pairs))
    parts.run(parts.worker("worker", **given))
    service = start_service(**parts.settings(), **certificate)
    with open_client(service) as http:
        assert wait_for_end(http, generate(http))["status"] == "completed"
    (tmp_path / "other").mkdir()
    other = new_certificate(tmp_path / "other")
    assert "connected" in try_to_connect(parts.cluster, **certificate)
    assert "connected" not in try_to_connect(parts.cluster, **other), (
        "the scheduler does not trust this certificate"
    )
    plain = parts.cluster.replace("tls:", "tcp:")
    assert "connected" not in try_to_connect(plain), "not encrypted"


def test_unusable_certificates_raise_a_config_error(
    tmp_path: Path, config: settings.ServiceSettings
) -> None:
    files = {name: str(tmp_path / name) for name in ("cluster_ca", "cluster_cert", "cluster_key")}
    given = replace(config, cluster="tls://127.0.0.1:9", **files)

    with pytest.raises(ConfigError, match=r"cluster_ca, .*cluster_key cannot be used: .*No such"):
        server.start(given)
    with pytest.raises(ConfigError, match="cannot be used"):
        asyncio.run(count_slots(given))


CONNECT = """
import sys
from distributed import Client
from kit.service import settings
from kit.service.worker.cluster import security
cluster, *given = sys.argv[1:]
names = ("cluster_ca", "cluster_cert", "cluster_key")
trust = security(settings.load({}, cluster=cluster, **dict(zip(names, given))))
with Client(cluster, security=trust, timeout=3):
    print("connected")
"""


def try_to_connect(cluster: str, **certificate: str) -> str:
    """Return the output of a process that tries to connect to a scheduler."""
    command = [sys.executable, "-c", CONNECT, cluster, *certificate.values()]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def has_slots(service: Service, jobs: int) -> bool:
    """Whether a service reports that its cluster renders a number of jobs at a time."""
    metrics = httpx.get(f"{service.url}/metrics").text
    ready = httpx.get(f"{service.url}/readyz").json()["workers"]
    return ready == jobs and f"kit_workers {jobs}.0" in metrics


def test_a_worker_that_is_stopped_hands_its_job_to_another(
    tmp_path: Path, parts: Parts, start_service: Start
) -> None:
    options = {"KIT_WORKERS": "2", "KIT_GRACE_SECONDS": "1"}
    parts.run(parts.scheduler())
    service = start_service(**parts.settings())
    assert has_slots(service, 0)
    first = parts.run(parts.worker("first", **options))
    with open_client(service) as http:
        hanging = generate(http, does="hangs")
        until(lambda: wait_for_start(http, hanging)["progress"] > 0)
        assert has_slots(service, 2)
        parts.run(parts.worker("second", **options))
        until(lambda: has_slots(service, 4))
        first.stop()
        until(lambda: "retired" in (tmp_path / "scheduler.log").read_text().lower())

        again = wait_for_start(http, hanging)

        assert (again["status"], again["errorCode"]) == ("processing", None)
        http.post(f"/v1/creative-studio/generations/{hanging}/cancel")
        assert wait_for_end(http, generate(http))["status"] == "completed"


def test_a_worker_that_is_stopped_accepts_no_more_jobs(parts: Parts, start_service: Start) -> None:
    parts.run(parts.scheduler())
    worker = parts.run(parts.worker("w", KIT_WORKERS="2", KIT_GRACE_SECONDS="3"))
    service = start_service(**parts.settings())
    with open_client(service) as http:
        hanging, before = generate(http, does="hangs"), worker.pid
        until(lambda: wait_for_start(http, hanging)["progress"] > 0)
        worker.stop()
        threading.Event().wait(1)
        assert wait_for_end(http, generate(http))["status"] == "completed"
        assert worker.pid != before, "the worker that replaced it rendered it"
        http.post(f"/v1/creative-studio/generations/{hanging}/cancel")


def test_a_worker_removes_files_that_jobs_left_more_than_a_day_ago(
    tmp_path: Path, parts: Parts, s3_server: S3Server
) -> None:
    old, new = [], []
    for folder in ("scratch", "sending"):
        place = tmp_path / "w" / folder
        place.mkdir(parents=True)
        old.append(place / "old.png")
        new.append(place / "new.png")
        for file in (old[-1], new[-1]):
            file.touch()
        os.utime(old[-1], (1e9, 1e9))
    parts.storage = s3_server.new_bucket()
    parts.run(parts.worker("w", "--workers", "1", **KEYS))
    until(lambda: not any(file.exists() for file in old))
    assert all(file.exists() for file in new)


def test_a_job_that_a_worker_releases_waits_and_does_not_count_as_lost(
    tmp_path: Path, parts: Parts, start_service: Start
) -> None:
    parts.run(parts.scheduler())
    service = start_service(**parts.settings(), lease_seconds=2)
    given = {"KIT_GRACE_SECONDS": "0.1", "KIT_STORAGE_URL": parts.storage, **os.environ}
    command = [sys.executable, "-m", "kit", "worker", "--cluster", parts.cluster, "--host"]
    places = ["127.0.0.1", "--workers", "1", "--data", str(tmp_path / "first")]
    with open_client(service) as http, subprocess.Popen([*command, *places], env=given) as first:
        hanging = generate(http, does="hangs")
        until(lambda: read(http, hanging)["progress"] > 0)
        first.terminate()
        first.wait()
        threading.Event().wait(4)
        parts.run(parts.worker("second", "--workers", "1"))
        until(lambda: read(http, hanging)["progress"] > 0)
        [row] = service.write(sql("SELECT attempt, losses FROM generations"))
        http.post(f"/v1/creative-studio/generations/{hanging}/cancel")

    assert (row.attempt, row.losses) == (1, 0)


_FULL_DISK = """
import shutil
from pathlib import Path
usage = shutil.disk_usage
full = Path(__file__).with_name("full")
shutil.disk_usage = lambda path: usage(path)._replace(free=0) if full.exists() else usage(path)
"""


def test_a_job_on_a_worker_with_a_full_disk_waits_for_room_and_others_do_not(
    parts: Parts, start_service: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_FULL_DISK)
    (folder / "full").touch()
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    parts.run(parts.scheduler())
    parts.run(parts.worker("full", "--workers", "1", PYTHONPATH=paths))
    service = start_service(**parts.settings())
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        waiting = generate(http)
        until(lambda: "is full: jobs wait for room" in (tmp_path / "full.log").read_text())
        parts.run(parts.worker("fit", "--workers", "1"))
        assert wait_for_end(http, generate(http))["status"] == "completed"
        assert read(http, waiting)["status"] == "processing"
        (folder / "full").unlink()
        assert wait_for_end(http, waiting)["status"] == "completed"


def test_a_worker_with_another_storage_gets_no_jobs(
    tmp_path: Path, parts: Parts, start_service: Start, caplog: pytest.LogCaptureFixture
) -> None:
    parts.run(parts.scheduler())
    service = start_service(**parts.settings())
    given = {"KIT_STORAGE_URL": f"file://{tmp_path / 'elsewhere'}", "KIT_CLUSTER": parts.cluster}
    command = [sys.executable, "-m", "kit", "worker", "--data", str(tmp_path / "o"), "--workers"]
    parts.run(Daemon([*command, "2", "--host", "127.0.0.1"], tmp_path / "o.log", **given))
    with open_client(service) as http:
        waiting = generate(http)
        until(lambda: f"their KIT_STORAGE_URL is not {parts.storage}" in caplog.text)
        assert has_slots(service, 0)
        parts.run(parts.worker("w", "--workers", "1"))

        done = wait_for_end(http, waiting)

        assert httpx.get(done["outputUrl"]).status_code == 200
        assert has_slots(service, 1)


def test_a_model_waits_for_a_worker_that_has_it_and_delays_no_other(
    parts: Parts,
    start_service: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.syspath_prepend(OWN_PLUGINS)
    path = os.pathsep.join((OWN_PLUGINS, os.environ["PYTHONPATH"]))
    parts.run(parts.scheduler())
    parts.run(parts.worker("plain", "--workers", "1"))
    service = start_service(**parts.settings())
    with open_client(service) as http:
        assert wait_for_end(http, generate(http))["status"] == "completed"
        waiting = [generate(http, modelId="nosy", parameters={}) for _ in range(3)]
        assert wait_for_end(http, generate(http))["status"] == "completed"
        left = [read(http, one) for one in waiting]
        assert {(one["status"], one["startedAt"]) for one in left} == {("processing", None)}
        assert (
            "for a worker of the cluster that has them: heavier, heavy, nosier, nosy" in caplog.text
        )

        parts.run(parts.worker("own", "--workers", "1", PYTHONPATH=path))
        assert {wait_for_end(http, one)["status"] for one in waiting} == {"completed"}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_jobs_with_large_weights_run_only_on_workers_with_a_gpu(
    tmp_path: Path, parts: Parts, start_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(OWN_PLUGINS)
    given = {
        "PYTHONPATH": os.pathsep.join((OWN_PLUGINS, os.environ["PYTHONPATH"])),
        "HEAVY_MARKER": str(tmp_path / "marker"),
    }
    plain, gpu = (
        parts.worker(name, "--name", name, *options, **given)
        for name, options in (
            ("plain", ("--workers", "2", "--no-gpu")),
            ("gpu", ("--workers", "1", "--gpu")),
        )
    )
    heavy = {"modelId": "heavy", "prompt": "is slow", "parameters": {}}
    parts.run(parts.scheduler())
    parts.run(plain)
    service = start_service(**parts.settings())
    with open_client(service) as http:
        waiting = [generate(http, **heavy) for _ in range(2)]
        assert wait_for_end(http, generate(http))["status"] == "completed", "it needs no GPU"
        assert [read(http, one)["startedAt"] for one in waiting] == [None, None]

        parts.run(gpu)
        done = [wait_for_end(http, one) for one in (*waiting, generate(http, **heavy))]

    processes = {one["output"]["metadata"]["process"] for one in done}
    assert len(processes) == 1, "loaded weights stay in memory"
    assert processes < {*children(gpu.pid)}
    offered = asyncio.run(list_workers(parts.cluster))
    models = {f"model:{name}" for name in service.context.catalog.engines}
    assert models == {name for name in offered["gpu"][1] if name.startswith("model:")}
    neural = {"model:heavy", "model:heavier"}
    every = [
        dict.fromkeys(["RENDER", parts.storage, *names]) for names in (models - neural, models)
    ]
    assert offered == {
        "plain": (2, {**dict.fromkeys(every[0], 2), "GPU": 0}, True),
        "gpu": (1, {**dict.fromkeys(every[1], 1), "GPU": 1}, True),
    }
    # Started before the jobs: one process for each slot, and one for the large weights.
    assert [len(children(part.pid)) for part in (plain, gpu)] == [2, 2]


async def list_workers(cluster: str) -> dict[str, tuple[int, dict[str, float], bool]]:
    """Return the threads and resources of each worker, and whether it renders."""
    async with Client(cluster, asynchronous=True, set_as_default=False) as dask:
        found = (await dask.scheduler.identity())["workers"]
        loaded = await dask.run(lambda dask_worker: "kit" in dask_worker.plugins)
    return {
        one["name"]: (one["nthreads"], one["resources"], loaded[address])
        for address, one in found.items()
    }


class Relay:
    """A relay to a scheduler that can close its far ends while the near ends stay open."""

    def __init__(self, cluster: str) -> None:
        self._far = "127.0.0.1", int(cluster.rpartition(":")[2])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.cluster = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._near: list[socket.socket] = []
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close_far_ends(self) -> None:
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self.close_far_ends()
        for end in (self._listener, *self._near, *self._ends):
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._near.append(near)
                far = socket.create_connection(self._far)
                self._ends.append(far)
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._relay, args=pair, daemon=True).start()

    @staticmethod
    def _relay(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)


def test_a_service_reconnects_after_the_scheduler_lost_it(
    parts: Parts, start_service: Start
) -> None:
    parts.run(parts.scheduler())
    parts.run(parts.worker("w", "--workers", "1"))
    until(lambda: "connected" in try_to_connect(parts.cluster))
    relay = Relay(parts.cluster)
    parts.callback(relay.close)
    service = start_service(**{**parts.settings(), "cluster": relay.cluster})
    with open_client(service) as http:
        assert wait_for_end(http, generate(http))["status"] == "completed"
        relay.close_far_ends()
        assert wait_for_end(http, generate(http))["status"] == "completed"


def test_the_scheduler_drops_the_reports_of_a_service_that_has_stopped(
    parts: Parts, start_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__EVENTS_CLEANUP_DELAY", "1s")
    parts.run(parts.scheduler())
    parts.run(parts.worker("w", "--workers", "1"))
    service = start_service(**parts.settings())
    with open_client(service) as http:
        wait_for_end(http, generate(http))
    with Client(parts.cluster, set_as_default=False) as dask:

        def topics() -> list[str]:
            return [name for name in dask.get_events() if "kit-" in name]

        assert len(topics()) == 1
        service.stop()
        until(lambda: topics() == [])


def test_progress_is_reported_after_a_restart_of_the_scheduler(
    parts: Parts, start_service: Start
) -> None:
    scheduler = parts.run(parts.scheduler())
    parts.run(parts.worker("w", "--workers", "1"))
    service = start_service(**parts.settings())
    with open_client(service) as http:
        hanging = generate(http, does="hangs")
        for attempt in (1, 2):
            until(lambda attempt=attempt: current_attempt(service) == attempt)
            until(lambda: read(http, hanging)["progress"] > 0)
            scheduler.stop()


def current_attempt(service: Service) -> int:
    """Return the current attempt of the only generation."""
    [row] = service.write(sql("SELECT attempt FROM generations"))
    return int(row.attempt)


@pytest.mark.slow
def test_without_a_scheduler_jobs_wait_and_use_up_no_attempt(
    parts: Parts, start_service: Start
) -> None:
    parts.run(parts.worker("w", KIT_WORKERS="1"))
    with ExitStack() as ends:
        with parts.scheduler().run():
            service = start_service(**parts.settings())
            http = ends.enter_context(open_client(service))
            hanging = generate(http, does="hangs")
            until(lambda: wait_for_start(http, hanging)["progress"] > 0)
            waiting = [generate(http) for _ in range(5)]
        until(lambda: service.context.dispatcher.running == 0)
        until(lambda: has_slots(service, 0))
        threading.Event().wait(2)  # the service looks for the scheduler meanwhile
        assert service.context.dispatcher.running == 0
        parts.run(parts.scheduler())
        until(lambda: wait_for_start(http, hanging)["progress"] > 0)
        http.post(f"/v1/creative-studio/generations/{hanging}/cancel")

        assert {wait_for_end(http, one)["status"] for one in waiting} == {"completed"}
        rows = service.write(sql("SELECT attempt, losses FROM generations ORDER BY id"))
        assert (rows[0].attempt, rows[0].losses) == (2, 1), "it was lost with the scheduler"
        assert {(row.attempt, row.losses) for row in rows[1:]} == {(1, 0)}


def test_an_engine_gets_the_key_of_its_worker_which_is_not_logged(
    tmp_path: Path, parts: Parts, start_service: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(OWN_PLUGINS)
    monkeypatch.setenv("NOSY_KEY", "of-the-service")
    path = os.pathsep.join((OWN_PLUGINS, os.environ["PYTHONPATH"]))
    parts.run(parts.scheduler())
    parts.run(parts.worker("w", "--verbose", PYTHONPATH=path, NOSY_KEY="of-the-worker"))
    service = start_service(**parts.settings())
    with open_client(service) as http:
        done = wait_for_end(http, generate(http, modelId="nosy", parameters={}))

    assert done["output"]["metadata"]["seen"]["NOSY_KEY"] == "of-the-worker"
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert "Rendering" in logs
    assert "of-the" not in logs


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cluster": "scheduler:8786"}, "tcp://HOST:8786"),
        ({"cluster": "tls://scheduler:8786"}, "KIT_CLUSTER_CA, KIT_CLUSTER_CERT and"),
        (
            {
                "cluster": "tcp://a:1",
                **dict.fromkeys(("cluster_ca", "cluster_cert", "cluster_key"), "/x"),
            },
            "must begin with tls://",
        ),
    ],
)
def test_invalid_cluster_settings_are_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        settings.load({}, **given)
