"""`web_health.py URL`: whether a hub's web answers, for a container's healthcheck."""

import http.client
import os
import sys
from urllib.parse import urlsplit

ANSWERS_WITHIN_S = 8


def why_ill(url: str, public_url: str) -> str:
    """Say what is wrong with the web at `url`, asked as the proxy of `public_url` would; or ""."""
    headers = {"Host": urlsplit(public_url).netloc, "X-Forwarded-Proto": "https"}
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ANSWERS_WITHIN_S)
    try:
        connection.request("GET", "/login", headers=headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"the web at {url} does not answer: {error}"
    finally:
        connection.close()
    return "" if status == 200 else f"the web at {url} answers {status} to /login"


def main(url: str) -> int:
    if why := why_ill(url, os.environ.get("FLEET_PUBLIC_URL", url)):
        print(why, file=sys.stderr)
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
