"""Everything that a new test consists of, as files of the source tree."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from burnin.hardware_tests.located_yaml import BadYaml, parse
from burnin.hardware_tests.registry import list_all_tests
from burnin.management.scaffold import edits, recordings
from burnin.management.scaffold.changes import write_all
from burnin.management.scaffold.names import Names, ScaffoldRefused, names_of

SLUGS = "runner/contract/slugs.py"
EXECUTORS = "runner/registry.py"
REGISTRY = "burnin/hardware_tests/registry.py"
THRESHOLDS = "burnin/hardware_tests/thresholds/thresholds.yaml"
STALE = "burnin/stale_test_operations.yaml"
GOLDEN = "fixtures/sbatch"
EDITED = (SLUGS, EXECUTORS, REGISTRY, THRESHOLDS, STALE)
DIRECTORIES = ("burnin/tests/hardware_tests", "runner/tests/executors", "fixtures/artifacts")

# What the stand-in's workload depends on. A test of another part stands under other operations.
_NODE = ("node-swap", "baseboard-swap", "bios-change", "os-reimage")
_NETWORK = (*_NODE, "nic-swap", "re-cable", "switch-or-optic-swap")
STALE_AFTER = {"single-node": _NODE, "multi-node": _NETWORK, "pairwise": _NETWORK}

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def write_new_test(root: Path, slug: str) -> list[str]:
    """Write a whole test into the source tree and return the paths of its files, edited ones first.

    Raises ScaffoldRefused, with nothing changed.
    """
    _refuse_no_checkout(root)
    names = names_of(slug, [test.slug for test in list_all_tests()])
    _refuse_unreadable(root)
    edited = {name: text.encode() for name, text in _edited(root, names).items()}
    new = dict(_new(root, names))
    for name in new:
        if (root / name).exists():
            raise ScaffoldRefused(f"{name} is there already: choose another name than {slug}")
    write_all(root, {**edited, **new})
    return [*edited, *new]


def _refuse_no_checkout(root: Path) -> None:
    missing = [name for name in EDITED if not (root / name).is_file()]
    missing += [name for name in (*DIRECTORIES, GOLDEN) if not (root / name).is_dir()]
    if missing:
        raise ScaffoldRefused(
            f"{root} is no source checkout ({missing[0]} is not there): run this in a clone of "
            "the repository"
        )


def _refuse_unreadable(root: Path) -> None:
    for name in (THRESHOLDS, STALE):
        try:
            parse((root / name).read_text(), name)
        except BadYaml as error:
            raise ScaffoldRefused(f"{error}; mend it, then ask again") from None


def _edited(root: Path, names: Names) -> dict[str, str]:
    texts = {name: (root / name).read_text() for name in EDITED}
    module = f"burnin.hardware_tests.{names.package}.{names.module}"
    executor = f"runner.executors.{names.module}:{names.class_name}"
    _refuse_taken(names, texts)
    return {
        SLUGS: edits.add_to_class(texts[SLUGS], "Slugs", f'    {names.constant} = "{names.slug}"'),
        EXECUTORS: edits.add_to_collection(
            texts[EXECUTORS], "EXECUTORS", f'    Slugs.{names.constant}: "{executor}",'
        ),
        REGISTRY: edits.add_to_collection(
            edits.add_import(texts[REGISTRY], module, names.class_name),
            "_REGISTERED_TESTS",
            f"    {names.class_name},",
        ),
        THRESHOLDS: edits.add_to_yaml_end(
            texts[THRESHOLDS], _rendered("thresholds.yaml.j2", names)
        ),
        STALE: edits.add_stale(texts[STALE], STALE_AFTER[names.stage], names.slug),
    }


def _refuse_taken(names: Names, texts: dict[str, str]) -> None:
    """Raise ScaffoldRefused where a class or constant would hide another of its name."""
    definition = ast.parse(_rendered("definition.py.j2", names))
    executor = ast.parse(_rendered(f"{names.package}_executor.py.j2", names))
    classes = [node.name for node in definition.body if isinstance(node, ast.ClassDef)]
    others = {name for name in classes if classes.count(name) > 1}
    for module in (ast.parse(texts[REGISTRY]), definition, executor):
        others.update(_imported(module))
    others |= {f"Slugs.{name}" for name in _assigned(texts[SLUGS])}
    if taken := sorted({*classes, f"Slugs.{names.constant}"} & others):
        raise ScaffoldRefused(
            f"the name {taken[0]} is taken: choose other words than {names.words!r}"
        )


def _imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


def _assigned(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _new(root: Path, names: Names) -> Iterator[tuple[str, bytes]]:
    package, module = names.package, names.module
    tests = f"burnin/tests/hardware_tests/{package}"
    for name, template in {
        f"burnin/hardware_tests/{package}/{module}.py": "definition.py.j2",
        f"runner/executors/{module}.py": f"{package}_executor.py.j2",
        f"{tests}/test_{module}.py": "test_definition.py.j2",
        f"runner/tests/executors/test_{module}.py": f"test_{package}_executor.py.j2",
    }.items():
        yield name, _formatted(_rendered(template, names), root / name, root)
    for name in (f"burnin/hardware_tests/{package}/__init__.py", f"{tests}/__init__.py"):
        if not (root / name).exists():
            yield name, b""
    for name, content in recordings.recordings(names).items():
        yield f"fixtures/artifacts/{names.slug}/{name}", content
    yield f"{GOLDEN}/{names.slug}.sh", _golden_script(root, names).encode()


def _rendered(template: str, names: Names) -> str:
    return _TEMPLATES.get_template(template).render(
        names=names, size_bytes=recordings.SIZE_BYTES, digest=recordings.DIGEST
    )


def _formatted(source: str, path: Path, root: Path) -> bytes:
    """Return Python as `make check` wants it, whatever the length of the new names."""
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(path), "-"]
    done = subprocess.run(ruff, input=source.encode(), capture_output=True, cwd=root, check=False)
    if done.returncode:
        raise ScaffoldRefused(f"ruff is needed to format {path.name}: run `make venv` first")
    return done.stdout


def _golden_script(root: Path, names: Names) -> str:
    """Return the script of a test of the same stage without GPUs: they differ by the slug."""
    for path in sorted((root / GOLDEN).glob(f"{names.stage}.*.sh")):
        text = path.read_text()
        if "--gres" not in text and "BURN_IN_" not in text:
            return text.replace(path.stem, names.slug)
    raise ScaffoldRefused(f"{GOLDEN} has no script of a {names.stage} test without GPUs to go by")
