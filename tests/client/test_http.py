"""What is really sent, to a loopback server instead of a patched transport."""

from __future__ import annotations

import io
import logging
import zlib
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from kit.client import calls, downloads, flows, uploads
from kit.client.calls import DownloadFile, NoReply, Reply, SendRequest, UploadFile
from kit.client.http import certificates
from kit.client.http.sync import Sender
from kit.client.settings import Settings
from kit.client.sync import Client
from kit.errors import ApiError, BadRequestError, InvalidApiKeyError, KitError, NoAnswerError
from kit.wire import Generation
from tests.client import third_party
from tests.client.third_party import KEY, Answer, Server


def test_a_call_sends_the_key_to_its_own_origin(client: Client, api: Server) -> None:
    client.run(flows.ask(calls.get_account()))

    assert api.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_path_prefix_of_the_base_url_is_kept(api: Server, tmp_path: Path) -> None:
    api.script("GET", "/studio/api/v1/account", Answer(200, {"id": "a"}))

    with closing(Client(Settings(f"{api.url}/studio/api/", KEY, tmp_path))) as client:
        assert client.run(flows.ask(calls.get_account())).id == "a"


def test_a_path_prefix_repeated_by_an_answer_is_not_doubled(api: Server, tmp_path: Path) -> None:
    connection = Sender(Settings(f"{api.url}/studio", KEY, tmp_path))

    assert connection.address("/studio/v1/x?cursor=1") == f"{api.url}/studio/v1/x?cursor=1"
    assert connection.address("/v1/x") == f"{api.url}/studio/v1/x"


def test_the_key_is_never_sent_to_another_origin(client: Client, media: Server) -> None:
    for path in (f"{media.url}/v1/x", f"http://localhost:{media.url.rpartition(':')[2]}/v1/x"):
        client.perform(SendRequest(calls.Call("GET", path, lambda body: body)))
        client.perform(DownloadFile(path, client.settings.data / "x", with_key=True))

    assert media.seen
    assert not [seen for seen in media.seen if "authorization" in seen.headers]


def test_a_redirect_of_a_call_is_not_followed(client: Client, api: Server, media: Server) -> None:
    api.script("GET", "/v1/account", Answer(302, {}, {"Location": f"{media.url}/steal"}))

    with pytest.raises(ApiError, match="redirects are not followed"):
        client.run(flows.ask(calls.get_account()))

    assert media.seen == []


def test_a_redirect_of_a_download_is_followed_without_the_key(
    client: Client, api: Server, media: Server
) -> None:
    api.script("GET", "/file", Answer(401, {}), Answer(302, {}, {"Location": f"{media.url}/f"}))
    cache = downloads.Cache(client.settings.data, client.settings.base_url)
    done = Generation(id="g", status="completed", output_url=f"{api.url}/file")

    path = client.run(downloads.output(cache, done))

    assert path.read_bytes() == third_party.png()
    assert [s.headers.get("authorization") for s in api.requests("GET", "/file")] == [
        None,
        f"Bearer {KEY}",
    ]
    assert "authorization" not in media.seen[0].headers


def test_an_upload_sends_exactly_the_headers_of_its_ticket(client: Client, media: Server) -> None:
    headers = {"Content-Type": "image/png", "x-Amz-Thing": "a b"}

    client.perform(UploadFile(f"{media.url}/in", headers, lambda: io.BytesIO(b"abc"), 3))

    sent = dict(media.seen[0].headers)
    assert sent.pop("host")
    assert sent == {"content-type": "image/png", "x-amz-thing": "a b", "content-length": "3"}
    assert media.seen[0].body == b"abc"


def test_an_upload_to_the_services_origin_sends_no_key(client: Client, api: Server) -> None:
    api.script("PUT", "/in", Answer(200))

    client.perform(UploadFile(f"{api.url}/in", {}, lambda: io.BytesIO(b"abc"), 3))

    assert "authorization" not in api.seen[0].headers


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 3 << 18])
def test_an_upload_of_any_size_arrives_whole(client: Client, media: Server, size: int) -> None:
    content = bytes(n % 251 for n in range(size))

    client.perform(UploadFile(f"{media.url}/in", {}, lambda: io.BytesIO(content), size))

    assert media.seen[0].body == content


def test_a_refused_connection_is_reported(tmp_path: Path) -> None:
    with third_party.serve(third_party.storage) as server:
        url = server.url

    sender = Sender(Settings(url, KEY, tmp_path))
    outcome = sender.send(SendRequest(calls.get_account()))
    untrusted = sender.no_reply(httpx.ConnectError("SSL: certificate verify failed"), url)

    assert isinstance(outcome, NoReply)
    assert outcome.message.startswith(f"no connection to {url}")
    assert (outcome.harmless, outcome.permanent, untrusted.permanent) == (True, False, True)
    assert "SSL_CERT_FILE" in untrusted.message


def test_a_dropped_connection_is_reported(client: Client, api: Server) -> None:
    api.script("GET", "/v1/account", *[Answer(drop=True)] * 5)

    with pytest.raises(NoAnswerError, match=f"connection to {api.url} broke"):
        client.run(flows.ask(calls.get_account()))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HTTPS_PROXY", "127.0.0.1:9", r"no connection .*refused.*: is the proxy right"),
        ("HTTPS_PROXY", "ftp://ada:secret@127.0.0.1", "proxy .* for https is not valid"),
        ("ALL_PROXY", "socks5://ada:secret@127.0.0.1", r"needs a package: .* 'httpx\[socks"),
        ("SSL_CERT_FILE", "/no/such.pem", "SSL_CERT_FILE .* cannot be read: No such file"),
    ],
)
def test_an_unusable_proxy_or_certificate_file_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, sentence: str
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv(name, value)
    certificates.cache_clear()

    with (
        pytest.raises(KitError, match=sentence) as caught,
        closing(Client(Settings("https://studio.test", KEY, tmp_path))) as client,
    ):
        client.run(flows.ask(calls.get_account()))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "call", [calls.suggest_title("a \ud83d"), calls.list_generations(model_id="a \ud83d")]
)
def test_half_a_character_in_a_request_is_refused(
    client: Client, api: Server, call: calls.Call[object]
) -> None:
    with pytest.raises(BadRequestError, match="half a character"):
        client.run(flows.ask(call))

    assert api.seen == []


def test_a_response_that_decompresses_to_too_much_is_not_read(client: Client, api: Server) -> None:
    packer, blanks = zlib.compressobj(1, wbits=31), b" " * 1_000_000
    packed = b"".join([*(packer.compress(blanks) for _ in range(101)), packer.flush()])
    api.script("GET", "/v1/account", Answer(200, packed, {"Content-Encoding": "gzip"}))

    with pytest.raises(NoAnswerError, match="was not read: it is larger than 100 MB"):
        client.run(flows.ask(calls.get_account()))

    assert len(api.requests("GET", "/v1/account")) == 1


def test_a_file_over_the_size_limit_is_empty(client: Client, media: Server, tmp_path: Path) -> None:
    target = tmp_path / "a.png"
    media.script("GET", "/a.png", Answer(200, b"x" * 3000))

    outcome = client.perform(DownloadFile(f"{media.url}/a.png", target, most=2000))

    assert isinstance(outcome, NoReply)
    assert "larger than" in outcome.message
    assert target.stat().st_size == 0


def test_the_last_response_is_kept(client: Client, api: Server) -> None:
    assert client.last_response is None
    answer = Answer(200, {"id": "a"}, {"X-Request-Id": "req_1"})
    api.script("GET", "/v1/account", answer)

    client.run(flows.ask(calls.get_account()))

    last = client.last_response
    assert last is not None
    assert (last.method, last.path, last.status) == ("GET", "/v1/account", 200)
    assert last.request_id == "req_1"


def test_a_key_repeated_by_the_service_is_masked(client: Client, api: Server) -> None:
    api.script("GET", "/v1/account", third_party.problem(401, "invalid_api_key", f"what is {KEY}?"))

    with pytest.raises(InvalidApiKeyError, match=r"what is tp_test_…\?") as caught:
        client.run(flows.ask(calls.get_account()))

    assert KEY not in repr(caught.value)


def test_no_repr_and_no_log_shows_the_key(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    client.run(flows.ask(calls.get_account()))

    shown = [repr(client), repr(client.settings), repr(client.http), repr(client.last_response)]
    assert KEY not in " ".join([*shown, caplog.text])


def test_a_closed_client_can_be_used_again(client: Client) -> None:
    client.run(flows.ask(calls.get_account()))
    client.close()

    assert client.run(flows.ask(calls.get_account())).id == "a1"


def test_an_invalid_url_is_reported_as_an_outcome(client: Client) -> None:
    outcome = client.perform(UploadFile("http://[bad", {}, lambda: io.BytesIO(b"a"), 1))

    assert isinstance(outcome, NoReply)


def test_a_file_is_hashed_while_it_arrives(client: Client, media: Server, tmp_path: Path) -> None:
    outcome = client.perform(DownloadFile(f"{media.url}/out/x.png", tmp_path / "new" / "x"))

    assert isinstance(outcome, Reply)
    assert outcome.sha256 == uploads.source(third_party.png()).sha256()


def test_requests_wait_for_a_free_connection_without_a_limit(client: Client) -> None:
    request = Sender(client.settings).request(SendRequest(calls.get_account()), "http://x.test")

    assert request.extensions["timeout"]["pool"] is None
