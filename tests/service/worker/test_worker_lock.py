import subprocess
import sys
from pathlib import Path

from kit.service.worker.worker_lock import WorkerLock

HOLD = """
import sys
from pathlib import Path
from kit.service.worker.worker_lock import WorkerLock
held = WorkerLock(Path(sys.argv[1]), "other")
print("here", flush=True)
sys.stdin.read()
"""


def test_a_killed_worker_is_found_dead(tmp_path: Path) -> None:
    ours = WorkerLock(tmp_path, "ours")
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout
        assert other.stdout.readline() == "here\n"
        assert ours.find_dead(["other", "ours", "nobody"]) == []
        other.kill()

    assert ours.find_dead(["other", "ours", "nobody"]) == ["other"]
    ours.release()


def test_a_released_lock_removes_its_file(tmp_path: Path) -> None:
    WorkerLock(tmp_path, "ours").release()

    assert list(tmp_path.iterdir()) == []
