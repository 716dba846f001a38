"""The service beside others, by a benchmark that starts them in turn and takes ratios.

    python tests/benchmarks/bench_serving.py BENCH OUT [serving|durable] [argument ...]

BENCH is the folder of the benchmark; OUT gets its JSON. Every service draws the same picture and is
asked by the same load; a ratio compares two neighbours in time. Further arguments go to the script,
e.g. ``--pairs 1`` or the names of other services to measure in the same run.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from kit.service import settings
from kit.service.databases import open_database
from kit.service.domain import accounts, keys
from kit.service.http.context import clock

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
START = """
import os, shutil, sys
from pathlib import Path
data = Path(sys.argv[2])
if not (data / "kit.db").exists():
    shutil.copytree(os.environ["KIT_BENCH_TEMPLATE"], data, dirs_exist_ok=True)
os.environ["PYTHONPATH"] += os.pathsep + os.environ["KIT_BENCH_PLUGINS"]
sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
sys.argv = ["kit", "serve", "--port", sys.argv[1], "--data", str(data), "--workers", "2"]
from kit.__main__ import main
main()
"""


async def template(folder: Path) -> str:
    """Make a data folder with an account that can pay for everything, and return its key."""
    config = settings.load({}, data=folder)
    database = open_database(config)
    account = await database.write(accounts.create("Bench", "bench@localhost", 10**12, clock()))
    scopes = ("creative:generate", "scripts:generate")
    wish = keys.KeyRequest(account_id=account.id, name="bench", scopes=scopes)
    made = await database.write(keys.create(wish, config.secret(), clock()))
    await database.close()
    return made.text


def entry(folder: Path, key: str) -> dict[str, object]:
    """Return how the benchmark starts and asks this service."""
    path = "/v1/creative-studio/generations"
    body = {"modelId": "gradient", "prompt": "{prompt}", "parameters": {"seed": "{seed}"}}
    return {
        "label": "creative-studio-kit (durable, charges, workers apart)",
        "kind": "wait",  # one request that is answered when there is a result
        "python": sys.executable,
        "procs": [{"role": "api", "cmd": ["{python}", "-c", START, "{port}", "{state}"]}],
        "env": {
            "PYTHONDONTWRITEBYTECODE": "",  # else a checkout is compiled at every start
            "KIT_BENCH_TEMPLATE": str(folder),
            "KIT_BENCH_PLUGINS": os.pathsep.join((str(HERE / "plugins"), str(ROOT))),
            "KIT_REQUESTS_PER_MINUTE": "100000000",
            "KIT_STARTS_PER_MINUTE": "100000000",
        },
        "headers": {"Authorization": f"Bearer {key}", "Prefer": "wait=30"},
        "ready": "/healthz",
        "submit": {"path": path, "json": body},
        "id": "id",
        "status": f"{path}/{{id}}",
        "list": path,
        "done": {"key": "status", "values": ["completed"]},
    }


def main(bench: Path, out: Path, part: str, rest: list[str]) -> int:
    script = bench / "serving" / ("durable.py" if part == "durable" else "bench_serving.py")
    python = Path(os.environ["PERF_VENVS"]) / "load" / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        key = asyncio.run(template(Path(folder) / "template"))
        peers = Path(folder) / "ours.json"
        peers.write_text(json.dumps({"ours": entry(Path(folder) / "template", key)}))
        command = [python, script, "-o", out, "--peer-file", peers, "ours", *rest]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    chosen = sys.argv[3] if len(sys.argv) > 3 else "serving"
    raise SystemExit(
        main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute(), chosen, sys.argv[4:])
    )
