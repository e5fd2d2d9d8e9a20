"""A Firefox that a test drives by WebDriver BiDi, which Debian's package has built in."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

TIMEOUT = 60.0  # seconds; the machine of a test may be busy
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """One tab of a running Firefox, and the errors that pages wrote to its console."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.ids = itertools.count(1)
        self.errors: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.tab = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def call(self, method: str, **params: Any) -> Any:
        """Send a command and return its result."""
        number = next(self.ids)
        self.connection.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.connection.recv(timeout=TIMEOUT))
            if answer.get("method") == "log.entryAdded":
                entry = answer["params"]
                if entry["level"] in ("error", "warn"):
                    self.errors.append(str(entry["text"]))
            elif answer.get("id") == number:
                assert answer["type"] == "success", answer
                return answer["result"]

    def go(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self.tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression that is a text, a number or a boolean."""
        answer = self.call(
            "script.evaluate",
            expression=expression,
            target={"context": self.tab},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + TIMEOUT
        while not self.evaluate(f"Boolean({expression})"):
            if time.monotonic() > end:
                text = self.evaluate("document.body.innerText")
                raise AssertionError(f"{expression} does not become true on this page: {text}")
            time.sleep(0.05)  # BiDi has no event for it


@contextmanager
def running(profile: Path) -> Iterator[Firefox]:
    """Start a Firefox with a new profile, and end it."""
    program = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if not program:
        raise pytest.UsageError(
            "no firefox is installed: apt-get install firefox-esr, or name one with FIREFOX"
        )
    lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    flags = ["--headless", "--no-remote", "--remote-debugging-port=0"]
    with subprocess.Popen(
        [program, *flags, "--profile", str(profile), "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"BiDi listening on (ws://\S+)", line):
                    break
            else:
                raise AssertionError(f"{program} ended before it listened")
            with connect(f"{found[1]}/session", max_size=None) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
            try:
                process.communicate(timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
