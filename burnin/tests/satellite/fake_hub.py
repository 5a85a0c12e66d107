"""A hub for satellites under test: a real HTTP server that speaks facts and bundles."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from burnin.satellite.messages import Fact, FactAnswer, FactBatch, JobSeen, Refusal, SubmitAnswered

TOKEN = "tok-1234567890"


class FakeHub:
    """Takes facts like the hub, and is bad at it when told to.

    `status` is what it answers instead of doing its work; `refuse` picks run ids whose facts it
    refuses; `choke_on` run ids for which it answers 400 to the whole POST.
    """

    def __init__(self) -> None:
        self.token = TOKEN
        self.status = 200
        self.close_after_answer = False
        self.gives_bundles = threading.Event()
        self.gives_bundles.set()
        self.refuse: set[str] = set()
        self.choke_on: set[str] = set()
        self.batches: list[FactBatch] = []
        self.bundles: dict[str, bytes] = {}
        self.bundle_requests: list[str] = []
        self.uploads: dict[str, bytes] = {}
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self})
        )
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> FakeHub:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.gives_bundles.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def add_bundle(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        self.bundles[sha256] = content
        return sha256

    def facts(self) -> list[Fact]:
        """Return every fact that was taken, in the order in which they came."""
        return [envelope.fact for batch in list(self.batches) for envelope in batch.facts]

    def answers(self) -> dict[tuple[str, int], SubmitAnswered]:
        """Return the last answer to each submission."""
        return {(f.run_id, f.attempt): f for f in self.facts() if isinstance(f, SubmitAnswered)}

    def jobs(self) -> dict[tuple[str, int], JobSeen]:
        """Return the last that was said of each job."""
        return {(f.run_id, f.attempt): f for f in self.facts() if isinstance(f, JobSeen)}

    def take(self, batch: FactBatch) -> FactAnswer:
        self.batches.append(batch)
        refused = {e.id for e in batch.facts if getattr(e.fact, "run_id", "") in self.refuse}
        return FactAnswer(
            acknowledged=tuple(e.id for e in batch.facts if e.id not in refused),
            refused=tuple(Refusal(id=each, words="of another site") for each in sorted(refused)),
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._is_let_in():
            return
        batch = FactBatch.model_validate_json(body)
        if any(getattr(e.fact, "run_id", "") in self.hub.choke_on for e in batch.facts):
            self._answer(400, json.dumps({"error": "a fact cannot be read"}).encode())
            return
        self._answer(200, self.hub.take(batch).model_dump_json().encode())

    def do_GET(self) -> None:
        sha256 = self.path.rpartition("/")[2]
        self.hub.bundle_requests.append(sha256)
        self.hub.gives_bundles.wait(60)
        if self._is_let_in():
            content = self.hub.bundles.get(sha256)
            self._answer(404 if content is None else 200, content or b"")

    def do_PUT(self) -> None:
        self.hub.uploads[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(200, b"")

    def _is_let_in(self) -> bool:
        if self.hub.status != 200:
            self._answer(self.hub.status, b'{"error": "told to"}')
            return False
        if self.headers["Authorization"] != f"Bearer {self.hub.token}":
            self._answer(401, b'{"error": "the token is unknown or revoked"}')
            return False
        return True

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        # Without a word to the client, like a proxy that found the connection idle.
        self.close_connection = self.hub.close_after_answer

    def log_message(self, *_: object) -> None:
        return
