"""Presigned URLs for S3-compatible storage, each for one request (Signature Version 4).

Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qs, quote, urlsplit

from kit.errors import ConfigError

_ALGORITHM = "AWS4-HMAC-SHA256"
_DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket, the base URL of its files, the folder in it, and the credentials."""

    name: str
    address: str
    region: str
    access_key: str
    secret_key: str = field(repr=False)
    prefix: str = ""
    token: str = field(default="", repr=False)

    def presign(
        self,
        method: str,
        key: str,
        *,
        now: float,
        seconds: int,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> str:
        """Return a URL that allows one kind of request to one file for some seconds.

        `key`: of the file below the prefix; empty for the bucket itself.
        `headers`: headers that the request must have exactly.
        """
        begin, moment = urlsplit(self.address), datetime.fromtimestamp(now, UTC)
        path = f"{self.prefix}/{key}".strip("/") if key else ""
        path = quote(f"{begin.path}/{path}", safe="/-_.~")
        day = f"{moment:%Y%m%d}"
        scope = f"{day}/{self.region}/s3/aws4_request"
        signed = {"host": begin.netloc}
        signed |= {name.lower(): value.strip() for name, value in (headers or {}).items()}
        names = ";".join(sorted(signed))
        values = {
            "X-Amz-Algorithm": _ALGORITHM,
            "X-Amz-Credential": f"{self.access_key}/{scope}",
            "X-Amz-Date": f"{moment:%Y%m%dT%H%M%SZ}",
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": names,
            **({"X-Amz-Security-Token": self.token} if self.token else {}),
            **(query or {}),
        }
        fields = "&".join(f"{_quote(name)}={_quote(values[name])}" for name in sorted(values))
        lines = [f"{name}:{signed[name]}\n" for name in sorted(signed)]
        request = "\n".join([method, path, fields, "".join(lines), names, "UNSIGNED-PAYLOAD"])
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = "\n".join([_ALGORITHM, values["X-Amz-Date"], scope, digest])
        secret = f"AWS4{self.secret_key}".encode()
        for part in (day, self.region, "s3", "aws4_request"):
            secret = hmac.digest(secret, part.encode(), "sha256")
        signature = hmac.digest(secret, text.encode(), "sha256").hex()
        return f"{begin.scheme}://{begin.netloc}{path}?{fields}&X-Amz-Signature={signature}"


def parse_bucket(url: str, environ: Mapping[str, str]) -> Bucket:
    """Return the bucket of a URL, with the credentials of the usual variables.

    `url`: ``s3://BUCKET/PREFIX``; ``?endpoint=URL&region=NAME`` override the variables.
    `environ`: with ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``; optionally
    ``AWS_SESSION_TOKEN``, ``AWS_REGION`` and ``AWS_ENDPOINT_URL``.

    Raises `ConfigError` if the URL is invalid or a credential is missing.

    Examples
    --------
    >>> keys = {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "secret"}
    >>> parse_bucket("s3://media/kit?region=eu-central-1", keys).address
    'https://media.s3.eu-central-1.amazonaws.com'
    >>> parse_bucket("s3://media?endpoint=http://127.0.0.1:9000", keys).address
    'http://127.0.0.1:9000/media'
    """
    parts = urlsplit(url)
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if parts.scheme != "s3" or not parts.hostname or parts.netloc != parts.hostname:
        raise ConfigError("the storage must be s3://BUCKET/PREFIX, with a bucket in lower case")
    if unknown := options.keys() - {"endpoint", "region"}:
        raise ConfigError(f"the storage's address takes endpoint and region, not {min(unknown)}")

    def read(*names: str) -> str:
        return next(filter(None, (environ.get(f"AWS_{name}", "").strip() for name in names)), "")

    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        if not read(name):
            raise ConfigError(f"the storage s3://{parts.hostname} needs AWS_{name}")
    region = options.get("region") or read("REGION", "DEFAULT_REGION") or _DEFAULT_REGION
    endpoint = options.get("endpoint") or read("ENDPOINT_URL_S3", "ENDPOINT_URL")
    if endpoint and urlsplit(endpoint).scheme not in ("http", "https"):
        raise ConfigError(f"the storage's endpoint must be an http(s) address, not {endpoint}")
    own = f"https://{parts.hostname}.s3.{region}.amazonaws.com"
    return Bucket(
        name=parts.hostname,
        address=f"{endpoint.rstrip('/')}/{parts.hostname}" if endpoint else own,
        region=region,
        access_key=read("ACCESS_KEY_ID"),
        secret_key=read("SECRET_ACCESS_KEY"),
        prefix=parts.path.strip("/"),
        token=read("SESSION_TOKEN"),
    )


def _quote(text: str) -> str:
    return quote(text, safe="-_.~")
