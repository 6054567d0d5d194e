"""jsontide.js: applied in Node and in Chromium, events give the values, the objects and the ends that Python has."""

import base64
import json
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate, pairwise, product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsontide import MISSING, create_parser_state, finalize, parse_chunk, stream_message
from jsontide.frontends import CompactValue, CompactWriter, read_changes, write_json
from jsontide.frontends.compact import CompactEncoder, Form
from jsontide.messages import Message, fail_message, feed_message, finish_message, start_message, stop_message
from jsontide.runs import Run
from jsontide.tree import ParserState, node_at
from tests import strategies
from tests.cuts import states_along
from tests.frontends.runs import BREAKS, CONTINUED, FOLLOWING, PLAYED, RUNS, broken_runs
from tests.messages.telling import delta, end, entry
from tests.oracles import Path
from tests.provider_streams import events, every_complete_stream
from tests.strategies import cut_documents, examples, hostile_values, randoms, texts
from tests.web.browsers import HOSTS, Ask

FORMS: st.SearchStrategy[Form] = st.sampled_from(["sse", "ndjson"])
DOCUMENTS = cut_documents(st.one_of(strategies.documents, texts(hostile_values)))


@pytest.fixture(scope="module", params=HOSTS, ids=["node", "chromium"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    with request.param() as found:
        yield found


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for segment, each in inner:
        yield from paths_of(each, (*path, segment))


def at(value: Any, path: Path) -> Any:
    for segment in path:
        is_there = isinstance(value, dict) and segment in value
        is_there = is_there or (isinstance(value, list) and isinstance(segment, int) and segment < len(value))
        value = value[segment] if is_there else MISSING
    return value


def kept_paths(before: Any, after: Any) -> list[Path]:
    """The paths of containers that are the same objects in two values."""
    return [
        path
        for path in paths_of(after)
        if isinstance(at(after, path), (dict, list)) and at(before, path) is at(after, path)
    ]


def describe_state(state: ParserState, before: ParserState | None, count: int) -> dict[str, Any]:
    """What Python has, for the step that takes some events."""
    if state.value is MISSING:
        return {"count": count, "growing": [], "kept": []}
    growing = [path for path in paths_of(state.value) if (node := node_at(state, path)) and not node.closed]
    old = MISSING if before is None else before.value
    return {"count": count, "value": state.value, "growing": growing, "kept": kept_paths(old, state.value)}


def count_events(sent: bytes, form: Form) -> int:
    return sent.count(b"\n\n" if form == "sse" else b"\n")


def describe_stream(states: list[ParserState], form: Form, random: Random) -> dict[str, Any]:
    """A stream as it is sent, cut anywhere, and what Python has at each step."""
    encoder = CompactEncoder(form=form, run_id="turn")
    sent, steps, before = b"", [], None
    place, _ = encoder.begin()
    for state in states:
        if place.is_over:  # as behind the end of a document
            break
        place, new = encoder.encode(place, state)
        steps.append(describe_state(state, before, count_events(new, form)))
        sent += disturb(new, form, random)
        before = state
    return {**in_pieces(sent, random), "steps": steps, "end": {"end": "complete"} if place.is_over else None}


def disturb(sent: bytes, form: Form, random: Random) -> bytes:
    """Say the same in another way: other ends of lines, comments, unknown fields, data in several lines."""
    if form == "ndjson":
        return sent + b"\n" * random.randint(0, 2)
    if random.random() < 0.3:
        sent += random.choice([b": keep-alive\n\n", b"event: x\n", b"retry: 5\n", b"data\n\n", b"\n", b":\n"])
    return sent.replace(b"\n", b"\r\n") if random.random() < 0.3 else sent


def in_pieces(sent: bytes, random: Random) -> dict[str, Any]:
    cuts = random.choices(range(len(sent) + 1), k=random.choice([0, 1, 5, 20, len(sent)]))
    return {"bytes": base64.b64encode(sent).decode(), "cuts": sorted(cuts)}


@examples(0.3)
@given(DOCUMENTS, FORMS, randoms)
def test_values_ends_and_objects_are_those_of_python(ask: Ask, document: Any, form: Form, random: Random) -> None:
    states = states_along(document[1])
    assert ask("states", describe_stream([*states, finalize(states[-1])], form, random)) == []


@examples(0.3)
@given(cut_documents(texts(hostile_values, repeat_keys=True)), st.sampled_from(["last", "first"]), randoms)
def test_a_repeated_key_replaces_what_stood_there(ask: Ask, document: Any, duplicates: Any, random: Random) -> None:
    states = states_along(document[1], create_parser_state(duplicate_keys=duplicates))
    # A value that is replaced twice in one event may be the first one again, in another object.
    given = {**describe_stream(states, "sse", random), "isExact": False}
    for step, growing in zip(given["steps"], read_growing(states), strict=False):
        step["growing"] = growing  # the node of a repeated key is another one than the value that is still shown
    assert ask("states", given) == []


def read_growing(states: list[ParserState]) -> Iterator[list[Path]]:
    """The paths of what is not finished, as the reader in Python has them."""
    writer, shown = CompactWriter(), CompactValue()
    for before, state in pairwise([None, *states]):
        writer, events = writer.write(read_changes(before, state) if state else [])
        shown = reduce(CompactValue.read, events, shown)
        yield list(shown.growing)


def describe_messages(messages: Sequence[Message[Any] | Run[Any]], random: Random) -> dict[str, Any]:
    """A stream of messages as it is sent; what Python has is what a reader has that joins at each message."""
    encoder = CompactEncoder(form="ndjson", arguments=random.choice(["values", "text"]))
    sent, steps, shown = b"", [], CompactValue()
    place, _ = encoder.begin()
    for message in messages:
        place, new = encoder.encode(place, message)
        shown = reduce(CompactValue.read, read_lines(new), shown)
        joined = reduce(CompactValue.read, read_lines(encoder.encode(encoder.begin()[0], message)[1]), CompactValue())
        count = count_events(new, "ndjson")
        steps.append({"count": count, "value": joined.value, "growing": list(shown.growing), "kept": []})
        sent += new
    return {**in_pieces(sent, random), "steps": steps, "end": shown.end}


def read_lines(sent: bytes) -> list[Any]:
    return [json.loads(line) for line in sent.splitlines()]


ENDS = (finish_message, stop_message, lambda state: fail_message(state, "reset"))


@examples(0.3)
@given(strategies.call_streams, st.lists(strategies.strings, max_size=5), randoms)
def test_messages_are_those_of_python(ask: Ask, stream: Any, said: list[str], random: Random) -> None:
    chunks = [delta(tool_calls=(entry(**each),)) for each in stream[0]]
    for piece in said:
        chunks.insert(random.randint(0, len(chunks)), delta(content=piece))
    states = list(accumulate(chunks, feed_message, initial=start_message(None)))
    last = feed_message(states[-1], end()) if random.random() < 0.7 else states[-1]
    messages = [state.message for state in [*states, last, random.choice(ENDS)(last)]]
    assert ask("states", describe_messages(messages, random)) == []


@pytest.mark.parametrize("name", [*RUNS, *CONTINUED])
def test_runs_are_those_of_python(ask: Ask, name: str) -> None:
    assert ask("states", describe_messages((RUNS | CONTINUED)[name], Random(name))) == []


@pytest.mark.long
@pytest.mark.parametrize("name", [*PLAYED, *FOLLOWING])
def test_runs_that_break_anywhere_are_those_of_python(ask: Ask, name: str) -> None:
    states = (PLAYED | FOLLOWING)[name]
    for at, way in product(range(len(states)), BREAKS):
        runs = broken_runs(states, at, way)
        assert runs is None or ask("states", describe_messages(runs, Random(at))) == [], (at, way)


@pytest.mark.untraced
@every_complete_stream
def test_streams_of_providers_are_read_as_python_reads_them(ask: Ask, name: str) -> None:
    messages = list(stream_message(events(name)))
    assert ask("states", describe_messages(messages[:: 1 + len(messages) // 100] + messages[-1:], Random(1))) == []


@examples(0.3)
@given(DOCUMENTS, st.integers(0, 100), st.integers(0, 100))
def test_what_is_known_keeps_its_identity_over_a_reconnection(ask: Ask, document: Any, lost: int, later: int) -> None:
    states = states_along(document[1])
    first, second = sorted([lost % len(states), later % len(states)])
    sent = [encode_alone(states[at]) for at in (first, second)]
    value = {} if states[second].value is MISSING else {"value": states[second].value}
    assert ask("joins", {"bytes": sent[0], "again": sent[1], **value}) == []


def encode_alone(state: ParserState) -> str:
    """What a reader gets that joins now, without the end."""
    events = CompactWriter().write(read_changes(None, state))[1]
    return base64.b64encode("".join([f"data: {write_json(event)}\n\n" for event in events]).encode()).decode()


SEGMENTS = st.one_of(st.sampled_from(["a", "b", "__proto__", "0", None]), st.integers(-1, 3))
SMALL = st.recursive(
    st.sampled_from(["", "x", 0, None, True]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "__proto__"]), inner)
    ),
    max_leaves=6,
)
PATHS = st.lists(SEGMENTS, max_size=3)
OPERATIONS = st.one_of(
    st.text("xy", max_size=2),
    st.integers(-1, 3),
    st.builds(lambda segment, value, inside: [segment, value, *inside], SEGMENTS, SMALL, PATHS),
    st.builds(lambda path: {"at": path}, PATHS),
    st.sampled_from([None, True, 1.5, {}, [], ["a"], {"at": 1}]),
)
WHOLE = st.builds(lambda value, at: {"version": 3, "value": value, "at": at}, SMALL, PATHS)
EVENTS = st.one_of(
    OPERATIONS.filter(lambda each: not isinstance(each, dict)),
    st.lists(OPERATIONS, max_size=4),
    WHOLE,
    st.builds(lambda whole, then: {**whole, "then": then}, WHOLE, st.lists(OPERATIONS, max_size=3)),
    st.sampled_from([{}, {"version": "1"}, {"version": 2}, {"end": "complete"}, {"end": "failed", "reason": "x"}]),
)


@given(st.lists(EVENTS, min_size=1, max_size=12))
def test_events_that_do_not_fit_are_refused_where_python_refuses_them(ask: Ask, sent: list[Any]) -> None:
    shown = CompactValue()
    wanted: list[dict[str, Any] | None] = []
    for event in sent:
        try:
            shown = shown.read(event)
        except ValueError:
            wanted.append(None)
        else:
            value = {} if shown.value is MISSING else {"value": shown.value}
            wanted.append({**value, "growing": list(shown.growing), "version": shown.version})
    assert ask("refusals", {"given": sent, "wanted": wanted}) == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_server_sent_events_are_found_wherever_they_are_cut(ask: Ask, line_end: str, mark: str) -> None:
    lines = [
        *(
            ": hello",
            "event: delta",
            "id: turn 1",
            'data: {"version":0,',
            "data:",
            'data:"value":"é🦌"}',
            "retry: 3",
            "",
        ),
        *("data", "", "unknown: x", 'data: "z\u2028 "', "", "", 'data: ["é"]', "data", "", ":", "data: [1]", "", ""),
        *("data: cut off",),
    ]
    wanted = [{"version": 0, "value": "é🦌"}, "z\u2028 ", ["é"], [1]]
    sent = base64.b64encode((mark + line_end.join(lines)).encode()).decode()
    assert ask("cuts", {"bytes": sent, "wanted": wanted}) == []


def test_lines_of_json_are_found_wherever_they_are_cut(ask: Ask) -> None:
    sent = '{"version":0,"value":{"a":"é"}}\n\n"🦌"\r\n[["b",1]]\n\n\n{"end":"complete"}\n"cut off"'
    wanted = [{"version": 0, "value": {"a": "é"}}, "🦌", [["b", 1]], {"end": "complete"}]
    assert ask("cuts", {"bytes": base64.b64encode(sent.encode()).decode(), "wanted": wanted}) == []


def test_all_kinds_of_sources_are_read(ask: Ask) -> None:
    value = {"city": "Kyōto", "stops": [1, 2, {"name": "Nara 🦌"}]}
    state = create_parser_state()
    encoder = CompactEncoder()
    place, sent = encoder.begin()
    for character in json.dumps(value):
        state = parse_chunk(state, character)
        place, new = encoder.encode(place, state)
        sent += new
    assert ask("sources", {"bytes": base64.b64encode(sent).decode(), "value": value}) == []
