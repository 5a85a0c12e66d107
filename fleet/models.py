"""The inventory: sites, what kinds of node there are, the nodes, and what was done to them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TOKEN_BYTES = 32
PREFIX_LENGTH = 12

site_name = RegexValidator(r"^[a-z0-9][a-z0-9-]*$", "lower-case letters, digits and '-' only")
absolute_path = RegexValidator(r"^/[^\x00-\x1f%]*$", "must be an absolute path")
# %N stands for the Slurm node name.
facts_path = RegexValidator(r"^/([^\x00-\x1f%]|%N)*$", "must be an absolute path; %N is the node")


Row = TypeVar("Row", bound=models.Model)


class Named(models.Manager[Row]):
    """Rows that a fixture names instead of numbering them, so that loading it hits no other row."""

    def get_by_natural_key(self, name: str) -> Row:
        return self.get(name=name)


class NamedInSite(models.Manager["Node"]):
    """Nodes by the name of their site and their own."""

    def get_by_natural_key(self, site: str, name: str) -> Node:
        return self.get(site__name=site, name=name)


class ResourceClass(models.Model):
    """What a node is: thresholds are calibrated for a class, never for a node."""

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=200, blank=True)

    objects = Named["ResourceClass"]()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "resource classes"

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str]:
        return (self.name,)


class Site(models.Model):
    """A Slurm cluster and its login host, as the hub knows it. Its keys stay with its satellite."""

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=200, blank=True)
    is_enabled = models.BooleanField(default=True, help_text="Off: nothing is sent to it.")
    partition = models.CharField(max_length=63, help_text="Slurm partition that jobs go to.")
    work_dir = models.CharField(
        max_length=200, validators=[absolute_path], help_text="Shared by login host and nodes."
    )
    facts_root = models.CharField(max_length=200, default="/", validators=[facts_path])
    node_path = models.CharField(max_length=1000, default=STANDARD_PATH)
    node_python = models.CharField(max_length=200, default="python3")
    queue_ahead = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1)], help_text="Our jobs per node in the queue."
    )
    max_in_flight = models.PositiveIntegerField(default=500, validators=[MinValueValidator(1)])
    max_wait_minutes = models.PositiveIntegerField(default=24 * 60, help_text="In Slurm's queue.")

    capabilities = models.JSONField(default=dict, blank=True, help_text="What site_check found.")
    checked_at = models.DateTimeField(null=True, blank=True)
    checked_configuration = models.CharField(max_length=64, blank=True, editable=False)

    heartbeat_at = models.DateTimeField(null=True, blank=True, editable=False)
    reach = models.JSONField(
        default=dict, blank=True, editable=False, help_text="What the satellite can reach."
    )

    objects = Named["Site"]()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str]:
        return (self.name,)

    def configuration_digest(self) -> str:
        """Return a hash of what site_check looks at: a site that changed must be checked again."""
        looked_at = (
            self.partition,
            self.work_dir,
            self.facts_root,
            self.node_path,
            self.node_python,
        )
        return hashlib.sha256("\0".join(looked_at).encode()).hexdigest()

    @property
    def is_checked(self) -> bool:
        """Say whether the newest check was good and is of the configuration in force."""
        return self.checked_at is not None and (
            self.checked_configuration == self.configuration_digest()
        )


class SiteToken(models.Model):
    """What a site's satellite shows to the hub. Only its hash is kept; the text is shown once."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="tokens")
    prefix = models.CharField(max_length=PREFIX_LENGTH, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("site", "-created_at")

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.site}"

    @classmethod
    def issue(cls, site: Site) -> str:
        """Make a token for the site and return its text, which is not kept anywhere."""
        text = secrets.token_urlsafe(TOKEN_BYTES)
        cls.objects.create(site=site, prefix=text[:PREFIX_LENGTH], digest=digest_of(text))
        return text

    @classmethod
    def find(cls, text: str) -> SiteToken | None:
        """Return the token with this text, revoked or not; None if it is none of ours."""
        found = cls.objects.select_related("site").filter(prefix=text[:PREFIX_LENGTH]).first()
        if found is None or not hmac.compare_digest(found.digest, digest_of(text)):
            return None
        return found

    def revoke(self, now: datetime) -> None:
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Node(models.Model):
    """One machine. Its hardware identity comes first; the Slurm name may move to another one."""

    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="nodes")
    name = models.CharField(max_length=255, help_text="Slurm node name.")
    resource_class = models.ForeignKey(
        ResourceClass, on_delete=models.PROTECT, related_name="nodes"
    )
    dmi_serial = models.CharField(max_length=255, blank=True)
    machine_id = models.CharField(max_length=64, blank=True)
    gpu_uuids = models.JSONField(default=list, blank=True)
    cpu_count = models.PositiveIntegerField(null=True, blank=True)
    memory_mib = models.PositiveIntegerField(null=True, blank=True)
    slurm_state = models.CharField(max_length=63, blank=True)
    slurm_reason = models.CharField(max_length=1000, blank=True)
    is_usable = models.BooleanField(default=True, help_text="Slurm would start a job here.")
    seen_at = models.DateTimeField(null=True, blank=True)
    excluded_because = models.CharField(
        max_length=1000, blank=True, help_text="Not empty: no test is sent here."
    )

    objects = NamedInSite()

    class Meta:
        ordering = ("site", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("site", "name"), name="fleet_node_name_is_unique_in_site"
            ),
        )

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str, str]:
        return (self.site.name, self.name)


class NodeListing(models.Model):
    """When Slurm's nodes were last listed by a site's satellite, and which of them are new here."""

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="listing")
    listed_at = models.DateTimeField()
    unknown = models.JSONField(default=list, help_text="As the satellite described them.")

    def __str__(self) -> str:
        return f"nodes of {self.site}"


class HardwareOperation(models.Model):
    """Something done to a node. Evidence older than `performed_at` may no longer count."""

    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="operations")
    operation = models.CharField(max_length=63, help_text="A key of stale_test_operations.yaml.")
    performed_at = models.DateTimeField()
    recorded_at = models.DateTimeField(auto_now_add=True)
    recorded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    note = models.CharField(max_length=1000, blank=True)

    class Meta:
        ordering = ("-performed_at",)
        indexes = (models.Index(fields=("node", "-performed_at")),)
        constraints = (
            models.CheckConstraint(condition=~Q(operation=""), name="fleet_operation_is_named"),
        )

    def __str__(self) -> str:
        return f"{self.operation} on {self.node}"
