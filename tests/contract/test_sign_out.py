"""Signed addresses need no key: they are ended with the account's sign-out, and no other's are."""

import httpx
import pytest

from kit.service.domain import keys
from kit.service.machine import clock
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, generate, wait_for_end

TICKET = {"modelId": "retouch", "fileName": "a.png", "contentType": "image/png", "fileSizeBytes": 5}


def sign_out(service: Service, http: httpx.Client) -> None:
    """Revoke another key of a client's account and end the account's addresses."""
    account = http.get("/v1/account").json()["id"]
    wish = keys.KeyRequest(account_id=account, name="lost")
    made = service.write(keys.create(wish, service.settings.secret(), clock()))
    service.write(keys.revoke(made.row.id, clock(), sign_out=True))


@pytest.fixture
def done(http: httpx.Client) -> dict[str, object]:
    return wait_for_end(http, generate(http))


def test_outputs_are_ended_and_given_out_anew(
    http: httpx.Client, anyone: httpx.Client, service: Service, done: dict[str, object]
) -> None:
    read = f"{GENERATIONS}/{done['id']}"
    before = http.get(read)
    old = before.json()["outputUrl"]
    [listed] = http.get(GENERATIONS).json()
    assert anyone.get(old).status_code == 200

    sign_out(service, http)
    again = http.get(read, headers={"If-None-Match": before.headers["ETag"]})

    refused = anyone.get(old)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "access_denied")
    assert anyone.head(listed["output"]["thumbnailUrl"] or listed["outputUrl"]).status_code == 403
    assert again.status_code == 200
    for told in (again.json(), http.get(GENERATIONS).json()[0]):
        assert anyone.get(told["outputUrl"]).status_code == 200


def test_tickets_are_ended(http: httpx.Client, anyone: httpx.Client, service: Service) -> None:
    old = http.post("/v1/creative-studio/media-uploads", json=TICKET).json()
    sign_out(service, http)
    new = http.post("/v1/creative-studio/media-uploads", json=TICKET).json()

    refused = anyone.put(old["uploadUrl"], content=b"12345", headers=old["requiredHeaders"])
    taken = anyone.put(new["uploadUrl"], content=b"12345", headers=new["requiredHeaders"])

    assert refused.status_code == 403
    assert taken.status_code == 400  # it is no picture


def test_other_accounts_keep_theirs(
    http: httpx.Client, anyone: httpx.Client, service: Service, done: dict[str, object]
) -> None:
    with service.client(service.key(service.account(name="Bob"), *ALL_SCOPES)) as other:
        sign_out(service, other)

    assert anyone.get(str(done["outputUrl"])).status_code == 200


def test_a_revoked_key_alone_ends_no_address(
    http: httpx.Client, anyone: httpx.Client, service: Service, done: dict[str, object]
) -> None:
    [mine] = service.write(keys.list_keys(http.get("/v1/account").json()["id"]))
    service.write(keys.revoke(mine.id, clock()))

    assert http.get("/v1/account").status_code == 401
    assert anyone.get(str(done["outputUrl"])).status_code == 200
