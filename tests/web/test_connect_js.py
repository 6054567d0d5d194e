"""connect() of jsontide.js against a real server: it goes on without loss, gives up, and stops, as it says."""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jsontide import create_parser_state, parse_chunk
from jsontide.frontends.compact import CompactEncoder, Form
from tests.web.browsers import HOSTS, STATIC, Ask, needs_plain_node
from tests.web.scripted_server import CLOSE, HANG, RESET, SEEN, Answer, Script, serve
from tests.web.serving import PATIENCE

WHOLE = {"days": [{"title": "Kyōto", "stops": [1, 2]}, {"title": "Nara 🦌", "stops": []}], "cost": 12.5}
TEXT = json.dumps(WHOLE, ensure_ascii=False)
HALF = TEXT.index("Nara") + 2
Follow = Callable[..., dict[str, Any]]
FAST = {"retryDelay": 5, "maxRetryDelay": 20}

pytestmark = [pytest.mark.long, pytest.mark.once]  # the client is under test, and not the library


def encode(*texts: str, form: Form = "sse", run_id: str | None = "turn-1") -> list[bytes]:
    """What is sent for each text that was read so far."""
    encoder = CompactEncoder(form=form, run_id=run_id)
    (place, _), state = encoder.begin(), create_parser_state()
    sent, done = [], ""
    for text in texts:
        state = parse_chunk(state, text.removeprefix(done))
        done = text
        place, new = encoder.encode(place, state)
        sent.append(new)
    return sent


def growing(start: int, end: int, **options: Any) -> list[bytes]:
    """What a reader gets that joins at one place and is there until another one."""
    return encode(*[TEXT[:at] for at in range(start, end + 1, 3)], TEXT[:end], **options)


@pytest.fixture(scope="module", params=HOSTS, ids=["node", "chromium"])
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    with request.param() as found:
        yield found


@pytest.fixture
def follow(ask: Ask) -> Follow:
    def follow(script: Script, **given: Any) -> dict[str, Any]:
        options = {**FAST, **given.pop("options", {})}
        return dict(ask("follow", {"source": script.url, "options": options, **given}))

    return follow


def statuses(log: dict[str, Any]) -> list[str]:
    """The statuses in order, each once."""
    found = [each["status"] for each in log["snapshots"]]
    return [each for at, each in enumerate(found) if not at or found[at - 1] != each]


FIRST = growing(1, HALF)
REST = growing(HALF, len(TEXT))


@pytest.mark.parametrize("way", ["callbacks", "loop", "store"])
@pytest.mark.parametrize("form", ["sse", "ndjson"])
def test_a_stream_is_read_to_its_end(follow: Follow, form: Form, way: str) -> None:
    first, *others = growing(1, len(TEXT), form=form)
    media_type = CompactEncoder(form=form).media_type
    with serve(Answer([first, SEEN, *others, CLOSE], media_type=media_type)) as script:
        log = follow(script, way=way)
    assert log["last"] == {"value": WHOLE, "status": "ended", "end": {"end": "complete"}}
    assert log["ends"] == ["ended"]
    assert (log["errors"], log.get("raised"), log["isStable"]) == ([], None, True)
    assert statuses(log) == ["open", "ended"]
    assert log.get("calls") == (1 if way == "store" else None)
    assert script.told() == [("GET", "/answer", None)]


def test_each_value_is_told_once_when_it_is_finished(follow: Follow) -> None:
    with serve(Answer([*FIRST, RESET]), Answer([*REST, CLOSE])) as script:
        log = follow(script)
    told = [tuple(path) for path, _ in log["finished"]]
    assert sorted(told, key=str) == sorted(set(told), key=str)
    assert set(told) == set(paths_of(WHOLE))
    assert dict(zip(told, [value for _, value in log["finished"]], strict=True))[("days", 1, "title")] == "Nara 🦌"


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for segment, each in inner:
        yield from paths_of(each, (*path, segment))


@pytest.mark.parametrize("drop", [RESET, CLOSE])
@pytest.mark.parametrize("cut", [0, 1, 7])
def test_a_dropped_connection_is_resumed_without_loss(follow: Follow, drop: str, cut: int) -> None:
    value = {"first": {"a": [1]}, "second": "x" * 30}
    text = json.dumps(value)
    sent = encode(*[text[:at] for at in range(1, 40, 3)])
    broken = b"".join(sent)[:-cut] if cut else b"".join(sent)
    resumed = encode(*[text[:at] for at in range(38, len(text) + 1)])
    with serve(Answer([broken, drop]), Answer([resumed[0], SEEN, *resumed[1:], CLOSE])) as script:
        log = follow(script)
    assert log["last"] == {"value": value, "status": "ended", "end": {"end": "complete"}}
    assert statuses(log) == ["open", "retrying", "open", "ended"]
    assert script.told() == [("GET", "/answer", None), ("GET", "/answer", "turn-1")]
    assert log["kept"] == ["first"]
    lengths = [len(each["value"].get("second", "")) for each in log["snapshots"]]
    assert lengths == sorted(lengths)


def test_a_post_is_never_repeated_and_resumed_at_another_url(follow: Follow) -> None:
    options = {
        "method": "POST",
        "body": '{"question":1}',
        "headers": {"content-type": "application/json", "authorization": "Bearer x"},
        "resumeUrl": "{url}",
    }
    with serve(Answer([*FIRST, RESET]), Answer([*FIRST, RESET]), Answer([*REST, CLOSE])) as script:
        options["resumeUrl"] = f"{script.url}/{{id}}/stream"
        log = follow(script, options=options)
    assert log["last"]["value"] == WHOLE
    path = "/answer/turn-1/stream"
    assert script.told() == [("POST", "/answer", None), ("GET", path, "turn-1"), ("GET", path, "turn-1")]
    assert [each.body for each in script.requests] == [b'{"question":1}', b"", b""]
    assert {each.headers["authorization"] for each in script.requests} == {"Bearer x"}


def test_what_drops_before_its_first_event_is_resumed_by_the_name_in_the_header(follow: Follow) -> None:
    rest = encode(TEXT, form="ndjson")
    with serve(Answer([b"\n", CLOSE], run_id="turn-7"), Answer([*rest, CLOSE], run_id="turn-7")) as script:
        log = follow(script)
    assert log["last"]["value"] == WHOLE
    assert script.told() == [("GET", "/answer", None), ("GET", "/answer", "turn-7")]


def test_nothing_to_resume_ends_as_lost(follow: Follow) -> None:
    with serve(Answer([*FIRST, CLOSE]), Answer(status=204)) as script:
        log = follow(script, way="loop")
    assert log["last"]["status"] == "lost"
    assert log["last"]["value"]["days"][0] == WHOLE["days"][0]  # type: ignore[index]
    assert log["ends"] == ["lost"]
    assert log["errors"] == [{"message": "there is nothing to resume", "status": 204}]
    assert log["raised"] == "there is nothing to resume"
    assert len(script.requests) == 2


def test_nothing_to_follow_is_no_failure(follow: Follow) -> None:
    with serve(Answer(status=204)) as script:
        log = follow(script)
    assert (log["last"]["status"], log["ends"], log["errors"]) == ("none", ["none"], [])
    assert len(script.requests) == 1


@needs_plain_node
@pytest.mark.parametrize("event", ["online", "visibilitychange"])
def test_who_comes_back_does_not_wait_for_the_next_try(event: str) -> None:
    script = """
        const target = EVENT === "online" ? globalThis : (globalThis.document = new EventTarget());
        if (target === globalThis) {
          const events = new EventTarget();
          for (const name of ["addEventListener", "removeEventListener"]) globalThis[name] = events[name].bind(events);
          target.dispatchEvent = events.dispatchEvent.bind(events);
        } else target.visibilityState = "hidden";
        const { connect } = await import("./jsontide.js");
        let asked = 0;
        const fetch = async () => {
          if (++asked === 1) throw new Error("no network");
          return new Response('{"version":0,"value":1}\\n{"end":"complete"}\\n');
        };
        const stream = connect("/chat", { fetch, retryDelay: 1e6, maxRetryDelay: 1e6 });
        while (stream.getSnapshot().status !== "retrying") await new Promise(setImmediate);
        if (EVENT !== "online") target.dispatchEvent(new Event(EVENT)); // it is hidden still
        await new Promise(setImmediate);
        const before = asked;
        target.visibilityState = "visible";
        target.dispatchEvent(new Event(EVENT));
        while (stream.getSnapshot().status !== "ended") await new Promise(setImmediate);
        console.log(JSON.stringify([before, asked, stream.getSnapshot().value]));
    """
    assert json.loads(run_module(script.replace("EVENT", json.dumps(event)))) == [1, 2, 1]


@pytest.mark.parametrize("status", [400, 429])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_refusal_is_an_error_without_a_retry(follow: Follow, status: int, is_first: bool) -> None:  # noqa: FBT001
    before = [] if is_first else [Answer([*FIRST, RESET])]
    with serve(*before, Answer(status=status), Answer([*REST, CLOSE])) as script:
        log = follow(script)
    assert log["last"]["status"] == "failed"
    assert log["errors"] == [{"message": f"{script.url} answered {status}", "status": status}]
    assert len(script.requests) == len(before) + 1


def test_errors_of_the_server_are_retried(follow: Follow) -> None:
    with serve(Answer(status=500), Answer(status=503), Answer([*REST[:1], SEEN, *REST[1:], CLOSE])) as script:
        log = follow(script)
    assert statuses(log) == ["retrying", "open", "ended"]
    assert len(script.requests) == 3


def test_it_gives_up_after_some_tries_that_bring_nothing_new(follow: Follow) -> None:
    again = Answer([*growing(HALF, HALF), CLOSE])
    with serve(Answer([*FIRST, RESET]), again, again, Answer(status=500), again) as script:
        log = follow(script, options={"retries": 3})
    assert log["last"]["status"] == "lost"
    assert len(script.requests) == 4
    assert log["errors"] == [{"message": f"{script.url} answered 500", "status": 500}]


def test_tries_are_counted_anew_when_something_new_came(follow: Follow) -> None:
    places = range(HALF, len(TEXT) + 1)
    with serve(*[Answer([*growing(at, at), CLOSE]) for at in places]) as script:
        log = follow(script, options={"retries": 15, "maxRetryDelay": 1})
        assert len(script.requests) > 20
    assert log["last"] == {"value": WHOLE, "status": "ended", "end": {"end": "complete"}}


@pytest.mark.long
def test_silence_counts_as_a_dropped_connection(follow: Follow) -> None:
    with serve(Answer([*FIRST, HANG]), Answer([*REST, CLOSE])) as script:
        log = follow(script, options={"timeout": 2_000})
        assert script.requests[0].was_left.wait(PATIENCE)
    assert log["last"]["value"] == WHOLE
    assert "nothing was received for 2000 ms" in [each.get("error") for each in log["snapshots"]]


# A clock that the program sets, and an answer whose pieces it sends: nothing waits, and nothing can be late.
CLOCK = """
    import { connect } from "./jsontide.js";
    const timers = new Map();
    let now = 0, count = 0, asked = 0, isDown = false, body;
    globalThis.setTimeout = (call, time) => (timers.set(++count, { call, at: now + time }), count);
    globalThis.clearTimeout = (timer) => timers.delete(timer);
    globalThis.fetch = async () => {
        asked++;
        if (isDown) throw new Error("down");
        return new Response(new ReadableStream({ start: (controller) => (body = controller) }));
    };
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    const send = async (text) => (body.enqueue(new TextEncoder().encode(text)), settle());
    const pass = async (time) => {
        now += time;
        for (const [timer, { call, at }] of timers) if (at <= now && timers.delete(timer)) call();
        await settle();
    };
    const stream = connect("http://127.0.0.1/", { timeout: 100, retryDelay: 60, maxRetryDelay: 60 });
    await settle();
    await send('data: {"version":0,"value":"a","at":[]}\\n\\n');
    const log = [];
"""


@needs_plain_node
def test_comments_keep_a_silent_connection_and_silence_drops_it() -> None:
    script = """
        for (let times = 0; times < 5; times++) {
            await pass(99);
            await send(": keep-alive\\n\\n");
        }
        log.push(stream.getSnapshot().status, asked);
        await pass(101);
        log.push(stream.getSnapshot().status, stream.getSnapshot().error.message);
        await pass(61);
        await send('data: {"version":0,"value":"ab","at":[]}\\n\\ndata: {"end":"complete"}\\n\\n');
        log.push(stream.getSnapshot().status, stream.getSnapshot().value, asked);
        console.log(JSON.stringify(log));
    """
    assert json.loads(run_module(CLOCK + script)) == [
        *("open", 1, "retrying", "nothing was received for 100 ms", "ended", "ab", 2)
    ]


@needs_plain_node
def test_retries_wait_longer_each_time() -> None:
    """Twice as long as before, up to a limit, less up to half of it at random."""
    script = """
        isDown = true;
        for (let times = 0; times < 6; times++) {
            await pass(times ? 0 : 101);
            const [{ at }] = timers.values();
            log.push(at - now);
            await pass(at - now);
        }
        console.log(JSON.stringify([log, asked]));
    """
    clock = CLOCK.replace("retryDelay: 60, maxRetryDelay: 60", "retryDelay: 40, maxRetryDelay: 160")
    waits, asked = json.loads(run_module(clock + script))
    assert asked == 1 + len(waits)
    for wait, most in zip(waits, [40, 80, 160, 160, 160, 160], strict=True):
        assert most / 2 <= wait <= most


@pytest.mark.parametrize("way", ["callbacks", "loop", "store"])
def test_stopping_closes_the_connection_and_tells_the_server(follow: Follow, way: str) -> None:
    with serve(Answer([*FIRST, HANG]), Answer(status=202)) as script:
        log = follow(script, way=way, stopAt="Na", options={"stopUrl": f"{script.url}/stop"})
        assert script.requests[0].was_left.wait(PATIENCE)
    assert log["last"]["status"] == "stopped"
    assert (log["ends"], log["errors"], log.get("raised")) == (["stopped"], [], None)
    assert log["stopStatus"] == 202
    assert script.told() == [("GET", "/answer", None), ("POST", "/answer/stop", "turn-1")]


@pytest.mark.parametrize(("stop", "way"), [("signal", "callbacks"), ("leave", "loop")])
def test_a_signal_and_leaving_the_loop_stop_it(follow: Follow, stop: str, way: str) -> None:
    with serve(Answer([*FIRST, HANG])) as script:
        log = follow(script, way=way, stopAt="Na", stop=stop)
        assert script.requests[0].was_left.wait(PATIENCE)
    assert log["last"]["status"] == "stopped"
    assert log["ends"] == ["stopped"]


def test_stopping_before_the_server_answers_takes_the_request_back(follow: Follow) -> None:
    with serve(Answer(status=0)) as script:
        log = follow(script, stopAt=True)
        assert script.requests[0].was_left.wait(PATIENCE)
    assert log["last"]["status"] == "stopped"


STOPPED_EARLY = """
    import { connect } from "./jsontide.js";
    const asked = [];
    const fetch = (address, init) => {
      asked.push([init.method ?? "GET", String(address), init.headers.get("last-event-id")]);
      if (init.method === "POST") return Promise.resolve(new Response(null, { status: 204 }));
      return new Promise((resolve, reject) => {
        init.signal.addEventListener("abort", () => reject(new Error("aborted")));
        setTimeout(() => ANSWER, 30);
      });
    };
    const stream = connect("/chat", { fetch, stopUrl: STOP, timeout: 100 });
    const answer = stream.stop();
    const { status } = stream.getSnapshot();
    console.log(JSON.stringify([status, (await answer)?.status ?? null, asked.slice(1), stream.getSnapshot().status]));
"""
NAMED = 'resolve(new Response("", { headers: { "x-run-id": "turn-1" } }))'


@needs_plain_node
@pytest.mark.parametrize(
    ("stop", "answer", "told"),
    [
        ("(id) => `/turns/${id}/stop`", NAMED, [["POST", "/turns/turn-1/stop", "turn-1"]]),
        ('"/stop"', NAMED, [["POST", "/stop", "turn-1"]]),
        ("(id) => `/turns/${id}/stop`", 'reject(new Error("no network"))', []),
        ("(id) => `/turns/${id}/stop`", 'resolve(new Response("", { status: 500 }))', []),
        ("(id) => `/turns/${id}/stop`", "undefined", []),
    ],
)
def test_stopping_before_the_server_answers_stops_the_turn_that_it_begins(
    stop: str, answer: str, told: list[list[str]]
) -> None:
    script = STOPPED_EARLY.replace("STOP,", f"{stop},").replace("ANSWER", answer)
    assert json.loads(run_module(script)) == ["stopped", 204 if told else None, told, "stopped"]


@needs_plain_node
def test_a_stream_that_is_over_keeps_no_process_alive() -> None:
    script = """
        import { connect } from "./jsontide.js";
        const options = { retryDelay: 3_600_000, maxRetryDelay: 3_600_000 };
        const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) };
        for (const stream of [connect("http://127.0.0.1:1", options), connect(silent)]) setTimeout(stream.stop, 50);
    """
    run_module(script)  # it ends


@needs_plain_node
def test_an_error_in_a_callback_is_the_programs_and_the_stream_goes_on() -> None:
    script = """
        import { connect } from "./jsontide.js";
        const errors = [];
        process.on("uncaughtException", (error) => errors.push(error.message));
        const fail = () => { throw new Error("mine"); };
        const sent = ['{"version":0,"value":{},"at":[]}\\n', '[["a",1],1]\\n{"end":"complete"}\\n'];
        const stream = connect(sent, { onChange: fail, onFinished: fail });
        stream.subscribe(fail);
        for await (const { end } of stream) if (end) console.log(JSON.stringify([end, errors.length > 0]));
        setTimeout(() => console.log(JSON.stringify([...new Set(errors)])), 10);
    """
    assert run_module(script).split() == ['[{"end":"complete"},true]', '["mine"]']


def run_module(script: str) -> str:
    """Run a module beside jsontide.js; return what it prints."""
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=STATIC, capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (b'data: "x"\n\n', "the first event must be a whole value: x"),
        (b"data: {oops}\n\n", "an event must be JSON: {oops}"),
        (b'data: {"version":0,"value":{}}\n\ndata: ["x"]\n\n', "there is no text at [] to append to: x"),
    ],
)
def test_what_is_no_stream_of_deltas_fails_without_a_retry(follow: Follow, sent: bytes, message: str) -> None:
    with serve(Answer([sent, HANG])) as script:
        log = follow(script)
    assert log["last"]["status"] == "failed"
    assert log["errors"] == [{"message": message}]
    assert len(script.requests) == 1


def test_a_page_instead_of_a_stream_fails(follow: Follow) -> None:
    with serve(Answer([b"<!doctype html>", CLOSE], media_type="text/html")) as script:
        log = follow(script)
    assert log["errors"] == [{"message": f"{script.url} answered with a page", "status": 200}]


def test_a_failure_that_the_server_tells_is_an_end(follow: Follow) -> None:
    encoder = CompactEncoder()
    with serve(Answer([encoder.fail(encoder.begin()[0], "out of tokens")[1], CLOSE])) as script:
        log = follow(script, way="loop")
    assert log["last"] == {"status": "ended", "end": {"end": "failed", "reason": "out of tokens"}}
    assert log.get("raised") is None
