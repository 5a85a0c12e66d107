"""`make_env.py HOST STORE_URL > .env`: .env.example with new secrets. Standard library only."""

import secrets
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / ".env.example"
USAGE = "make_env.py HOST STORE_URL, such as fleet.example.com https://s3.example.com"
EXIT_BAD_INPUT = 64


def environment_file(example: str, *, host: str, store_url: str) -> str:
    """Return the example with these names, and a secret wherever a value is missing."""
    given = {"FLEET_HOST": host, "FLEET_S3_NODE_ENDPOINT": store_url}
    return "".join(f"{_filled(line, given)}\n" for line in example.splitlines())


def _filled(line: str, given: dict[str, str]) -> str:
    name, sign, value = line.partition("=")
    if not sign or line.startswith("#"):
        return line
    return f"{name}={given.get(name) or value or secrets.token_hex(32)}"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or "/" in arguments[0] or "://" not in arguments[1]:
        print(USAGE, file=sys.stderr)
        return EXIT_BAD_INPUT
    host, store_url = arguments
    print(environment_file(EXAMPLE.read_text(), host=host, store_url=store_url), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
