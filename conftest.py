"""Real clusters for every test that asks for one. What is missing fails; nothing is skipped."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from deploy.cluster import testing
from deploy.cluster.errors import ClusterError
from deploy.cluster.testing import RealCluster, RealServices
from fleet.tests.databases import Databases

# The same examples in every run, however busy the machine is.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")

HOME_VARIABLE = "FM_TEST_CLUSTERS"  # inherited by xdist's workers, who share one cluster
# A dead node is NODE_FAIL in some 18 s; a finished job stays visible for longer than that.
QUICK = ("SlurmdTimeout=10", "MessageTimeout=5", "MinJobAge=60", "KillWait=3")
SETTINGS = tuple(word for setting in QUICK for word in ("--set", setting))
SHARED = ("main", "down:State=DOWN", "short:MaxTime=1")  # in `short`, five minutes never start
PARTITIONS = tuple(word for partition in SHARED for word in ("--partition", partition))
DATABASE_KINDS = os.environ.get("FM_TEST_DATABASES", "sqlite,postgresql").split(",")
ASKS_FOR_ROWS = frozenset({"db", "transactional_db", "live_server", "admin_user", "admin_client"})


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test of rows on both databases, one kind after the other."""
    asks = ASKS_FOR_ROWS & set(metafunc.fixturenames)
    if asks or metafunc.definition.get_closest_marker("django_db"):
        once = metafunc.definition.get_closest_marker("one_database")
        kinds = DATABASE_KINDS[:1] if once else DATABASE_KINDS
        metafunc.parametrize("database", kinds, indirect=True, scope="session")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # by `nohup make test &`, for one
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not _is_worker(config):
        temporary = Path(tempfile.gettempdir())
        testing.wipe_forsaken(temporary)
        os.environ[HOME_VARIABLE] = str(temporary / f"{testing.PREFIX}{os.getpid()}")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _is_worker(config) and HOME_VARIABLE in os.environ:
        testing.wipe_all(Path(os.environ.pop(HOME_VARIABLE)))


def _bring_up(directory: Path, *options: str) -> RealCluster:
    try:
        return testing.bring_up(directory, *options)
    except ClusterError as error:
        pytest.fail(f"no real cluster: {error}", pytrace=False)


@pytest.fixture(scope="session")
def cluster() -> RealCluster:
    """The one cluster of this test session: 8 nodes, accounting, SSH, a root for each node.

    It is shared: a test that stops a daemon or drains a node takes `start_cluster` instead.
    """
    return _bring_up(
        Path(os.environ[HOME_VARIABLE]) / "shared", "--node-roots", *PARTITIONS, *SETTINGS
    )


@pytest.fixture(scope="session")
def services() -> RealServices:
    """Redis, PostgreSQL and S3 for this test session, without Slurm.

    They are shared: a test that kills one of them takes `start_services` instead, and others keep
    to a site, a database or keys of their own.
    """
    return _bring_up_services(Path(os.environ[HOME_VARIABLE]) / "services")


def _bring_up_services(directory: Path) -> RealServices:
    try:
        return testing.bring_up_services(directory)
    except ClusterError as error:
        pytest.fail(f"no real services: {error}", pytrace=False)


@pytest.fixture(scope="session")
def databases(
    request: pytest.FixtureRequest,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    worker_id: str,
) -> Iterator[Databases]:
    """The test databases of this process."""
    made = Databases(lambda: request.getfixturevalue("services").database_url(f"fleet_{worker_id}"))
    yield made
    with django_db_blocker.unblock():
        made.destroy()


@pytest.fixture(scope="session", autouse=True)
def database(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> None:
    """The database of a test with `django_db`, by `pytest_generate_tests`; others have none."""
    if hasattr(request, "param"):
        databases = request.getfixturevalue("databases")
        with django_db_blocker.unblock():
            databases.use(request.param)


@pytest.fixture(scope="session", autouse=True)
def quick_clients() -> Iterator[None]:
    """Neither hash passwords slowly nor list the static files anew for each of many clients."""
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(PASSWORD_HASHERS=hashers, WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Instead of pytest-django's one database."""


@pytest.fixture
def start_services() -> Iterator[Callable[[], RealServices]]:
    """Start private services that are gone when the test ends."""
    home = Path(os.environ[HOME_VARIABLE])
    home.mkdir(exist_ok=True)
    started: list[Path] = []

    def start() -> RealServices:
        started.append(Path(tempfile.mkdtemp(prefix="services-", dir=home)))
        return _bring_up_services(started[-1])

    yield start
    for directory in started:
        testing.command("wipe", str(directory))


@pytest.fixture
def start_cluster() -> Iterator[Callable[..., RealCluster]]:
    """Start private clusters, `start_cluster("--nodes", "2")`, that are gone when the test ends."""
    home = Path(os.environ[HOME_VARIABLE])
    home.mkdir(exist_ok=True)
    started: list[Path] = []

    def start(*options: str) -> RealCluster:
        directory = Path(tempfile.mkdtemp(prefix="private-", dir=home))
        started.append(directory)
        return _bring_up(directory, *SETTINGS, *options)

    yield start
    for directory in started:
        testing.command("wipe", str(directory))
