"""What thresholds.yaml is refused for, in one sentence each."""


class NoThresholds(LookupError):
    """There is no limit for this test on this class. The message says what to add, and where."""


class BadThresholds(ValueError):
    """thresholds.yaml says something that cannot be meant. The message begins with its line."""
