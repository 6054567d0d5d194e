"""What is written of a growing value makes the same value elsewhere: for JSON, for every encoder, and part by part."""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import pairwise
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel

from jsontide import MISSING, Limits, Message, Outcome, Tool, create_parser_state, finalize, parse_chunk
from jsontide.frontends import feed_delta, feed_replica, start_delta, start_replica, whole_delta, write_json
from jsontide.mend import MODELS
from jsontide.messages import CompleteCall, ServerCall, TextPart
from jsontide.runs import Run
from tests.cuts import states_along
from tests.frontends.endings import ENDS, ended, made_up, recorded
from tests.frontends.protocols import PROTOCOLS
from tests.frontends.runs import CONTINUED, RUNS
from tests.frontends.turns import ANSWER, CONTRADICTED, TURNS, call, chat, read, states_of, turn_to_the_provider
from tests.provider_streams import every_encoded_stream
from tests.strategies import cut_documents, examples, randoms, texts, typed_documents


class City(BaseModel):
    name: str
    stops: list[int]
    size: Literal["small", "large"] = "small"


CITY = {"type": "object", "properties": {"name": {"type": "string"}, "stops": {"type": "array"}}, "required": ["name"]}
SEARCH = Tool("search", {"type": "object", "properties": {"query": {"type": "string"}}})
PARTS = tuple(TextPart(str(at), index=at) for at in range(1000))
CASES: dict[str, list[Any]] = {
    **TURNS,
    "contradicted": CONTRADICTED,
    "to the provider": turn_to_the_provider(),
    **{f"run: {name}": runs for name, runs in {**RUNS, **CONTINUED}.items()},
    "other limits": read([call(0, '{"a": [[1', id="c", name="f"), call(0, ", 2]]}")], limits=Limits(max_depth=2)),
    "mended": read(
        [chat(content="Sure:\n```json\n{name: 'Kyo"), chat(content="to', stops: [1, 2"), chat(content=",]}\n```")],
        response_schema=CITY,
        mend=MODELS,
    ),
    "a mended call": read(
        [call(0, "{query: 'tea", id="c", name="search"), call(0, " house', }"), chat("tool_calls")],
        tools=[SEARCH],
        mend=MODELS,
    ),
    "a mended call without a schema": read(
        [call(0, "{query: 'tea", id="c", name="search"), call(0, " house', n: [1"), call(0, "]"), chat("tool_calls")],
        mend=MODELS,
    ),
    "an open value that replaces another": read([call(0, '{"a":1,"b":2,"a":"x', id="c", name="f"), call(0, "y")]),
    "the same in a mended call": read(
        [call(0, '{"a":1,"b":2,"a":"x', id="c", name="f"), call(0, "y"), call(0, '","c":1e999}')], mend=MODELS
    ),
    "a thousand parts": [Message(PARTS[:-1]), Message(PARTS, Outcome.COMPLETE)],
    "hostile keys": read([call(0, '{"__proto__": {"x": 1}, "constructor": 2}', id="c", name="f"), chat("tool_calls")]),
    "half a pair": read([chat(content="a\ud83d"), chat(content="\ude00b\ud83d"), chat("stop")]),
    "an instance of a model": read([*ANSWER, chat("stop")], response_schema=City),
    "an instance that is mended": read(
        [*ANSWER[:3], chat(content=", '3',]"), chat("stop")], response_schema=City, mend=MODELS
    ),
}
ODD: dict[str, list[Any]] = {
    "something else": [*TURNS["complete"][:2], *TURNS["complete with a call"]],
    "shorter": [TURNS["complete"][-1], Message()],
    "built by hand": [
        Message((ServerCall("f", '{"a": 1', partial={"a": 1}, is_open=True),), metadata={"a": [1], "b": {"c": []}}),
        Message((ServerCall("f", "[]", [None], "done"),), metadata={"a": [1, 2], "b": {"c": [None]}}, answer=None),
    ],
}
"""What encoders do not expect: values that do not continue each other."""


def followed(growing: Iterable[Any], random: Random | None = None) -> Iterator[tuple[Any, Any]]:
    """Each value with what a replica makes of it, which went as text; at random, several are written at once."""
    state, replica = start_delta(), start_replica()
    last: Any = None
    for last in growing:
        if random is None or random.random() < 0.5:
            state, delta = feed_delta(state, last)
            replica = feed_replica(replica, json.loads(write_json(delta)))
            yield last, replica.growing
    state, delta = feed_delta(state, last)
    yield last, feed_replica(replica, json.loads(write_json(delta))).growing


def check_joining(turn: Iterable[Any], random: Random) -> None:
    """Who begins with everything at some moment reads the deltas that follow, as those do who were there."""
    state = start_delta()
    joined: list[Any] = []
    for growing in turn:
        before = state
        state, delta = feed_delta(state, growing)
        assert feed_delta(before, growing)[1] == delta  # a state is a value
        joined = [feed_replica(replica, json.loads(write_json(delta))) for replica in joined]
        for replica in joined:
            shown: Any = replica.growing
            assert as_json(shown) == as_json(growing)
        if random.random() < 0.3:
            joined.append(feed_replica(start_replica(), json.loads(write_json(whole_delta(state)))))


def as_json(growing: Any) -> str:
    if isinstance(growing, Message | Run):
        return growing.to_json()
    return write_json([growing.index] if growing.value is MISSING else [growing.index, growing.value])


def check(turn: Iterable[Any], random: Random | None = None) -> None:
    turn = list(turn)
    pairs = list(followed(turn, random))
    check_joining(turn, random or Random(0))
    for growing, replica in pairs:
        if not isinstance(growing, Message | Run):
            assert write_json(growing.value) == write_json(replica.value)
            continue
        assert replica.to_json() == growing.to_json()
    for protocol in PROTOCOLS.values():
        for start in {0, len(pairs) // 2}:
            encoder = protocol.make()
            (one, _), (two, _) = encoder.begin(), encoder.begin()
            for growing, replica in pairs[start:]:
                one, expected = encoder.encode(one, growing)
                two, sent = encoder.encode(two, replica)
                assert sent == expected


@pytest.mark.parametrize("name", CASES)
def test_a_replica_is_the_same_for_json_and_every_encoder(name: str) -> None:
    check(CASES[name])
    check(CASES[name], Random(1))


@pytest.mark.parametrize("name", ODD)
def test_a_replica_is_the_same_though_nothing_continues(name: str) -> None:
    assert all(replica.to_json() == growing.to_json() for growing, replica in followed(ODD[name]))


@every_encoded_stream
def test_a_replica_of_every_stream_is_the_same(name: str) -> None:
    turn = [state.message for state in recorded(name)]
    check(turn, Random(len(turn)))


@examples(0.3)
@given(randoms, st.sampled_from(sorted(ENDS)))
def test_a_replica_of_any_turn_cut_and_ended_anywhere_is_the_same(random: Random, way: str) -> None:
    states = made_up(random)
    check(ended(states, random.randrange(len(states)), way), random)


@examples(0.3)
@given(
    st.one_of(typed_documents(wrong=0.1), typed_documents(repeat_keys=True)),
    st.integers(1, 7),
    st.sampled_from(["answer", "answer as a call", "call"]),
    st.sampled_from([None, MODELS]),
    randoms,
)
def test_a_replica_shows_what_a_schema_shows(document: Any, size: int, where: str, mend: Any, random: Random) -> None:
    schema, text = document
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    if where == "answer":
        check(
            read([*[chat(content=piece) for piece in pieces], chat("stop")], response_schema=schema, mend=mend), random
        )
        return
    first, *more = [call(0, piece) for piece in ("", *pieces)]
    events = [call(0, "", id="c", name="f"), first, *more, chat("tool_calls")]
    options: dict[str, Any] = {"tools": [Tool("f", schema)]}
    if where == "answer as a call":
        options = {"response_schema": schema, "emulate_structured_output": True, "output_name": "f"}
    check(read(events, mend=mend, **options), random)


@examples(0.3)
@given(cut_documents(st.one_of(texts(), texts(repeat_keys=True))), randoms)
@example(('{"a":1,"b":2,"a":"x"}', ['{"a":1,"b":2,"a":"x']), Random(0)).via(
    "a member that replaces another one is open"
)
def test_a_replica_of_json_alone_is_the_same(document: Any, random: Random) -> None:
    states: list[Any] = states_along(document[1])
    states.append(finalize(states[-1]))
    check(states)
    check(states, random)


def test_decimals_stay_decimals() -> None:
    state = parse_chunk(create_parser_state(floats="decimal"), "[1.10, 2.0")
    (_, replica), *_ = followed([state])
    assert write_json(replica.value) == write_json(state.value) == "[1.10]"


def test_parts_and_steps_that_no_operation_names_stay_the_same_objects() -> None:
    for turn in CASES.values():
        state, replica = start_delta(), start_replica()
        for growing in turn:
            state, delta = feed_delta(state, growing)
            before, replica = replica.growing, feed_replica(replica, delta)
            after = replica.growing
            if isinstance(before, Message) and isinstance(after, Message):
                named = {operation[1] for operation in delta if operation[0] in "ptdvf"}
                assert all(after.parts[at] is part for at, part in enumerate(before.parts) if at not in named)
    for turn in RUNS.values():
        for (_, first_run), (_, second) in pairwise(followed(turn)):
            assert all(old is new for old, new in zip(first_run.steps[:-1], second.steps, strict=False))


def test_what_a_delta_says_follows_what_is_new_and_not_what_was_there() -> None:
    long = "x" * 100_000
    turn = [state.message for state in states_of([chat(content=long), chat(content="y")])[1:]]
    state, first = feed_delta(start_delta(), turn[0])
    assert feed_delta(state, turn[1])[1] == [["t", 0, "y"]]
    assert feed_delta(state, turn[0])[1] == []
    assert len(write_json(first)) < len(long) + 300


def test_old_replicas_stay_as_they_were() -> None:
    turn = TURNS["complete with two calls"]
    state, replicas = start_delta(), [start_replica()]
    deltas = []
    for message in turn:
        state, delta = feed_delta(state, message)
        deltas.append(delta)
        replicas.append(feed_replica(replicas[-1], delta))
    for replica, delta, message in zip(replicas, deltas, turn, strict=False):
        again: Any = feed_replica(replica, deepcopy(delta)).growing
        assert again.to_json() == message.to_json()


def written(turn: Iterable[Any]) -> list[Any]:
    state, deltas = start_delta(), []
    for growing in turn:
        state, delta = feed_delta(state, growing)
        deltas.append(json.loads(write_json(delta)))
    return deltas


WRONG: list[Any] = [
    *(None, 7, "w", {}, [7], [[]], [["w"]], [["w", "pickle"]], [["m", {}]], [["t", 0, "x"]], [["s"]]),
    *(
        [["w", "message"], operation]
        for operation in (
            *(
                ["t", 0, "x"],
                ["t", -1, "x"],
                ["t", 10**30, "x"],
                ["p", 1, {"kind": "text"}],
                ["p", 0, {"kind": "__proto__"}],
            ),
            *(
                ["p", 0, {"kind": "text", "text": "x"}],
                ["p", 0, {"kind": "call", "name": "f"}],
                ["p", 0, {"kind": "text", "x": 1}],
            ),
            *(
                ["f", -1],
                ["f", 0, 1],
                ["v", -1, "x", 1],
                ["m", {"outcome": "done"}],
                ["m", {"parts": []}],
                ["m", {"x": 1}],
            ),
            *(
                ["m", {"errors": [{"kind": "json", "source": 4, "message": "x"}]}],
                ["e", ["metadata"], []],
                ["s"],
                ["n", 0, []],
            ),
            *(["m", {"answer": 1}], ["x", "m", "NO_REASON", 0, []], ["w", "run", "x"], ["d", 0, {}], ["d", -1, []]),
        )
    ),
    *(
        [["w", "run"], operation]
        for operation in (["o", 0, {}], ["r", {"outcome": 1}], ["r", {"id": 1}], ["n", 0, [["m"]]])
    ),
    *([["w", "json"], operation] for operation in (["x", "m", "AMBIGUOUS", 0, []], ["p", 0, {"kind": "text"}])),
    [["w", "message"], ["d", -1, {"written": True}], ["v", -1, "[1}", 3]],
    [["w", "message"], ["p", 0, {"kind": "call", "name": "f"}], ["t", 0, '{"a": 1'], ["f", 0]],
    [
        ["w", "run"],
        ["s"],
        ["p", 0, {"kind": "call", "name": "f"}],
        ["f", 0, {}],
        ["o", 0, {"status": "running", "nested": {}}],
    ],
]


@pytest.mark.parametrize("delta", WRONG, ids=str)
def test_what_was_not_written_as_a_delta_is_refused(delta: Any) -> None:
    with pytest.raises(ValueError, match=r"^this is not a "):
        feed_replica(start_replica(), delta)


def test_deltas_that_are_nested_too_deep_are_refused() -> None:
    delta: Any = []
    for _ in range(100_000):
        delta = [["w", "run"], ["s"], ["n", 0, delta]]
    with pytest.raises(ValueError, match="RecursionError"):
        feed_replica(start_replica(), delta)


def damaged(value: Any, random: Random) -> Any:
    """The same value with something in it gone, doubled or of another type."""
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        way = random.random()
        if way < 0.15:
            return value[:at] + value[at + 1 :]
        return [*value[:at], damaged(value[at], random), *value[at + 1 :]] if way < 0.9 else [*value, value[at]]
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(sorted(value))
        return {**value, key: damaged(value[key], random)}
    return random.choice([None, -1, 0, 1, 10**20, "", "x", [], {}, 1.5, True, "\ud83d"])


@examples(1)
@given(
    randoms, st.sampled_from(["complete with two calls", "cut off inside a call", "run: two steps", "a mended call"])
)
def test_damaged_deltas_are_refused_or_show_calls_only_as_they_were_complete(random: Random, name: str) -> None:
    """A call that may be run has arguments that some delta decided, after all of their text."""
    deltas, replica = written(CASES[name]), start_replica()
    at = random.randrange(len(deltas))
    deltas[at] = damaged(deltas[at], random)
    decided = False
    for delta in deltas:
        try:
            replica = feed_replica(replica, delta)
        except ValueError as error:
            assert "this is not a" in str(error) or "results must be" in str(error)  # noqa: PT017 - nothing else is raised
            return
        decided = decided or '"f"' in json.dumps(delta)
        message = replica.growing.message if isinstance(replica.growing, Run) else replica.growing
        parts = message.parts if isinstance(message, Message) else ()
        for part in parts:
            assert not isinstance(part, CompleteCall) or decided


def test_a_message_that_was_loaded_goes_the_same_way() -> None:
    for turn in TURNS.values():
        loaded = Message.from_json(turn[-1].to_json())
        (_, replica), *_ = followed([loaded])
        assert replica.to_json() == loaded.to_json()
