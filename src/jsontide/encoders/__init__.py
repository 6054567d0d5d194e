"""Growing messages in, the bytes that front ends read out: pure steps, for any server."""

from jsontide._public import publish
from jsontide.encoders.ag_ui import AgUiEncoder, AgUiState
from jsontide.encoders.assistant import (
    AssistantState,
    AssistantTransportEncoder,
    ObjectStreamEncoder,
    ObjectStreamState,
)
from jsontide.encoders.base import DescribeError, Encoder, Growing, describe_error
from jsontide.encoders.compact import CompactEncoder, CompactState
from jsontide.encoders.message_value import message_changes
from jsontide.encoders.vercel import VercelEncoder, VercelState

__all__ = [
    "AgUiEncoder",
    "AgUiState",
    "AssistantState",
    "AssistantTransportEncoder",
    "CompactEncoder",
    "CompactState",
    "DescribeError",
    "Encoder",
    "Growing",
    "ObjectStreamEncoder",
    "ObjectStreamState",
    "VercelEncoder",
    "VercelState",
    "describe_error",
    "message_changes",
]

publish(__name__, __all__, globals())
