"""Whether a worker still turns: a file that it touches (`pulse.py`), and who looks at the file.

`python -m burnin.alive FILE` exits 1, with a sentence, when the file is not there or has grown old.
"""

import sys
import time
from pathlib import Path

OLD_AFTER_S = 40.0  # a worker touches it every 5 s, beat every 10 s
EXIT_ILL = 1


def why_ill(file: Path, *, now_s: float) -> str:
    """Say that nobody touched the file lately; "" when somebody did."""
    if not file.exists():
        return f"{file} is not there: it has not reached its broker yet"
    age_s = now_s - file.stat().st_mtime
    if age_s <= OLD_AFTER_S:
        return ""
    return f"no sign of life for {age_s:.0f} s: it lost its broker, or hangs"


def main(file: Path) -> int:
    if why := why_ill(file, now_s=time.time()):
        print(why, file=sys.stderr)
    return EXIT_ILL if why else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
