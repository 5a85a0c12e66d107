"""How large a system of equations HPL solves: by memory, by time, and divisible by its blocks."""

from __future__ import annotations

import math


class HplProblem:
    """`n` equations in blocks of `nb`, on a grid of `p` x `q` processes.

    Of hpcc's processes (`ranks`) those beyond the grid take part in everything but HPL.
    """

    __slots__ = ("n", "nb", "p", "q", "ranks")

    def __init__(self, *, n: int, nb: int, p: int, q: int, ranks: int = 0) -> None:
        self.n, self.nb, self.p, self.q = n, nb, p, q
        self.ranks = ranks or p * q

    def upright(self) -> HplProblem:
        """Return the same on a grid that is rather high than wide, as NVIDIA's own files have."""
        return HplProblem(n=self.n, nb=self.nb, p=max(self.p, self.q), q=min(self.p, self.q))

    @property
    def flop(self) -> float:
        return 2 / 3 * self.n**3

    def as_json(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


def largest_problem(
    size_bytes: float,
    ranks: int,
    *,
    nb: int,
    bytes_each: int = 8,
    flop_each: float = math.inf,
    step: int = 0,
) -> HplProblem:
    """Return the largest problem whose matrix fits, and that gives no rank more than `flop_each`.

    `n` is a multiple of `nb`, and of `step` where one is given; 0 if not even one block fits.
    """
    by_memory = math.sqrt(size_bytes / bytes_each)
    by_time = (1.5 * ranks * flop_each) ** (1 / 3)
    p, q = grid(ranks)
    step = step or nb
    return HplProblem(n=int(min(by_memory, by_time)) // step * step, nb=nb, p=p, q=q)


def even_step(nb: int, ranks: int) -> int:
    """Return of what `n` must be a multiple for every rank to have as many blocks as any other."""
    p, q = grid(ranks)
    return nb * p * q // math.gcd(p, q)


def grid(ranks: int) -> tuple[int, int]:
    """Return P and Q of the flattest grid that is still as square as the ranks allow."""
    p = max(each for each in range(1, math.isqrt(ranks) + 1) if ranks % each == 0)
    return p, ranks // p


def hpl_dat(problem: HplProblem) -> str:
    """Return HPL.dat, which is hpccinf.txt too: hpcc reads the four lines after the 32nd.

    Ranks run along the longer side of the grid.
    """
    return f"""HPLinpack benchmark input file
written by the runner
HPL.out  output file name (if any)
6        device out (6=stdout,7=stderr,file)
1        # of problem sizes (N)
{problem.n}  Ns
1        # of NBs
{problem.nb}  NBs
{int(problem.p > problem.q)}        PMAP process mapping (0=Row-,1=Column-major)
1        # of process grids (P x Q)
{problem.p}  Ps
{problem.q}  Qs
16.0     threshold
1        # of panel fact
1        PFACTs (0=left, 1=Crout, 2=Right)
1        # of recursive stopping criterium
4        NBMINs (>= 1)
1        # of panels in recursion
2        NDIVs
1        # of recursive panel fact.
1        RFACTs (0=left, 1=Crout, 2=Right)
1        # of broadcast
1        BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1        # of lookahead depth
1        DEPTHs (>=0)
2        SWAP (0=bin-exch,1=long,2=mix)
64       swapping threshold
0        L1 in (0=transposed,1=no-transposed) form
0        U  in (0=transposed,1=no-transposed) form
1        Equilibration (0=no,1=yes)
8        memory alignment in double (> 0)
##### hpcc only: #####
0        number of additional problem sizes for PTRANS
0        values of N
0        number of additional blocking sizes for PTRANS
0        values of NB
"""


def mxp_dat(problem: HplProblem) -> str:
    """Return the input file of rocHPL-MxP, which has fewer lines than HPL.dat."""
    return f"""HPL-MxP benchmark input file
written by the runner
HPL-MxP.out  output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{problem.n}       Ns
1            # of NBs
{problem.nb}         NBs
1            PMAP process mapping (0=Row-,1=Column-major)
{problem.p}            P
{problem.q}            Q
16.0         threshold
1            # of broadcast
0            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
"""
