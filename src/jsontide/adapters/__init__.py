"""The edges: where streams come from, and the loops that drive the core, sync and async."""

from jsontide.adapters._drive import avalues, loads, values

__all__ = ["avalues", "loads", "values"]
