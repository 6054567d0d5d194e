"""What users get for their own tests."""

import json
from pathlib import Path

import pytest

from jsontide.messages import ErrorKind, Outcome
from jsontide.streams import stream_message
from jsontide.testing import Recording

pytest_plugins = ["pytester"]

EVENTS: list[dict[str, object]] = [
    {"choices": [{"delta": {"content": "Zoë "}}]},
    {"choices": [{"delta": {"content": "𝄞 says hi"}}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
]
RECORDING = Recording.of_events(EVENTS)


@pytest.mark.parametrize("form", ["sse", "ndjson"])
def test_every_seed_cuts_otherwise_and_joins_to_the_same(form: str) -> None:
    cuts = [RECORDING.cut(seed, form) for seed in range(20)]  # type: ignore[arg-type]
    assert {b"".join(chunks) for chunks in cuts} == {RECORDING.encode(form)}  # type: ignore[arg-type]
    assert len({tuple(chunks) for chunks in cuts}) == 20
    assert cuts[3] == RECORDING.cut(3, form)  # type: ignore[arg-type]


def test_every_cut_replays_to_the_same_message() -> None:
    lasts = [RECORDING.replay(seed)[-1] for seed in range(20)]
    assert {(last.content, last.outcome) for last in lasts} == {("Zoë 𝄞 says hi", Outcome.COMPLETE)}


def test_a_dropped_connection_keeps_a_beginning() -> None:
    for seed in range(20):
        *_, last = stream_message(RECORDING.drop(seed))
        assert "Zoë 𝄞 says hi".startswith(last.content)
        assert last.errors[0].kind is ErrorKind.TRANSPORT
        assert isinstance(last.errors[0].cause, ConnectionResetError)


@pytest.mark.parametrize("text", ["\n".join(map(json.dumps, EVENTS)), RECORDING.encode().decode() + "data: [DONE]\n\n"])
def test_recordings_are_read_from_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "recording.txt"
    path.write_text(text, "utf-8")
    assert Recording.load(path).events == tuple(EVENTS)


def test_recordings_are_read_with_whatever_is_in_their_strings(tmp_path: Path) -> None:
    odd: list[dict[str, object]] = [
        {"choices": [{"delta": {"content": "a\u2028b\x85c\r\n\ufeff"}}]},
        {"message": {"content": "[DONE]"}},
    ]
    for data in (
        Recording.of_events(odd).encode(),
        Recording.of_events(odd).encode("ndjson"),
        b"\xef\xbb\xbf" + Recording.of_events(odd).encode(),
    ):
        path = tmp_path / "recording.txt"
        path.write_bytes(data)
        assert Recording.load(path).events == tuple(odd)


def test_recordings_of_several_data_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "recording.txt"
    path.write_bytes(b': hello\nevent: x\ndata: {"a":\ndata: 1}\n\ndata: [DONE]\n\n')
    assert Recording.load(path).events == ({"a": 1},)


def test_halves_of_a_surrogate_pair_can_be_replayed() -> None:
    halves = [{"message": {"content": half}, "done": half == "\udd1e"} for half in ("\ud834", "\udd1e")]
    assert {message.content for message in (Recording.of_events(halves).replay(seed)[-1] for seed in range(5))} == {"𝄞"}
    assert {Recording.of_events(halves[:1]).replay(seed)[-1].content for seed in range(5)} == {"\ud834"}


@pytest.mark.long
def test_the_fixture_runs_a_test_with_every_seed(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["jsontide.testing.pytest_plugin"]')
    pytester.makepyfile(
        f"""
        from jsontide.streams import stream_message

        EVENTS = {EVENTS!r}

        def test_the_answer(recut):
            assert recut.messages(EVENTS)[-1].content == "Zoë 𝄞 says hi"

        def test_an_answer_by_a_schema(recut):
            assert recut.messages(EVENTS, response_schema={{}})[-1].errors

        def test_the_bytes(recut):
            assert b"".join(recut.chunks(EVENTS)).startswith(b"data: ")

        def test_a_dropped_connection(recut):
            assert list(stream_message(recut.drop(EVENTS)))[-1].errors
        """
    )
    pytester.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=20)
    pytester.runpytest("-p", "no:cacheprovider", "--recut-seeds", "2").assert_outcomes(passed=8)
