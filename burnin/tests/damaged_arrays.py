"""An mpirun that starts hpcc in memory that changes while STREAM goes through it: a bad DIMM.

`python damaged_arrays.py /real/mpirun ARGUMENT…`. A library stands between hpcc and libc: of three
arrays of one size, of which only STREAM has such, it changes a number in the first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = "/usr/bin:/bin"
DAMAGING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static double *first;
static size_t size, alike;

void *malloc(size_t asked) {
    static void *(*real)(size_t);
    if (!real) real = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    void *given = real(asked);
    if (asked > 1 << 16) {
        alike = asked == size ? alike + 1 : 1;
        if (alike == 1) first = given, size = asked;
    }
    return given;
}

void free(void *given) {
    static void (*real)(void *);
    if (!real) real = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    if (given && given == first) first = NULL, size = alike = 0;
    real(given);
}

/* STREAM reads the clock before and after each pass. */
double MPI_Wtime(void) {
    static double (*real)(void);
    if (!real) real = (double (*)(void))dlsym(RTLD_NEXT, "MPI_Wtime");
    if (first && alike == 3) first[77] += 1.0;
    return real();
}
"""


def main(argv: list[str]) -> int:
    if "--version" in argv:
        os.execv(argv[0], argv)
    with tempfile.TemporaryDirectory(prefix="damaging-") as directory:
        library = Path(directory) / "damaging.so"
        build = f"cc -w -O1 -shared -fPIC -x c -o {library} - -ldl".split()
        subprocess.run(build, input=DAMAGING, text=True, check=True, env={"PATH": TOOLS})
        return subprocess.call([argv[0], "-x", f"LD_PRELOAD={library}", *argv[1:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
