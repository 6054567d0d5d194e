"""Chunks of text to tokens: the only package that knows JSON's grammar."""

from jsontide.text.modes import Mode
from jsontide.text.options import Limits
from jsontide.text.scanner import Scanner

__all__ = ["Limits", "Mode", "Scanner"]
