"""Signed URLs need no key: a sign-out of the account revokes its URLs and no others."""

import httpx
import pytest

from kit.service.domain import keys
from kit.service.machine import clock
from tests.conftest import ALL_SCOPES, Service
from tests.waiting import GENERATIONS, generate, wait_for_end

TICKET = {"modelId": "retouch", "fileName": "a.png", "contentType": "image/png", "fileSizeBytes": 5}


def sign_out(service: Service, http: httpx.Client) -> None:
    """Revoke another key of a client's account and with it the account's signed URLs."""
    account = http.get("/v1/account").json()["id"]
    request = keys.KeyRequest(account_id=account, name="lost")
    made = service.write(keys.create(request, service.settings.secret(), clock()))
    service.write(keys.revoke(made.row.id, clock(), sign_out=True))


@pytest.fixture
def finished(http: httpx.Client) -> dict[str, object]:
    return wait_for_end(http, generate(http))


def test_a_sign_out_revokes_output_urls_and_new_ones_work(
    http: httpx.Client, guest: httpx.Client, service: Service, finished: dict[str, object]
) -> None:
    read = f"{GENERATIONS}/{finished['id']}"
    before = http.get(read)
    old = before.json()["outputUrl"]
    [listed] = http.get(GENERATIONS).json()
    assert guest.get(old).status_code == 200

    sign_out(service, http)
    again = http.get(read, headers={"If-None-Match": before.headers["ETag"]})

    refused = guest.get(old)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "access_denied")
    assert guest.head(listed["output"]["thumbnailUrl"] or listed["outputUrl"]).status_code == 403
    assert again.status_code == 200
    for facts in (again.json(), http.get(GENERATIONS).json()[0]):
        assert guest.get(facts["outputUrl"]).status_code == 200


def test_sign_out_revokes_tickets(
    http: httpx.Client, guest: httpx.Client, service: Service
) -> None:
    old = http.post("/v1/creative-studio/media-uploads", json=TICKET).json()
    sign_out(service, http)
    new = http.post("/v1/creative-studio/media-uploads", json=TICKET).json()

    refused = guest.put(old["uploadUrl"], content=b"12345", headers=old["requiredHeaders"])
    accepted = guest.put(new["uploadUrl"], content=b"12345", headers=new["requiredHeaders"])

    assert refused.status_code == 403
    assert accepted.status_code == 400  # it is not a picture


def test_a_sign_out_keeps_urls_of_other_accounts(
    http: httpx.Client, guest: httpx.Client, service: Service, finished: dict[str, object]
) -> None:
    with service.client(service.key(service.account(name="Bob"), *ALL_SCOPES)) as other:
        sign_out(service, other)

    assert guest.get(str(finished["outputUrl"])).status_code == 200


def test_revoking_a_key_without_sign_out_revokes_no_url(
    http: httpx.Client, guest: httpx.Client, service: Service, finished: dict[str, object]
) -> None:
    [mine] = service.write(keys.list_keys(http.get("/v1/account").json()["id"]))
    service.write(keys.revoke(mine.id, clock()))

    assert http.get("/v1/account").status_code == 401
    assert guest.get(str(finished["outputUrl"])).status_code == 200
