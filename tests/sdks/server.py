"""A loopback server that plays recorded-style streams: whole, slow, cut or broken on purpose.

The first two steps of the path say what is played and how, whatever an SDK puts behind them:
`http://127.0.0.1:PORT/NAME/MODE/v1/chat/completions`. NAME is a file of tests/data/streams without its ending, or a
stream that a test has added with `StreamServer.add`.
"""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

STREAMS = Path(__file__).parent.parent / "data" / "streams"
CONTENT_TYPES = {
    ".sse": "text/event-stream",
    ".ndjson": "application/x-ndjson",
    ".jsonarray": "application/json",
    ".eventstream": "application/vnd.amazon.eventstream",
}
MODES = ("whole", "slow", "cut", "dropped")
"""`whole`: in one write; `slow`: seven bytes at a time; `cut`: three quarters, then a clean end; `dropped`: three
quarters, then the connection goes away in the middle of the body."""


class StreamServer(ThreadingHTTPServer):
    """Serves on a free port of the loopback interface until the `with` block ends."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.streams = {path.stem: (path.read_bytes(), path.suffix) for path in STREAMS.iterdir()}
        self.requests: list[bytes] = []

    def __enter__(self) -> StreamServer:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Clients that leave early are no news."""

    def add(self, name: str, body: bytes, ending: str = ".sse") -> str:
        """Play `body` under `name` from now on."""
        self.streams[name] = (body, ending)
        return name

    def url(self, name: str, mode: str = "whole") -> str:
        assert name in self.streams, name
        assert mode in MODES, mode
        return f"http://127.0.0.1:{self.server_address[1]}/{name}/{mode}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StreamServer

    def do_POST(self) -> None:
        self.server.requests.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        _, name, mode, *_ = self.path.split("/")
        body, ending = self.server.streams[name]
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPES[ending])
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if mode in ("cut", "dropped"):
            body = body[: len(body) * 3 // 4]
        size = 7 if mode == "slow" else len(body) or 1
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if mode == "slow" and start % 70 == 0:
                time.sleep(0.0005)
        if mode == "dropped":
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        pass
