"""A freshly started app, for the tests and the benches that look at it in a browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def serving(script: str, **environment: str) -> Iterator[str]:
    """The address of a script that is served with these variables, where no Ollama server is unless one names it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.headless", "true", "--server.port", str(port),
               "--server.fileWatcherType", "none"]  # fmt: skip
    variables: Mapping[str, str] = {**os.environ, "OLLAMA_HOST": "http://127.0.0.1:9", **environment}
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:  # fmt: skip
        try:
            for _ in range(150):
                try:
                    urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield f"http://localhost:{port}"
        finally:
            server.terminate()
