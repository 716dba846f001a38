"""A second service on loopback, for tests that switch to another account."""

from __future__ import annotations

from tests.client.third_party import KEY, Answer, Request, ThirdParty


class SecondService(ThirdParty):
    """Another service of the same kind, with an account and a model of its own."""

    def __call__(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return super().__call__(request)
        if request.path == "/v1/account":
            return Answer(200, {"id": "b1", "name": "Bob", "credits": 7})
        if request.path == "/v1/creative-studio/models":
            return Answer(200, {"image": [{"id": "carve", "assetType": "image"}]})
        return super().__call__(request)
