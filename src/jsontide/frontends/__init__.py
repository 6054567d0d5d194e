"""Growing values, messages and runs in, what changed out, as bytes that front ends read: pure steps, for any server."""

from jsontide._public import publish
from jsontide._values import write_json
from jsontide.frontends.ag_ui import AgUiEncoder, AgUiState
from jsontide.frontends.assistant import (
    AssistantState,
    AssistantTransportEncoder,
    ObjectStreamEncoder,
    ObjectStreamState,
)
from jsontide.frontends.base import DescribeError, Encoder, Streamed, ToolFailedError, describe_error
from jsontide.frontends.changes import AppendText, Change, Finish, SetValue, compare_values, open_path, read_changes
from jsontide.frontends.clients import decisions_from_ag_ui, decisions_from_vercel, from_ag_ui, from_vercel
from jsontide.frontends.compact import CompactEncoder, CompactState
from jsontide.frontends.compact_form import CompactValue, CompactWriter
from jsontide.frontends.deltas import (
    Delta,
    DeltaState,
    Replica,
    feed_delta,
    feed_replica,
    start_delta,
    start_replica,
    whole_delta,
)
from jsontide.frontends.message_value import message_changes
from jsontide.frontends.patches import PatchWriter, write_pointer
from jsontide.frontends.run_value import run_changes, run_value
from jsontide.frontends.vercel import VercelEncoder, VercelState

__all__ = [
    "AgUiEncoder",
    "AgUiState",
    "AppendText",
    "AssistantState",
    "AssistantTransportEncoder",
    "Change",
    "CompactEncoder",
    "CompactState",
    "CompactValue",
    "CompactWriter",
    "Delta",
    "DeltaState",
    "DescribeError",
    "Encoder",
    "Finish",
    "ObjectStreamEncoder",
    "ObjectStreamState",
    "PatchWriter",
    "Replica",
    "SetValue",
    "Streamed",
    "ToolFailedError",
    "VercelEncoder",
    "VercelState",
    "compare_values",
    "decisions_from_ag_ui",
    "decisions_from_vercel",
    "describe_error",
    "feed_delta",
    "feed_replica",
    "from_ag_ui",
    "from_vercel",
    "message_changes",
    "open_path",
    "read_changes",
    "run_changes",
    "run_value",
    "start_delta",
    "start_replica",
    "whole_delta",
    "write_json",
    "write_pointer",
]

publish(__name__, __all__, globals())
