"""A page that gives files to a drop zone, the way the zone's own script does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PIECE = 1000


@dataclass
class Page:
    """The other end of a drop zone's line; `run` lets the kernel's background work."""

    drop: Any
    run: Callable[[], None]
    heard: list[dict[str, Any]] = field(default_factory=list)
    comm_id: str = "page"
    sent: int = 0

    def __post_init__(self) -> None:
        self.drop.comm = self

    # what a widget calls of its comm
    def on_msg(self, call: Callable[[Any], None]) -> None:
        self.call = call

    def send(self, data: Any, buffers: Any = None) -> None:
        if data["method"] == "custom":
            self.heard.append(data["content"])

    def close(self, *arguments: Any, **more: Any) -> None: ...

    # what a page does
    def say(self, do: str, *, id: str = "one", piece: bytes | None = None, **more: Any) -> Any:
        """Send a message and return what was answered to it, or None."""
        self.sent += 1
        before = len(self.heard)
        message = {"do": do, "id": id, "n": self.sent, **more}
        buffers = [] if piece is None else [memoryview(piece)]
        content = {"data": {"method": "custom", "content": message}}
        self.call({"content": content, "buffers": buffers})
        answers = self.heard[before:]
        assert all((a.pop("id"), a.pop("n")) == (id, self.sent) for a in answers)
        return answers[-1] if answers else None

    def offer(self, *files: tuple[str, bytes], id: str = "one", type: str = "") -> Any:
        """Offer files and return the answer."""
        offers = [{"name": n, "type": type, "size": len(content)} for n, content in files]
        return self.say("offer", id=id, files=offers)

    def give(self, *files: tuple[str, bytes], id: str = "one", type: str = "") -> Any:
        """Give files to the end, and return the last answer."""
        answer = self.offer(*files, id=id, type=type)
        while answer and "at" in answer:
            answer = self.piece(files, answer, id=id)
        return answer

    def piece(self, files: tuple[tuple[str, bytes], ...], wanted: Any, *, id: str = "one") -> Any:
        """Send the piece that is wanted, and return the answer, if need be from the background."""
        file, at = wanted["file"], wanted["at"]
        content = files[file][1][at : at + PIECE]
        answer = self.say("piece", id=id, file=file, at=at, piece=content)
        if answer is None:
            self.run()
            answer = self.heard[-1]
            assert (answer.pop("id"), answer.pop("n")) == (id, self.sent)
        return answer
