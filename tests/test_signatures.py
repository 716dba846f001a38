"""Outputs are signed if that is configured; reading one shows whether it was changed."""

import logging
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kit
from kit import file_metadata
from kit.commands import doctor
from kit.engines.registry import EngineList, survey
from kit.errors import ConfigError
from kit.file_metadata import ALGORITHMIC, ENHANCED, FileMetadata
from kit.service import settings
from kit.service.storage.output_folder import OutputFolder
from kit.service.worker.environment import allowed_variables
from kit.service.worker.signing import ResultSigner, make_certificate
from kit.studio import Studio
from kit.studio.requests import read_file
from tests.buckets import requested_storage
from tests.clusters import serve_cluster
from tests.conftest import ALL_SCOPES, Service
from tests.rights import is_private
from tests.test_file_metadata import clip, picture

c2pa = pytest.importorskip("c2pa")
SMALL = {"size": 512, "palette": "ember"}
TYPES = {"png": "image/png", "jpg": "image/jpeg", "webp": "image/webp", "mp4": "video/mp4"}


def manifest(path: Path) -> Any:
    with c2pa.Reader(path) as reader:
        assert reader.get_validation_state() == "Valid"
        return reader.get_active_manifest()


def sign(folder: Path, kind: str, *media: Path, cert: str = "self") -> tuple[Path, dict[str, Any]]:
    """Sign a new file as the service does."""
    signer = ResultSigner(settings.load({}, data=folder, signing_cert=cert))
    path = clip(folder) if kind == "mp4" else picture(folder, kind)
    file_metadata.embed(path, FileMetadata(generation_id="gen_1", source_type=ALGORITHMIC))
    key = f"outputs/1/gen_1-unsigned.{kind}"
    outputs = OutputFolder(folder / "objects")
    outputs.put({key: path})
    facts = signer.sign("gen_1", {"key": key, "content_type": TYPES[kind]}, outputs, media)
    return outputs.path(facts["key"]), facts


@pytest.fixture
def storage_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The settings of the storage of a service: local files, a bucket, or a cluster."""
    if getattr(request, "param", "") != "cluster":
        yield requested_storage(request)
        return
    (tmp_path / "cluster").mkdir()
    environment = {"KIT_SIGNING_CERT": "self"}
    with serve_cluster(tmp_path / "cluster", "--workers", "1", environment=environment) as given:
        yield given


@pytest.fixture
def studio(start_service: Callable[..., Service], tmp_path: Path) -> Any:
    service = start_service(signing_cert="self")
    key = service.key(service.account(), *ALL_SCOPES)
    with kit.connect(service.url, key, data=tmp_path / "client") as studio:
        yield studio


@pytest.mark.parametrize("kind", TYPES)
def test_every_format_is_signed_last_and_without_a_thumbnail(kind: str, tmp_path: Path) -> None:
    path, facts = sign(tmp_path, kind)

    found = manifest(path)
    assert "thumbnail" not in found
    [data] = [one["data"] for one in found["assertions"] if one["label"] == "c2pa.actions.v2"]
    [action] = data["actions"]
    assert action["digitalSourceType"].endswith("/algorithmicMedia")
    assert facts["size_bytes"] == path.stat().st_size
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert file_metadata.read(path) is not None


def test_an_output_is_signed_and_names_the_signer(studio: Studio, tmp_path: Path) -> None:
    lake = studio.generate("poster", "a lake", **SMALL)

    found = studio.read(lake.save(tmp_path / "lake.jpg"))

    assert (found.model, found.prompt, found.source_type) == ("poster", "a lake", ALGORITHMIC)
    assert found.signature is not None
    assert (found.signature.valid, found.signature.trusted) == (True, False)
    assert found.signature.signer == "untrusted, Creative Studio (self-made)"
    assert not found.signature.problems
    assert lake.output.facts.size_bytes == lake.output.path().stat().st_size


@pytest.mark.parametrize(
    ("storage_settings", "database_url"), [("s3", ""), ("cluster", "postgresql")], indirect=True
)
def test_an_output_is_signed_with_a_bucket_and_on_a_cluster(studio: Studio) -> None:
    lake = studio.generate("poster", "a lake", **SMALL)

    assert manifest(lake.output.path())["signature_info"]["common_name"] == "untrusted"
    edited = studio.generate("retouch", media=lake)
    assert len(manifest(edited.output.path())["ingredients"]) == 1


@pytest.mark.parametrize("place", ["file", "scratch"])
def test_a_file_that_cannot_be_signed_is_delivered_unsigned_and_logged(
    place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    signer = ResultSigner(given := settings.load({}, data=tmp_path, signing_cert="self"))
    path = picture(tmp_path, "jpg")
    file_metadata.embed(path, FileMetadata(generation_id="gen_1", source_type=ALGORITHMIC))
    if place == "scratch":
        shutil.rmtree(given.scratch, ignore_errors=True)
        given.scratch.touch()
    outputs = OutputFolder(tmp_path / "objects")
    outputs.put({"outputs/1/gen_1-unsigned.jpg": path})
    kind = "image/png" if place == "file" else "image/jpeg"
    facts = {"key": "outputs/1/gen_1-unsigned.jpg", "content_type": kind}

    with caplog.at_level(logging.WARNING, "kit.worker"):
        assert signer.sign("gen_1", facts, outputs, ()) == facts

    assert file_metadata.read_signed(outputs.path(facts["key"])) is None
    assert "gen_1 is not signed: " in caplog.text
    assert not list(tmp_path.rglob("*.signing"))


def test_inputs_are_ingredients_with_their_own_manifest(studio: Studio, tmp_path: Path) -> None:
    lake = studio.generate("poster", "a lake", **SMALL)
    edited = studio.generate("retouch", media=lake)

    found = manifest(edited.output.path())

    [ingredient] = found["ingredients"]
    assert (ingredient["relationship"], ingredient["title"]) == ("inputTo", "image")
    assert "active_manifest" in ingredient
    assert studio.read(edited.output.path()).source_type == ENHANCED


def test_files_without_metadata_are_not_signed(studio: Studio, tmp_path: Path) -> None:
    plain = studio.generate("poster", "a lake", metadata=False, **SMALL)
    lake = studio.generate("poster", "a lake at dawn", **SMALL)

    assert file_metadata.read_signed(plain.output.path()) is None
    copy = lake.save(tmp_path / "copy.jpg", metadata=False)
    assert file_metadata.read_signed(copy) is None
    assert b"jumb" not in copy.read_bytes()


@pytest.mark.parametrize("kind", TYPES)
def test_a_signed_file_is_not_modified_and_a_change_is_detected(kind: str, tmp_path: Path) -> None:
    path, _ = sign(tmp_path, kind)
    before = path.read_bytes()

    assert not file_metadata.embed(path, FileMetadata(model="poster", generation_id="gen_2"))
    assert path.read_bytes() == before

    changed = before.replace(b"algorithmicMedia", b"digitalCreation_", 1)
    path.write_bytes(changed)
    signature = read_file(path).signature
    assert signature is not None
    assert signature.valid is False
    assert signature.problems
    file_metadata.remove(path)
    assert file_metadata.read_signed(path) is None


def test_a_signature_adds_less_than_4_kb(tmp_path: Path) -> None:
    plain = picture(tmp_path, "jpg").stat().st_size

    path, _ = sign(tmp_path, "jpg")

    assert path.stat().st_size - plain < 4000


def create_certificates(folder: Path) -> tuple[Path, Path]:
    """Create the certificates of an authority and a signer, the latter with its key."""
    root, own = folder / "root.pem", folder / "own.pem"
    name, new = ["-subj", "/O=Ada/CN="], ["req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    uses = ("keyUsage=critical,digitalSignature", "extendedKeyUsage=emailProtection")
    added = [word for use in uses for word in ("-addext", use)]
    added += ["-addext", "basicConstraints=critical,CA:FALSE"]
    by = ["-CA", str(root), "-CAkey", str(folder / "root.key")]
    for file, more in {root: [], own: [*by, *added]}.items():
        files = ["-keyout", str(file.with_suffix(".key")), "-out", str(file)]
        command = ["openssl", *new, name[0], f"{name[1]}{file.stem}", *files, *more]
        subprocess.run(command, check=True, capture_output=True)
    own.write_text(own.read_text() + root.read_text() + own.with_suffix(".key").read_text())
    return root, own


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates")
def test_a_user_certificate_is_trusted_with_its_anchor(tmp_path: Path) -> None:
    trusted, own = create_certificates(tmp_path)
    given = settings.load({}, data=tmp_path, signing_cert=str(own))
    path, _ = sign(tmp_path, "jpg", cert=str(own))

    other = tmp_path / "other.pem"
    other.write_text(make_certificate().partition("-----BEGIN PRIVATE")[0])
    for file, expected in {trusted: True, other: False}.items():
        signature = read_file(path, anchors=file).signature
        assert signature is not None
        assert (signature.valid, signature.trusted) == (True, expected)
    with pytest.raises(ConfigError, match="no file"):
        read_file(own, anchors=tmp_path / "none.pem")
    own.write_text("a lake")
    with pytest.raises(ConfigError, match="KIT_SIGNING_CERT must name a PEM file"):
        ResultSigner(given)
    with pytest.raises(ConfigError, match="KIT_SIGNING_KEY needs KIT_SIGNING_CERT"):
        settings.load({}, data=tmp_path, signing_key=str(own))


def test_certificate_and_key_must_belong_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.pem").write_text(make_certificate())
    one, two = ((tmp_path / f"{name}.pem").read_text() for name in ("one", "two"))
    (tmp_path / "cert.pem").write_text(one.partition("-----BEGIN PRIVATE")[0])
    (tmp_path / "key.pem").write_text(two[two.index("-----BEGIN PRIVATE") :])
    names = {"signing_cert": str(tmp_path / "cert.pem"), "signing_key": str(tmp_path / "key.pem")}

    with pytest.raises(ConfigError, match="nothing can be signed with it"):
        ResultSigner(settings.load({}, data=tmp_path, **names))


def test_the_doctor_reports_an_untrusted_self_signed_certificate(tmp_path: Path) -> None:
    given = settings.load({}, data=tmp_path, signing_cert="self")

    found = {
        one.name: one
        for one in doctor.examine(given, lambda place: EngineList(survey(place).engines))
        if one.name in ("signing", "privacy")
    }

    assert "a self-signed certificate, which is not trusted" in found["signing"].found
    assert is_private(tmp_path / "signing.pem")


def test_render_processes_do_not_get_the_paths_of_key_files() -> None:
    assert allowed_variables({"KIT_SIGNING_KEY": "a", "KIT_SIGNING_CERT": "b"}) == {}


def test_a_signed_copy_is_read_with_software_and_source_type(tmp_path: Path) -> None:
    path, _ = sign(tmp_path, "jpg")
    shutil.copyfile(path, tmp_path / "copy.jpg")

    found = file_metadata.read_signed(tmp_path / "copy.jpg")

    assert found is not None
    assert str(found.software).startswith("creative-studio-kit ")
    assert found.source_type == ALGORITHMIC
