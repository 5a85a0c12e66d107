"""Why a training run ended early, in the words of PyTorch and torchrun."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_TIMEOUT = re.compile(
    r"Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d+), OpType=(\w+)"
)
_ROOT_CAUSE = re.compile(r"Root Cause \(first observed failure\):")
_HOST = re.compile(r"^\s*host\s+: (\S+)", re.MULTILINE)
_RANK = re.compile(r"^\s*rank\s+: (\d{1,7}) \(local_rank: (\d{1,4})\)", re.MULTILINE)
_EXIT_CODE = re.compile(r"^\s*exitcode\s+: (-?\d{1,5})", re.MULTILINE)
_MEMORY = ("CUDA out of memory", "OutOfMemoryError")
_ERROR = re.compile(r"^(?:\S+: )?(?:\[rank\d+\]: ?)?(\w*(?:Error|Exception)\b: .*)", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"


def refuse_failures(text: str) -> None:
    """Raise ParseError for a run that its own log calls failed; name whom torchrun blames."""
    blamed = _blamed(text)
    timeout = _TIMEOUT.search(text)
    if timeout is not None:
        raise ParseError(
            f"NCCL watchdog timeout {timeout[2]} SeqNum={timeout[1]}{_where(blamed)}",
            kind=RefusalKind.COLLECTIVE_TIMEOUT,
            facts=blamed,
        )
    if blamed or _TRACEBACK in text:
        error = _ERROR.search(text)
        memory = next((line for line in text.splitlines() if any(w in line for w in _MEMORY)), None)
        why = memory.strip() if memory else error[1] if error else "a Python exception"
        raise ParseError(
            f"the training failed: {why:.300}{_where(blamed)}", kind=RefusalKind.CRASH, facts=blamed
        )


def _blamed(text: str) -> dict[str, object]:
    """Return host, rank, local rank and exit code of torchrun's root cause, {} without one."""
    start = _ROOT_CAUSE.search(text)
    if start is None:
        return {}
    host, rank, exit_code = (
        pattern.search(text, start.end()) for pattern in (_HOST, _RANK, _EXIT_CODE)
    )
    return {
        **({"host": host[1]} if host else {}),
        **({"rank": int(rank[1]), "local_rank": int(rank[2])} if rank else {}),
        **({"exitcode": int(exit_code[1])} if exit_code else {}),
    }


def _where(blamed: dict[str, object]) -> str:
    words = [f"{name} {blamed[name]}" for name in ("rank", "host") if name in blamed]
    return f" ({', '.join(words)})" if words else ""
