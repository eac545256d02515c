"""The package from the source tree, and a fleet that several tests look at."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "python" / "src", ROOT / "benchmarks" / "fleet", Path(__file__).parent):
    sys.path.insert(0, str(folder))
