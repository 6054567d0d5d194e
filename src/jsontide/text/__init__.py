"""Chunks of text to tokens: the one place that knows JSON's grammar."""

from jsontide.text.grammar import Mode
from jsontide.text.limits import Limits
from jsontide.text.scanner import Scanner

__all__ = ["Limits", "Mode", "Scanner"]
