"""What ends a report with one line on standard error."""

from __future__ import annotations


class FleetError(Exception):
    """Input that cannot be added up. The message is one line and says what to do."""
