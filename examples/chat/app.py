"""A chat server: what a model writes grows in the browser, as text, as tool calls and as a typed answer.

    POST /turns             ask a question; the response is the answer while it is written
    GET  /turns/{id}        join that answer again, after a reload or when the connection broke off
    POST /turns/{id}/stop   stop it

`make chat` runs it. The page is in page/, and who answers in provider.py.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from provider import Json, Provider
from pydantic import BaseModel, Field
from starlette.responses import Response

from jsontide import Message, Outcome, Tool, arun_tools, astream_message, to_request, tool_definitions
from jsontide.frontends import CompactEncoder
from jsontide.web import MemoryTurns, OnLeave, client_route, new_run_id, resume_response, stop, stream_response

PAGE = Path(__file__).parent / "page"


class Stop(BaseModel):
    time: str = Field(description="24-hour clock, such as 09:30")
    place: str
    note: str = Field(description="one sentence")


class Day(BaseModel):
    title: str
    stops: list[Stop]


class Budget(BaseModel):
    currency: str
    low: int
    high: int
    covers: str


class TripPlan(BaseModel):
    """The plan that the user sees, field by field while you write it."""

    title: str
    summary: str
    days: list[Day]
    budget: Budget
    tips: list[str]


class Preferences(BaseModel):
    coach: str
    window: bool


def hold_train(origin: str, destination: str, departs: str, seats: int, preferences: Preferences) -> Json:
    """Hold seats on a train for a day."""
    return {"held": seats, "train": f"{origin} - {destination}, {departs}", "coach": preferences.coach}


def set_reminder(on: str, text: str) -> Json:
    """Remind the user of something on a date."""
    return {"reminder": text, "on": on}


TOOLS = [Tool.from_function(hold_train), Tool.from_function(set_reminder)]
# The answer comes as a call of this one, so that text and other calls can stand beside it, whoever the provider is.
OUTPUT = Tool("output", TripPlan, description="Show the plan. Call it last, once, beside your other calls.")


class Question(BaseModel):
    chat: str = Field(min_length=8, max_length=64)
    text: str = Field(min_length=1, max_length=4000)


@dataclass
class Chat:
    """What was said so far, as the provider wants it back; yours would be in a database, and know whose it is."""

    said: list[Json] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def create_app(provider: Provider, on_leave: OnLeave = "continue") -> FastAPI:
    """Return the server. With `on_leave="cancel"`, an answer ends when its reader leaves."""
    app = FastAPI(title="jsontide chat")
    turns = MemoryTurns(max_age=900, max_turns=200)
    chats: defaultdict[str, Chat] = defaultdict(Chat)

    async def answer(question: Question) -> AsyncIterator[Message[TripPlan]]:
        chat = chats[question.chat]
        async with chat.lock:  # the tools of the last answer may still run
            asked = [*chat.said, {"role": "user", "content": question.text}]
            response = provider.ask(asked, tool_definitions([*TOOLS, OUTPUT], provider.name))
            async with astream_message(
                response, tools=TOOLS, response_schema=TripPlan, emulate_structured_output=True
            ) as messages:
                async for message in messages:
                    yield message
            # The browser has all of it by now. Whether it is still there or not: calls are run, if all is complete.
            if messages.message.outcome is Outcome.COMPLETE:
                chat.said = asked + await run_calls(messages.message)

    async def run_calls(message: Message[TripPlan]) -> list[Json]:
        """Return the message and the results of its calls, for the next request."""
        said = to_request(message, provider.name)
        if message.tool_calls:
            said += to_request(await arun_tools(message, TOOLS), provider.name)
        if isinstance(message.answer, TripPlan):
            said.append({"role": "user", "content": f"This is the plan so far: {message.answer.model_dump_json()}"})
        return said

    @app.post("/turns")
    async def begin(question: Question) -> Response:
        encoder = CompactEncoder(run_id=new_run_id())
        return stream_response(answer(question), encoder, on_leave=on_leave, store=turns)

    @app.get("/turns/{run_id}")
    async def join(run_id: str) -> Response:
        return await resume_response(turns, run_id, CompactEncoder())

    @app.post("/turns/{run_id}/stop")
    async def halt(run_id: str) -> bool:
        return await stop(turns, run_id)

    app.router.routes.append(client_route("/jsontide.js"))
    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app
