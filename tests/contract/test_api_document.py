"""The API document as a table: operations, fields, types, success codes, scopes."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.conftest import Service
from tests.waiting import generate, wait_for_end

STUDIO = "/v1/creative-studio"
TEXT, NUMBER, FLAG, LIST, OBJECT = (str,), (int, float), (bool,), (list,), (dict,)
ACCOUNT = {"id": TEXT, "name": TEXT, "email": TEXT, "createdAt": TEXT}
MODEL = {
    "id": TEXT,
    "title": TEXT,
    "assetType": TEXT,
    "category": TEXT,
    "supportsPrompt": FLAG,
    "promptRequired": FLAG,
    "mediaParameters": LIST,
    "settingParameters": LIST,
    "creditsFrom": NUMBER,
    "creditsAtDefaults": NUMBER,
    "estimatedCredits": NUMBER,
    "supportsMultiReferenceMedia": FLAG,
}
PARAMETER = {
    "name": TEXT,
    "type": TEXT,
    "required": FLAG,
    "default": (object,),
    "enum": (list, type(None)),
    "description": TEXT,
    "minimum": (int, float, type(None)),
    "maximum": (int, float, type(None)),
    "media": FLAG,
    "maxItems": (int, type(None)),
}
TICKET = {
    "uploadId": TEXT,
    "uploadUrl": TEXT,
    "method": TEXT,
    "requiredHeaders": OBJECT,
    "expiresAt": TEXT,
}
RECEIPT = {
    "id": TEXT,
    "status": TEXT,
    "assetType": TEXT,
    "modelId": TEXT,
    "creditsCharged": NUMBER,
    "createdAt": TEXT,
    "statusUrl": TEXT,
}
GENERATION = {
    "id": TEXT,
    "status": TEXT,
    "assetType": TEXT,
    "generationType": TEXT,
    "modelId": TEXT,
    "modelName": TEXT,
    "prompt": TEXT,
    "parameters": OBJECT,
    "mediaUrls": OBJECT,
    "outputUrl": (str, type(None)),
    "error": (str, type(None)),
    "createdAt": TEXT,
    "updatedAt": TEXT,
}
TITLE = {"title": TEXT, "hookAngle": TEXT}
SCRIPT = {
    "id": TEXT,
    "title": TEXT,
    "content": TEXT,
    "metrics": OBJECT,
    "batchId": TEXT,
    "createdAt": TEXT,
}
#: Fields that the contract adds to a shape.
MORE_OF_MODEL = {"pricing", "description", "retiresAt", "replacedBy"}
MORE_OF_GENERATION = {
    "progress",
    "creditsCharged",
    "creditsRefunded",
    "startedAt",
    "completedAt",
    "errorCode",
    "output",
    "outputsDeletedAt",
    "tags",
    "metadata",
    "inputs",
}
ORDER = {"modelId": "flat", "prompt": "a lake"}
FILE = {"fileName": "a.png", "contentType": "image/png", "fileSizeBytes": 70, "modelId": "clay"}
BRIEF = {"topic": "SPACE", "title": "Ten facts", "duration": "20"}


@dataclass(frozen=True)
class Operation:
    """A row of the document's table of endpoints."""

    method: str
    path: str
    scope: str
    status: int
    shape: dict[str, Any]
    added: set[str] = field(default_factory=set)
    body: dict[str, Any] | None = None
    many: bool = False


OPERATIONS = {
    "1 account": Operation("GET", "/v1/account", "read", 200, ACCOUNT, {"credits"}),
    "2 models": Operation("GET", f"{STUDIO}/models", "read", 200, {"image": LIST, "video": LIST}),
    "3 model": Operation("GET", f"{STUDIO}/models/flat", "read", 200, MODEL, MORE_OF_MODEL),
    "4 upload": Operation(
        "POST", f"{STUDIO}/media-uploads", "creative:generate", 201, TICKET, body=FILE
    ),
    "5 start": Operation(
        "POST", f"{STUDIO}/generations", "creative:generate", 202, RECEIPT, body=ORDER
    ),
    "6 get": Operation(
        "GET", f"{STUDIO}/generations/ID", "creative:generate", 200, GENERATION, MORE_OF_GENERATION
    ),
    "7 list": Operation(
        "GET",
        f"{STUDIO}/generations",
        "creative:generate",
        200,
        GENERATION,
        MORE_OF_GENERATION,
        many=True,
    ),
    "8 title": Operation(
        "POST", "/v1/scripts/title", "scripts:generate", 200, TITLE, {"writer"}, {"topic": "SPACE"}
    ),
    "9 scripts": Operation(
        "POST", "/v1/scripts", "scripts:generate", 201, SCRIPT, {"writer"}, BRIEF, many=True
    ),
}
every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS.keys())


def send(http: httpx.Client, operation: Operation, generation: str = "gen_0") -> httpx.Response:
    path = operation.path.replace("ID", generation)
    return http.request(operation.method, path, json=operation.body)


def assert_shape(body: dict[str, Any], shape: dict[str, Any], added: set[str]) -> None:
    assert set(body) == set(shape) | added
    wrong = {name: body[name] for name, kinds in shape.items() if not isinstance(body[name], kinds)}
    assert not wrong


@every_operation
def test_answers_have_the_documented_status_and_fields(
    http: httpx.Client, operation: Operation
) -> None:
    answer = send(http, operation, generate(http))

    assert answer.status_code == operation.status
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["X-Request-Id"].startswith("req_")
    body = answer.json()
    for item in body if operation.many else [body]:
        assert_shape(item, operation.shape, operation.added)
    assert body


@every_operation
@pytest.mark.parametrize("scopes", [(), ("scripts:generate",), ("creative:generate",)])
def test_each_operation_needs_its_scope(
    service: Service, account: str, operation: Operation, scopes: tuple[str, ...]
) -> None:
    with service.client(service.key(account, *scopes)) as http:
        answer = send(http, operation)

    if operation.scope in {"read", *scopes}:
        assert answer.status_code in (operation.status, 404)
    else:
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "insufficient_scope"
        assert operation.scope in answer.json()["error"]["message"]


def test_every_parameter_has_the_documented_fields(http: httpx.Client) -> None:
    groups = http.get(f"{STUDIO}/models").json()
    models = [*groups["image"], *groups["video"]]
    parameters = [p for m in models for p in (*m["mediaParameters"], *m["settingParameters"])]

    assert {m["id"] for m in models} >= {"flat", "clay", "poster", "drift"}
    for parameter in parameters:
        assert_shape(parameter, PARAMETER, {"maxLength"})
        assert parameter["media"] == (parameter["type"] in ("image", "video", "audio"))


def test_media_and_setting_parameters_are_separate(http: httpx.Client) -> None:
    model = http.get(f"{STUDIO}/models/clay").json()

    assert [p["name"] for p in model["mediaParameters"]] == ["portrait", "voice"]
    assert model["settingParameters"] == []
    assert model["supportsMultiReferenceMedia"] is True


def test_a_finished_generation_has_all_output_fields(http: httpx.Client) -> None:
    done = wait_for_end(http, generate(http))

    assert done["status"] == "completed"
    assert set(done["output"]) == {
        "contentType",
        "width",
        "height",
        "durationSeconds",
        "sizeBytes",
        "sha256",
        "thumbnailUrl",
        "expiresAt",
        "metadata",
    }
    assert done["outputUrl"].startswith("http")
    assert done["progress"] == 1
    assert done["error"] is done["errorCode"] is None


def test_a_receipt_has_the_status_url_and_the_charge(http: httpx.Client) -> None:
    answer = http.post(f"{STUDIO}/generations", json=ORDER)
    receipt = answer.json()

    assert answer.headers["Location"] == receipt["statusUrl"]
    assert receipt["status"] == "processing"
    assert receipt["creditsCharged"] == 0.6
    assert answer.headers["X-Credits-Charged"] == "0.6"
    left = http.get("/v1/account").json()["credits"]
    assert answer.headers["X-Credits-Remaining"] == str(left)
    assert http.get(receipt["statusUrl"]).json()["id"] == receipt["id"]


def test_amounts_and_times_have_the_documented_format(http: httpx.Client) -> None:
    account = http.get("/v1/account").json()

    assert account["credits"] == 100
    assert account["createdAt"][10] == "T"
    assert account["createdAt"][-5] == "."
    assert account["createdAt"].endswith("Z")


def test_the_credits_endpoint_has_all_four_amounts(http: httpx.Client) -> None:
    wait_for_end(http, generate(http, does="fails"))
    wait_for_end(http, generate(http))

    assert http.get("/v1/account/credits").json() == {
        "balance": 99.4,
        "reserved": 0,
        "charged30d": 1.2,
        "refunded30d": 0.6,
    }
