"""AWS Signature 4: in the query of an upload URL, and in the headers of the hub's own requests.

10,000 runs need 50,000 URLs and 110,000 requests; through boto3's client each would cost ten times
as much. The tests hold them against botocore's own signer and a real server.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
MOMENT = "%Y%m%dT%H%M%SZ"
NOTHING: Mapping[str, str] = MappingProxyType({})
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Signer:
    """Signs with one key for one place; `endpoint` is scheme and host only."""

    endpoint: str
    region: str
    key_id: str
    secret: str

    def put(self, path: str, *, expires_s: int, now: datetime) -> str:
        """Return the URL that PUTs to this path until `expires_s` seconds after `now` (UTC)."""
        moment = now.strftime(MOMENT)
        query = (
            f"X-Amz-Algorithm={ALGORITHM}"
            f"&X-Amz-Credential={quote(f'{self.key_id}/{self._scope(moment)}', safe='-_.~')}"
            f"&X-Amz-Date={moment}&X-Amz-Expires={expires_s}&X-Amz-SignedHeaders=host"
        )
        path = quote(path, safe="/-_.~")
        request = f"PUT\n{path}\n{query}\nhost:{_host(self.endpoint)}\n\nhost\nUNSIGNED-PAYLOAD"
        return f"{self.endpoint}{path}?{query}&X-Amz-Signature={self._signature(request, moment)}"

    def headers(
        self,
        method: str,
        path: str,
        *,
        now: datetime,
        query: str = "",
        body: bytes = b"",
        own: Mapping[str, str] = NOTHING,
    ) -> dict[str, str]:
        """Return all headers of a request that is made now, `own` with lower-case names among them.

        `query` is as it is sent, its words in order.
        """
        moment = now.strftime(MOMENT)
        digest = hashlib.sha256(body).hexdigest()
        sent = {**own, "x-amz-content-sha256": digest, "x-amz-date": moment}
        signed = {**sent, "host": _host(self.endpoint)}
        names = sorted(signed)
        lines = "".join(f"{name}:{signed[name]}\n" for name in names)
        target = quote(path, safe="/-_.~")
        request = f"{method}\n{target}\n{query}\n{lines}\n{';'.join(names)}\n{digest}"
        sent["authorization"] = (
            f"{ALGORITHM} Credential={self.key_id}/{self._scope(moment)}, "
            f"SignedHeaders={';'.join(names)}, Signature={self._signature(request, moment)}"
        )
        return sent

    def _scope(self, moment: str) -> str:
        return f"{moment[:8]}/{self.region}/s3/aws4_request"

    def _signature(self, request: str, moment: str) -> str:
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = _key_of_day(self.secret, moment[:8], self.region)
        text = f"{ALGORITHM}\n{moment}\n{self._scope(moment)}\n{digest}"
        return hmac.digest(key, text.encode(), "sha256").hex()


@lru_cache(maxsize=8)
def _host(endpoint: str) -> str:
    """Return the Host header that clients send: the scheme's own port is left out of it."""
    parts = urlsplit(endpoint)
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    if parts.port is None or parts.port == DEFAULT_PORTS.get(parts.scheme):
        return host
    return f"{host}:{parts.port}"


@lru_cache(maxsize=8)
def _key_of_day(secret: str, day: str, region: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
