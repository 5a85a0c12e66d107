"""AWS Signature 4 for one PUT, in its query: ten times as fast as going through boto3's client.

10,000 runs need 50,000 URLs. The tests hold each against botocore's own signer and a real server.
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from urllib.parse import quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Presigner:
    """Signs with one key for one place; `endpoint` is scheme and host only."""

    endpoint: str
    region: str
    key_id: str
    secret: str

    def put(self, path: str, *, expires_s: int, now: datetime) -> str:
        """Return the URL that PUTs to this path until `expires_s` seconds after `now` (UTC)."""
        moment = now.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{moment[:8]}/{self.region}/s3/aws4_request"
        query = (
            f"X-Amz-Algorithm={ALGORITHM}"
            f"&X-Amz-Credential={quote(f'{self.key_id}/{scope}', safe='-_.~')}"
            f"&X-Amz-Date={moment}&X-Amz-Expires={expires_s}&X-Amz-SignedHeaders=host"
        )
        path = quote(path, safe="/-_.~")
        host = _host(self.endpoint)
        request = f"PUT\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = _key_of_day(self.secret, moment[:8], self.region)
        signature = hmac.digest(key, f"{ALGORITHM}\n{moment}\n{scope}\n{digest}".encode(), "sha256")
        return f"{self.endpoint}{path}?{query}&X-Amz-Signature={signature.hex()}"


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
