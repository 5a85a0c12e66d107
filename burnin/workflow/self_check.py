"""A worker looks at what it needs, and notes what it found. Pages only read the notes."""

from datetime import datetime

from burnin.models.part_health import Part, PartHealth
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable


def look_around(store: ArtifactStore, now: datetime) -> None:
    """Note how worker, broker and store are.

    That this runs at all shows that beat rang, that the broker brought it, and that a worker works.
    """
    PartHealth.objects.note(
        Part.WORKER, is_well=True, words="beat rings, a worker answers", now=now
    )
    PartHealth.objects.note(Part.BROKER, is_well=True, words="brings the hub's tasks", now=now)
    words = _why_ill(store)
    well = "takes and gives files"
    PartHealth.objects.note(Part.STORE, is_well=not words, words=words or well, now=now)


def _why_ill(store: ArtifactStore) -> str:
    try:
        store.probe()
    except (StoreUnreachable, StoreRefused) as error:
        return str(error)
    return ""
