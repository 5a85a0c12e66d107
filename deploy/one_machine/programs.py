"""What runs on this one machine besides Slurm, as command lines."""

import sys
from dataclasses import replace
from pathlib import Path

from deploy.one_machine.child import Program
from deploy.one_machine.place import Place

BIN = Path(sys.executable).parent
WEB_THREADS = 8


def redis(place: Place) -> Program:
    """The broker, on a socket that only we may open; it keeps its queues on disk."""
    argv = (
        *("redis-server", "--port", "0"),
        *("--unixsocket", str(place.redis_socket), "--unixsocketperm", "700"),
        *("--dir", str(place.directory / "redis"), "--save", "", "--appendonly", "yes"),
        *("--set-proc-title", "no"),  # a title is written over the environment, and our mark in it
    )
    return Program("redis", argv, place.environment(), _log(place, "redis"))


def hub(place: Place) -> list[Program]:
    celery = (str(BIN / "celery"), "-A", "fleet.celery")
    return [
        _of_hub(place, "web", _gunicorn(place)),
        _of_hub(place, "worker", (*celery, "worker", "-Q", "hub", "-c", "2", "-l", "info")),
        _of_hub(place, "beat", (*celery, "beat", "-l", "info")),
    ]


def _gunicorn(place: Place) -> tuple[str, ...]:
    return (
        *(str(BIN / "gunicorn"), "fleet.wsgi", "--bind", f"127.0.0.1:{place.port}"),
        *("--worker-class", "gthread", "--threads", str(WEB_THREADS)),
        "--no-control-socket",  # it would lie in the home directory, one for all installations
    )


def satellite(place: Place) -> Program:
    """It gets no database, no store and no settings of the hub, as at any site."""
    argv = (str(BIN / "celery"), "-A", "burnin.satellite.app", "worker", "-l", "info")
    environment = place.environment(FLEET_SITE_FILE=str(place.site_file))
    return Program("satellite", argv, environment, _log(place, "satellite"))


def attendant(place: Place, *options: str) -> Program:
    """Burns the machine in and tells the verdicts: it speaks to whoever typed the command."""
    argv = (sys.executable, "-m", "deploy.one_machine.hub_side", "attend", *options)
    return replace(_of_hub(place, "attendant", argv), speaks=True)


def prepare(place: Place, *options: str) -> Program:
    argv = (sys.executable, "-m", "deploy.one_machine.hub_side", "prepare", *options)
    return _of_hub(place, "prepare", argv)


def _of_hub(place: Place, name: str, argv: tuple[str, ...]) -> Program:
    return Program(name, argv, place.hub_environment, _log(place, name))


def _log(place: Place, name: str) -> Path:
    return place.log_directory / f"{name}.log"
