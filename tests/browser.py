"""A real browser for tests, driven over pipes by the DevTools protocol; nothing beyond the standard library."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --force-color-profile=srgb --remote-debugging-pipe"
)


class Browser:
    """One headless browser with one page."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def wire():  # in the child: the browser reads commands from 3 and writes answers to 4
            a, b = os.dup(to_browser), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *FLAGS.split(), f"--user-data-dir={self._folder.name}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=wire,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._held = b""
        self._last = 0
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method, /, *, seconds=30, **params):
        """The result of one command."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        return self._until(lambda answer: answer.get("id") == self._last, seconds, method)

    def _until(self, wanted, seconds, what):
        limit = time.monotonic() + seconds
        while True:
            while b"\0" in self._held:
                text, _, self._held = self._held.partition(b"\0")
                answer = json.loads(text)
                if "id" not in answer:
                    self.events.append(answer)
                if wanted(answer):
                    if "error" in answer:
                        raise RuntimeError(f"{what}: {answer['error']}")
                    return answer.get("result", answer)
            if not select.select([self._in], [], [], max(0, limit - time.monotonic()))[0]:
                raise TimeoutError(f"the browser did not answer {what} within {seconds} s")
            block = os.read(self._in, 1 << 20)
            if not block:
                raise RuntimeError(f"the browser ended during {what}")
            self._held += block

    def open(self, address):
        """Load a page and wait until its script has run."""
        self.call("Page.navigate", url="about:blank")  # else an address that differs after # alone loads nothing
        self.events.clear()
        self.call("Page.navigate", url=address)
        limit = time.monotonic() + 30
        while self.run("document.documentElement?.dataset.ready") != "yes":
            if time.monotonic() > limit:
                raise TimeoutError(f"the page is not ready: {self.events[-3:]}")
            time.sleep(0.02)

    def run(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def press(self, key, *, shift=False):
        """One key, down and up."""
        text = {"text": key} if len(key) == 1 else {}
        common = {"key": key, "code": {" ": "Space"}.get(key, key), "modifiers": 8 if shift else 0}
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, "Tab": 9}
        common["windowsVirtualKeyCode"] = codes.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def colours(self, scheme):
        """Pretend that the user prefers `light` or `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self):
        """What the window shows, as PNG: so were the pictures of the inspector in docs/images made."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self):
        with contextlib.suppress(RuntimeError, TimeoutError, OSError):
            self._session = None
            self.call("Browser.close", seconds=5)
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()
