"""docs/configuration.md names every variable that the hub reads, and none that it does not."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = re.compile(r"[`\"](FLEET_[A-Z0-9_]+)[`\"]")
OF_THE_SATELLITE = {"FLEET_SITE_FILE"}


def test_the_table_holds_what_the_code_reads() -> None:
    sources = [
        path for top in ("fleet", "burnin") for path in (ROOT / top).rglob("*.py")
        if "tests" not in path.parts
    ]  # fmt: skip
    read = {name for path in sources for name in VARIABLE.findall(path.read_text())}
    rows = re.findall(r"^\|(.*?)\|", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE)
    named = {name for row in rows for name in VARIABLE.findall(row)}

    assert named == read - OF_THE_SATELLITE
