"""The rows of the inventory. One module a subject; this is the one place that gathers them."""

from fleet.models.api_token import ApiToken
from fleet.models.inventory import (
    HardwareOperation,
    HardwareUnstated,
    Node,
    NodeListing,
    ResourceClass,
    Site,
    site_name,
    stated_hardware,
)
from fleet.models.login_failure import LoginFailure
from fleet.models.site_access import SiteAccess
from fleet.models.site_token import SiteToken

__all__ = [
    "ApiToken",
    "HardwareOperation",
    "HardwareUnstated",
    "LoginFailure",
    "Node",
    "NodeListing",
    "ResourceClass",
    "Site",
    "SiteAccess",
    "SiteToken",
    "site_name",
    "stated_hardware",
]
