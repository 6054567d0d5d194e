"""From a question to the answer, as one value: messages, the results of their calls, and the loop around them."""

from typing import TYPE_CHECKING

from jsontide._public import lazily

if TYPE_CHECKING:
    from jsontide.runs.agent import (
        AgentChoices,
        AgentStream,
        Ask,
        AsyncAgentStream,
        Request,
        UsedDecisionError,
        arun_agent,
        run_agent,
    )
    from jsontide.runs.conversation import Conversation, Said, Turn
    from jsontide.runs.progress import ResultFinished, ResultProgress, RunEvent
    from jsontide.runs.run import Run, RunState, continue_run, fail_run, feed_run, finish_run, start_run, stop_run
    from jsontide.runs.stream import AsyncRunStream, RunChoices, RunStream, astream_run, stream_run
    from jsontide.runs.types import (
        PendingResult,
        Result,
        RunInput,
        RunOutcome,
        RunSink,
        Step,
        StepEnded,
        StepStarted,
        ToolFinished,
        ToolProgress,
        ToolStarted,
        ToolWaits,
    )
else:
    __getattr__ = lazily(
        __name__,
        "jsontide.runs.types",
        "jsontide.runs.run",
        "jsontide.runs.conversation",
        "jsontide.runs.progress",
        "jsontide.runs.stream",
        "jsontide.runs.agent",
    )

__all__ = [
    "AgentChoices",
    "AgentStream",
    "Ask",
    "AsyncAgentStream",
    "AsyncRunStream",
    "Conversation",
    "PendingResult",
    "Request",
    "Result",
    "ResultFinished",
    "ResultProgress",
    "Run",
    "RunChoices",
    "RunEvent",
    "RunInput",
    "RunOutcome",
    "RunSink",
    "RunState",
    "RunStream",
    "Said",
    "Step",
    "StepEnded",
    "StepStarted",
    "ToolFinished",
    "ToolProgress",
    "ToolStarted",
    "ToolWaits",
    "Turn",
    "UsedDecisionError",
    "arun_agent",
    "astream_run",
    "continue_run",
    "fail_run",
    "feed_run",
    "finish_run",
    "run_agent",
    "start_run",
    "stop_run",
    "stream_run",
]
