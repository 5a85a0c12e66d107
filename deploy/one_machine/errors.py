"""The one way in which this package says no."""


class CannotRun(Exception):
    """The message is one sentence an operator can act on. What was started is ended."""
