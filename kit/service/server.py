"""A running service: the application on a socket, and its address file in the data folder."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn

from kit.errors import ConfigError
from kit.internet import LOOPBACK
from kit.private import write_private
from kit.service import machine
from kit.service.address import ADDRESS_FILE, read_note
from kit.service.app import Application, create_app
from kit.service.connections import Admission, BoundedProtocol
from kit.service.settings import ServiceSettings, prepare

#: Name of the thread of a service inside another program.
THREAD = "kit-service"
_START_SECONDS = 30.0
#: Open files besides connections: the database, the render processes, the log.
_OTHER_FILES = 128
_TICKS_PER_SECOND = 10


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service in a thread of this process."""

    url: str
    app: Application
    stop: Callable[[], None]


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 chooses a free port."""
    if not host:  # it would listen on all addresses
        raise ConfigError("--host is empty; give an address, or leave it out for 127.0.0.1")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is given explicitly, because asyncio disables Nagle's algorithm only then,
    # which would delay each response by 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":  # on Windows it would let two servers share a port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        other = "--port" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "--host"
        raise ConfigError(
            f"the address {host}:{port} cannot be used ({error.strerror}); give another {other}"
        ) from None
    listener.listen(2048)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


#: Garbage collection: new objects before one of the youngest, and runs before older ones.
_GC_THRESHOLDS = (20_000, 20, 100)


def serve(settings: ServiceSettings, listener: socket.socket) -> None:
    """Serve in this thread until a signal stops it; raises `KitError` if it cannot start."""
    server = _Server(settings, dedicated=True)
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        with suppress(KeyboardInterrupt):  # raised by the server after it has stopped
            server.run(sockets=[listener])
    except SystemExit:  # the start failed
        raise getattr(server.app.state, "failure", None) or SystemExit(1) from None
    finally:
        listener.close()


def start(settings: ServiceSettings, listener: socket.socket | None = None) -> RunningService:
    """Serve in a daemon thread and return when it accepts requests."""
    server = _Server(settings)
    listener = listener or bind("127.0.0.1", 0)
    failures: list[BaseException] = []

    def run() -> None:
        # Not asyncio.run: a library in the notebook may have replaced it.
        loop = (server.config.get_loop_factory() or asyncio.new_event_loop)()
        try:
            loop.run_until_complete(server.serve(sockets=[listener]))
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            failures.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name=THREAD, daemon=True)
    thread.start()
    while thread.is_alive() and not server.ready.wait(0.05):
        pass
    if not server.ready.is_set():
        listener.close()
        failure = getattr(server.app.state, "failure", None) or next(iter(failures), None)
        reason = failure or "an error while starting; see the log"
        raise ConfigError(f"the service did not start: {reason}")

    def stop() -> None:
        server.should_exit = True
        thread.join(settings.grace_seconds + _START_SECONDS)

    return RunningService(url_of(listener), server.app, stop)


class _Server(uvicorn.Server):
    """A server with an address file while it accepts requests; for `dedicated` see `create_app`."""

    def __init__(self, settings: ServiceSettings, *, dedicated: bool = False) -> None:
        prepare(settings.data)
        # Each connection may need a second file for an upload or download.
        limit = machine.open_files(2 * settings.connections + _OTHER_FILES)
        if limit is not None:
            room = max(1, (limit - _OTHER_FILES) // 2)
            settings = replace(settings, connections=min(settings.connections, room))
        self.app = create_app(settings, dedicated=dedicated)
        self._admission = Admission(settings)
        config = uvicorn.Config(
            self.app,
            http=cast("Any", partial(BoundedProtocol, self._admission)),
            ws="none",
            forwarded_allow_ips=list(settings.trusted_proxies),
            log_config=None,  # the log is configured in `kit.service.logs`
            server_header=False,
            timeout_graceful_shutdown=max(1, int(settings.grace_seconds)),
        )
        super().__init__(config)
        self._address_file = settings.data / ADDRESS_FILE
        self._note: dict[str, Any] = {}
        path = settings.secret_file and str(settings.secret_path.resolve())
        self._secret_note = {"secret": path} if path else {}
        self._dedicated = dedicated
        #: Set when it accepts requests and the address file is written.
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._dedicated:
            # Objects of the start are permanent: collecting them repeatedly would delay responses.
            gc.freeze()
        context = getattr(self.app.state, "context", None)
        if self.started and sockets and context and sockets[0].getsockname()[0] in LOOPBACK:
            facts = {"url": url_of(sockets[0]), "pid": os.getpid()} | self._secret_note
            self._note = facts | {"instance": context.dispatcher.name}
            write_private(self._address_file, json.dumps(self._note))
        if self.started:
            self.ready.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop after the running requests; immediately if the service is still starting."""
        if not self.started:
            raise KeyboardInterrupt
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Once per second, review the connections and the address file."""
        if counter % _TICKS_PER_SECOND == 0:
            self._admission.review(asyncio.get_running_loop().time())
            with suppress(OSError):  # of a folder that is gone or cannot be read now
                if self._note and not self._address_file.exists():  # a later service has ended
                    write_private(self._address_file, json.dumps(self._note))
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Remove the address file, unless a later service has replaced it, and stop."""
        context = getattr(self.app.state, "context", None)
        if context:
            context.dispatcher.watchers.close()  # the server would wait for open event streams
        if self._note and read_note(self._address_file) == self._note:
            with suppress(OSError):  # it is missing, or the disk is read-only now
                self._address_file.unlink()
        await super().shutdown(sockets)
