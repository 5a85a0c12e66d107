"""Start of the bundle. Any Python must be able to parse this file and be told what is wrong."""

import sys

if sys.version_info < (3, 8):
    sys.stderr.write(
        "runner: Python 3.8 or newer is needed, this is %s (%s); set node_python of the site.\n"
        % (sys.version.split()[0], sys.executable)
    )
    sys.exit(80)  # ExitCode.OLD_PYTHON, which an old Python cannot import

from runner.zip_import import install

install()

from runner.cli import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
