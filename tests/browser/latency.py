"""Pages with a slow connection to their kernel: each message is delayed, in both directions."""

from playwright.sync_api import Locator

#: Milliseconds to the kernel, and the same back.
LATENCY_MS = 700
#: Script that delays the messages of a page, by 0 ms until `set_latency` is called.
DELAYS = """() => {
    window.latency = 0;
    const { prototype } = WebSocket;
    const { send } = prototype;
    const onmessage = Object.getOwnPropertyDescriptor(prototype, "onmessage");
    change(prototype, "send", { value(data) {
        setTimeout(() => send.call(this, data), window.latency);
    } });
    // The handler is looked up on arrival: it may have changed since the message was sent.
    change(prototype, "onmessage", { ...onmessage, set(handler) {
        this.handler = handler;
        onmessage.set.call(this, event => setTimeout(() => this.handler?.(event), window.latency));
    } });
}"""


def set_latency(part: Locator, milliseconds: int = LATENCY_MS) -> None:
    """Delay the messages between the page of a part and its kernel."""
    part.page.evaluate("ms => { window.latency = ms; }", milliseconds)
