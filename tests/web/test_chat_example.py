"""The chat example as people see it: a real server, and a page in Chromium."""

import importlib
import json
import os
import subprocess
import sys
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


class Recorded(Provider):
    """The recording, without its pauses: it waits where it is told to."""

    name = "anthropic"

    def __init__(self, events: list[dict[str, Any]] = EVENTS) -> None:
        super().__init__(events)
        self.conversations: list[Any] = []

    def ask(self, conversation: object, _tools: object) -> Any:
        self.conversations.append(conversation)
        return self.stream()


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
        chat.ask()
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
        chat.wait_for_end()


@needs_browser
@pytest.mark.long
class TestWhatGrows:
    def test_arguments_and_the_plan_are_visible_before_they_are_complete(self, open_chat: Any) -> None:
        provider = Recorded()
        in_call, in_plan = provider.hold_before(place_of(HOLD_TRAIN, 6)), provider.hold_before(place_of(PLAN, HELD))
        with open_chat(provider) as chat:
            chat.ask()
            chat.page.locator(".call dd", has_text="Lisboa Oriente").wait_for()
            chat.shows_calls("writing")
            in_call.set()
            chat.wait_for(HELD_AT)
            chat.shows_calls("waiting", "waiting")
            chat.page.locator(".plan.open .caret").wait_for()
            in_plan.set()
            chat.wait_for_end()
            chat.shows_calls("called", "called")
            chat.shows(".open, .caret")

    def test_the_end_tells_the_outcome_and_the_usage(self, whole: str) -> None:
        assert whole.endswith("Complete\n1,284 tokens read, 1,007 written\nbundled-recording")

    def test_all_of_the_plan_is_shown(self, whole: str) -> None:
        plan = json.loads(text_of(PLAN))
        stops = [stop for day in plan["days"] for stop in day["stops"]]
        texts = [plan["title"], plan["summary"], *plan["tips"], *(text for stop in stops for text in stop.values())]
        assert all(text in whole for text in texts)

    def test_what_is_there_stays_where_it_is(self, open_chat: Any) -> None:
        provider = Recorded()
        gates = [provider.hold_before(place_of(HOLD_TRAIN, 6)), provider.hold_before(place_of(PLAN, HELD))]
        with open_chat(provider) as chat:
            chat.ask()
            chat.wait_for("Lisboa Oriente")
            early = chat.tops()
            gates[0].set()
            chat.wait_for(HELD_AT)
            late = chat.tops()
            gates[1].set()
            chat.wait_for_end()
            assert chat.tops().items() >= {**early, **late}.items() >= early.items()

    def test_what_is_finished_is_not_drawn_again(self, open_chat: Any) -> None:
        provider = Recorded()
        gate = provider.hold_before(place_of(PLAN, 110))
        with open_chat(provider) as chat:
            chat.ask()
            chat.wait_for("Rua das Flores")
            before = chat.renders()
            finished = ['["parts",0]', '["parts",1]', '["answer","title"]', '["answer","days",0]']
            assert len(only(before, finished)) > 20
            gate.set()
            chat.wait_for_end()
            after = chat.renders()
            assert only(after, finished) == only(before, finished)
            assert after['["answer"]'] > before['["answer"]']
            # A call is drawn once more, when it is known that it may be run.
            assert after['["parts",2]'] == before['["parts",2]'] + 1


@needs_browser
@pytest.mark.long
class TestGoingOn:
    def test_a_reload_in_the_middle_continues_to_the_same_end(self, open_chat: Any, whole: str) -> None:
        provider = Recorded()
        gate = provider.hold_before(place_of(PLAN, HELD))
        with open_chat(provider) as chat:
            chat.ask()
            chat.wait_for(HELD_AT)
            said = chat.page.inner_text(".answer")
            chat.page.reload()
            chat.wait_for(HELD_AT)
            chat.shows(".answer", said)
            gate.set()
            assert chat.wait_for_end() == whole
            assert provider.opened == 1

    def test_a_reload_after_the_end_shows_it_again(self, open_chat: Any, whole: str) -> None:
        with open_chat(Recorded()) as chat:
            chat.ask()
            chat.wait_for_end()
            chat.page.reload()
            assert chat.wait_for_end() == whole

    def test_a_network_drop_in_the_middle_loses_nothing(self, create_app: Any, browser: Any, whole: str) -> None:
        provider = Recorded()
        first, second = provider.hold_before(place_of(PLAN, HELD)), provider.hold_before(place_of(PLAN, 120))
        with running(create_app(provider)) as server, proxied(port_of(server)) as proxy:
            chat = Chat(browser, proxy.port)
            chat.ask()
            chat.wait_for(HELD_AT)
            before = chat.renders()
            proxy.cut()
            first.set()
            chat.wait_for("Reconnecting")
            eventually(lambda: provider.given == place_of(PLAN, 120) and proxy.refused > 0)
            proxy.restore()
            chat.wait_for("Saturday: the river")
            second.set()
            assert chat.wait_for_end() == whole
            assert provider.opened == 1
            finished = ['["parts",0]', '["parts",1]', '["answer","title"]', '["answer","summary"]']
            assert only(chat.renders(), finished) == only(before, finished)
            chat.page.context.close()

    def test_a_turn_that_is_not_kept_any_more_says_so(self, open_chat: Any) -> None:
        with open_chat(Recorded()) as chat:
            gone = {"id": "0123456789", "turns": [{"question": "Where was I?", "run": "gone"}]}
            chat.page.evaluate("saved => sessionStorage.setItem('chat', saved)", json.dumps(gone))
            chat.page.reload()
            assert "does not keep this answer any more" in chat.wait_for_end("lost")


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
                assert provider.given == len(EVENTS)

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


def post(port: int, path: str, body: object) -> bytes:
    """Return the whole response to a question."""
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as response:  # noqa: S310 - this machine
        return bytes(response.read())


class TestAsking:
    def test_the_next_question_tells_the_provider_what_was_said_and_done(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded()
        with running(create_app(provider)) as server:
            for text in ("Two days in Porto?", "And a third?"):
                post(port_of(server), "/turns", {"chat": "0123456789", "text": text})
        first, second = provider.conversations
        assert [said["role"] for said in first] == ["user"]
        assert [said["role"] for said in second] == ["user", "assistant", "user", "user", "user"]
        assert [result["type"] for result in second[2]["content"]] == ["tool_result", "tool_result"]
        assert "Tiles, books and the river" in second[3]["content"]

    def test_what_was_cut_off_is_not_told_and_not_run(self, create_app: Callable[..., Any]) -> None:
        provider = Recorded(EVENTS[: place_of(PLAN, HELD)])
        with running(create_app(provider)) as server:
            for text in ("Two days in Porto?", "And a third?"):
                post(port_of(server), "/turns", {"chat": "0123456789", "text": text})
        assert provider.conversations[1] == [{"role": "user", "content": "And a third?"}]

    def test_a_provider_is_asked_with_the_tools_and_its_bytes_are_read(self, create_app: Callable[..., Any]) -> None:
        with recorded_service() as (port, requests):
            services = importlib.import_module("provider")
            service = replace(services.ask_anthropic("key"), url=f"http://127.0.0.1:{port}/v1/messages")
            with running(create_app(service)) as server:
                body = post(port_of(server), "/turns", {"chat": "0123456789", "text": "Two days in Porto?"})
        assert body.endswith(b'data: {"end":"complete"}\n\n')
        assert [tool["name"] for tool in requests[0]["tools"]] == ["hold_train", "set_reminder", "output"]
        assert requests[0]["messages"] == [{"role": "user", "content": "Two days in Porto?"}]
        assert requests[0]["stream"] is True


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
