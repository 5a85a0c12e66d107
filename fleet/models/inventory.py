"""The inventory: sites, what kinds of node there are, the nodes, and what was done to them."""

from __future__ import annotations

import hashlib
import re
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import Q

from fleet.hardware import AMD, NO_GPU, NVIDIA, Hardware, why_impossible

STANDARD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

site_name = RegexValidator(r"\A[a-z0-9][a-z0-9-]*\Z", "lower-case letters, digits and '-' only")
partition_name = RegexValidator(r"\A[A-Za-z0-9._-]+\Z", "letters, digits, '.', '_' and '-' only")
absolute_path = RegexValidator(r"\A/[^\x00-\x1f%]*\Z", "must be an absolute path")
# %N stands for the Slurm node name.
facts_path = RegexValidator(
    r"\A/([^\x00-\x1f%]|%N)*\Z", "must be an absolute path; %%N is the node"
)


Row = TypeVar("Row", bound=models.Model)


class Named(models.Manager[Row]):
    """Rows that a fixture names instead of numbering them, so that loading it hits no other row."""

    def get_by_natural_key(self, name: str) -> Row:
        return self.get(name=name)


class NamedInSite(models.Manager["Node"]):
    """Nodes by the name of their site and their own."""

    def get_by_natural_key(self, site: str, name: str) -> Node:
        return self.get(site__name=site, name=name)


def container_images(containers: object) -> None:
    """Refuse all but a mapping of names to images, as Pyxis takes them."""
    if not isinstance(containers, dict) or not all(
        isinstance(image, str) and re.fullmatch(r"[!-~]{1,500}", image)
        for image in containers.values()
    ):
        raise ValidationError(
            'must map names to images, like {"nccl-tests": "/shared/images/nccl-tests.sqsh"}'
        )


class HardwareUnstated(Exception):
    """Nobody has said what nodes of a class are made of, so it is not known what to ask them."""

    def __init__(self, resource_class: str) -> None:
        super().__init__(
            f"resource class {resource_class:.80} does not state its hardware: an admin states "
            "GPUs per node, their maker and the parts under Resource classes"
        )


class ResourceClass(models.Model):
    """What a node is: thresholds are calibrated for a class, never for a node.

    `gpus_per_node` None: its hardware is not stated. Then nothing is asked of its nodes, and none
    is accepted.
    """

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=200, blank=True)
    gpus_per_node = models.PositiveSmallIntegerField(
        "GPUs per node",
        null=True,
        blank=True,
        help_text="0 for none. Empty: not stated, so its nodes take no job and none is accepted.",
    )
    gpu_maker = models.CharField(
        "maker of the GPUs",
        max_length=6,
        blank=True,
        choices=[(NVIDIA, NVIDIA), (AMD, AMD)],
        default=NO_GPU,
    )
    parts = models.JSONField(
        default=list,
        blank=True,
        help_text="What its nodes have, by name: a preset asks for no check of anything else.",
    )

    objects = Named["ResourceClass"]()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "resource classes"
        constraints = (
            models.CheckConstraint(
                # Without isnull=False SQL holds what is unknown for met.
                condition=Q(~Q(gpu_maker=NO_GPU), gpus_per_node__isnull=False, gpus_per_node__gt=0)
                | Q(gpus_per_node=0, gpu_maker=NO_GPU)
                | Q(gpus_per_node=None, gpu_maker=NO_GPU),
                name="fleet_gpus_have_a_maker",
                violation_error_message="GPUs have a maker, and nodes without GPUs have none",
            ),
            models.CheckConstraint(
                condition=Q(gpu_maker__in=(NO_GPU, NVIDIA, AMD)),
                name="fleet_gpu_maker_is_known",
                violation_error_message=f"GPUs are of {NVIDIA} or {AMD}",
            ),
        )

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str]:
        return (self.name,)

    def clean(self) -> None:
        super().clean()
        self.parts = self.parts or []  # an emptied field of a form comes as None
        if why := why_impossible(self.gpus_per_node, self.gpu_maker, self.parts):
            raise ValidationError(why)

    @property
    def hardware(self) -> Hardware:
        """What one of its nodes is made of. Raises HardwareUnstated."""
        return stated_hardware(self.name, self.gpus_per_node, self.gpu_maker, self.parts)


def stated_hardware(
    name: str, gpus_per_node: int | None, gpu_maker: str, parts: list[str]
) -> Hardware:
    """Return what columns of a class say. Raises HardwareUnstated, also for what cannot be."""
    if gpus_per_node is None or why_impossible(gpus_per_node, gpu_maker, parts):
        raise HardwareUnstated(name)
    columns = {"gpus_per_node": gpus_per_node, "gpu_maker": gpu_maker, "parts": parts}
    return Hardware.from_json(name, columns)


class Site(models.Model):
    """A Slurm cluster and its login host, as the hub knows it. Its keys stay with its satellite."""

    name = models.CharField(max_length=63, unique=True, validators=[site_name])
    description = models.CharField(max_length=200, blank=True)
    is_enabled = models.BooleanField(default=True, help_text="Off: nothing is sent to it.")
    partition = models.CharField(
        max_length=63,
        validators=[partition_name],
        help_text="Slurm partition that jobs go to.",
    )
    work_dir = models.CharField(
        max_length=200, validators=[absolute_path], help_text="Shared by login host and nodes."
    )
    facts_root = models.CharField(max_length=200, default="/", validators=[facts_path])
    node_path = models.CharField(max_length=1000, default=STANDARD_PATH)
    node_python = models.CharField(max_length=200, default="python3")
    containers = models.JSONField(
        default=dict,
        blank=True,
        validators=[container_images],
        help_text="By name, the image that tests take their tool from; absent: from node_path.",
    )
    shared_storage = models.CharField(
        max_length=200,
        blank=True,
        validators=[absolute_path],
        help_text="A directory of all nodes, for tests of storage; empty: they are left out.",
    )
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

    def clean(self) -> None:
        super().clean()
        self.containers = self.containers or {}  # an emptied field of a form comes as None

    def configuration_digest(self) -> str:
        """Return a hash of what site_check looks at: a site that changed must be checked again."""
        images = (f"{name}={image}" for name, image in sorted(self.containers.items()))
        looked_at = (
            self.partition,
            self.work_dir,
            self.facts_root,
            self.node_path,
            self.node_python,
            *images,
        )
        return hashlib.sha256("\0".join(looked_at).encode()).hexdigest()

    @property
    def is_checked(self) -> bool:
        """Say whether the newest check was good and is of the configuration in force."""
        return self.checked_at is not None and (
            self.checked_configuration == self.configuration_digest()
        )


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
