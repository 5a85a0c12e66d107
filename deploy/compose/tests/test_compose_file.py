"""docker-compose.yml is what Docker reads, holds no secret, and confines what it starts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from deploy.compose.make_env import EXIT_BAD_INPUT, environment_file
from deploy.compose.tests import image_tree
from deploy.compose.tests.compose_file import (
    FILE,
    ROOT,
    Unset,
    document,
    dotenv,
    interpolated,
    services,
    variables,
)

SCHEMA = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
SECRETS = ("PASSWORD", "SECRET", "KEY_ID", "AUTH_KEY", "TOKEN")
PINNED = re.compile(r".+:\d+\.\d+(\.\d+)?(-[a-z-]+)?$")
EXAMPLE = (ROOT / ".env.example").read_text()
SERVICES = sorted(services())
HOST, STORE_URL = "fleet.example.org", "https://s3.example.org"


def _own_env() -> dict[str, str]:
    return dotenv(environment_file(EXAMPLE, host=HOST, store_url=STORE_URL))


def _complaints(composed: dict[str, Any]) -> list[str]:
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    return [
        f"{'.'.join(map(str, e.instance_path))}: {e.message}"
        for e in validator.iter_errors(composed)
    ]


def test_it_fits_the_compose_specification() -> None:
    assert _complaints(document()) == []


def test_the_specification_would_notice_a_slip() -> None:
    slip = yaml.safe_load(FILE.read_text())
    slip["services"]["web"]["comand"] = "gunicorn"

    assert _complaints(slip)


def test_whatever_a_service_refers_to_is_declared() -> None:
    composed = document()
    for name, service in services().items():
        assert set(service.get("depends_on", {})) <= set(services()), name
        assert set(service["networks"]) <= set(composed["networks"]), name
        named = {each.split(":")[0] for each in service.get("volumes", []) if each[0].isalpha()}
        assert named <= set(composed["volumes"]), name


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_confined(name: str) -> None:
    service = services()[name]
    user = interpolated(service["user"], _own_env())

    assert user.split(":")[0] not in ("", "0", "root")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service.get("privileged")
    assert service["pids_limit"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_pinned_and_its_health_is_seen(name: str) -> None:
    service = services()[name]

    assert PINNED.match(service["image"])
    assert name == "prepare" or service["healthcheck"]["test"]


def test_every_base_image_is_pinned() -> None:
    lines = image_tree.DOCKERFILE.read_text().splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM")]

    assert [base for base in bases if ":" in base]
    assert all(PINNED.match(base) for base in bases if ":" in base)


def test_ports_open_on_this_machine_only() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]

    assert ports
    assert all(interpolated(port, _own_env()).startswith("127.0.0.1:") for port in ports)


def test_the_database_is_on_no_network_that_leads_outside() -> None:
    composed = document()

    assert services()["postgres"]["networks"] == ["database"]
    assert composed["networks"]["database"]["internal"] is True
    assert "database" not in services()["satellite"]["networks"]


def test_no_secret_stands_in_the_file() -> None:
    for service in services().values():
        for name, value in service.get("environment", {}).items():
            if any(word in name for word in SECRETS) and value:
                left = re.sub(r"\$\{[^}]*\}", "", value)
                assert left.strip('",') == "", name


def test_every_variable_stands_in_the_example() -> None:
    asked = set(variables(FILE.read_text()))
    offered = set(re.findall(r"^#?([A-Z][A-Z0-9_]+)=", EXAMPLE, flags=re.MULTILINE))

    assert asked == offered


@pytest.mark.parametrize("name", sorted(dotenv(EXAMPLE)))
def test_without_a_value_nothing_starts(name: str) -> None:
    known = _own_env() | {name: ""}

    with pytest.raises(Unset, match=name):
        interpolated(document(), known)


def test_an_environment_of_ones_own_holds_new_secrets() -> None:
    first, second = _own_env(), _own_env()

    assert first["FLEET_HOST"] == HOST
    assert first["FLEET_S3_NODE_ENDPOINT"] == STORE_URL
    made = [name for name in first if not dotenv(EXAMPLE)[name]]
    assert len(made) == 5
    assert all(len(first[name]) == 64 and first[name] != second[name] for name in made)


@pytest.mark.parametrize(
    "arguments", [[], ["fleet"], ["https://fleet", STORE_URL], ["fleet", "s3"]]
)
def test_an_environment_that_cannot_be_meant_is_refused(arguments: list[str]) -> None:
    program = ROOT / "deploy" / "compose" / "make_env.py"
    done = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (EXIT_BAD_INPUT, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("target", ["hub", "satellite"])
def test_an_image_copies_what_is_there(target: str, tmp_path: Path) -> None:
    sources = [source for found, _ in image_tree.copies(target) for source in found]

    assert sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_satellites_image_holds_no_hub() -> None:
    copied = {source for found, _ in image_tree.copies("satellite") for source in found}

    assert not any("fleet" in source or source == "burnin" for source in copied)
