"""``kit deploy``: the settings, commands, ports and paths that the files name exist."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from kit.commands import COMMANDS, GROUPS
from kit.service import settings
from kit.service.app import create_app
from kit.service.settings import ServiceSettings
from tests.commands.conftest import Kit

FILES = ("compose", "dockerfile", "kubernetes", "systemd", "nginx", "capacity")
#: Environment variables of a service that are not settings.
OTHERS = {"KIT_LOG_FORMAT"}
CREDENTIALS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
VALUES = {"POSTGRES_PASSWORD": "p", "FILES_SECRET": "s" * 20}
VALUES |= {"STUDIO_HOST": "studio.example.org", "FILES_HOST": "files.example.org"}


def fill_in(text: str) -> str:
    """Return a compose file with its variables replaced by values."""
    return re.sub(r"\$\{(\w+):\?\}", lambda found: VALUES[found[1]], text)


@pytest.fixture
def compose(kit: Kit) -> dict[str, Any]:
    """The output of `kit deploy compose`."""
    found: dict[str, Any] = yaml.safe_load(fill_in(kit("deploy", "compose").out))
    return found


@pytest.fixture
def manifests(kit: Kit) -> dict[tuple[str, str], dict[str, Any]]:
    """The output of `kit deploy kubernetes`, by kind and name."""
    found = [*yaml.safe_load_all(kit("deploy", "kubernetes").out)]
    by_name = {(one["kind"], one["metadata"]["name"]): one for one in found}
    assert len(by_name) == len(found)
    return by_name


def paths() -> set[str]:
    given = settings.load({}, data=Path("none"))
    return {*create_app(given, engines={}).openapi["paths"], "/docs", "/openapi.json"}


def pods(manifests: dict[tuple[str, str], dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for (kind, name), one in manifests.items():
        if kind in ("Deployment", "Job"):
            yield name, one["spec"]["template"]


def test_the_compose_file_conforms_to_the_specification(kit: Kit, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text(kit("deploy", "compose").out)
    schema = ("check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    command = [sys.executable, "-m", *schema]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_each_manifest_is_valid(manifests: dict[tuple[str, str], dict[str, Any]]) -> None:
    schemas = pytest.importorskip("kubernetes_validate")  # 109 MB, not in the extra test
    for manifest in manifests.values():
        schemas.validate(manifest, "1.31", strict=True)

    wrong = {**manifests["Service", "studio"], "specs": {}}
    with pytest.raises(schemas.ValidationError):
        schemas.validate(wrong, "1.31", strict=True)


@pytest.mark.parametrize("name", FILES)
def test_a_file_names_only_settings_and_commands_that_exist(kit: Kit, name: str) -> None:
    printed = kit("deploy", name)

    assert (printed.code, printed.err) == (0, "")
    known = {f"KIT_{field.name.upper()}" for field in fields(ServiceSettings)} | OTHERS
    assert {*re.findall(r"\bKIT_[A-Z_]+\b", printed.out)} <= known
    commands = {*re.findall(r"\bkit (?:exec \w+ )?([a-z]+)\b", printed.out)}
    assert commands - {"serves", "in", "on", "is"} <= {*COMMANDS, *GROUPS}
    extras = re.findall(r"creative-studio-kit\[([a-z0-9,]+)\]", printed.out)
    declared = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    for extra in {one for found in extras for one in found.split(",")}:
        assert f"\n{extra} = [" in declared


def test_the_services_of_compose_refer_to_parts_that_exist(compose: dict[str, Any]) -> None:
    parts = compose["services"]
    assert {*compose} - {"x-kit", "x-storage", "x-service"} == {
        *("services", "configs", "networks", "secrets", "volumes")
    }
    assert parts.keys() >= {"first", "second", "worker", "scheduler", "database", "files", "proxy"}
    for name, part in parts.items():
        assert part.get("image"), name
        for needed in part.get("depends_on", ()):
            assert needed in parts, name
        for condition in [it for it in [part.get("depends_on")] if isinstance(it, dict)]:
            for needed, how in condition.items():
                healthy = how["condition"] == "service_healthy"
                assert not healthy or "healthcheck" in parts[needed]
        for volume in part.get("volumes", ()):
            assert volume.partition(":")[0] in compose["volumes"], name
        assert {*part.get("secrets", ())} <= compose["secrets"].keys()
        assert {one["source"] for one in part.get("configs", ())} <= compose["configs"].keys()


def test_the_variables_of_compose_are_valid_settings(compose: dict[str, Any]) -> None:
    parts = compose["services"]
    for name in ("first", "second", "worker", "migrate"):
        environ = {one: str(value) for one, value in parts[name]["environment"].items()}
        given = settings.load(environ, data=Path("none"))
        assert {one for one in environ if not one.startswith("KIT_")} <= CREDENTIALS
        assert name == "migrate" or given.cluster == "tcp://scheduler:8786"
        assert name == "worker" or given.database_url.endswith("@database/kit")
        if name in ("first", "second"):
            assert given.secret_path == Path("/run/secrets") / parts[name]["secrets"][0]
            network = compose["networks"]["default"]["ipam"]["config"][0]["subnet"]
            assert given.trusted_proxies == (network,)
            assert any("/readyz" in one for one in parts[name]["healthcheck"]["test"])
    assert "8786" in parts["scheduler"]["command"]
    caddy = compose["configs"]["caddy"]["content"]
    assert "reverse_proxy first:8000 second:8000" in caddy
    assert "health_uri /healthz" in caddy
    assert {"/readyz", "/healthz"} <= paths()
    assert caddy.count("{") == caddy.count("}")


def test_every_pod_has_limits_and_every_serving_one_has_probes(
    manifests: dict[tuple[str, str], dict[str, Any]],
) -> None:
    there = paths()
    for name, template in pods(manifests):
        (container,) = template["spec"]["containers"]
        assert container["resources"].keys() == {"requests", "limits"}, name
        ports = {one["name"]: one["containerPort"] for one in container.get("ports", ())}
        probes = {one: it for one, it in container.items() if one.endswith("Probe")}
        assert not ports or {"livenessProbe", "readinessProbe"} <= probes.keys(), name
        for probe in probes.values():
            call = probe.get("httpGet") or probe["tcpSocket"]
            assert call["port"] in ports
            assert call.get("path", "/healthz") in there
        mounts = {one["name"] for one in container.get("volumeMounts", ())}
        assert mounts == {one["name"] for one in template["spec"].get("volumes", ())}


def test_objects_that_manifests_refer_to_are_among_them(
    manifests: dict[tuple[str, str], dict[str, Any]],
) -> None:
    for name, template in pods(manifests):
        labels = template["metadata"]["labels"]
        if ("Deployment", name) in manifests:
            selector = manifests["Deployment", name]["spec"]["selector"]["matchLabels"]
            assert selector == labels
        (container,) = template["spec"]["containers"]
        for source in container.get("envFrom", ()):
            for kind, what in {"secretRef": "Secret", "configMapRef": "ConfigMap"}.items():
                assert kind not in source or (what, source[kind]["name"]) in manifests
    services = [one for (kind, _), one in manifests.items() if kind == "Service"]
    for one in services:
        assert ("Deployment", one["spec"]["selector"]["app"]) in manifests
    (rule,) = manifests["Ingress", "studio"]["spec"]["rules"]
    served = {one["path"] for one in rule["http"]["paths"]}
    assert all(any(path.startswith(one) for path in paths()) for one in served)
    assert not any("/metrics".startswith(one) for one in served)


def test_the_variables_of_manifests_are_valid_settings(
    manifests: dict[tuple[str, str], dict[str, Any]],
) -> None:
    environ: dict[str, str] = {}
    for (kind, _), one in manifests.items():
        environ |= one["stringData"] if kind == "Secret" else {}
        environ |= one["data"] if kind == "ConfigMap" else {}
    assert {one for one in environ if not one.startswith("KIT_")} == CREDENTIALS
    given = settings.load(environ, data=Path("none"))
    scheduler = manifests["Service", "studio-scheduler"]["spec"]["ports"][0]["port"]
    assert given.cluster == f"tcp://studio-scheduler:{scheduler}"
    (worker,) = manifests["Deployment", "studio-worker"]["spec"]["template"]["spec"]["containers"]
    # A worker needs neither the database nor the secret.
    assert "studio-database" not in str(worker)
    assert "studio-secret" not in str(worker)


def test_systemd_keeps_restarting_the_service(kit: Kit) -> None:
    given = dict(
        line.split("=", 1) for line in kit("deploy", "systemd").out.splitlines() if "=" in line
    )

    assert given["Restart"] == "on-failure"
    assert int(given["RestartSec"]) * 5 > 10  # it gives up after 5 starts in 10 s


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_the_systemd_unit_is_valid(kit: Kit, tmp_path: Path) -> None:
    text = kit("deploy", "systemd").out.replace("/opt/kit/bin/kit", "/bin/true")
    (tmp_path / "kit.service").write_text(text)
    command = ["systemd-analyze", "verify", str(tmp_path / "kit.service")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
