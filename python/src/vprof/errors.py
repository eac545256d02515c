"""What is said about input that cannot be used."""

from __future__ import annotations


class InputError(Exception):
    """Tables that cannot be used. The message is one line: which file, what is wrong, what to do."""


class InputWarning(UserWarning):
    """Tables that were used, but with something that the reader should know. One line."""
