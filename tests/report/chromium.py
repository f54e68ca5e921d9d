"""A page in headless Chromium, moved like by a reader: DevTools protocol over a pipe."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Chromium:
    """REQUIRES: browser(). `console` has what pages complained about."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        read, self.out = os.pipe()
        self.inp, write = os.pipe()
        read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (read, write))

        def pipes():
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={self.profile}"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.buffer, self.number, self.session, self.console, self.events = b"", 0, None, [], []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")

    def close(self):
        try:
            self.send("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.inp, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        method = message.get("method", "")
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.console.append(message["params"]["exceptionDetails"].get("exception", {}).get("description", "exception"))
        if method == "Runtime.consoleAPICalled":
            self.console.append(str(message["params"]["args"]))
        if method == "Log.entryAdded":
            self.console.append(message["params"]["entry"]["text"])
        return message

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})

    def open(self, path, width=1400, height=1000, dark=False, media="", hash_=""):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for url in ("about:blank", "file://" + os.path.abspath(path) + hash_):
            self.events.clear()
            self.send("Page.navigate", url=url)
            while "Page.loadEventFired" not in self.events:
                self.receive()
        while self.run("typeof drawPage === 'function' && document.body.dataset.drawn === undefined"):
            time.sleep(0.05)
        time.sleep(0.2)

    def run(self, script):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **{"button": "none", **more})

    def drag(self, start, end, modifiers=0):
        held = {"button": "left", "buttons": 1, "clickCount": 1, "modifiers": modifiers}
        self.mouse("Pressed", *start, **held)
        self.mouse("Moved", (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, **held)
        self.mouse("Moved", *end, **held)
        self.mouse("Released", *end, **held)

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))

    def picture(self, path, selector="html"):
        """A PNG of an element."""
        box = self.run(f"(({{x, y, width, height}}) => ({{x: x + scrollX, y: y + scrollY, width, height, scale: 1}}))"
                       f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=box)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))
