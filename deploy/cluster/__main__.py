"""`python3 deploy/cluster up|down|wipe|status DIR`, from any directory and without a virtualenv."""

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    sys.exit(import_module("deploy.cluster.command").main(sys.argv[1:]))
