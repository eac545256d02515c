"""What the tests share: figures side by side, and a directory of their own."""

import tempfile
import unittest
from pathlib import Path


def differences(own, wanted, path="", skip=()):
    """Where two documents differ by more than 1e-9, relative for figures above 1. Fields of `own` alone do not count."""
    if isinstance(wanted, dict):
        for key in wanted:
            if key in skip:
                continue
            if key not in own:
                yield f"{path}.{key}: missing"
            else:
                yield from differences(own[key], wanted[key], f"{path}.{key}", skip)
    elif isinstance(wanted, list) and isinstance(own, (list, tuple)):
        if len(own) != len(wanted):
            yield f"{path}: {len(own)} entries, not {len(wanted)}"
        for number, (one, other) in enumerate(zip(own, wanted)):
            yield from differences(one, other, f"{path}[{number}]", skip)
    elif isinstance(wanted, (int, float)) and not isinstance(wanted, bool) and isinstance(own, (int, float)):
        if abs(own - wanted) > 1e-9 * max(1.0, abs(own), abs(wanted)):
            yield f"{path}: {own}, not {wanted}"
    elif own != wanted:
        yield f"{path}: {own!r}, not {wanted!r}"


class Case(unittest.TestCase):
    """A test with a directory."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def same(self, own, wanted, skip=()):
        self.assertEqual(list(differences(own, wanted, skip=skip))[:10], [])
