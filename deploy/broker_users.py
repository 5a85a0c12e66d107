"""`python -m deploy.broker_users allow SITE | remove SITE | list`: the sites' users of the broker.

It speaks to Redis as the user of FLEET_BROKER_URL. `allow` prints the URL for the [broker] of the
site's file, told once; allowing a site again gives it a new password and ends the old one.
"""

import argparse
import os
import secrets
import sys
from urllib.parse import urlsplit

import redis

from deploy import redis_acl

EXIT_FAILED = 1
EXIT_BAD_INPUT = 64
ANSWERS_WITHIN_S = 10


class BadBroker(Exception):
    """The broker cannot be asked. Nothing was changed."""


def allow(broker: redis.Redis, site: str, address: str) -> str:
    """Make the site's user, or give it a new password; return the URL that its satellite uses."""
    password = secrets.token_hex(32)
    redis_acl.allow_site(lambda *words: _said(broker, *words), site, password)
    _said(broker, "ACL", "SAVE")
    parts = urlsplit(address)
    return f"{parts.scheme}://{redis_acl.user_name(site)}:{password}@{parts.netloc}/0"


def remove(broker: redis.Redis, site: str) -> bool:
    """End the site's user and its connections; say whether there was one."""
    was_there = _said(broker, "ACL", "DELUSER", redis_acl.user_name(site)) != "0"
    _said(broker, "ACL", "SAVE")
    return was_there


def sites(broker: redis.Redis) -> list[str]:
    """Return the sites that have a user."""
    prefix = redis_acl.user_name("")
    users = _said(broker, "ACL", "USERS").split()
    return sorted(user.removeprefix(prefix) for user in users if user.startswith(prefix))


def _said(broker: redis.Redis, *words: str) -> str:
    """Return an answer as redis-cli prints it."""
    answer = broker.execute_command(*words)  # type: ignore[no-untyped-call]
    lines = answer if isinstance(answer, list) else [answer]
    return "\n".join(each.decode() if isinstance(each, bytes) else str(each) for each in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="deploy.broker_users", description=__doc__)
    does = parser.add_subparsers(dest="does", required=True)
    allowing = does.add_parser("allow", help="make a site's user, or give it a new password")
    allowing.add_argument("site")
    allowing.add_argument(
        "--address", required=True, help="of the broker as the site reaches it: rediss://host:port"
    )
    does.add_parser("remove", help="end a site's user").add_argument("site")
    does.add_parser("list", help="the sites that have a user")
    return parser


def _broker() -> redis.Redis:
    url = os.environ.get("FLEET_BROKER_URL", "")
    if not url:
        raise BadBroker("FLEET_BROKER_URL is not set: it names the broker and the hub's user")
    if url.startswith("redis+socket://"):
        url = f"unix://{url.removeprefix('redis+socket://')}"
    return redis.Redis.from_url(url, socket_timeout=ANSWERS_WITHIN_S, protocol=2)


def _do(options: argparse.Namespace) -> str:
    broker = _broker()
    if options.does == "list":
        return "\n".join(sites(broker))
    if options.does == "allow":
        return allow(broker, options.site, options.address)
    if remove(broker, options.site):
        return f"site {options.site} can use the broker no longer"
    raise BadBroker(f"site {options.site!r:.60} has no user of the broker")


def main(arguments: list[str]) -> int:
    try:
        print(_do(_parser().parse_args(arguments)))
    except (BadBroker, redis_acl.AclRefused) as error:
        print(f"broker_users: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except redis.RedisError as error:
        print(f"broker_users: the broker does not do it: {error}", file=sys.stderr)
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
