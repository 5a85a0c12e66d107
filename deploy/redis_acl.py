"""What a satellite's Redis user may do: work off its own site's queue, and nothing else.

Its keys all begin with `site-<name>:`, the `global_keyprefix` of both ends. A worker that receives,
acknowledges, restores and reconnects needs exactly these commands.
"""

import re
from collections.abc import Callable

SITE_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
COMMANDS = (
    *("ping", "hello", "multi", "exec", "watch", "unwatch"),
    *("brpop", "lpush", "rpush"),
    *("hset", "hdel", "hget"),
    *("zadd", "zrem", "zrange", "zrevrangebyscore"),
    *("evalsha", "script|load"),
    *("set", "get", "del"),
)

OPENINGS = frozenset({"nopass", "allkeys", "allchannels", "allcommands"})

RedisCli = Callable[..., str]  # called with the words of one command


class AclRefused(Exception):
    """Redis did not take the user's rules as they were meant. The user is not to be used."""


def user_name(site: str) -> str:
    return f"site-{site}"


def key_prefix(site: str) -> str:
    """Return what every key of the site begins with; no site's prefix begins another's."""
    return f"site-{site}:"


def allow_site(redis_cli: RedisCli, site: str, password: str) -> None:
    """Make the site's user, or bring it to these rules; other passwords of it end.

    Raises:
        AclRefused: the name is unfit, or the rules in force are not these. Redis 7.0 keeps a user's
            old rules when it dislikes a new one, so what it says on success is not believed.
    """
    if not SITE_NAME.fullmatch(site):
        raise AclRefused(f"{site!r} is no name of a site: lower-case letters, digits and '-' only")
    user, keys = user_name(site), f"~{key_prefix(site)}*"
    allowed = [f"+{command}" for command in COMMANDS]
    rules = ["reset", "on", f">{password}", keys, "-@all", *allowed]
    answer = redis_cli("ACL", "SETUSER", user, *rules)
    in_force = _rules(redis_cli("ACL", "LIST"), user)
    opened = {rule for rule in in_force if rule[0] in "~&%" or rule in OPENINGS}
    if "on" not in in_force or opened != {keys} or _commands(in_force, redis_cli) != set(COMMANDS):
        raise AclRefused(f"Redis did not take the rules of user {user}: {answer.strip()}")


def _rules(acl_list: str, user: str) -> list[str]:
    for line in acl_list.splitlines():
        words = line.split()
        if words[:2] == ["user", user]:
            return words[2:]
    return []


def _commands(rules: list[str], redis_cli: RedisCli) -> set[str]:
    """Return the commands that the rules allow; Redis writes `+@transaction -discard` for four."""
    allowed: set[str] = set()
    for rule in rules:
        sign, name = rule[0], rule[1:]
        named = {name}
        if name.startswith("@") and rule != "-@all":
            named = set(redis_cli("ACL", "CAT", name[1:]).split())
        if rule == "-@all":
            allowed = set()
        elif sign == "+":
            allowed |= named
        elif sign == "-":
            allowed -= named
    return allowed
