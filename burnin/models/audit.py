"""Who did what to what, where and why. Rows are only ever added."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q

from burnin.models.text import storable
from fleet.models import Site

LONGEST_REASON = 1000


class AuditIsKept(TypeError):
    """Someone tried to change what was done: a defect of the caller."""


@dataclass(frozen=True)
class Actor:
    """Whoever asks for something: a user, perhaps through a token, or a program by its name."""

    name: str
    user: AbstractBaseUser | None = None
    token: str = ""

    @classmethod
    def of(cls, user: AbstractBaseUser | AnonymousUser, *, token: str = "") -> Actor:
        assert isinstance(user, AbstractBaseUser)  # nobody acts who has not logged in
        return cls(user.get_username(), user, token)

    def __str__(self) -> str:
        return f"{self.name} (token {self.token})" if self.token else self.name

    @property
    def user_id(self) -> Any:
        return self.user.pk if self.user else None


class Action(models.TextChoices):
    """What is written down. An action of another subject is any word of its own."""

    START_JOB = "start job"
    CANCEL_JOB = "cancel job"
    CANCEL_RUNS = "cancel runs"
    RERUN_FAILED = "re-run failed"
    RERUN_ERRORED = "re-run errored"
    EDIT_LIMITS = "edit limits"


class AuditManager(models.Manager["AuditEntry"]):
    """Entries, each written in the transaction of what it tells."""

    def write(
        self,
        actor: Actor,
        action: str,
        target: models.Model,
        *,
        site: Site | None,
        reason: str,
        now: datetime,
        idempotency_key: str = "",
    ) -> AuditEntry:
        """Add one entry. Call it in the transaction that does what it tells.

        A key is its user's: without a user it means nothing.
        """
        return self.create(
            at=now,
            user_id=actor.user_id,
            user_name=storable(actor.name, limit=150),
            token=storable(actor.token, limit=100),
            action=action,
            object_kind=str(target._meta.verbose_name),
            object_id=_identity(target),
            object_name=storable(str(target), limit=200),
            site=site,
            reason=storable(reason.strip(), limit=LONGEST_REASON),
            idempotency_key=idempotency_key if actor.user else "",
        )


class AuditEntry(models.Model):
    """One act. Names stay as they were then, whatever becomes of the user or the object."""

    at = models.DateTimeField()
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    user_name = models.CharField(max_length=150)
    token = models.CharField(max_length=100, blank=True, help_text="The token's name, if one was.")
    action = models.CharField(max_length=63)
    object_kind = models.CharField(max_length=63)
    object_id = models.CharField(max_length=63)
    object_name = models.CharField(max_length=200, blank=True)
    site = models.ForeignKey(
        Site,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        help_text="None: it belongs to no site.",
    )
    reason = models.CharField(max_length=LONGEST_REASON, blank=True)
    idempotency_key = models.CharField(
        max_length=200, blank=True, help_text="Of the form that asked: sent twice, it acts once."
    )

    objects = AuditManager()

    class Meta:
        ordering = ("-at", "-id")
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(fields=("-at", "-id"), name="burnin_audit_by_time"),
            models.Index(fields=("site", "-at", "-id"), name="burnin_audit_of_a_site"),
            models.Index(fields=("object_kind", "object_id"), name="burnin_audit_of_an_object"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("user", "idempotency_key"),
                condition=~Q(idempotency_key=""),
                name="burnin_audit_key_is_unique",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_name}: {self.action} {self.object_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AuditIsKept("what was done is never changed: add another entry")
        super().save(*args, **kwargs)


def _identity(target: models.Model) -> str:
    key = target.pk
    return str(key) if isinstance(key, uuid.UUID | int | str) else repr(key)
