"""Tools of a broken node: scripts that stand before the real ones in PATH and call them.

Each has the real tool meet a fault, and report it in its own words. In a script `{real}` is the
real tool, `{python}` an interpreter and `{tests}` this directory.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

INJECTING_STRESSAPPTEST = """#!/bin/sh
exec {real} "$@" --force_errors
"""

# The program computes powers through a library that gets them wrong.
MISCALCULATING_STRESS_NG = """#!/bin/sh
wrong=$(/bin/mktemp -d)
echo 'double pow(double x, double y) {{ return x * y; }}' |
    PATH=/usr/bin:/bin cc -w -fno-builtin -shared -fPIC -x c -o "$wrong/wrong.so" -
LD_PRELOAD=$wrong/wrong.so {real} "$@"
code=$?
/bin/rm -r "$wrong"
exit $code
"""

# The verify phase writes, then reads back. Between the two, one block is overwritten.
CORRUPTING_FIO = """#!/bin/sh
case " $* " in *" --name=verify "*) ;; *) exec {real} "$@";; esac
for word; do case $word in --filename=*) file=${{word#--filename=}};; esac; done
{real} "$@" --do_verify=0 --output=/dev/null
/bin/dd if=/dev/zero of="$file" bs=4096 count=1 seek=240 conv=notrunc status=none
exec {real} "$@" --rw=read
"""

# What hpcc is run for: STREAM's arrays where the caches were asked for, HPL's matrix where not.
MISREMEMBERING_MPIRUN = """#!/bin/sh
[ -e memory-node.json ] && fault=damaged_arrays || fault=decaying_memory
exec {python} -IS {tests}/$fault.py {real} "$@"
"""

# No tool of this machine's: a virtual node has no board that keeps a log.
TROUBLE = "1 | 11/30/2026 | 01:06:03 | Memory DIMM_A1 | Uncorrectable ECC | Asserted"
TROUBLED_IPMITOOL = f"""#!/bin/sh
echo '{TROUBLE}'
"""
UNTROUBLED_IPMITOOL = "/bin/sh -c 'echo SEL has no entries >&2'"


def faulty_tool(
    directory: Path, name: str, script: str, *, node: str, real: Path | str | None = None
) -> None:
    """Write a tool that is `script` on one node, and the real one on all others."""
    real = real or shutil.which(name)
    assert real, f"{name} is not installed"
    first, _, rest = script.format(real=real, python=sys.executable, tests=HERE).partition("\n")
    tool = directory / name
    tool.write_text(f'{first}\n[ "$SLURMD_NODENAME" = {node} ] || exec {real} "$@"\n{rest}')
    tool.chmod(0o755)
