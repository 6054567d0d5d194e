"""What a message is read with, and what stands beside it in a conversation.

The tools that were offered and the schema of the answer; what the user says, and what calls gave.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeAlias, TypeGuard, TypeVar, cast, get_args, overload
from uuid import UUID

from jsontide._check import check_choice, check_count, check_switches, check_type
from jsontide._values import MISSING
from jsontide.mend.options import Mending, check_mending
from jsontide.messages.calls import BaseCall, ToolCall
from jsontide.messages.document import ReadingRules, SchemaBinding, write_json
from jsontide.messages.json_form import read_parts, write_parts
from jsontide.messages.parts import File, TextPart
from jsontide.messages.record import refuse_hash
from jsontide.messages.types import check_texts, wrong_type
from jsontide.schema import Policies, from_json_ast
from jsontide.schema.functions import FunctionArguments, describe
from jsontide.schema.options import check_source
from jsontide.text import Limits
from jsontide.tree import create_parser_state

if TYPE_CHECKING:
    from jsontide.messages import CompleteCall
else:
    from jsontide.messages.calls import CompleteCall

RESERVED: Final = "output"
MAX_PARTS: Final = 1000
UNEXPLAINED: Final = "the tool failed, and did not say why"
_NAME: Final = re.compile("[a-zA-Z0-9_.:-]{1,128}")
"""The names that some provider accepts; `tool_definitions` checks the rules of one provider."""

_ANSWER_OPTION: Final = "response_schema, which takes the type or the JSON Schema of the answer,"
_MEANT: Final = {
    **dict.fromkeys(
        ("response_format", "response_model", "output_format", "output_type", "text_format", "schema", "format"),
        _ANSWER_OPTION,
    ),
    "functions": "tools",
    "tool": "tools",
    "mending": "mend",
}
"""What other libraries and clients call an option."""

Args_co = TypeVar("Args_co", covariant=True)
NeedsApproval: TypeAlias = "bool | Callable[[CompleteCall], bool]"


def is_asynchronous(function: object) -> bool:
    """Return whether what a function returns must be awaited, or iterated asynchronously."""
    functions = (function, getattr(type(function), "__call__", None))  # noqa: B004 - it may be asynchronous
    return any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in functions)


class Tool(Generic[Args_co]):
    """A tool that was offered to the model.

    `schema` is what its arguments must be: a type or a JSON Schema; without one they may be any JSON.
    """

    __slots__ = ("description", "function", "name", "needs_approval", "schema", "stream_arguments")

    @overload
    def __init__(
        self,
        name: str,
        schema: type[Args_co],
        stream_arguments: bool | None = None,
        *,
        description: str | None = None,
        function: Callable[..., object] | None = None,
        needs_approval: NeedsApproval = False,
    ) -> None: ...
    @overload
    def __init__(
        self: Tool[object],
        name: str,
        schema: Mapping[str, object] | object = None,
        stream_arguments: bool | None = None,
        *,
        description: str | None = None,
        function: Callable[..., object] | None = None,
        needs_approval: NeedsApproval = False,
    ) -> None: ...
    def __init__(
        self,
        name: str,
        schema: object = None,
        stream_arguments: bool | None = None,
        *,
        description: str | None = None,
        function: Callable[..., object] | None = None,
        needs_approval: NeedsApproval = False,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ValueError("name must be a non-empty str")
        if not _NAME.fullmatch(name):
            raise ValueError(f"name must be 1 to 128 letters of a to z, digits, '_', '-', '.' and ':', not {name!r}")
        check_source(schema)
        self.name = name
        self.schema = _keep(schema)
        self.stream_arguments = stream_arguments
        """Whether arguments are shown while they grow; `None`: those of types are, those of a JSON Schema are not."""
        self.description = description
        """The description that the model gets."""
        self.function = function
        """What `run_tools` and agents call with complete and valid arguments; nothing else ever calls it."""
        self.needs_approval = needs_approval
        """Whether a person must decide about each call, or a function that says so of a call.

        A function that raises, or returns anything but a bool, leaves the decision to the person.
        """
        if stream_arguments is not None:
            check_switches(self, "stream_arguments")
        if function is not None and not callable(function):
            raise wrong_type("function", "callable or None", function)
        if not isinstance(needs_approval, bool) and not callable(needs_approval):
            raise wrong_type("needs_approval", "a bool or callable", needs_approval)
        if is_asynchronous(needs_approval):
            raise TypeError("needs_approval must not be asynchronous: it is asked in the middle of the loop")
        check_texts(self, "description")

    @staticmethod
    def from_function(
        function: Callable[..., object],
        *,
        name: str | None = None,
        description: str | None = None,
        stream_arguments: bool | None = None,
        needs_approval: NeedsApproval = False,
    ) -> Tool[Mapping[str, object]]:
        """Return a function as a tool; its signature and docstring give name, description and arguments.

        Nothing calls the function but `run_tools` and `arun_tools`, with complete and valid arguments by name.
        Needs the extra `pydantic`.
        """
        if not callable(function):
            raise wrong_type("function", "callable", function)
        found, documented = describe(function)
        if name is None and not _NAME.fullmatch(found):
            raise ValueError(f"name must be passed: no provider takes a tool that is called {found!r}")
        return Tool(
            found if name is None else name,
            cast("type[Mapping[str, object]]", FunctionArguments(function)),
            stream_arguments,
            description=description or documented or None,
            function=function,
            needs_approval=needs_approval,
        )

    def accepts(self, call: object) -> TypeGuard[CompleteCall[Args_co]]:
        """Return whether a call is of this tool and can be run; its `arguments_model` then has the tool's type."""
        return isinstance(call, CompleteCall) and call.name == self.name

    def call(self, arguments: object) -> object:
        """Call the function with arguments that were validated, and return what it returns."""
        if self.function is None:
            raise ValueError(f"the tool {self.name!r} has no function to call")
        if isinstance(self.schema, FunctionArguments):
            return self.function(**cast("dict[str, Any]", arguments))
        return self.function(arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tool) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Tool({self.name!r}, {self.schema!r})"

    @property
    def _values(self) -> tuple[object, ...]:
        return self.name, self.schema, self.stream_arguments, self.description, self.function, self.needs_approval

    @property
    def _binding(self) -> SchemaBinding:
        streams = not isinstance(self.schema, dict) if self.stream_arguments is None else self.stream_arguments
        return SchemaBinding(self.schema, streams)


Content: TypeAlias = "str | TextPart | File"


@dataclass(frozen=True, slots=True, init=False)
class UserMessage:
    """What the user says and shows: texts, images and other files, in order.

    >>> UserMessage(["What is this?", File("image/png", url="https://a.example/cat.png")])
    UserMessage(parts=(<TextPart 'What is this?'>, <File image/png https://a.example/cat.png>))
    """

    parts: tuple[TextPart | File, ...]

    def __init__(self, parts: Content | Iterable[Content]) -> None:
        given = [parts] if isinstance(parts, str | TextPart | File) or not isinstance(parts, Iterable) else list(parts)
        object.__setattr__(self, "parts", tuple(map(_read_content, given)))

    @property
    def text(self) -> str:
        """What the user says."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    def __hash__(self) -> int:
        return refuse_hash(self)


def _read_content(content: object) -> TextPart | File:
    if isinstance(content, str):
        return TextPart(content)
    if not isinstance(content, TextPart | File):
        raise TypeError(f"parts must be a str, TextPart or File, or several of them, not {type(content).__name__}")
    if isinstance(content, File):
        check_texts(content, "media_type", "data", "url", "id", "name")
    return content


def describe_file(file: File) -> str:
    """Return what a model reads of a file that it cannot be shown."""
    named = " ".join(text for text in (file.name, file.media_type, file.url) if text and not text.startswith("data:"))
    return f"[a file that cannot be shown here: {named or 'of unknown type'}]"


Ran: TypeAlias = Literal["yes", "no", "refused", "unknown"]
_RAN: Final = get_args(Ran)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call for the next request: an output, or an error for the model."""

    call: ToolCall
    output: object = None
    """Text, or anything that can be written as JSON: an instance of a type too.

    A `File`, or a list of texts and files, is shown to the model as what it is, where the provider can.
    """
    error: str | None = None
    exception: Exception | None = field(default=None, compare=False, repr=False)
    """What the tool raised, if it did; the model does not get it, and a pickle leaves it out."""
    ran: Ran = "yes"
    """Whether the tool ran; `refused` if a person said no, `unknown` if it was started and nobody saw its end."""
    nested: object = None
    """The run of a model that the tool was; it is shown to people, and the model gets the output alone."""

    def __post_init__(self) -> None:
        check_type("call", self.call, BaseCall, "a call of a message")
        check_texts(self, "error")
        check_choice("ran", self.ran, _RAN)
        if self.exception is not None:
            check_type("exception", self.exception, Exception, "an Exception or None")
        if self.error is None and not isinstance(self.output, str):
            try:
                if _is_content(self.output):
                    object.__setattr__(self, "output", UserMessage(cast("Any", self.output)).parts)
                to_plain(self.output)
            except (TypeError, ValueError, RecursionError) as error:
                object.__setattr__(self, "error", _describe_output(self.output, error))
                object.__setattr__(self, "exception", error)

    @property
    def parts(self) -> tuple[TextPart | File, ...]:
        """The texts and files of the output, if it is made of those."""
        return cast("Any", self.output) if self.error is None and _is_content(self.output) else ()

    @property
    def text(self) -> str:
        """The error, or the output as text; never a blank error, because providers refuse it."""
        if self.error is not None:
            return self.error if self.error.strip() else UNEXPLAINED
        if isinstance(self.output, str):
            return self.output
        if self.parts:
            return "\n".join(part.text if isinstance(part, TextPart) else describe_file(part) for part in self.parts)
        try:
            return write_json(to_plain(self.output))
        except (TypeError, ValueError, RecursionError) as error:  # it was changed meanwhile
            return _describe_output(self.output, error)

    def __reduce__(self) -> tuple[type[ToolResult], tuple[object, ...]]:
        return ToolResult, (
            self.call,
            self.output,
            self.error,
            None,
            self.ran,
            self.nested,
        )  # many exceptions cannot be unpickled


def _is_content(output: object) -> bool:
    """Return whether an output is texts and files, and not JSON."""
    if not isinstance(output, list | tuple):
        return isinstance(output, TextPart | File)
    kinds = [type(part) for part in output]
    return (TextPart in kinds or File in kinds) and all(kind in {str, TextPart, File} for kind in kinds)


def _describe_output(output: object, error: Exception) -> str:
    why = "it contains itself, or is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return f"the tool returned {type(output).__name__}, which cannot be written as JSON: {why}"


def to_plain(value: object) -> object:
    """Return a value as plain JSON: instances of pydantic models and dataclasses by their fields, files as saved.

    Raises `TypeError` or `ValueError` for a value without a JSON form.
    """
    if hasattr(value, "model_dump") and value is not MISSING:
        return to_plain(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {_plain_key(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, Enum):
        return to_plain(value.value)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a number in JSON")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    return _plain_instance(value)


def _plain_instance(value: object) -> object:
    if isinstance(value, TextPart | File):
        return write_parts([value])[0]
    if isinstance(value, UUID | Decimal | PurePath | timedelta):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def read_content(parts: object) -> tuple[TextPart | File, ...]:
    """Return the texts and files that `to_plain` wrote; raise `ValueError` for anything else."""
    read = read_parts(parts)
    try:
        return UserMessage(cast("Any", read)).parts
    except TypeError as error:
        raise ValueError(str(error)) from error


def _plain_key(key: object) -> str:
    if isinstance(key, Enum):
        return _plain_key(key.value)
    if key is None or isinstance(key, bool):
        return write_json(key)
    if isinstance(key, str | int | float | date | time | UUID | Decimal | PurePath):
        return str(key)
    raise TypeError(f"a key must be text, not {type(key).__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageConfig:
    """What a message is read with; taken at the start, and not changed after that."""

    response_schema: object = None
    """What the content must be: a type or a JSON Schema; without one it is plain text."""
    tools: Iterable[Tool[Any]] = ()
    """The tools that were offered; without any, calls of all names are taken, with arguments of any JSON."""
    emulate_structured_output: bool = False
    """Whether the answer comes as the arguments of a reserved tool."""
    output_name: str = RESERVED
    """The name of that tool."""
    cumulative_arguments: bool = False
    """Whether the provider sends all arguments so far, each time."""
    done_is_end: bool = False
    """Whether `[DONE]` ends a message as a finish reason does, for servers that send none."""
    choice: int = 0
    """Which of several answers is read, where the provider was asked for more than one."""
    trailing: Literal["error", "ignore"] = "error"
    """Whether text after the JSON of the answer or of arguments is an error."""
    limits: Limits = Limits()  # noqa: RUF009 - it never changes
    """Of each JSON text."""
    max_parts: int = MAX_PARTS
    """How many parts a message may have; a stream with more fails."""
    policies: Policies | None = None
    """When values of the answer may be shown: `Stream()`, `Done()` or `Gate()` by path pattern."""
    mend: Mending | None = None
    """What is mended in the JSON of the answer and of arguments, if anything.

    A call whose arguments lost something or were restructured is invalid, unless `allowed_in_calls` has the kind.
    """
    _rules: ReadingRules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_switches(self, "emulate_structured_output", "cumulative_arguments", "done_is_end")
        check_count("max_parts", self.max_parts)
        check_count("choice", self.choice, least=0)
        if self.mend is not None:
            check_mending(self.mend)
        tools = check_tools(self.tools)
        object.__setattr__(self, "tools", tools)
        object.__setattr__(self, "response_schema", _keep(self.response_schema))
        if not isinstance(self.output_name, str) or not self.output_name:
            raise ValueError("output_name must be a non-empty str")
        answer_is_call = self.emulate_structured_output and self.response_schema is not None
        names = [tool.name for tool in tools]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two tools are called {twice!r}")
        if answer_is_call and self.output_name in names:
            message = (
                f"the name {self.output_name!r} is reserved for the emulated output: rename the tool, or output_name"
            )
            raise ValueError(message)
        answer = (
            None
            if self.response_schema is None
            else SchemaBinding(self.response_schema, streams=True, policies=self.policies, is_text=not answer_is_call)
        )
        bindings = {tool.name: tool._binding for tool in tools}
        for binding in (answer, *bindings.values()):
            _check_binding(binding)
        create_parser_state(limits=self.limits, trailing=self.trailing)  # or an error that names what is wrong
        rules = ReadingRules(
            answer=answer,
            bindings=bindings,
            answer_is_call=answer_is_call,
            output_name=self.output_name,
            is_cumulative=self.cumulative_arguments,
            done_is_end=self.done_is_end,
            choice=self.choice,
            max_parts=self.max_parts,
            limits=self.limits,
            trailing=self.trailing,
            mend=self.mend,
        )
        object.__setattr__(self, "_rules", rules)

    def __reduce__(self) -> tuple[Callable[..., MessageConfig], tuple[object, ...]]:
        return _restore_config, ({each.name: getattr(self, each.name) for each in fields(self) if each.init},)


def _restore_config(options: dict[str, object]) -> MessageConfig:
    return cast("Callable[..., MessageConfig]", MessageConfig)(**options)


def check_tools(tools: object) -> tuple[Tool[Any], ...]:
    """Return tools as a tuple; refuse anything else, with what to pass instead."""
    if isinstance(tools, Tool):
        raise TypeError("tools must be an iterable of Tool, not a single one: pass [tool]")
    if not isinstance(tools, Iterable):
        raise TypeError(f"tools must be an iterable of Tool, not {type(tools).__name__}")
    given = tuple(tools)
    for one in given:
        if not isinstance(one, Tool):
            raise TypeError(f"every tool must be a Tool, not {type(one).__name__}{_hint_at_tool(one)}")
    return given


def check_names(options: Mapping[str, object], accepted: type[object]) -> None:
    """Refuse options that a `TypedDict` does not have, with the name that was meant."""
    names = accepted.__annotations__
    for name in options:
        if name not in names:
            meant = _MEANT.get(name)
            hint = f"{meant} is meant" if meant else f"there are {', '.join(sorted(names))}"
            raise TypeError(f"there is no option {name!r}; {hint}")


def _hint_at_tool(given: object) -> str:
    """Return a hint at what to pass instead."""
    if isinstance(given, type):
        return f": pass Tool('name', {given.__name__})"
    if isinstance(given, Mapping):
        return ": pass Tool(name, schema, description=...), and its definition for the request from tool_definitions"
    if callable(given):
        return f": pass Tool.from_function({getattr(given, '__name__', 'function')})"
    return ""


def _check_binding(binding: SchemaBinding | None) -> None:
    """Refuse an invalid schema now, and not in the middle of the stream."""
    if binding is not None and binding.schema is not None:
        from_json_ast(binding.schema, create_parser_state(), policies=binding.policies)


def _keep(schema: object) -> object:
    """Copy a JSON Schema, which its owner may change later."""
    if not isinstance(schema, dict):
        return schema
    try:
        return deepcopy(schema)
    except RecursionError:  # it is refused as too deep when it is read
        return schema
