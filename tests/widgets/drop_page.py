"""A page that sends files to a drop zone, as the zone's own script does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

PIECE = 1000


@dataclass
class Page:
    """The browser's end of a drop zone's comm; `run` runs the kernel's background work."""

    zone: Any
    run: Callable[[], None]
    received: list[dict[str, Any]] = field(default_factory=list)
    comm_id: str = "page"
    sent: int = 0

    def __post_init__(self) -> None:
        self.zone.comm = self

    # The methods of a comm that a widget calls.
    def on_msg(self, call: Callable[[Any], None]) -> None:
        self.call = call

    def send(self, data: Any, buffers: Any = None) -> None:
        if data["method"] == "custom":
            self.received.append(data["content"])

    def close(self, *arguments: Any, **more: Any) -> None: ...

    # The actions of a page.
    def post(self, do: str, *, id: str = "one", piece: bytes | None = None, **more: Any) -> Any:
        """Send a message and return the response to it, or None."""
        self.sent += 1
        before = len(self.received)
        message = {"do": do, "id": id, "n": self.sent, **more}
        buffers = [] if piece is None else [memoryview(piece)]
        content = {"data": {"method": "custom", "content": message}}
        self.call({"content": content, "buffers": buffers})
        answers = self.received[before:]
        assert all((a.pop("id"), a.pop("n")) == (id, self.sent) for a in answers)
        return answers[-1] if answers else None

    def offer(self, *files: tuple[str, bytes], id: str = "one", type: str = "") -> Any:
        """Offer files and return the response."""
        offers = [{"name": n, "type": type, "size": len(content)} for n, content in files]
        return self.post("offer", id=id, files=offers)

    def drop(self, *files: tuple[str, bytes], id: str = "one", type: str = "") -> Any:
        """Send files completely, and return the last response."""
        answer = self.offer(*files, id=id, type=type)
        while answer and "at" in answer:
            answer = self.send_piece(files, answer, id=id)
        return answer

    def send_piece(
        self, files: tuple[tuple[str, bytes], ...], wanted: Any, *, id: str = "one"
    ) -> Any:
        """Send the requested piece, and return the response, which may come from the background."""
        file, at = wanted["file"], wanted["at"]
        content = files[file][1][at : at + PIECE]
        answer = self.post("piece", id=id, file=file, at=at, piece=content)
        if answer is None:
            self.run()
            answer = self.received[-1]
            assert (answer.pop("id"), answer.pop("n")) == (id, self.sent)
        return answer
