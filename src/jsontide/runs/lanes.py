"""Events of several messages in, the runs that they are out, however the messages are mixed.

    Responses over a WebSocket      a run for each `stream_id`
    Claude Agent SDK, stream-json   a run for each `session_id`; what an agent of the agent says is nested at its call
    anything else                   one run

Where a message ends and the next one begins, the reader of its provider knows.
Rule: what a stream says about tools is data, and nothing is ever run. A call whose result the stream does not have gets
one that says so when the next message begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from threading import Lock
from typing import Any, Final

from jsontide._values import Chunk
from jsontide.messages import CompleteCall, MessageConfig, ToolResult
from jsontide.messages.document import write_json
from jsontide.providers import StreamState, feed_stream, start_stream
from jsontide.providers.base import SECOND_MESSAGE, as_dict, dict_of, is_true, list_of, plain, text_of
from jsontide.providers.claude_agent import PARENT, AgentReader, kind_of
from jsontide.providers.wire import DONE, START, feed_wire, finish_wire, load_event
from jsontide.runs.run import Run, RunState, fail_run, feed_run, finish_run, show_message, start_run, stop_run
from jsontide.runs.types import PendingResult, StepEnded, StepStarted, ToolFinished, ToolProgress, ToolStarted

_LAST_EVENTS: Final = frozenset(("response.completed", "response.incomplete", "response.failed", "message_stop"))
"""The events that end a message, by their types; those of other providers may still bring the usage."""
_UNKNOWN: Final = "the stream does not have the result of the call"
_BROKE_OFF: Final = "the stream ended before the run did"
_MAX_TURNS: Final = "error_max_turns"
_AGENT: Final = AgentReader()


class RunLane:
    """One run of a stream."""

    def __init__(self, config: MessageConfig, run_id: str | None, parent_call: str | None = None) -> None:
        self.state: RunState[Any] = start_run(config, id=run_id)
        self.parent_call: Final = parent_call
        """The id of the call that this is the run of."""
        self.is_nested = False
        """Whether it has been shown at that call, where it stays when the run around it goes on."""
        self._next: StreamState | None = None
        """What came after the last message, and does not yet say that another one begins."""
        self._has_blocks = False
        """Whether the last message came in whole blocks, which do not say how it ends."""
        self._streamed: frozenset[str | None] = frozenset()
        """The ids of the messages whose events came."""
        self.end: str | None = None
        """How the run ended, in the words of the agent; an empty text if it ended well."""
        self.is_agent = False
        """Whether the stream says how the run ends."""
        self.shown = self.run
        """The run as it was returned last."""

    @property
    def run(self) -> Run[Any]:
        return self.state.run

    def fork(self) -> RunLane:
        """Return a lane that goes on from here by itself."""
        return copy(self)

    def read(self, event: object) -> None:
        """Read an event of a provider."""
        stream = self.state.stream
        after = None if stream is None else feed_stream(stream, event)
        if after is not None and not any(error.message == SECOND_MESSAGE for error in after.errors):
            self._show(after)
        else:
            self.end_step()
            self._has_blocks = False
            self._begin(event)
        if text_of(as_dict(event), "type") in _LAST_EVENTS:
            self._next = None
            self.end_step()

    def _show(self, stream: StreamState) -> None:
        before = self.state
        if before.stream is not None and stream.message is before.stream.message:
            self.state = RunState(before.run, before.config, stream, before.renamed, before.taken)
        else:
            self.state = show_message(before, stream)

    def _begin(self, event: object) -> None:
        """Read an event after a message; what says nothing of another message does not begin one."""
        after = self._next = feed_stream(self._next or start_stream(self.state.config), event)
        message, last = after.message, self.run.message
        is_repeated = last is not None and message.id is not None and message.id == last.id
        if is_repeated and text_of(as_dict(event), "type") in _LAST_EVENTS:
            return
        if message.parts or message.id is not None or after.errors:
            self._start(after)

    def _start(self, stream: StreamState) -> None:
        self._next = None
        self._settle()
        self.state = feed_run(self.state, StepStarted())
        self._show(stream)

    def read_event(self, event: dict[str, Any]) -> None:
        """Read an event of a message, of which whole blocks may come too."""
        if text_of(event, "type") == "message_start":
            self._streamed |= {text_of(dict_of(event, "message"), "id")}
        self.read(event)

    def read_blocks(self, event: dict[str, Any]) -> None:
        """Read blocks of a message, unless its events came."""
        message = dict_of(event, "message") or event
        message_id = text_of(message, "id") or text_of(message, "message_id")
        if message_id in self._streamed or (message_id is None and self._streamed):
            return
        self.read({"type": "assistant", "message": {**message, "id": message_id}, PARENT: None})
        self._has_blocks = True

    def end_step(self) -> None:
        """End the message, of which nothing more comes."""
        stream = self.state.stream
        if stream is None:
            return
        if self._has_blocks and stream.message_state.reason is None:
            reason = "tool_use" if stream.message.tool_calls else "end_turn"
            self._show(feed_stream(stream, {"type": "message_delta", "delta": {"stop_reason": reason}}))
        self.state = feed_run(self.state, StepEnded())

    def has_call(self, call_id: str) -> bool:
        message = self.run.message
        return message is not None and any(call.id == call_id for call in message.tool_calls)

    def show_progress(self, call_id: str, value: object) -> None:
        """Note what a running call has yielded."""
        self.end_step()
        result = self._find(call_id)
        if isinstance(result, PendingResult) and isinstance(result.call, CompleteCall):
            self._start_call(result)
            self.state = feed_run(self.state, ToolProgress(call_id, value))

    def take_result(self, call_id: str, output: object, error: str | None) -> None:
        """Note what a call gave."""
        self.end_step()
        result = self._find(call_id)
        if isinstance(result, PendingResult):
            self._finish_call(result, output, error)

    def finish(self) -> None:
        """Note the end of the stream."""
        if self.run.is_over:
            return
        self._has_blocks = False  # more of them may be missing
        self.end_step()
        if self._next is not None and self.run.message is None:  # it says why nothing was read
            self._start(self._next)
            self.end_step()
        self._settle()
        is_cut = self.is_agent and self.end is None
        if is_cut or self.end not in {None, "", _MAX_TURNS}:
            self.fail(self.end or _BROKE_OFF)
        else:
            self.state = finish_run(self.state)

    def fail(self, error: BaseException | str) -> None:
        self.state = fail_run(self.state, error)

    def stop(self) -> None:
        self.state = stop_run(self.state)

    def _find(self, call_id: str) -> object:
        return next((one for one in self.run.results if one.call.id == call_id), None)

    def _start_call(self, result: PendingResult) -> None:
        if result.status != "running":
            self.state = feed_run(self.state, ToolStarted(str(result.call.id)))

    def _finish_call(self, result: PendingResult, output: object, error: str | None, *, is_known: bool = True) -> None:
        ran: Any = "no"
        if isinstance(result.call, CompleteCall):
            ran = "yes" if is_known else "unknown"
            self._start_call(result)
        nested = result.progress if isinstance(result.progress, Run) else None
        given = ToolResult(result.call, output, error, ran=ran, nested=nested)
        self.state = feed_run(self.state, ToolFinished(str(result.call.id), given))

    def _settle(self) -> None:
        """Give each call a result whose result did not come."""
        for result in self.run.results:
            if isinstance(result, PendingResult):
                self._finish_call(result, None, _UNKNOWN, is_known=False)


class RunReader:
    """Reads a stream of several messages, and holds its runs; two threads may share it, one of which stops it."""

    def __init__(self, config: MessageConfig) -> None:
        self._config: Final = config
        self._wire = START
        self._lanes: dict[tuple[str | None, str | None], RunLane] = {}
        """By the name of the run, and the call that it is nested at."""
        self._name: str | None = None
        """The name of the run whose event came last."""
        self._lock: Final = Lock()
        self.is_over = False

    @property
    def runs(self) -> tuple[Run[Any], ...]:
        """The runs so far, in the order in which they began; those that are nested are at their calls."""
        lanes = tuple(self._lanes.values())
        return tuple(lane.run for lane in lanes if not lane.is_nested and self._find_parent(lane) is None)

    @property
    def has_several(self) -> bool:
        """Whether the stream holds more than one message, or is that of an agent, which may send more."""
        lanes = tuple(self._lanes.values())
        return len(lanes) > 1 or any(lane.is_agent or lane.run.earlier for lane in lanes)

    def fork(self) -> RunReader:
        """Return a reader that goes on from here by itself."""
        reader = RunReader(self._config)
        reader._wire, reader._name, reader.is_over = self._wire, self._name, self.is_over
        reader._lanes = {name: lane.fork() for name, lane in self._lanes.items()}
        return reader

    def feed(self, item: object) -> list[Run[Any]]:
        """Read an item, and return each run that one of its events changed."""
        events: Iterable[object] = (item,)
        with self._lock:
            if isinstance(item, Chunk):
                self._wire, found = feed_wire(self._wire, item)
                events = map(load_event, found)
            return self._read_all(events)

    def finish(self) -> list[Run[Any]]:
        """Note the end of the stream, and return what has changed."""
        with self._lock:
            runs = self._read_all(map(load_event, finish_wire(self._wire)))
            return runs + self._end_all(RunLane.finish)

    def fail(self, error: BaseException) -> list[Run[Any]]:
        """Note that the stream failed, and return what has changed."""
        with self._lock:
            return self._end_all(lambda lane: lane.fail(error))

    def stop(self) -> None:
        """End the runs here."""
        with self._lock:
            self._end_all(RunLane.stop)

    def _end_all(self, end: Callable[[RunLane], None]) -> list[Run[Any]]:
        if self.is_over:
            return []
        self.is_over = True
        if not self._lanes:
            self._open(None)
        for lane in reversed(tuple(self._lanes.values())):  # what is nested began after the run around it
            end(lane)
            self._show_at_parent(lane)
        return list(self.runs)

    def _read_all(self, events: Iterable[object]) -> list[Run[Any]]:
        runs: list[Run[Any]] = []
        for event in events:
            if event is None or self.is_over:
                continue
            lane = self._show_at_parent(self._read(event))
            if lane.run is not lane.shown and not lane.is_nested:
                lane.shown = lane.run
                runs.append(lane.run)
        return runs

    def _read(self, event: object) -> RunLane:
        """Read an event, and return the lane that it is of."""
        fields = as_dict(event)
        kind = kind_of(fields) if _AGENT.fits(fields) else ""
        if kind:
            return self._read_envelope(kind, fields)
        lane = self._open(text_of(fields, "stream_id"))
        if event == DONE:
            lane.end_step()
        else:
            lane.read(event)
        return lane

    def _read_envelope(self, kind: str, fields: dict[str, Any]) -> RunLane:
        name = text_of(fields, "session_id") or text_of(dict_of(fields, "data"), "session_id")
        lane = self._open(name, text_of(fields, PARENT))
        lane.is_agent = lane.parent_call is None
        if kind == "stream_event":
            lane.read_event(dict_of(fields, "event"))
        elif kind == "assistant":
            lane.read_blocks(fields)
        elif kind == "user":
            self._read_results(lane, list_of(dict_of(fields, "message") or fields, "content"))
        elif kind == "result":
            lane.end_step()
            is_error = is_true(fields, "is_error") or (text_of(fields, "subtype") or "").startswith("error")
            lane.end = (text_of(fields, "result") or text_of(fields, "subtype") or "error") if is_error else ""
        return lane

    def _read_results(self, lane: RunLane, blocks: list[object]) -> None:
        for block in map(as_dict, blocks):
            call_id = text_of(block, "tool_use_id")
            if call_id is None:
                continue
            nested = self._lanes.get((self._name, call_id))
            if nested is not None:
                nested.end_step()
                nested.finish()
                self._show_at_parent(nested)
            output = _read_output(block)
            is_error = is_true(block, "is_error")
            error = (output if isinstance(output, str) else write_json(output)) if is_error else None
            lane.take_result(call_id, None if is_error else output, error)

    def _open(self, name: str | None, call_id: str | None = None) -> RunLane:
        """Return a lane; an event that does not say whose it is is of the run that came last."""
        self._name = self._name if name is None else name
        lane = self._lanes.get((self._name, call_id))
        if lane is None:
            lane = self._lanes[self._name, call_id] = RunLane(self._config, self._name, call_id)
        return lane

    def _show_at_parent(self, lane: RunLane) -> RunLane:
        """Show a nested run at its call, and return the lane around it all."""
        parent = self._find_parent(lane)
        if parent is None:
            return lane
        lane.is_nested = True
        parent.show_progress(str(lane.parent_call), lane.run)
        return self._show_at_parent(parent)

    def _find_parent(self, lane: RunLane) -> RunLane | None:
        call_id = lane.parent_call
        if call_id is None:
            return None
        return next((one for one in self._lanes.values() if one is not lane and one.has_call(call_id)), None)


def _read_output(block: dict[str, Any]) -> object:
    """Return what a tool gave: a text, or blocks as they are."""
    content = plain(block.get("content"))
    if not isinstance(content, list):
        return content
    texts = [text_of(as_dict(one), "text") for one in content]
    return "".join(map(str, texts)) if texts and None not in texts else content
