"""How far a site's clocks are from the hub's: orders expire, and evidence is dated, by them."""

from datetime import datetime

from burnin.satellite.messages import ClockOwner, Finding, SiteChecked
from fleet.models import Site

# Half of what an order lives: a satellite whose clock is ahead by more would drop fresh ones.
MAY_DIFFER_S = 30.0
SKEW = "clock_skew_s"  # in Site.reach: by how much the satellite's clock is ahead of ours
HUB_CLOCK = "hub_clock"
UNSAID = "does not say what time it has: bring it to the hub's version and start it again"


def skew_s(sent_at: datetime | None, now: datetime) -> float | None:
    """Return by how many seconds the satellite is ahead, as its batch arrives; None: unknown."""
    return None if sent_at is None else round((sent_at - now).total_seconds(), 3)


def why_out_of_time(site: Site) -> str:
    """Say that orders may be lost by the satellite's clock; "" when it is known to be right."""
    ahead_s = site.reach.get(SKEW)
    if not isinstance(ahead_s, float | int):
        return f"the satellite of site {site.name} {UNSAID}"
    if abs(ahead_s) <= MAY_DIFFER_S:
        return ""
    off = _off(f"the satellite of site {site.name}", ahead_s)
    return f"{off}: orders would be lost; set it by NTP"


def finding(fact: SiteChecked, satellite_s: float | None) -> Finding:
    """Compare every clock of a site with ours. What was not read is not good."""
    if satellite_s is None:
        return Finding(probe=HUB_CLOCK, passed=False, words=f"the satellite {UNSAID}")
    ahead = {each.whose: satellite_s + each.ahead_s for each in fact.clocks}
    unread = [owner.value for owner in ClockOwner if owner not in ahead]
    clocks = {"satellite": satellite_s, **{owner.value: ahead[owner] for owner in sorted(ahead)}}
    off = [_off(f"the {whose}", by_s) for whose, by_s in clocks.items() if abs(by_s) > MAY_DIFFER_S]
    complaints = [f"the clock of the {whose} could not be read" for whose in unread]
    if off:
        complaints.append(f"{' and '.join(off)}: more than {MAY_DIFFER_S:.0f} s; set it by NTP")
    found = ", ".join(f"{whose} {by_s:+.1f} s" for whose, by_s in clocks.items())
    return Finding(probe=HUB_CLOCK, passed=not complaints, found=found, words="; ".join(complaints))


def _off(whose: str, ahead_s: float) -> str:
    direction = "ahead of" if ahead_s > 0 else "behind"
    return f"the clock of {whose} is {abs(ahead_s):.0f} s {direction} the hub's"
