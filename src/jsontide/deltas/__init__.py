"""What changed between two states of a growing value, and short forms of it for a wire."""

from jsontide._public import publish
from jsontide.deltas._between import compare_values, open_path, read_changes
from jsontide.deltas.changes import AppendText, Change, Finish, SetValue
from jsontide.deltas.compact import CompactValue, CompactWriter
from jsontide.deltas.json_text import write_json
from jsontide.deltas.patches import PatchWriter, write_pointer

__all__ = [
    "AppendText",
    "Change",
    "CompactValue",
    "CompactWriter",
    "Finish",
    "PatchWriter",
    "SetValue",
    "compare_values",
    "open_path",
    "read_changes",
    "write_json",
    "write_pointer",
]

publish(__name__, __all__, globals())
