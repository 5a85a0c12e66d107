"""The admin of burn-in. Django finds this package; each module registers what it shows."""

from burnin.admin import jobs, limits, nodes, presets, runs, sites, tokens  # noqa: F401
