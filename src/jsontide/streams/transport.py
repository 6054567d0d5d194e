"""An exception that a source raised in, whether it is a failure of the transport out.

Rule: a connection that fails, a client that gives up and a response that cannot be decoded end the message.
Any other exception is a bug in the code that makes the stream, and is the caller's to see.
"""

from __future__ import annotations

from json import JSONDecodeError
from typing import Final

from jsontide.providers.registry import CLIENT_PACKAGES

_FAILURES: Final = (OSError, EOFError, JSONDecodeError, UnicodeDecodeError)
"""`TimeoutError` is an `OSError`; the last two are raised by clients whose server sent something else."""

_CLIENTS: Final = CLIENT_PACKAGES | frozenset(
    {
        *("aiohttp", "anyio", "curl_cffi", "grpc", "h11", "h2", "http", "httpcore", "httpcore2", "httpx", "httpx2"),
        *("httpx_sse", "niquests", "pycurl", "requests", "tornado", "trio", "urllib", "urllib3", "urllib3_future"),
        *("websockets",),
    }
)
"""Packages that open connections, by their top module: those of providers, and those for any server."""


def is_transport(error: BaseException) -> bool:
    """Return whether an exception means that the stream failed; a group does if all its exceptions do."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_transport, error.exceptions))
    return isinstance(error, _FAILURES) or any(_top_module(kind) in _CLIENTS for kind in type(error).__mro__)


def _top_module(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]
