"""Rules are believed when Redis shows them, not when it says OK."""

import pytest

from deploy import redis_acl
from deploy.redis_acl import AclRefused, allow_site

SHOWN = "user site-east on sanitize-payload #ab ~site-east:* resetchannels -@all {commands}"
COMMANDS = " ".join(f"+{command}" for command in redis_acl.COMMANDS)


class FakeRedis:
    """Says OK to everything and shows the rules it was given beforehand."""

    def __init__(self, shown: str) -> None:
        self.shown, self.asked = shown, list[tuple[str, ...]]()

    def __call__(self, *words: str) -> str:
        self.asked.append(words)
        if words == ("ACL", "CAT", "transaction"):
            return "multi\nexec\nwatch\nunwatch\ndiscard\n"
        return f"user default off\n{self.shown}\n" if words == ("ACL", "LIST") else "OK\n"


def test_rules_in_force_as_asked_are_believed() -> None:
    allow_site(FakeRedis(SHOWN.format(commands=COMMANDS)), "east", "secret")


def test_a_category_counts_as_its_commands() -> None:
    four = "+multi +exec +watch +unwatch"
    assert four in COMMANDS
    shown = SHOWN.format(commands=COMMANDS.replace(four, "+@transaction -discard"))

    allow_site(FakeRedis(shown), "east", "secret")


@pytest.mark.parametrize(
    "shown",
    [
        "",
        SHOWN.format(commands=COMMANDS).replace(" on ", " off "),
        SHOWN.format(commands=COMMANDS.replace("+unwatch ", "")),
        SHOWN.format(commands=f"{COMMANDS} +keys"),
        SHOWN.format(commands=f"{COMMANDS} +@transaction"),
        SHOWN.format(commands=COMMANDS).replace("~site-east:*", "~*"),
        SHOWN.format(commands=COMMANDS).replace("~site-east:*", "~site-east:* %R~*"),
        SHOWN.format(commands=COMMANDS).replace("resetchannels", "&*"),
        SHOWN.format(commands=COMMANDS).replace("#ab", "nopass"),
    ],
)
def test_other_rules_in_force_are_refused(shown: str) -> None:
    with pytest.raises(AclRefused, match="did not take the rules of user site-east"):
        allow_site(FakeRedis(shown), "east", "secret")


@pytest.mark.parametrize("site", ["", "*", "a b", "East", "-a", "a:", "a\nb"])
def test_a_name_that_would_widen_the_rules_never_reaches_redis(site: str) -> None:
    redis = FakeRedis("")

    with pytest.raises(AclRefused, match="no name of a site"):
        allow_site(redis, site, "secret")

    assert redis.asked == []
