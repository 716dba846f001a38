"""Metadata of outputs: each names its request, and an uploaded output is recognized."""

from pathlib import Path
from typing import Any

import httpx

from kit import file_metadata
from kit.file_metadata import FileMetadata
from tests.conftest import ALL_SCOPES, Service
from tests.uploading import upload_file
from tests.waiting import until

PATH = "/v1/creative-studio/generations"


def finish(http: httpx.Client, model: str, **body: Any) -> dict[str, Any]:
    started = http.post(PATH, json={"modelId": model, **body})
    assert started.status_code == 202, started.text
    url = started.json()["statusUrl"]
    return until(lambda: http.get(url).json(), lambda it: it["status"] == "completed")


def download(generation: dict[str, Any], folder: Path) -> Path:
    path = folder / f"{generation['id']}.png"
    path.write_bytes(httpx.get(generation["outputUrl"], verify=False).content)
    return path


def read_metadata(generation: dict[str, Any], folder: Path) -> FileMetadata | None:
    return file_metadata.read(download(generation, folder))


def test_an_output_has_metadata_unless_the_start_omits_it(
    http: httpx.Client, tmp_path: Path
) -> None:
    lake = finish(http, "flat", prompt="a lake", parameters={"seed": 7})
    plain = finish(http, "flat", prompt="a lake", fileMetadata=False)

    found = read_metadata(lake, tmp_path)

    assert found is not None
    assert (found.model, found.prompt, found.generation_id) == ("flat", "a lake", lake["id"])
    assert found.parameters == lake["parameters"]
    assert (found.service, found.software) == ("Creative Studio", "demo-engines 1.0")
    assert read_metadata(plain, tmp_path) is None
    assert lake["inputs"] == []


def test_an_uploaded_output_is_recognized_as_an_input(http: httpx.Client, tmp_path: Path) -> None:
    lake = finish(http, "flat", prompt="a lake")
    upload = upload_file(http, download(lake, tmp_path).read_bytes())

    made = finish(http, "clay", mediaUploads={"portrait": upload})

    assert made["inputs"] == [
        {"parameter": "portrait", "uploadId": upload, "generationId": lake["id"]}
    ]
    found = read_metadata(made, tmp_path)
    assert found is not None
    assert (found.generation_id, found.inputs) == (made["id"], [lake["id"]])


def test_an_output_of_another_account_is_not_recognized(
    http: httpx.Client, service: Service, tmp_path: Path
) -> None:
    lake = finish(http, "flat", prompt="a lake")
    content = download(lake, tmp_path).read_bytes()
    with service.client(service.key(service.account(), *ALL_SCOPES)) as other:
        upload = upload_file(other, content)

        made = finish(other, "clay", mediaUploads={"portrait": upload})

    assert made["inputs"] == [{"parameter": "portrait", "uploadId": upload, "generationId": None}]
