"""HTTP to the hub: facts go there, bundles come from there. Standard library only."""

from __future__ import annotations

import hashlib
import http.client
import re
import ssl
import threading
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pydantic import ValidationError

from burnin.satellite.config import BadSite, HubConfig, token_of
from burnin.satellite.messages import FactAnswer, FactBatch

TIMEOUT_S = 30
LONGEST_ANSWER_BYTES = 4 << 20
LONGEST_BUNDLE_BYTES = 64 << 20
FACTS = "/api/v1/satellite/facts"
BUNDLES = "/api/v1/satellite/bundles/"
# What the hub itself says of a body. Anything else may be a proxy's word: a 404 while it deploys.
NEVER_TAKEN = frozenset({400, 413, 422})
_ERROR = re.compile(rb'"(?:error|detail)"\s*:\s*"((?:[^"\\]|\\.)*)"')


class HubUnreachable(Exception):
    """The hub did not answer, or could not just now. Say it again later."""


class HubRefused(Exception):
    """The hub does not let this site in: its token is unknown or revoked. A person has to act."""


class HubDisliked(Exception):
    """The hub will never take this request as it is."""


class HubClient:
    """One connection that is kept open, used by one thread at a time."""

    def __init__(self, config: HubConfig) -> None:
        self._config = config
        self._parts = urlsplit(config.url)
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None

    def post(self, batch: FactBatch) -> FactAnswer:
        """Deliver facts. Raises HubUnreachable, HubRefused or HubDisliked."""
        body = batch.model_copy(update={"sent_at": datetime.now(UTC)}).model_dump_json().encode()
        answer = self._request("POST", FACTS, body, most=LONGEST_ANSWER_BYTES)
        try:
            return FactAnswer.model_validate_json(answer)
        except ValidationError as error:
            raise HubUnreachable(
                f"{self._place} answered what is no answer to facts: "
                f"{error.errors(include_input=False, include_url=False)[0]['msg']}"
            ) from None

    def bundle(self, sha256: str) -> bytes:
        """Fetch the runner with this sha256. Raises as `post`."""
        content = self._request("GET", BUNDLES + sha256, b"", most=LONGEST_BUNDLE_BYTES)
        found = hashlib.sha256(content).hexdigest()
        if found != sha256:
            raise HubUnreachable(f"the runner came with sha256 {found}, not {sha256}")
        return content

    def close(self) -> None:
        with self._lock:
            self._drop()

    @property
    def _place(self) -> str:
        return f"the hub at {self._config.url}"

    def _request(self, method: str, path: str, body: bytes, *, most: int) -> bytes:
        with self._lock:
            try:
                status, answer = self._exchange(method, path, body, most)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                why = str(error) or type(error).__name__
                raise HubUnreachable(f"{self._place} did not answer: {why}") from error
        self._refuse(status, answer)
        return answer

    def _exchange(self, method: str, path: str, body: bytes, most: int) -> tuple[int, bytes]:
        was_open = self._connection is not None
        try:
            return self._exchange_once(method, path, body, most)
        except (ConnectionError, http.client.RemoteDisconnected, http.client.CannotSendRequest):
            # The hub closes connections that were idle. To say the same again does no harm.
            self._drop()
            if not was_open:
                raise
        return self._exchange_once(method, path, body, most)

    def _exchange_once(self, method: str, path: str, body: bytes, most: int) -> tuple[int, bytes]:
        connection = self._connection = self._connection or self._connect()
        headers = {
            "Authorization": f"Bearer {self._token()}",
            "Content-Type": "application/json",
            "Accept": "*/*",
        }
        connection.request(method, self._parts.path + path, body or None, headers)
        response = connection.getresponse()
        answer = response.read(most + 1)
        if len(answer) > most:
            self._drop()
            raise http.client.HTTPException(f"it answered with more than {most} bytes")
        return response.status, answer

    def _token(self) -> str:
        try:
            return token_of(self._config)
        except BadSite as error:
            raise HubRefused(str(error)) from error

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
        trust = trust_of(self._config)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=trust)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _refuse(self, status: int, answer: bytes) -> None:
        if status in (200, 201, 202):
            return
        said = f"{self._place} answered {status}: {_words(answer)}"
        if status in (401, 403):
            raise HubRefused(said)
        if status in NEVER_TAKEN:
            raise HubDisliked(said)
        raise HubUnreachable(said)


def trust_of(config: HubConfig) -> ssl.SSLContext:
    """Return whom we trust: the system's CAs and the site's own."""
    trust = ssl.create_default_context()
    if config.ca_file is not None:
        trust.load_verify_locations(config.ca_file)
    return trust


def _words(answer: bytes) -> str:
    """Return the sentence of an error answer, or its beginning."""
    found = _ERROR.search(answer[:4096])
    text = (found[1] if found else answer[:200]).decode(errors="replace")
    return " ".join(text.split())[:300] or "no words"
