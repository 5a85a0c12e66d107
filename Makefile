# `make help` lists what there is. Everything written lies in .venv, build and var, which git ignores.

PYTHON ?= python3
UV_VERSION := 0.13.9
BIN := .venv/bin
CLUSTER := $(PYTHON) deploy/cluster
CLUSTER_OPTIONS ?=
BENCH_PARTS ?=
RUN_OPTIONS ?=
PYTEST_OPTIONS ?= -n 4 --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help venv check pre-commit run test test-all bench cluster cluster-down runner requirements

help:  ## List the targets
	@sed -nE 's/^([a-z-]+):.*  ## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

venv: .venv/synced  ## Make .venv with the pinned requirements; instant when nothing changed

.venv/synced: requirements-dev.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fleet Manager needs Python 3.11 or newer, and $(PYTHON) is %d.%d: make PYTHON=python3.11 …" % sys.version_info[:2])'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || $(CLUSTER) install python
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip sync --quiet --python $(BIN)/python requirements-dev.txt
	@touch $@

run: venv  ## All of it on this machine, which it burns in; Ctrl-C ends it (RUN_OPTIONS=--help)
	@exec $(BIN)/python -m deploy.one_machine $(RUN_OPTIONS)

check: venv  ## Everything static, in seconds
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/vermin -t=3.8- --no-tips --violations --exclude-regex '/tests/' runner
	$(BIN)/python manage.py check --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run

pre-commit: venv  ## Run `make check` before every commit from now on
	$(BIN)/pre-commit install

test: check  ## check, then the tests, with a real Slurm cluster
	$(CLUSTER) install
	$(BIN)/pytest -m "not slow" $(PYTEST_OPTIONS)

test-all: check  ## test, and every hardware test's real run that needs no GPU
	$(CLUSTER) install
	$(BIN)/pytest $(PYTEST_OPTIONS)

bench: venv  ## Measure against docs/performance.md, in 25 minutes (BENCH_PARTS="p1 p5" for some)
	$(CLUSTER) install
	$(BIN)/python -m bench $(BENCH_PARTS)

cluster: venv  ## Bring up Slurm (8 nodes), Redis, PostgreSQL and S3 in var/cluster (CLUSTER_OPTIONS="--gpus 8")
	$(CLUSTER) up var/cluster --node-roots --services $(CLUSTER_OPTIONS)
	@mkdir -p var/sites && cp var/cluster/site.toml var/sites/cluster.toml

cluster-down:  ## End it; its data stay until `python3 deploy/cluster wipe var/cluster`
	$(CLUSTER) down var/cluster

runner: venv  ## Build the bundle that runs on the nodes, build/runner-<sha256>.pyz
	$(BIN)/python manage.py build_runner

requirements: venv  ## Pin requirements*.in anew
	$(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --no-header requirements.in -o requirements.txt
	$(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --no-header -c requirements.txt requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --upgrade --python-version 3.11 --no-header -c requirements.txt deploy/satellite/requirements.in -o deploy/satellite/requirements.txt
