"""`python -m deploy.one_machine`, which `make run` calls."""

import sys

from deploy.one_machine.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
