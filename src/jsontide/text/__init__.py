"""Chunks of text to tokens: the only package that knows JSON's grammar."""

from jsontide.text.options import Limits
from jsontide.text.scanner import Scanner
from jsontide.text.types import Mode

__all__ = ["Limits", "Mode", "Scanner"]
