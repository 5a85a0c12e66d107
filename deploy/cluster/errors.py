"""The one way in which this package says no."""


class ClusterError(Exception):
    """The message is one sentence an operator can act on."""
