"""What runs on one node to say what jobs will find there. It judges nothing.

Sent as source in a batch script, run in the attempt's directory: standard library only, and
nothing newer than Python 3.6, for an old Python is one of the things it is to tell of.
"""

import http.client
import json
import os
import ssl
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

REPORT = "probe.json"
PUT_LIMIT_S = 20
PROXIES = ("https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY")


def main() -> "None":
    """Write the report by rename: whoever reads it sees all of it or nothing."""
    context = json.loads(Path("context.json").read_text())
    node_name = os.environ.get("SLURMD_NODENAME", "") or os.uname()[1]
    root = Path(context["facts_root"].replace("%N", node_name))
    report = {
        "nonce": context["nonce"],
        "node_name": node_name,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "clock": clock(),
        "time": time.time(),
        "machine_id": is_readable(root / "etc/machine-id"),
        "dmi_serial": is_readable(root / "sys/class/dmi/id/product_serial"),
        "kernel_log": kernel_log(),
        "upload": upload(context["probe_url"]),
    }
    Path(REPORT + ".torn").write_text(json.dumps(report))
    Path(REPORT + ".torn").rename(REPORT)


def clock() -> "dict[str, Any]":
    """Return our clock minus that of whoever stamps this directory's files, in seconds."""
    probe = Path(".clock")
    before = time.time()
    probe.write_bytes(b"x")
    offset_s = (before + time.time()) / 2 - probe.stat().st_mtime
    probe.unlink()
    return {"offset_s": offset_s, "filesystem": filesystem()}


def filesystem() -> "str":
    """Return the type of the filesystem of this directory."""
    here, longest, kind = str(Path.cwd()) + "/", 0, "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount, name = line.split()[:3]
        mount = mount.replace("\\040", " ").rstrip("/") + "/"
        if here.startswith(mount) and len(mount) >= longest:
            longest, kind = len(mount), name
    return kind


def is_readable(path: "Path") -> "str":
    """Return "" if the file can be read and says something, else why not."""
    try:
        content = path.read_text(errors="replace").strip()
    except OSError as error:
        return f"{path}: {error.strerror}"
    return "" if content else f"{path} is empty"


def kernel_log() -> "str":
    try:
        os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        return f"/dev/kmsg: {error.strerror}"
    return ""


def upload(url: "str") -> "str":
    """Return "" if the store took a small file from here, else why not. Never the URL."""
    try:
        status = put(url, b"burnin site check\n")
    except ssl.SSLError as error:
        return f"its certificate is not trusted here ({error.reason}): set SSL_CERT_FILE"
    except (OSError, http.client.HTTPException) as error:
        return f"{error or type(error).__name__}{proxy_hint()}"
    return "" if 200 <= status < 300 else f"it answered {status}"


def put(url: "str", content: "bytes") -> "int":
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    connection = http.client.HTTPConnection(host, port, timeout=PUT_LIMIT_S)
    if parts.scheme == "https":
        trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
        connection = http.client.HTTPSConnection(host, port, timeout=PUT_LIMIT_S, context=trust)
    try:
        connection.request("PUT", (parts.path or "/") + "?" + parts.query, content)
        return connection.getresponse().status
    finally:
        connection.close()


def proxy_hint() -> "str":
    named = [name for name in PROXIES if os.environ.get(name)]
    return f" ({named[0]} is set here, but nodes upload without a proxy)" if named else ""


if __name__ == "__main__":
    main()
