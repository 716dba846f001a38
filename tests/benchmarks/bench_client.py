"""What a status call and a page of a thousand generations cost with the kit, and with bare httpx.

    python tests/benchmarks/bench_client.py [ROUNDS]

A stub answers from memory. Both clients run in this process, in turn; processor time is compared,
and the median of the ratios is printed. The kit's answers are typed, httpx's are plain JSON.

`make` gives the same two calls to a harness of another kind.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from kit import wire
from kit.client import calls, flows
from kit.client.settings import Settings
from kit.client.sync import Client

ID = "01a0c1de-7b1e-4a51-9d1e-000000000001"
STATUS, PAGE = f"/ours/{ID}", "/ours/generations"
#: Most of httpx's processor time that each may take.
LIMITS = {"status": 0.9, "page": 2.0}
_STUB = """
import asyncio, json, sys
one, many = sys.stdin.buffer.read().split(b"\\n")
class Stub(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.seen = transport, b""
    def data_received(self, data):
        self.seen += data
        while b"\\r\\n\\r\\n" in self.seen:
            head, _, self.seen = self.seen.partition(b"\\r\\n\\r\\n")
            body = many if b"/generations " in head.split(b"\\r\\n")[0] else one
            self.transport.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\n"
                                 b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
async def main():
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def make(base_url: str) -> tuple[Callable[[], wire.Generation], Callable[[], Any]]:
    """Return a status call and a page of the history, as the kit makes them."""
    client = Client(Settings(base_url, "cs_test_bench", Path(tempfile.gettempdir())))
    status = calls.get_generation(ID, status_url=STATUS)
    page = replace(calls.list_generations(), path=PAGE)
    return lambda: client.run(flows.ask(status)), lambda: client.run(flows.ask(page))


def generation(number: int) -> dict[str, Any]:
    """Return a generation as a service sends it."""
    return {
        "id": ID[:-4] + f"{number:04d}",
        "status": "completed" if number % 7 else "processing",
        "assetType": "video",
        "generationType": "text-to-video",
        "modelId": f"model-{number % 12}",
        "modelName": f"Model {number % 12}",
        "prompt": f"a red fox in the snow, golden hour, take {number}",
        "parameters": {"aspect": "16:9", "steps": 30, "seed": number, "reference": {"weight": 0.4}},
        "mediaUrls": {"image": f"https://cdn.test/{number}.png"},
        "outputUrl": f"https://cdn.test/{number}.mp4",
        "error": None,
        "createdAt": "2026-01-20T09:14:15.123Z",
        "updatedAt": "2026-01-20T09:15:15.456Z",
    }


def seconds(call: Callable[[], Any], times: int) -> float:
    """Return the processor time of a call."""
    call()
    started = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - started) / times


def main(rounds: int = 9) -> int:
    """Print a line for each kind of call; return 1 where one takes more than it may."""
    bodies = json.dumps(generation(1)), json.dumps([generation(n) for n in range(1000)])
    stub = subprocess.Popen(
        [sys.executable, "-c", _STUB], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert stub.stdin is not None
    assert stub.stdout is not None
    stub.stdin.write("\n".join(bodies).encode())
    stub.stdin.close()
    base = f"http://127.0.0.1:{int(stub.stdout.readline())}"
    http = httpx.Client()
    ours = dict(zip(LIMITS, make(base), strict=True))
    bare = {
        "status": lambda: http.get(base + STATUS).json(),
        "page": lambda: http.get(base + PAGE).json(),
    }
    slow = 0
    try:
        for kind, most in LIMITS.items():
            times = 300 if kind == "status" else 15
            pairs = [
                (seconds(bare[kind], times), seconds(ours[kind], times)) for _ in range(rounds)
            ]
            ratio = statistics.median(mine / theirs for theirs, mine in pairs)
            theirs, mine = (statistics.median(column) * 1e6 for column in zip(*pairs, strict=True))
            slow |= ratio > most
            print(f"{kind:8} httpx {theirs:8.0f} us   kit {mine:8.0f} us   x{ratio:.2f} of {most}")
    finally:
        http.close()
        stub.kill()
        stub.wait()
    return int(slow)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
