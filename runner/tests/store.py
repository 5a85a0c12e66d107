"""A real HTTP server that takes PUTs and answers what the test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath

CUT_OFF = 0  # as an answer: close the connection in the middle of the body
SILENT = -1  # as an answer: read nothing and say nothing until the test ends


class Store:
    """Answers one status a request, then 200. `bodies` holds what was accepted, in order."""

    def __init__(self, answers: Sequence[int]) -> None:
        self.answers = list(answers)
        self.bodies: dict[str, bytes] = {}
        self.lengths: list[str | None] = []
        self.over = threading.Event()
        self.url = ""

    def url_of(self, name: str) -> str:
        return f"{self.url}/bucket/{name}?signature=SECRET"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    store: Store

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_PUT(self) -> None:
        store = self.server.store
        answer = store.answers.pop(0) if store.answers else 200
        store.lengths.append(self.headers["Content-Length"])
        if answer == SILENT:
            store.over.wait(30)
        elif answer == CUT_OFF:
            self.rfile.read(1000)
        else:
            self._take(answer)
        self.close_connection = True

    def _take(self, answer: int) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])) if answer != 403 else b""
        if answer == 200:
            self.server.store.bodies[PurePosixPath(self.path.partition("?")[0]).name] = body
        self.send_response(answer)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(*answers: int) -> Iterator[Store]:
    """Serve on a free port of the loopback as long as the `with` lasts."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.store = store = Store(answers)
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield store
    finally:
        store.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
