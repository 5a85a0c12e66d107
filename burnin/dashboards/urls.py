"""The addresses of the pages. Each page's own module says what it shows.

What only shows takes no POST: whoever may not write is refused wherever they try.
"""

from django.contrib.auth.views import LogoutView
from django.urls import path
from django.views.decorators.http import require_safe

from burnin.dashboards import (
    audit,
    catalogue,
    cohort,
    find,
    home,
    job,
    job_actions,
    job_runs,
    jobs,
    limits,
    log,
    login,
    node,
    node_actions,
    nodes,
    run,
    run_pairs,
    sites,
    start,
    tokens,
)

app_name = "dashboards"
urlpatterns = [
    path("", require_safe(home.home), name="home"),
    path("jobs/", require_safe(jobs.jobs), name="jobs"),
    path("jobs/new", start.start, name="start"),
    path("jobs/<uuid:job_id>/", require_safe(job.job), name="job"),
    path("jobs/<uuid:job_id>/runs", require_safe(job_runs.runs), name="runs"),
    path("jobs/<uuid:job_id>/metrics", require_safe(job_runs.metrics), name="metrics"),
    path("jobs/<uuid:job_id>/cancel", job_actions.cancel, name="cancel"),
    path("jobs/<uuid:job_id>/rerun-failed", job_actions.rerun_the_failed, name="rerun-failed"),
    path("jobs/<uuid:job_id>/rerun-errored", job_actions.rerun_the_errored, name="rerun-errored"),
    path("runs/<uuid:run_id>/", require_safe(run.run), name="run"),
    path("runs/<uuid:run_id>/pairs", require_safe(run_pairs.pairs), name="pairs"),
    path("runs/<uuid:run_id>/log", require_safe(log.log), name="log"),
    path("runs/<uuid:run_id>/log/raw", require_safe(log.raw), name="raw-log"),
    path(
        "runs/<uuid:run_id>/artifacts/<int:artifact_id>",
        require_safe(run.artifact),
        name="artifact",
    ),
    path("tests/", require_safe(catalogue.tests), name="tests"),
    path("tests/<str:slug>/", require_safe(catalogue.test), name="test"),
    path(
        "tests/<str:slug>/limits/<str:resource_class>/", require_safe(limits.limits), name="limits"
    ),
    path("tests/<str:slug>/limits/<str:resource_class>/edit", limits.edit, name="edit-limits"),
    path(
        "tests/<str:slug>/limits/<str:resource_class>/restore/<int:number>",
        limits.restore,
        name="restore-limits",
    ),
    path("nodes/", require_safe(nodes.nodes), name="nodes"),
    path("nodes/<str:site>/<str:name>/", require_safe(node.node), name="node"),
    path("nodes/<str:site>/<str:name>/operation", node_actions.operation, name="operation"),
    path("nodes/<str:site>/<str:name>/exclude", node_actions.exclude, name="exclude"),
    path("nodes/<str:site>/<str:name>/take-back", node_actions.take_back, name="take-back"),
    path(
        "nodes/<str:site>/<str:name>/confirm-identity",
        node_actions.confirm_identity,
        name="confirm-identity",
    ),
    path("sites/", require_safe(sites.sites), name="sites"),
    path("sites/<str:name>/", require_safe(sites.site), name="site"),
    path(
        "sites/<str:name>/cohorts/<str:resource_class>/",
        require_safe(cohort.cohort),
        name="cohort",
    ),
    path("sites/<str:name>/check", sites.check, name="check-site"),
    path("account/tokens", tokens.tokens, name="tokens"),
    path("account/tokens/<str:prefix>/revoke", tokens.revoke, name="revoke-token"),
    path("audit/", require_safe(audit.audit), name="audit"),
    path("find", require_safe(find.find), name="find"),
    path("login", login.Login.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
]
