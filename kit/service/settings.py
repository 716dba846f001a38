"""The settings of the service; only this module reads its environment variables."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kit.errors import ConfigError
from kit.private import flush_path, make_folder, user_folder
from kit.service import machine

_SECRET_BYTES = 32
_PRIVATE = ("secret", "demo.json", "service.json", "signing.pem")
#: Prefixes of all names in a data folder, also if it is a disk of its own.
_DATA_PREFIXES = (
    *(*_PRIVATE, "kit.db", "service.", "engines.", "objects", "sending", "scratch", "workers"),
    *("dask", "notebook", "lost+found"),
)
_SERVERS = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Everything that can be set, with the defaults of the embedded service.

    Texts, numbers and switches are also read from the environment: `workers` from ``KIT_WORKERS``.

    Parameters
    ----------
    data : Path
        Data folder; created with mode 0700.
    database_url, storage_url : str
        Empty for SQLite and files inside `data`; a storage may be ``s3://BUCKET/PREFIX``.
    cluster : str
        The Dask scheduler that renders, such as ``tcp://scheduler:8786``; empty to render here.
    cluster_ca, cluster_cert, cluster_key : str
        Files of the certificates by which services, scheduler and workers authenticate each other.
    secret_file : str
        A file of 32 random bytes that keys are hashed with, the same for all services on a
        database; empty for one that is created in `data`.
    aws : mapping of str to str
        The environment variables that begin with ``AWS_``, such as the keys to a bucket.
    public_url : str
        Base URL of absolute addresses; empty to take it from each request.
    allowed_hosts : tuple of str
        Host names of this service, besides loopback and the address that it listens on; requests
        with another ``Host`` get relative addresses.
    engines : str
        The file of configured models; ``engines.toml`` in `data` when left out.
    workers : int
        Jobs rendered here at the same time, 0 for none; when left out, as many as the processors
        and the memory allow.
    requests_per_minute, starts_per_minute : int
        Rate limits of one API key.
    watchers_per_account : int
        Event streams and waiting requests that one account may have open.
    connections, connections_per_address : int
        Most connections in total, fewer if fewer files may be open, and from one address.
    trusted_proxies : tuple of str
        Addresses and networks of proxies whose forwarding headers are trusted; their connections
        are limited in total only. This machine, when left out.
    head_seconds, body_seconds, answer_seconds : float
        Time limits: for the head of a request, between two parts of its body, and until the client
        takes more of the answer.
    keep_outputs_days : float or None
        Days after which outputs and unused uploads are deleted; None keeps them.
    file_metadata : bool
        Whether model, prompt, parameters and seed are written into results as metadata.
    signing_cert, signing_key : str
        Files (PEM) of the certificates, the signer's first, and of the private key with which
        results that have such metadata are signed (C2PA, extra ``credentials``). A certificate
        ``self`` is created in `data`: it reveals changes but is not trusted. Empty for none.
    webhook_loopback : bool
        Whether webhooks may be sent to this machine, by http too; to private networks they never
        are.
    account_upload_bytes : int
        Limit for all stored uploads of one account.
    lease_seconds, attempts : float, int
        How long a claim lasts without a heartbeat, and how often a lost job is tried in total.
    job_seconds, job_cpu_seconds, job_memory_bytes : float, float, int
        Limits of one render: wall clock, processor time and address space; engines that keep large
        weights have only the first.
    inspection_seconds : float
        Limit of wall clock, and of processor time, for inspecting an upload.
    grace_seconds : float
        Time for running jobs to finish when the service stops; the others return to the queue.
    heartbeat_seconds : float
        Seconds without an event after which a comment is sent on an event stream.
    speech_rate : float
        Syllables per second of the model of speech.
    writer_url, writer_model, writer_key : str
        An OpenAI-compatible service that writes titles and scripts, its model and key; without an
        address the built-in writer writes.
    writer_seconds : float
        Limit for all calls of one request together. A client of the kit waits a minute.
    writer_seed : int or None
        Seed of the built-in writer: equal requests get equal texts; None for new ones each time.
    log : Path or None
        File for the standard error of render processes; None inherits the service's.
    """

    data: Path
    database_url: str = field(default="", repr=False)  # it may contain a password
    storage_url: str = ""
    cluster: str = ""
    cluster_ca: str = ""
    cluster_cert: str = ""
    cluster_key: str = ""
    secret_file: str = ""
    aws: Mapping[str, str] = field(default_factory=dict, repr=False)
    public_url: str = ""
    allowed_hosts: tuple[str, ...] = ()
    engines: str = ""
    workers: int = field(default_factory=machine.workers)
    requests_per_minute: int = 600
    starts_per_minute: int = 120
    watchers_per_account: int = 100
    connections: int = 4000
    connections_per_address: int = 500
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    answer_seconds: float = 60.0
    keep_outputs_days: float | None = None
    file_metadata: bool = True
    signing_cert: str = ""
    signing_key: str = ""
    webhook_loopback: bool = False
    account_upload_bytes: int = 100_000_000_000
    lease_seconds: float = 30.0
    attempts: int = 3
    job_seconds: float = 900.0
    job_cpu_seconds: float = 1800.0
    job_memory_bytes: int = 4 << 30
    inspection_seconds: float = 20.0
    grace_seconds: float = 8.0
    heartbeat_seconds: float = 15.0
    speech_rate: float = 4.35
    writer_url: str = ""
    writer_model: str = ""
    writer_key: str = field(default="", repr=False)
    writer_seconds: float = 50.0
    writer_seed: int | None = None
    log: Path | None = None

    @property
    def embedded(self) -> bool:
        """Whether the database is an SQLite file and not on a server."""
        return not self.database_url.startswith(_SERVERS)

    @property
    def database_path(self) -> Path:
        """The SQLite file."""
        url = self.database_url
        if not self.embedded:
            raise ConfigError("the database is a server's; use its own tools, such as pg_dump")
        return Path(url.removeprefix("sqlite:///")) if url else self.data / "kit.db"

    @property
    def watchers(self) -> int:
        """Maximum of event streams and waiting requests: half of the connections remain free."""
        return self.connections // 2

    @property
    def objects(self) -> Path:
        """The folder of stored files, unless they are in a bucket."""
        kind, _, folder = self.storage_url.partition("://")
        if os.name == "nt":  # file:///C:/media
            folder = folder.removeprefix("/")
        return Path(folder) if kind == "file" else self.data / "objects"

    @property
    def sending(self) -> Path:
        """The folder of files in transfer to a bucket; files left over there are removed."""
        return self.data / "sending"

    @property
    def engines_file(self) -> Path:
        """The file of configured models."""
        if self.engines:
            return Path(self.engines).expanduser().absolute()
        return self.data / "engines.toml"

    @property
    def engine_copies(self) -> Path:
        """The folder for cached models of other services."""
        return self.data / "engines.cache"

    @property
    def scratch(self) -> Path:
        """The folder for unfinished files."""
        return self.data / "scratch"

    def private_paths(self) -> Iterator[Path]:
        """Yield the paths that only the owner may read, existing or not.

        A data folder that also contains other files, such as ``/srv``, is not restricted itself.
        """
        with suppress(OSError):
            if all(path.name.startswith(_DATA_PREFIXES) for path in self.data.iterdir()):
                yield self.data
        yield self.objects
        yield from (self.data / name for name in _PRIVATE)
        base = self.database_path if self.embedded else self.data / "kit.db"
        yield from (base.with_name(f"{base.name}{end}") for end in ("", "-wal", "-shm"))

    @property
    def secret_path(self) -> Path:
        """The file of the secret."""
        return Path(self.secret_file) if self.secret_file else self.data / "secret"

    def secret(self) -> bytes:
        """Return the secret that hashes keys and signs URLs."""
        try:
            return read_secret(self.secret_path)
        except FileNotFoundError:
            hint = (
                "KIT_SECRET_FILE names a file of 32 random bytes that is there"
                if self.secret_file
                else "'kit accounts create' creates one"
            )
            raise ConfigError(f"there is no {self.secret_path}; {hint}") from None

    def make_secret(self) -> None:
        """Create the secret of a new database, unless it exists."""
        if self.secret_file or self.secret_path.exists():
            return
        draft = self.secret_path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(secrets.token_bytes(_SECRET_BYTES))
        flush_path(draft)  # if it were lost in a power cut, no key created since would be valid
        try:
            # Creating a link is atomic: two processes that start at once share the first one's.
            os.link(draft, self.secret_path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            if not self.secret_path.exists():
                draft.rename(self.secret_path)
        finally:
            draft.unlink(missing_ok=True)


def load(
    environ: Mapping[str, str] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> ServiceSettings:
    """Return the settings from arguments that are not None, else the environment, else defaults."""
    environ = os.environ if environ is None else environ
    values = {name: value for name, value in arguments.items() if value is not None}
    for one in fields(ServiceSettings):
        variable = f"KIT_{one.name.upper()}"
        text = environ.get(variable, "")
        reader = _READERS.get(one.name) or _READERS.get(str(one.type))
        if text and reader and one.name not in values:
            read, description = reader
            try:
                values[one.name] = read(text)
            except (ValueError, KeyError):
                raise ConfigError(f"{variable} must be {description}, not {text!r}") from None
    values.setdefault(
        "aws", {name: text for name, text in environ.items() if name.startswith("AWS_")}
    )
    if "data" not in values:
        values["data"] = user_folder("data")
    values["data"] = Path(values["data"]).expanduser().absolute()
    settings = ServiceSettings(**{**(defaults or {}), **values})
    for is_invalid, sentence in _problems(settings):
        if is_invalid:
            raise ConfigError(sentence)
    return settings


def describe_settings(settings: ServiceSettings) -> Iterator[str]:
    """Yield each setting as its environment variable; for secrets only whether they are set."""
    for one in fields(ServiceSettings):
        if one.name not in _READERS and str(one.type) not in _READERS:
            continue
        value = getattr(settings, one.name)
        text = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        yield f"KIT_{one.name.upper()}={text if one.repr or not text else '(set)'}"


def prepare(folder: Path) -> None:
    """Create a data folder that only its owner can read."""
    try:
        str(folder).encode()  # a process with another locale must find it
        make_folder(folder)
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", "its name is not UTF-8")
        raise ConfigError(
            f"the data folder {folder} cannot be made ({reason}); "
            "set KIT_DATA or --data to a folder that can be written"
        ) from None


def _parse_names(text: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list, normalized for comparison."""
    names = (name.strip().strip("[]").lower() for name in text.split(","))
    return tuple(name for name in names if name)


def _parse_networks(text: str) -> tuple[str, ...]:
    return tuple(str(ip_network(part.strip(), strict=False)) for part in text.split(","))


_FLAGS = {"1": True, "true": True, "0": False, "false": False}
#: Parser and description of the environment variable by name or type of the field; other fields
#: have no variable.
_READERS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "allowed_hosts": (_parse_names, ""),
    "trusted_proxies": (_parse_networks, "addresses or networks, separated by commas"),
    "str": (str.strip, ""),
    "int": (int, "a whole number"),
    "int | None": (int, "a whole number"),
    "float": (float, "a number"),
    "float | None": (float, "a number"),
    "bool": (lambda text: _FLAGS[text.strip().lower()], "1 or 0"),
    "Path": (Path, ""),
}
#: Numbers that may be 0; all others must be positive.
_ZERO_ALLOWED = ("workers", "job_memory_bytes", "grace_seconds", "writer_seed")
#: Largest number: in milliseconds it still fits into the database.
_MAX_NUMBER = 10**15
#: Maximum for a text request: a request marked as running counts as such for ten minutes.
_MAX_WRITER_SECONDS = 540.0


def _problems(settings: ServiceSettings) -> Iterator[tuple[bool, str]]:
    """Yield whether a setting is invalid, and the message that says so."""
    database, storage, cluster = settings.database_url, settings.storage_url, settings.cluster
    yield (
        bool(database) and not database.startswith(("sqlite:///", *_SERVERS)),
        f"no database of the kind {database.partition(':')[0]!r} is supported; give "
        "postgresql://HOST/NAME or sqlite:///FILE, or leave it out",
    )
    yield (
        bool(storage) and not storage.startswith(("file://", "s3://")),
        f"no storage of the kind {storage.partition(':')[0]!r} is supported; give "
        "file:///FOLDER, s3://BUCKET/PREFIX, or leave it out",
    )
    yield (
        bool(settings.public_url) and not _is_address(settings.public_url),
        "KIT_PUBLIC_URL must be a plain http(s) address",
    )
    yield (
        bool(settings.engines) and not settings.engines_file.is_file(),
        f"KIT_ENGINES names {settings.engines}, which is not a file",
    )
    files = settings.cluster_ca, settings.cluster_cert, settings.cluster_key
    yield (
        bool(cluster) and not cluster.startswith(("tcp://", "tls://")),
        "KIT_CLUSTER must be the address of a Dask scheduler: tcp://HOST:8786",
    )
    yield (
        {cluster.startswith("tls://"), *map(bool, files)} == {True, False},
        "TLS on a cluster needs KIT_CLUSTER_CA, KIT_CLUSTER_CERT and KIT_CLUSTER_KEY, and "
        "KIT_CLUSTER must begin with tls://",
    )
    for name, value in ((one.name, getattr(settings, one.name)) for one in fields(settings)):
        if isinstance(value, int | float) and not isinstance(value, bool):
            zero = name in _ZERO_ALLOWED
            bound = "0 or more" if zero else "more than 0"
            is_valid = value <= _MAX_NUMBER and (value > 0 or (zero and value == 0))
            sentence = f"KIT_{name.upper()} must be {bound}, at most 10**15, not {value}"
            yield not is_valid, sentence
    yield (
        bool(settings.signing_key) and not settings.signing_cert,
        "KIT_SIGNING_KEY needs KIT_SIGNING_CERT, the certificate of that key",
    )
    url, key = settings.writer_url, settings.writer_key
    yield (
        not url and bool(settings.writer_model or key),
        "KIT_WRITER_MODEL and KIT_WRITER_KEY need KIT_WRITER_URL, the address of the service",
    )
    yield bool(url) and not settings.writer_model, "KIT_WRITER_URL needs KIT_WRITER_MODEL"
    yield bool(url) and not _is_address(url), "KIT_WRITER_URL must be a plain http(s) address"
    yield (
        not (key.isascii() and key.isprintable()) or " " in key,
        "KIT_WRITER_KEY must be visible ASCII characters",
    )
    maximum, seconds = _MAX_WRITER_SECONDS, settings.writer_seconds
    sentence = f"KIT_WRITER_SECONDS must be at most {maximum:g}, not {seconds:g}"
    yield not seconds <= maximum, sentence


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port
        return False
    # A user or password in it would be shown together with the URL.
    return is_valid and not (parts.username or parts.password or parts.query or parts.fragment)


def read_secret(path: Path) -> bytes:
    """Return the secret in a file; raises if the file has another size."""
    secret = path.read_bytes()
    if len(secret) != _SECRET_BYTES:
        raise ConfigError(
            f"{path} holds no secret of {_SECRET_BYTES} bytes; restore it or remove it"
        )
    return secret
