"""An agent: ask the model, run the tools that it calls, send it the results, until it answers.

    python examples/agent.py [PROVIDER] [QUESTION]

PROVIDER is openai_chat (the default), openai_responses, anthropic, gemini, cohere or ollama.
With the provider's key in the environment the real one is asked (see providers.py); without it, the server in
fake_server.py, which knows one conversation.
"""

import sys

from providers import Endpoint, open_endpoint

from jsontide import Tool
from jsontide.messages import TextDelta
from jsontide.runs import AgentStream, ResultFinished, Run, RunOutcome, run_agent


def get_weather(city: str, unit: str = "C") -> dict[str, object]:
    """Return the weather in a city.

    Args:
        city: the name of the city
        unit: C or F
    """
    return {"city": city, "temperature": 21 if unit == "C" else 70, "sky": "clear"}


TOOLS = [Tool.from_function(get_weather)]


def answer(endpoint: Endpoint, question: str) -> AgentStream[object]:
    """Return the agent at work on a question."""
    provider = endpoint.provider
    return run_agent(
        lambda request: endpoint.ask(request.messages(provider), request.tool_definitions(provider)),
        question,
        tools=TOOLS,
    )


def show(runs: AgentStream[object]) -> Run[object]:
    """Print what is new, and return the run at its end."""
    for event in runs.events():
        match event:
            case TextDelta(text=text):
                print(text, end="", flush=True)
            case ResultFinished(result):
                print(f"[{result.call.name}({result.call.arguments})]")
    return runs.run


def main() -> None:
    provider, question, *_ = [*sys.argv[1:], *["openai_chat", "What is the weather in Kyoto?"][len(sys.argv) - 1 :], ""]
    with open_endpoint(provider) as endpoint:
        run = show(answer(endpoint, question))
    if run.outcome is not RunOutcome.COMPLETE:
        raise SystemExit(f"the run is {run.outcome.value}: {run.error or run.message}")
    print(f"\n({run.message and run.message.model}, {run.usage.total_tokens if run.usage else '?'} tokens)")


if __name__ == "__main__":
    main()
