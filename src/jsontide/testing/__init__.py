"""Recorded streams, cut at random and replayed, and checkers of the streams for front ends, for tests of programs.

`jsontide.testing.pytest_plugin` offers them as a pytest fixture.
"""

from jsontide._public import publish
from jsontide.recordings import Recording
from jsontide.testing._ag_ui import AgUiCall, AgUiRun, check_ag_ui
from jsontide.testing._assistant import (
    AssistantPart,
    AssistantTransport,
    check_assistant_transport,
    check_object_stream,
)
from jsontide.testing._events import ProtocolError
from jsontide.testing._vercel import VercelCall, VercelReport, check_vercel

__all__ = [
    "AgUiCall",
    "AgUiRun",
    "AssistantPart",
    "AssistantTransport",
    "ProtocolError",
    "Recording",
    "VercelCall",
    "VercelReport",
    "check_ag_ui",
    "check_assistant_transport",
    "check_object_stream",
    "check_vercel",
]

# `Recording` says that it is found in `jsontide.recordings`, as its errors and pieces are.
publish(__name__, [name for name in __all__ if name != "Recording"], globals())
