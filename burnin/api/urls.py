"""The API's addresses, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path, re_path, register_converter

from burnin.api.docs import Docs
from burnin.api.errors import no_such_address
from burnin.api.resources.artifacts import ArtifactLink, Artifacts, OneArtifact
from burnin.api.resources.attempts import Attempts, OneAttempt
from burnin.api.resources.audit import Audit
from burnin.api.resources.catalogue import OneTest, Tests
from burnin.api.resources.dry_run import DryRun
from burnin.api.resources.fleet import Fleet
from burnin.api.resources.job_actions import CancelJob, RerunJob
from burnin.api.resources.job_nodes import JobNodes
from burnin.api.resources.jobs import Jobs, OneJob
from burnin.api.resources.logs import RunLog
from burnin.api.resources.metrics import Metrics
from burnin.api.resources.nodes import Nodes, OneNode
from burnin.api.resources.operations import Operations
from burnin.api.resources.presets import OnePreset, Presets
from burnin.api.resources.resource_classes import ResourceClasses
from burnin.api.resources.results import OneResult, Results
from burnin.api.resources.run_pairs import RunPairs
from burnin.api.resources.runs import OneRun, Runs
from burnin.api.resources.sites import OneSite, SiteCheck, Sites
from burnin.api.resources.thresholds import OneThreshold, Thresholds
from burnin.api.resources.tokens import RevokeToken, Tokens
from burnin.api.root import Root
from burnin.api.satellite import Bundle, Facts
from burnin.api.schema import Document
from burnin.api.store import LocalObject


class NameConverter:
    """What a site, node, test or class can be called: nothing that a database would choke on."""

    regex = "[A-Za-z0-9][A-Za-z0-9._-]{0,254}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class NumberConverter(NameConverter):
    """A number that every database can look for."""

    regex = "[0-9]{1,9}"


register_converter(NameConverter, "name")
register_converter(NumberConverter, "number")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", Root.as_view(), name="root"),
    path("schema", Document.as_view(), name="schema"),
    path("docs", Docs.as_view(), name="docs"),
    path("fleet", Fleet.as_view(), name="fleet"),
    path("sites", Sites.as_view(), name="sites"),
    path("sites/<name:name>", OneSite.as_view(), name="site"),
    path("sites/<name:name>/check", SiteCheck.as_view(), name="site-check"),
    path("resource-classes", ResourceClasses.as_view(), name="resource-classes"),
    path("nodes", Nodes.as_view(), name="nodes"),
    path("nodes/<name:site__name>/<name:name>", OneNode.as_view(), name="node"),
    path("hardware-operations", Operations.as_view(), name="hardware-operations"),
    path("presets", Presets.as_view(), name="presets"),
    path("presets/<name:name>", OnePreset.as_view(), name="preset"),
    path("thresholds", Thresholds.as_view(), name="thresholds"),
    path(
        "thresholds/<name:slug>/<name:resource_class__name>/<number:number>",
        OneThreshold.as_view(),
        name="threshold",
    ),
    path("tests", Tests.as_view(), name="tests"),
    path("tests/<name:slug>", OneTest.as_view(), name="test"),
    path("jobs", Jobs.as_view(), name="jobs"),
    path("jobs/dry-run", DryRun.as_view(), name="job-dry-run"),
    path("jobs/<uuid:id>", OneJob.as_view(), name="job"),
    path("jobs/<uuid:id>/nodes", JobNodes.as_view(), name="job-nodes"),
    path("jobs/<uuid:id>/cancel", CancelJob.as_view(), name="job-cancel"),
    path("jobs/<uuid:id>/rerun", RerunJob.as_view(), name="job-rerun"),
    path("runs", Runs.as_view(), name="runs"),
    path("runs/<uuid:id>", OneRun.as_view(), name="run"),
    path("runs/<uuid:id>/pairs", RunPairs.as_view(), name="run-pairs"),
    path("runs/<uuid:id>/log", RunLog.as_view(), name="run-log"),
    path("attempts", Attempts.as_view(), name="attempts"),
    path("attempts/<uuid:run>/<number:number>", OneAttempt.as_view(), name="attempt"),
    path("results", Results.as_view(), name="results"),
    path("results/<number:id>", OneResult.as_view(), name="result"),
    path("metrics", Metrics.as_view(), name="metrics"),
    path("artifacts", Artifacts.as_view(), name="artifacts"),
    path("artifacts/<number:id>", OneArtifact.as_view(), name="artifact"),
    path("artifacts/<number:id>/link", ArtifactLink.as_view(), name="artifact-link"),
    path("audit", Audit.as_view(), name="audit"),
    path("tokens", Tokens.as_view(), name="tokens"),
    path("tokens/<name:prefix>/revoke", RevokeToken.as_view(), name="token-revoke"),
    path("satellite/facts", Facts.as_view(), name="satellite-facts"),
    re_path(
        r"^satellite/bundles/(?P<sha256>[0-9a-f]{64})$", Bundle.as_view(), name="satellite-bundle"
    ),
    path("store/<path:key>", LocalObject.as_view(), name="store-object"),
    re_path(r"^", no_such_address),
]
