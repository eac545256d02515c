"""Tables of VProfiler, with the arithmetic of its analyzer. docs/python.md is the manual."""

from __future__ import annotations

from .errors import InputError, InputWarning
from .tables import Tables, read

__version__ = "0.1.0"
__all__ = ["InputError", "InputWarning", "Tables", "read"]
