"""Tolerant reading: text as models write it in, strict JSON text and a report of every repair out."""

from jsontide._public import publish
from jsontide.mend.options import EVERYTHING, MODELS, Mending, Repair, RepairKind
from jsontide.mend.state import MendState, feed_mend, finish_mend, start_mend

__all__ = [
    "EVERYTHING",
    "MODELS",
    "MendState",
    "Mending",
    "Repair",
    "RepairKind",
    "feed_mend",
    "finish_mend",
    "start_mend",
]

publish(__name__, __all__, globals())
