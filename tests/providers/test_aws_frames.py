"""Raw streams of Bedrock: frames with checksums, cut anywhere."""

import pickle
import struct
from random import Random
from zlib import crc32

import pytest

from jsontide.messages import CompleteCall, ErrorKind, Message, Outcome
from jsontide.providers import feed_stream, finish_stream, start_stream
from jsontide.recordings import Piece, follow
from jsontide.streams import stream_message
from tests.cuts import cut_randomly, halves, singles, sized
from tests.generated_streams import STREAMS, compare, frames
from tests.provider_streams import ALL, events

NAMES = [name for name in ALL if name.startswith("bedrock/") and all(len(event) == 1 for event in events(name))]
CALLS = "bedrock/reasoning, text and calls"
INVOKED = "anthropic/invoke model of Bedrock"


def check_not_run(message: Message, *words: str) -> None:
    assert message.outcome is Outcome.TRUNCATED
    assert not any(isinstance(call, CompleteCall) for call in message.tool_calls)
    assert message.errors[0].kind is ErrorKind.TRANSPORT
    for word in words:
        assert word in message.errors[0].message


@pytest.mark.parametrize("name", [*NAMES, INVOKED])
def test_frames_say_the_same_as_events_however_they_are_cut(name: str) -> None:
    data = frames.encoded(events(name))
    expected = [message.to_json() for message in stream_message(events(name))]
    compare.check(stream_message([data]).final(), STREAMS[name].said, STREAMS[name].provider)
    for chunks in ([data], sized(data, 7), *(cut_randomly(data, Random(seed), 60) for seed in range(3))):
        assert [message.to_json() for message in stream_message(chunks)] == expected


def test_the_client_of_aws_reads_the_same_frames() -> None:
    """So that the frames of these tests are those of the specification."""
    eventstream = pytest.importorskip("botocore.eventstream", reason="botocore is not installed")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(frames.encoded(events(CALLS)))
    assert [one.headers[":event-type"] for one in buffer] == [next(iter(event)) for event in events(CALLS)]


def test_every_cut_of_a_few_frames() -> None:
    told = events("bedrock/text")
    data = frames.encoded([*told[:2], *told[-2:]])
    expected = stream_message([data]).final()
    for chunks in (singles(data), *halves(data)):
        assert stream_message(chunks).final() == expected


def test_a_saved_state_goes_on_in_the_middle_of_a_frame() -> None:
    data = frames.encoded(events(CALLS))
    for at in Random(5).sample(range(len(data)), 12):
        saved = pickle.loads(pickle.dumps(feed_stream(start_stream(), data[:at])))  # noqa: S301 - our own
        assert stream_message([data[at:]], state=saved).final() == stream_message(events(CALLS)).final()


def test_a_stream_that_ends_in_a_frame_is_cut_off() -> None:
    data = frames.encoded(events(CALLS))
    for at in Random(3).sample(range(1, len(data)), 60):
        check_not_run(stream_message([data[:at]]).final())
    check_not_run(stream_message([data[:-1]]).final(), "in the middle of an event")


def test_no_changed_byte_goes_unnoticed() -> None:
    data = frames.encoded(events(CALLS))
    for at in Random(4).sample(range(1, len(data)), 60):
        changed = data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]
        check_not_run(stream_message([changed]).final())


def test_what_is_wrong_with_a_frame_is_said() -> None:
    first = frames.event_frame(events(CALLS)[0])
    plain = frames.header(":event-type", "messageStop") + frames.header(":message-type", "event")
    for bad, word in (
        (frames.frame(b"{", plain), "payload"),
        (frames.frame(b"\xff", plain), "UTF-8"),
        (frames.frame(b"{}", plain[:-1]), "headers"),
        (frames.frame(b"{}", b"\x05ab"), "headers"),
        (frames.frame(b"{}", b""), "payload"),
        (b"\0" * 12, "checksum"),
    ):
        check_not_run(stream_message([first + bad]).final(), word)
    check_not_run(stream_message([first, "text"]).final(), "as text")


def test_exceptions_and_errors_are_the_error() -> None:
    first = frames.event_frame(events(CALLS)[0])
    thrown = frames.event_frame({"throttlingException": {"message": "Too many requests"}})
    headers = frames.header(":message-type", "error") + frames.header(":error-code", "InternalError")
    unmodelled = frames.frame(b"", headers + frames.header(":error-message", "It broke"))
    check_not_run(stream_message([first + thrown]).final(), "Too many requests")
    check_not_run(stream_message([thrown]).final(), "Too many requests")
    check_not_run(stream_message([first + unmodelled]).final(), "It broke")


def test_headers_of_all_types_are_passed_over() -> None:
    (stop,) = [event for event in events("bedrock/text") if "messageStop" in event]
    others = (
        b"\x01a\x00" + b"\x01b\x01" + b"\x01c\x02\x07" + b"\x01d\x03\x00\x07" + b"\x01e\x04" + bytes(4)
        + b"\x01f\x05" + bytes(8) + b"\x01g\x06\x00\x02ab" + b"\x01h\x08" + bytes(8) + b"\x01i\x09" + bytes(16)
    )  # fmt: skip
    name = frames.header(":event-type", "messageStop")
    state = feed_stream(start_stream(), frames.frame(b'{"stopReason": "end_turn"}', others + name))
    assert finish_stream(state).message.raw_finish_reason == stop["messageStop"]["stopReason"]


def test_a_frame_that_claims_to_be_longer_than_the_limit_ends_the_stream() -> None:
    lengths = struct.pack(">II", 2**32 - 1, 0)
    first = frames.event_frame(events(CALLS)[0])
    check_not_run(stream_message([first + lengths + struct.pack(">I", crc32(lengths))]).final(), "longer than")


def test_a_recording_of_frames_is_a_message() -> None:
    data = frames.encoded(events("bedrock/text"))
    *_, moment = follow([Piece(0.0, data[:50]), Piece(1.0, data[50:])])
    assert moment.kind == "message"
    assert moment.outcome is Outcome.COMPLETE
