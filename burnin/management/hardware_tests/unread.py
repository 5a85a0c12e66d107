"""A reader that has left, as in `hardware_tests … | head -1`: no error, but a reason to end."""

import os

from django.core.management.base import OutputWrapper

EXIT_UNREAD = 141  # what a shell says of a command that SIGPIPE ended


def write_no_more(stdout: OutputWrapper) -> None:
    """Let what is still written go nowhere, also what Python flushes as it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stdout.fileno())
    os.close(nowhere)
