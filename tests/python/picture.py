"""A picture of a page after some seconds of real time: picture(url, path, (width, height), seconds). It needs chromium, and tornado.

`chromium --screenshot` alone does not do: it takes its picture before pages have drawn what they get by sockets and in frames.
"""

import asyncio
import base64
import json
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from tornado.websocket import websocket_connect


def picture(url, path, size, seconds):
    """Takes it."""
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"]
        options += [f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        browser = subprocess.Popen(["chromium", *options], **quiet)
        try:
            asyncio.run(_taken(port(profile), url, path, size, seconds))
        finally:
            browser.kill()
            browser.wait()


def port(profile):
    """Where the browser listens, once it does."""
    for _ in range(300):
        told = Path(profile, "DevToolsActivePort")
        if told.exists() and told.read_text():
            return told.read_text().split()[0]
        time.sleep(0.1)
    raise RuntimeError("chromium does not start")


async def _taken(at, url, path, size, seconds):
    pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{at}/json"))
    page = next(page for page in pages if page["type"] == "page")
    socket = await websocket_connect(page["webSocketDebuggerUrl"], max_message_size=1 << 26)
    number = 0

    async def ask(method, **parameters):
        nonlocal number
        number += 1
        await socket.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(await socket.read_message())
            if answer.get("id") == number:
                return answer["result"]

    view = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    await ask("Emulation.setDeviceMetricsOverride", **view)
    await ask("Page.navigate", url=url)
    await asyncio.sleep(seconds)
    shot = await ask("Page.captureScreenshot", format="png")
    Path(path).write_bytes(base64.b64decode(shot["data"]))
