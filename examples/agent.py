"""An agent: ask the model, run the tools that it calls, send it the results, until it answers.

    python examples/agent.py [PROVIDER] [QUESTION]

PROVIDER is openai_chat (the default), openai_responses, anthropic, gemini, cohere or ollama.
With the provider's key in the environment the real one is asked (see providers.py); without it, the server in
fake_server.py, which knows one conversation.
"""

import sys

from providers import Endpoint, open_endpoint

from jsontide import Message, Tool, run_tools, stream_message, to_request, tool_definitions
from jsontide.streams import MessageStream


def get_weather(city: str, unit: str = "C") -> dict[str, object]:
    """Return the weather in a city.

    Args:
        city: the name of the city
        unit: C or F
    """
    return {"city": city, "temperature": 21 if unit == "C" else 70, "sky": "clear"}


TOOLS = [Tool.from_function(get_weather)]


def run_agent(endpoint: Endpoint, question: str) -> Message[object]:
    """Return the model's last message."""
    provider = endpoint.provider
    conversation = [endpoint.write_question(question)]
    while True:
        response = endpoint.ask(conversation, tool_definitions(TOOLS, provider))
        message = show(stream_message(response, tools=TOOLS))
        message.raise_for_outcome()  # whatever broke off, was refused or is invalid ends here
        conversation += to_request(message, provider)
        if not message.tool_calls:
            return message
        conversation += to_request(run_tools(message, TOOLS), provider)


def show(messages: MessageStream[object]) -> Message[object]:
    """Print what is new in each message, and return the last one."""
    shown = 0
    for message in messages:
        print(message.content[shown:], end="", flush=True)
        shown = len(message.content)
    for call in messages.message.tool_calls:
        print(f"[{call.name}({call.arguments})]")
    return messages.message


def main() -> None:
    provider, question, *_ = [*sys.argv[1:], *["openai_chat", "What is the weather in Kyoto?"][len(sys.argv) - 1 :], ""]
    with open_endpoint(provider) as endpoint:
        message = run_agent(endpoint, question)
    usage = message.usage
    print(f"\n({message.model}, {usage.total_tokens if usage else '?'} tokens)")


if __name__ == "__main__":
    main()
