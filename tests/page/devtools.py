"""Headless Chromium, driven by the DevTools protocol over a pipe: no port, no driver, nothing but Python's own library.

The protocol is at https://chromedevtools.github.io/devtools-protocol/."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
WAIT_S = 30
# What the browser says of the test itself, which reads what was drawn.
OWN = "Multiple readback operations"
# For what a page does at once, on a machine however busy.
SHORT_S = 10
KEYS = {
    "Tab": 9, "Enter": 13, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
    "ArrowDown": 40,
}
TEXTS = {"Enter": "\r", " ": " "}


class PageError(Exception):
    """The page's own script has failed, or the browser refuses what it is asked."""


def program() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, [os.environ.get("CHROMIUM", ""), *PROGRAMS])), None)


class Browser:
    """One browser for all pages. Its profile is new and goes with it; it finds no network."""

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp(prefix="laxity-page-")
        ours, theirs = os.pipe()
        answers, replies = os.pipe()
        command = [
            # The protocol's pipes are file descriptors 3 and 4.
            "bash", "-c", f'exec "$@" 3<&{ours} 4>&{replies}', "chromium", program(), "--headless=new",
            "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run", "--disable-gpu",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--disable-dev-shm-usage", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--force-color-profile=srgb",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
        ]
        self.log = open(Path(self.profile) / "words.txt", "w+b")
        self.process = subprocess.Popen(
            command, pass_fds=(ours, replies), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        os.close(ours)
        os.close(replies)
        self.requests, self.answers = os.fdopen(theirs, "wb"), os.fdopen(answers, "rb")
        self.number, self.rest, self.events = 0, b"", {}

    def words(self) -> str:
        """What the browser itself has said."""
        self.log.flush()
        return (Path(self.profile) / "words.txt").read_text(errors="replace")

    def close(self) -> None:
        for pipe in (self.requests, self.answers):
            pipe.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self) -> dict:
        while b"\0" not in self.rest:
            piece = os.read(self.answers.fileno(), 1 << 20)
            if not piece:
                raise PageError(f"the browser has ended: {self.words()[-2000:]}")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message:
            self.events.setdefault(message.get("sessionId"), []).append(message)
        return message

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self.requests.write(json.dumps(message).encode() + b"\0")
        self.requests.flush()
        while (answer := self.read()).get("id") != self.number:
            pass
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url: str, **view: object) -> "Tab":
        return Tab(self, url, **view)


class Tab:
    """A page in a window of its own size and colours."""

    def __init__(
        self, browser: Browser, url: str, width: int = 1280, height: int = 800, dark: bool = False, print: bool = False,
        scale: int = 1,
    ) -> None:
        self.browser, self.url = browser, url
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        self.media(dark, print)
        self.events().clear()
        self.go(url)

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.events.pop(self.session, None)

    def call(self, method: str, **parameters: object) -> dict:
        return self.browser.call(method, self.session, **parameters)

    def events(self) -> list[dict]:
        return self.browser.events.setdefault(self.session, [])

    def media(self, dark: bool, print: bool = False, motion: bool = False) -> None:
        """The reader's wishes. Motion is not wanted by default, so that no test waits for it."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", media="print" if print else "", features=features)

    def go(self, url: str) -> None:
        """Opens an address and waits for the page."""
        begin = len(self.events())
        answer = self.call("Page.navigate", url=url)
        if "loaderId" in answer:  # another document, not another place on this one
            self.until(lambda: any(e["method"] == "Page.loadEventFired" for e in self.events()[begin:]))
        self.settle()

    def until(self, done) -> None:
        if not self.comes(done):
            raise PageError(f"{self.url}: waited {WAIT_S} s in vain")

    def comes(self, done, seconds: float = WAIT_S) -> bool:
        """Whether something comes true, sooner or later."""
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
            self.call("Runtime.evaluate", expression="0")
        return True

    def settle(self) -> None:
        """Waits for what the next frames do."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def run(self, script: str) -> object:
        """The value of an expression of JavaScript, awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings on the console, exceptions, and requests for anything but the page."""
        said = []
        for event in self.events():
            values = event["params"]
            if any(OWN in str(argument.get("value")) for argument in values.get("args", [])):
                continue
            match event["method"]:
                case "Runtime.consoleAPICalled" if values["type"] in ("error", "warning", "assert"):
                    said.append("on the console: " + " ".join(str(a.get("value", a.get("description"))) for a in values["args"]))
                case "Runtime.exceptionThrown":
                    details = values["exceptionDetails"]
                    said.append("exception: " + (details.get("exception", {}).get("description") or details["text"]))
                case "Log.entryAdded" if values["entry"]["level"] in ("error", "warning") and OWN not in values["entry"]["text"]:
                    said.append(f"on the console: {values['entry']['text']} {values['entry'].get('url', '')}")
                case "Network.requestWillBeSent":
                    wanted = values["request"]["url"]
                    if wanted.split("#")[0] not in (self.url.split("#")[0], "about:blank"):
                        said.append(f"asks for {wanted[:100]}")
        return said

    def press(self, key: str, shift: bool = False) -> None:
        """A key, as from a keyboard."""
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = TEXTS.get(key, key if len(key) == 1 else "")
        values = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **values)
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def mouse(self, kind: str, x: float, y: float, **values: object) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **values)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def picture(self, clip: dict | None = None, whole: bool = False) -> bytes:
        """A PNG of what is seen, of a part of the page, or of the whole page."""
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000)}
        values = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", **values)["data"])

    def pdf(self) -> bytes:
        """The page on A4."""
        paper = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True, "printBackground": False}
        return base64.b64decode(self.call("Page.printToPDF", **paper)["data"])
