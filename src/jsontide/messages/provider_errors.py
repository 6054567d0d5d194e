"""A provider's error, or an exception of its client, in; its kind and when to try again out.

Providers name errors by words (`type`, `code`, `status`), by the numbers of HTTP, or in their message alone.
Rule: nothing raises on what a provider or a client gives; what is not known is `OTHER`, and the raw error is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jsontide.messages.types import ProviderError, ProviderErrorKind

_WORDS: Final = {
    ProviderErrorKind.RATE_LIMIT: ("ratelimit", "toomanyrequests", "resourceexhausted", "throttl"),
    ProviderErrorKind.QUOTA: ("insufficientquota", "billing"),
    ProviderErrorKind.OVERLOADED: ("overloaded", "unavailable", "slowdown", "modelnotready"),
    ProviderErrorKind.CONTEXT_LENGTH: ("contextlength", "contextsize", "requesttoolarge"),
    ProviderErrorKind.AUTHENTICATION: (
        "authentication",
        "unauthenticated",
        "unauthorized",
        "invalidapikey",
        "unrecognizedclient",
        "expiredtoken",
    ),
    ProviderErrorKind.PERMISSION: ("permission", "accessdenied", "forbidden"),
    ProviderErrorKind.NOT_FOUND: ("notfound",),
    ProviderErrorKind.TIMEOUT: ("timeout", "deadlineexceeded"),
    ProviderErrorKind.INVALID_REQUEST: (
        "invalidrequest",
        "invalidargument",
        "invalidprompt",
        "failedprecondition",
        "badrequest",
        "validation",
    ),
    ProviderErrorKind.SERVER: ("internal", "server", "apierror", "modelstreamerror", "modelerror"),
}
"""Fragments of error names in lower-case letters only; the first kind that has one counts."""
_KINDS_BY_STATUS: Final = {
    400: ProviderErrorKind.INVALID_REQUEST,
    401: ProviderErrorKind.AUTHENTICATION,
    402: ProviderErrorKind.QUOTA,
    403: ProviderErrorKind.PERMISSION,
    404: ProviderErrorKind.NOT_FOUND,
    408: ProviderErrorKind.TIMEOUT,
    413: ProviderErrorKind.CONTEXT_LENGTH,
    422: ProviderErrorKind.INVALID_REQUEST,
    429: ProviderErrorKind.RATE_LIMIT,
    500: ProviderErrorKind.SERVER,
    502: ProviderErrorKind.SERVER,
    503: ProviderErrorKind.OVERLOADED,
    504: ProviderErrorKind.TIMEOUT,
    529: ProviderErrorKind.OVERLOADED,
}
_KIND_FIELDS: Final = ("code", "type", "status", "error_type", "Code", "__type", "status_code", "http_status")
_CONTEXT_TOO_LONG: Final = re.compile(
    r"context (length|window|size)|maximum context|(prompt|input) is too long|too many (input )?tokens"
    r"|exceeds the (available|maximum) (context|number of tokens)|reduce the length",
    re.IGNORECASE,
)
_KINDS_BY_MESSAGE: Final = (
    (re.compile(r"rate.?limit|too many requests", re.IGNORECASE), ProviderErrorKind.RATE_LIMIT),
    (re.compile(r"overloaded|at capacity|slot unavailable", re.IGNORECASE), ProviderErrorKind.OVERLOADED),
    (
        re.compile(r"insufficient quota|exceeded your current quota|credit balance", re.IGNORECASE),
        ProviderErrorKind.QUOTA,
    ),
    (re.compile(r"api.?key|unauthori[sz]ed", re.IGNORECASE), ProviderErrorKind.AUTHENTICATION),
)
_RETRY_IN: Final = re.compile(
    r"(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?) ?(ms|milliseconds|m|minutes|s|seconds)?\b", re.IGNORECASE
)
_SECONDS: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s?")
_SECONDS_PER_UNIT: Final = {"ms": 0.001, "milliseconds": 0.001, "m": 60.0, "minutes": 60.0}
_VAGUE_KINDS: Final = (ProviderErrorKind.INVALID_REQUEST, ProviderErrorKind.OTHER)


def explain_error(raw: object) -> ProviderError:
    """Return the kind of an error that a provider sent as plain JSON: a text, or an object."""
    fields = _fields_of(raw)
    message = _message_of(raw, fields)
    kind = ProviderErrorKind.OTHER
    for name in _KIND_FIELDS:
        found = _kind_of(fields.get(name))
        if found not in _VAGUE_KINDS:
            kind = found
            break
        if kind is ProviderErrorKind.OTHER:
            kind = found
    if kind in _VAGUE_KINDS and _CONTEXT_TOO_LONG.search(message):
        kind = ProviderErrorKind.CONTEXT_LENGTH
    if kind is ProviderErrorKind.OTHER:
        for pattern, meant in _KINDS_BY_MESSAGE:
            if pattern.search(message):
                kind = meant
                break
    return ProviderError(kind=kind, retry_after=_find_wait(fields, message), raw=raw)


def explain_exception(error: BaseException) -> ProviderError | None:
    """Return the provider's error behind an exception of its client; `None` if there is none."""
    try:
        return _explain_exception(error)
    except Exception:  # noqa: BLE001 - whatever an exception of a client does
        return None


def _explain_exception(error: BaseException) -> ProviderError | None:
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):  # as botocore has it
        inner = response.get("Error")
        about = response.get("ResponseMetadata")
        raw: dict[str, Any] = dict(inner) if isinstance(inner, Mapping) else {}
        status = about.get("HTTPStatusCode") if isinstance(about, Mapping) else None
        headers = about.get("HTTPHeaders") if isinstance(about, Mapping) else None
    else:
        status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
        code = getattr(error, "code", None)
        if status is None and type(code) is int:  # as google-genai has it
            status = code
        headers = getattr(response, "headers", None)
        body = getattr(error, "body", None) or getattr(error, "details", None)
        raw = dict(body) if isinstance(body, Mapping) else {}
    if type(status) is not int and not raw:
        return None
    found = explain_error(raw or str(error))
    kind = found.kind
    if kind is ProviderErrorKind.OTHER and type(status) is int:
        kind = _kind_of(status)
    wait = found.retry_after
    if wait is None and isinstance(headers, Mapping):
        wait = _find_wait({str(name).lower(): headers[name] for name in headers}, "")
    return ProviderError(kind=kind, retry_after=wait, raw=found.raw)


def _fields_of(raw: object) -> dict[str, Any]:
    """Return the fields of an error, also if it is nested in another object."""
    fields: dict[str, Any] = dict(raw) if isinstance(raw, Mapping) else {}
    inner = fields.get("error")
    return dict(inner) if isinstance(inner, Mapping) else fields


def _message_of(raw: object, fields: dict[str, Any]) -> str:
    if isinstance(raw, str):
        return raw
    for name in ("message", "Message", "error", "detail"):
        found = fields.get(name)
        if isinstance(found, str):
            return found
    return ""


def _kind_of(value: object) -> ProviderErrorKind:
    if isinstance(value, str):
        if value.isdecimal() and len(value) == 3:
            return _kind_of(int(value))
        word = re.sub("[^a-z]", "", value.lower())
        for kind, parts in _WORDS.items():
            if any([part in word for part in parts]):
                return kind
        return ProviderErrorKind.OTHER
    if isinstance(value, bool) or not isinstance(value, int):
        return ProviderErrorKind.OTHER
    return _KINDS_BY_STATUS.get(value, ProviderErrorKind.SERVER if 500 <= value <= 599 else ProviderErrorKind.OTHER)


def _find_wait(fields: dict[str, Any], message: str) -> float | None:
    """Return how many seconds to wait, from known fields and headers, or from the message."""
    for name in ("retry-after-ms", "retry_after_ms"):
        found = _as_seconds(fields.get(name))
        if found is not None:
            return found / 1000
    for name in ("retry-after", "retry_after", "retryAfter", "retry_after_seconds", "retryDelay"):
        found = _as_seconds(fields.get(name))
        if found is not None:
            return found
    details = fields.get("details")
    for item in details if isinstance(details, list) else []:
        found = _as_seconds(item.get("retryDelay")) if isinstance(item, dict) else None
        if found is not None:
            return found
    match = _RETRY_IN.search(message)
    return (
        None if match is None else float(match.group(1)) * _SECONDS_PER_UNIT.get((match.group(2) or "s").lower(), 1.0)
    )


def _as_seconds(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if 0 <= value < 1e9 else None
    match = _SECONDS.fullmatch(value.strip()) if isinstance(value, str) else None
    return None if match is None else float(match.group(1))
