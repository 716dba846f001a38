"""Pages far from their kernel: each message takes its time, both ways and in their order."""

from playwright.sync_api import Locator

#: Milliseconds to the kernel, and as many back.
FAR = 700
#: What such a page runs before it has a kernel; it is near until `away`.
HOLDS_BACK = """() => {
    window.far = 0;
    const { prototype } = WebSocket;
    const { send } = prototype;
    const heard = Object.getOwnPropertyDescriptor(prototype, "onmessage");
    change(prototype, "send", { value(data) {
        setTimeout(() => send.call(this, data), window.far);
    } });
    // Heard by whoever hears when it arrives, who may be another than when it was sent.
    change(prototype, "onmessage", { ...heard, set(hear) {
        this.hear = hear;
        heard.set.call(this, event => setTimeout(() => this.hear?.(event), window.far));
    } });
}"""


def away(part: Locator, milliseconds: int = FAR) -> None:
    """Take the page of a part as far from its kernel."""
    part.page.evaluate("ms => { window.far = ms; }", milliseconds)
