"""The chat example as people see it: a real server, and a page in Chromium."""

import importlib
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jsontide.recordings import Recording
from tests.web.browsers import needs_browser, open_browser
from tests.web.proxy import proxied
from tests.web.serving import Provider, eventually, port_of, running, serving, wait_for_responses

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
pytest.importorskip("pydantic")

pytestmark = [pytest.mark.untraced, pytest.mark.once]  # the example is under test, and not the library

EXAMPLE = Path(__file__).parents[2] / "examples/chat"
EVENTS: list[Any] = list(Recording.load(EXAMPLE / "recording.ndjson").events)
HELD, HELD_AT = 60, "Lunch at the"
"""A piece of the plan, and the last text before it."""
REASONING, TEXT, HOLD_TRAIN, SET_REMINDER, PLAN = range(5)
PATIENCE = 60_000
FIRST = '["steps",0]'
ANSWER = '["steps",1,"message","answer"'
RENDERS = """() => Object.fromEntries(
    [...document.querySelectorAll("[data-path]")].map(({ dataset }) => [dataset.path, Number(dataset.renders)]))"""

TOPS = """() => Object.fromEntries([...document.querySelectorAll("[data-path]")].map((element) => [
    element.dataset.path,
    Math.round(element.getBoundingClientRect().top - document.querySelector(".turn").getBoundingClientRect().top)]))"""


def place_of(block: int, piece: int = 0) -> int:
    """Return where a piece of a block stands among the events."""
    at = [
        at for at, event in enumerate(EVENTS) if event.get("index") == block and event["type"] == "content_block_delta"
    ]
    return at[piece]


def text_of(block: int) -> str:
    """Return all that a block says, or writes as arguments."""
    deltas = [event["delta"] for event in EVENTS if event["type"] == "content_block_delta" and event["index"] == block]
    return "".join(delta.get("thinking", delta.get("text", delta.get("partial_json", ""))) for delta in deltas)


PLAN_BEGINS = next(
    at for at, event in enumerate(EVENTS) if event["type"] == "content_block_start" and event["index"] == PLAN
)
ENDS = EVENTS[-2:]
SENTENCE = "Book your tickets soon."


class Recorded(Provider):
    """The recording, without its pauses, in two answers: what it calls, and the plan. It waits where it is told to."""

    name = "anthropic"

    def __init__(self, events: list[dict[str, Any]] = EVENTS) -> None:
        is_whole = len(events) > PLAN_BEGINS
        super().__init__([*events[:PLAN_BEGINS], *ENDS] if is_whole else events)
        self.plan = Provider([EVENTS[0], *events[PLAN_BEGINS:]])
        self.asked_by_tool: Provider | None = None
        self.conversations: list[Any] = []

    def hold_in_plan(self, piece: int) -> threading.Event:
        """Wait before a piece of the plan until the event that is returned is set."""
        return self.plan.hold_before(1 + place_of(PLAN, piece) - PLAN_BEGINS)

    def ask(self, conversation: Any, tools: object) -> Any:
        if not tools:
            return (self.asked_by_tool or Provider(say(SENTENCE))).stream()
        self.conversations.append(conversation)
        is_question = isinstance(conversation[-1]["content"], str)
        return self.stream() if is_question else self.plan.stream()


def say(text: str) -> list[dict[str, Any]]:
    """The events of a text that a tool asks for."""
    return [
        EVENTS[0],
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        *ENDS,
    ]


@contextmanager
def recorded_service() -> Iterator[tuple[int, list[Any]]]:
    """Serve the recording as a provider would; give the port, and the bodies of all requests."""
    requests: list[Any] = []

    async def answer(request: Request) -> Response:
        requests.append(await request.json())
        events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS)
        return Response("".join(events), media_type="text/event-stream")

    with serving(Route("/v1/messages", answer, methods=["POST"])) as port:
        yield port, requests


@pytest.fixture(scope="module")
def create_app() -> Iterator[Callable[..., Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)  # as `python examples/chat` does
        yield importlib.import_module("app").create_app
        for name in ("app", "provider"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as browser:
        yield browser


class Chat:
    """A page, and what it logs and asks for."""

    def __init__(self, browser: Any, port: int, server: Any = None) -> None:
        self.server = server
        self.origin = f"http://127.0.0.1:{port}"
        self.page = browser.new_context().new_page()
        self.page.set_default_timeout(PATIENCE)
        self.logged: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.logged.append(message.text))
        self.page.on("pageerror", lambda error: self.logged.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.origin)

    def ask(self, question: str = "Two slow days in Porto?") -> None:
        self.page.fill("#question", question)
        self.page.keyboard.press("Enter")

    def decide(self, *, allow: bool = True) -> None:
        """Answer the call that waits."""
        self.page.click(f".decision button:text('{'Allow' if allow else 'Refuse'}')")

    def ask_and_allow(self) -> None:
        self.ask()
        self.decide()

    def wait_for(self, text: str) -> None:
        self.page.get_by_text(text).wait_for()

    def wait_for_end(self, outcome: str = "complete") -> str:
        """Wait until the turn has ended; return all that the page says of it."""
        self.page.wait_for_selector(f'[data-outcome="{outcome}"]')
        return str(self.page.inner_text(".answer"))

    def renders(self) -> dict[str, int]:
        """Return how often each value was drawn, by its path."""
        return dict(self.page.evaluate(RENDERS))

    def tops(self) -> dict[str, int]:
        """Return how far below the question each value stands, by its path."""
        return dict(self.page.evaluate(TOPS))

    def shows(self, selector: str, *texts: str) -> None:
        """Expect elements with these texts, and no others."""
        from playwright.sync_api import expect  # noqa: PLC0415 - without it tests are skipped before

        expect(self.page.locator(selector)).to_have_text(list(texts), use_inner_text=True, timeout=PATIENCE)

    def shows_calls(self, *statuses: str) -> None:
        """Expect that the calls stand like this."""
        self.shows(".call .status", *statuses)


@pytest.fixture
def open_chat(create_app: Callable[..., Any], browser: Any) -> Callable[..., Any]:
    """Open pages, which must log nothing and ask nobody else."""

    @contextmanager
    def open_one(provider: Recorded, **options: Any) -> Iterator[Chat]:
        with running(create_app(provider, **options)) as server:
            chat = Chat(browser, port_of(server), server)
            yield chat
            chat.page.context.close()
            assert not chat.logged
            assert all(url.startswith((chat.origin, "data:")) for url in chat.asked)

    return open_one


@pytest.fixture(scope="module")
def whole(create_app: Callable[..., Any], browser: Any) -> str:
    """What the page says of a turn that nothing disturbed."""
    with running(create_app(Recorded())) as server:
        chat = Chat(browser, port_of(server))
        chat.ask_and_allow()
        said = chat.wait_for_end()
        chat.page.context.close()
    return said


def only(renders: dict[str, int], outer: list[str]) -> dict[str, int]:
    """Return the counts of some paths, and of all that is inside them."""
    inside = tuple(path.removesuffix("]") + "," for path in outer)
    return {path: times for path, times in renders.items() if path in outer or path.startswith(inside)}


@needs_browser
@pytest.mark.long
def test_text_is_visible_before_the_stream_ends(open_chat: Any) -> None:
    provider = Recorded()
    gate = provider.hold_before(place_of(TEXT, 5))
    with open_chat(provider) as chat:
        chat.ask()
        chat.wait_for(text_of(REASONING))
        chat.wait_for(text_of(TEXT)[:20])
        eventually(lambda: provider.given == place_of(TEXT, 5))
        assert provider.closed == 0
        gate.set()
        chat.wait_for_end("waiting")


@needs_browser
@pytest.mark.long
class TestWhatGrows:
    def test_arguments_and_the_plan_are_visible_before_they_are_complete(self, open_chat: Any) -> None:
        provider = Recorded()
        in_call, in_plan = provider.hold_before(place_of(HOLD_TRAIN, 6)), provider.hold_in_plan(HELD)
        with open_chat(provider) as chat:
            chat.ask()
            chat.page.locator(".call dd", has_text="Lisboa Oriente").wait_for()
            chat.shows_calls("writing")
            in_call.set()
            chat.shows_calls("may it run?", "done")
            chat.decide()
            chat.wait_for(HELD_AT)
            chat.shows_calls("done", "done")
            chat.page.locator(".plan.open .caret").wait_for()
            in_plan.set()
            chat.wait_for_end()
            chat.shows(".open, .caret")

    def test_the_end_tells_the_outcome_and_the_usage(self, whole: str) -> None:
        assert whole.endswith("Complete\n2,568 tokens read, 2,014 written\nbundled-recording")

    def test_all_of_the_plan_is_shown(self, whole: str) -> None:
        plan = json.loads(text_of(PLAN))
        stops = [stop for day in plan["days"] for stop in day["stops"]]
        texts = [plan["title"], plan["summary"], *plan["tips"], *(text for stop in stops for text in stop.values())]
        assert all(text in whole for text in texts)

    def test_what_is_there_stays_where_it_is(self, open_chat: Any) -> None:
        provider = Recorded()
        gates = [provider.hold_before(place_of(HOLD_TRAIN, 6)), provider.hold_in_plan(HELD)]
        with open_chat(provider) as chat:
            chat.ask()
            chat.wait_for("Lisboa Oriente")
            early = chat.tops()
            gates[0].set()
            chat.decide()
            chat.wait_for(HELD_AT)
            late = chat.tops()
            gates[1].set()
            chat.wait_for_end()
            assert chat.tops().items() >= {**early, **late}.items() >= early.items()

    def test_what_is_finished_is_not_drawn_again(self, open_chat: Any) -> None:
        provider = Recorded()
        gate = provider.hold_in_plan(110)
        with open_chat(provider) as chat:
            chat.ask_and_allow()
            chat.wait_for("Rua das Flores")
            before = chat.renders()
            finished = [FIRST, f'{ANSWER},"title"]', f'{ANSWER},"days",0]']
            assert len(only(before, finished)) > 20
            gate.set()
            chat.wait_for_end()
            after = chat.renders()
            assert only(after, finished) == only(before, finished)
            assert after[f"{ANSWER}]"] > before[f"{ANSWER}]"]


@needs_browser
@pytest.mark.long
class TestGoingOn:
    def test_a_reload_in_the_middle_continues_to_the_same_end(self, open_chat: Any, whole: str) -> None:
        provider = Recorded()
        gate = provider.hold_in_plan(HELD)
        with open_chat(provider) as chat:
            chat.ask_and_allow()
            chat.wait_for(HELD_AT)
            said = chat.page.inner_text(".answer")
            chat.page.reload()
            chat.wait_for(HELD_AT)
            chat.shows(".answer", said)
            gate.set()
            assert chat.wait_for_end() == whole
            assert (provider.opened, provider.plan.opened) == (1, 1)

    def test_a_reload_after_the_end_shows_it_again(self, open_chat: Any, whole: str) -> None:
        with open_chat(Recorded()) as chat:
            chat.ask_and_allow()
            chat.wait_for_end()
            chat.page.reload()
            assert chat.wait_for_end() == whole

    def test_a_network_drop_in_the_middle_loses_nothing(self, create_app: Any, browser: Any, whole: str) -> None:
        provider = Recorded()
        first, second = provider.hold_in_plan(HELD), provider.hold_in_plan(120)
        with running(create_app(provider)) as server, proxied(port_of(server)) as proxy:
            chat = Chat(browser, proxy.port)
            chat.ask_and_allow()
            chat.wait_for(HELD_AT)
            before = chat.renders()
            proxy.cut()
            first.set()
            chat.wait_for("Reconnecting")
            eventually(lambda: provider.plan.given == 1 + place_of(PLAN, 120) - PLAN_BEGINS and proxy.refused > 0)
            proxy.restore()
            chat.wait_for("Saturday: the river")
            second.set()
            assert chat.wait_for_end() == whole
            assert (provider.opened, provider.plan.opened) == (1, 1)
            finished = [FIRST, f'{ANSWER},"title"]', f'{ANSWER},"summary"]']
            assert only(chat.renders(), finished) == only(before, finished)
            chat.page.context.close()

    def test_a_turn_that_is_not_kept_any_more_says_so(self, open_chat: Any) -> None:
        with open_chat(Recorded()) as chat:
            gone = {"id": "0123456789", "turns": [{"question": "Where was I?", "run": "gone"}]}
            chat.page.evaluate("saved => sessionStorage.setItem('chat', saved)", json.dumps(gone))
            chat.page.reload()
            assert "does not keep this answer any more" in chat.wait_for_end("none")


@needs_browser
@pytest.mark.long
class TestEnding:
    def test_stop_ends_the_turn_as_cancelled_and_closes_the_providers_stream(self, open_chat: Any) -> None:
        provider = Recorded()
        provider.hold_before(place_of(SET_REMINDER, 5))
        with open_chat(provider) as chat:
            chat.ask()
            chat.page.locator(".call dd", has_text="2027-04-09").wait_for()
            chat.page.click("#stop")
            eventually(lambda: provider.closed == 1)
            assert "Stopped" in chat.wait_for_end("cancelled")
            chat.shows_calls("not run", "not run")
            chat.page.wait_for_function("document.activeElement.id === 'question'")

    @pytest.mark.parametrize("on_leave", ["cancel", "continue"])
    def test_a_reader_that_leaves_cancels_the_providers_stream_or_not(self, open_chat: Any, on_leave: str) -> None:
        provider = Recorded()
        gate = provider.hold_before(place_of(TEXT, 5))
        with open_chat(provider, on_leave=on_leave) as chat:
            chat.ask()
            chat.wait_for(text_of(TEXT)[:20])
            chat.page.goto("about:blank")
            chat.asked.clear()
            if on_leave == "cancel":
                eventually(lambda: provider.closed == 1)
                assert provider.cancelled == 1
            else:
                wait_for_responses(chat.server, 0)
                assert provider.closed == 0
                gate.set()
                eventually(lambda: provider.closed == 1)
                assert provider.given == PLAN_BEGINS + len(ENDS)

    def test_calls_of_a_message_that_broke_off_are_not_run(self, open_chat: Any) -> None:
        with open_chat(Recorded(EVENTS[: place_of(SET_REMINDER, 5)])) as chat:
            chat.ask()
            assert "the stream ended before" in chat.wait_for_end("truncated")
            chat.shows_calls("not run", "not run")

    def test_a_failure_of_the_server_is_shown_without_its_secrets(self, open_chat: Any) -> None:
        provider = Recorded()
        provider.raises[place_of(TEXT, 5)] = RuntimeError("the key is 1234")
        with open_chat(provider) as chat:
            chat.ask()
            said = chat.wait_for_end("failed")
            assert "Failed" in said
            assert "1234" not in said


HOLD_ID = next(
    event["content_block"]["id"] for event in EVENTS if event.get("content_block", {}).get("type") == "tool_use"
)


def post(port: int, path: str, body: object) -> tuple[str, bytes]:
    """Return the name of the turn, and the whole response; of one that is refused, its status."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:  # noqa: S310 - this machine
            return response.headers["x-run-id"], bytes(response.read())
    except urllib.error.HTTPError as error:
        return "", str(error.code).encode()


def begin(port: int, text: str = "Two days in Porto?") -> str:
    """Ask, and return the name of the turn when it has ended."""
    return post(port, "/turns", {"chat": "0123456789", "text": text})[0]


class TestAsking:
    def test_the_next_question_tells_the_provider_what_was_said_and_done(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded()
        with running(create_app(provider)) as server:
            port = port_of(server)
            post(port, f"/turns/{begin(port)}/decisions", {HOLD_ID: True})
            begin(port, "And a third?")
        first, second, third = provider.conversations
        assert [said["role"] for said in first] == ["user"]
        assert [said["role"] for said in second] == ["user", "assistant", "user"]
        held, reminder = (result["content"] for result in second[2]["content"])
        assert json.loads(held)["held"] == 2
        assert reminder == SENTENCE
        assert [said["role"] for said in third] == ["user", "assistant", "user", "user", "user"]
        assert "Tiles, books and the river" in third[3]["content"]

    def test_what_was_cut_off_is_not_told_and_not_run(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded(EVENTS[: place_of(SET_REMINDER, 3)])
        with running(create_app(provider)) as server:
            for text in ("Two days in Porto?", "And a third?"):
                begin(port_of(server), text)
        assert provider.conversations[1] == [{"role": "user", "content": "And a third?"}]

    def test_a_provider_is_asked_with_the_tools_and_its_bytes_are_read(self, create_app: Callable[..., Any]) -> None:
        with recorded_service() as (port, requests):
            services = importlib.import_module("provider")
            service = replace(services.ask_anthropic("key"), url=f"http://127.0.0.1:{port}/v1/messages")
            with running(create_app(service)) as server:
                body = post(port_of(server), "/turns", {"chat": "0123456789", "text": "Two days in Porto?"})[1]
        assert body.endswith(b'data: {"end":"waiting"}\n\n')
        assert [tool["name"] for tool in requests[0]["tools"]] == ["hold_train", "set_reminder", "output"]
        assert requests[0]["messages"] == [{"role": "user", "content": "Two days in Porto?"}]
        assert requests[0]["stream"] is True


class TestDeciding:
    """What runs is decided by the run on the server."""

    def test_the_same_approval_sent_twice_runs_once(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded()
        with running(create_app(provider)) as server:
            port = port_of(server)
            turn = begin(port)
            bodies = []
            threads = [
                threading.Thread(target=lambda: bodies.append(post(port, f"/turns/{turn}/decisions", {HOLD_ID: True})))
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert provider.plan.opened == 1
        assert sorted(body[:10] == b"id: " + name[:6].encode() or body == b"409" for name, body in bodies) == [True] * 4
        assert [body for _, body in bodies].count(b"409") == 3

    def test_a_call_that_nobody_asked_about_cannot_be_decided(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded()
        with running(create_app(provider)) as server:
            port = port_of(server)
            turn = begin(port)
            forged: list[Any] = [
                {},
                {"forged": True},
                {HOLD_ID: True, "forged": True},
                {HOLD_ID: {"seats": 99}},
                [HOLD_ID],
            ]
            assert [post(port, f"/turns/{turn}/decisions", one)[1] for one in forged] == [b"422"] * 5
            assert post(port, "/turns/forged/decisions", {HOLD_ID: True})[1] == b"409"
            assert provider.plan.opened == 0
            assert b'"end":"complete"' in post(port, f"/turns/{turn}/decisions", {HOLD_ID: False})[1]
        told = provider.conversations[1][2]["content"][0]
        assert "a person refused it" in told["content"]

    @needs_browser
    @pytest.mark.long
    def test_two_buttons_ask_and_what_was_said_is_kept(self, open_chat: Any) -> None:
        with open_chat(Recorded()) as chat:
            chat.ask()
            chat.wait_for_end("waiting")
            chat.shows(".decision button", "Allow", "Refuse")
            chat.shows(".inside .prose", SENTENCE)
            chat.page.reload()
            chat.decide(allow=False)
            chat.wait_for_end()
            chat.shows_calls("refused", "done")
            chat.shows(".decision")

    @needs_browser
    @pytest.mark.long
    def test_stop_works_in_the_middle_of_a_tool(self, open_chat: Any) -> None:
        provider, gate = Recorded(), threading.Event()
        asking = Provider(say(SENTENCE))
        asking.gates[3] = gate
        provider.asked_by_tool = asking
        with open_chat(provider) as chat:
            chat.ask()
            chat.wait_for(SENTENCE)
            chat.shows_calls("may it run?", "running")
            chat.page.click("#stop")
            chat.wait_for_end("cancelled")
            chat.shows_calls("not run", "unknown")
            assert (asking.closed, asking.cancelled) == (1, 1)


class TestRunning:
    def run(self, *arguments: str) -> "subprocess.Popen[str]":
        surroundings = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        pipe = subprocess.PIPE
        command = [sys.executable, *arguments]
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, encoding="utf-8", env=surroundings)

    def test_it_says_what_to_open(self) -> None:
        with self.run(str(EXAMPLE), "0") as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            url = line.split()[1]
            with urllib.request.urlopen(url) as response:  # noqa: S310 - it says http
                assert b"chat.js" in response.read()
            assert "a bundled recording answers" in line
            process.terminate()

    @pytest.mark.long
    def test_it_says_that_a_port_is_taken(self) -> None:
        with running(None) as server:
            port = str(port_of(server))
            with self.run(str(EXAMPLE), port) as process:
                assert f"error: port {port}: " in process.communicate()[1]
                assert process.returncode == 1

    @pytest.mark.long
    def test_it_says_which_package_is_missing(self) -> None:
        with self.run("-S", str(EXAMPLE)) as process:
            assert "is missing; `make chat` installs what is needed" in process.communicate()[1]
