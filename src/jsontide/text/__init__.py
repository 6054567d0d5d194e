"""Chunks of text to tokens: the one place that knows JSON's grammar."""

from jsontide.text._build import COMPILED
from jsontide.text._grammar import Mode
from jsontide.text._limits import Limits
from jsontide.text._scanner import Scanner

__all__ = ["COMPILED", "Limits", "Mode", "Scanner"]
