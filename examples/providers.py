"""Where providers are, and what requests look like around the conversation; Python's own HTTP client is enough."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

from fake_server import Handler

Json = dict[str, Any]


@dataclass(frozen=True)
class Service:
    """One provider's API."""

    key: str
    """The variable with the key; empty if there is none."""
    model: str
    url: str
    path: str
    header: str = "Authorization"
    prefix: str = "Bearer "


SERVICES = {
    "openai_chat": Service("OPENAI_API_KEY", "gpt-5-mini", "https://api.openai.com", "/v1/chat/completions"),
    "openai_responses": Service("OPENAI_API_KEY", "gpt-5-mini", "https://api.openai.com", "/v1/responses"),
    "anthropic": Service(
        "ANTHROPIC_API_KEY", "claude-sonnet-5", "https://api.anthropic.com", "/v1/messages", "x-api-key", ""
    ),
    "gemini": Service(
        "GEMINI_API_KEY",
        "gemini-2.5-flash",
        "https://generativelanguage.googleapis.com",
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        "x-goog-api-key",
        "",
    ),
    "cohere": Service("COHERE_API_KEY", "command-a-03-2025", "https://api.cohere.com", "/v2/chat"),
    "ollama": Service("OLLAMA_HOST", "qwen3", "http://127.0.0.1:11434", "/api/chat"),
}


@dataclass(frozen=True)
class Endpoint:
    """A provider to talk to."""

    provider: str
    url: str
    key: str = ""

    def ask(self, conversation: list[Json], tools: list[Json]) -> Iterator[bytes]:
        """Yield the bytes of the response, as they arrive."""
        service = SERVICES[self.provider]
        headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
        if self.key:
            headers[service.header] = service.prefix + self.key
        body = json.dumps(self._write_body(service.model, conversation, tools)).encode()
        request = Request(self.url + service.path, body, headers)  # noqa: S310 - one of the addresses above
        with urlopen(request) as response:  # noqa: S310
            while data := response.read1():
                yield data

    def _write_body(self, model: str, conversation: list[Json], tools: list[Json]) -> Json:
        match self.provider:
            case "gemini":
                return {"contents": conversation, "tools": [{"functionDeclarations": tools}]}
            case "openai_responses":
                include = ["reasoning.encrypted_content"]
                return {"model": model, "input": conversation, "tools": tools, "stream": True, "include": include}
            case "anthropic":
                return {"model": model, "messages": conversation, "tools": tools, "stream": True, "max_tokens": 4096}
            case "openai_chat":
                options = {"stream": True, "stream_options": {"include_usage": True}}
                return {"model": model, "messages": conversation, "tools": tools, **options}
            case _:
                return {"model": model, "messages": conversation, "tools": tools, "stream": True}


@contextmanager
def open_endpoint(provider: str) -> Iterator[Endpoint]:
    """Give the real provider if its key is set, else a server of our own on this machine."""
    if provider not in SERVICES:
        raise SystemExit(f"unknown provider {provider!r}: choose one of {', '.join(SERVICES)}")
    service = SERVICES[provider]
    key = os.environ.get(service.key, "")
    if key:
        yield Endpoint(provider, service.url, key)
        return
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Endpoint(provider, f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
