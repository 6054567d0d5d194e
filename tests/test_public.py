"""The names that packages offer: where they say they are found, and that they are loaded when first used."""

import importlib
import pickle
import pydoc
import subprocess
import sys
import traceback
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import pytest

import jsontide
from jsontide import events, messages, providers, streams, testing
from jsontide._public import lazily
from tests.packages import PUBLIC

PACKAGES = [jsontide, providers, streams]
OFFERED: list[tuple[ModuleType, str]] = [
    (package, name)
    for package in (jsontide, *PUBLIC)
    for name in package.__all__
    if isinstance(getattr(package, name), type | FunctionType | BuiltinFunctionType)
    and (package, name) != (testing, "Recording")  # the one of `recordings`
]
"""Every public class and function, with each package that offers it."""


@pytest.mark.parametrize("package", [jsontide, *PUBLIC])
def test_every_public_name_can_be_asked_for_and_stays_the_same_object(package: ModuleType) -> None:
    for name in package.__all__:
        found = getattr(package, name)
        assert getattr(package, name) is found
        assert name in vars(package)
    assert set(package.__all__) <= set(dir(package))
    if package in {messages, providers, streams}:
        for name in set(package.__all__) & set(jsontide.__all__):
            assert getattr(jsontide, name) is getattr(package, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_misspelled_name_is_an_attribute_error_that_knows_what_was_asked(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'stream_mesage'") as caught:
        package.stream_mesage  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("stream_mesage", package)
    assert not hasattr(package, "__wrapped__")
    with pytest.raises(ImportError, match="stream_mesage"):
        exec(f"from {package.__name__} import stream_mesage")  # noqa: S102


def test_a_name_is_loaded_once_and_then_belongs_to_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("a_package")
    package.__all__ = ["c_scanstring", "dumps"]
    monkeypatch.setitem(sys.modules, "a_package", package)
    load = lazily("a_package", "json", "json.decoder")
    assert load("c_scanstring") is importlib.import_module("json.decoder").c_scanstring
    assert set(vars(package)) & {"c_scanstring", "dumps"} == {"c_scanstring"}
    with pytest.raises(AttributeError, match="no attribute 'loads'"):
        load("loads")


class TestEveryPublicClassAndFunction:
    def test_says_where_users_find_it(self) -> None:
        for package, name in OFFERED:
            found = getattr(package, name)
            is_at_top = getattr(jsontide, name, None) is found
            assert found.__module__ == ("jsontide" if is_at_top else package.__name__)
            assert found.__qualname__ == name

    def test_is_pickled_by_that_place(self) -> None:
        for package, name in OFFERED:
            found = getattr(package, name)
            pickled = pickle.dumps(found)
            assert pickle.loads(pickled) is found  # noqa: S301
            assert b"jsontide._" not in pickled, name
            assert b"._" not in pickled, name


PLACES = {
    "jsontide.schema": ("Resolution",),
    "jsontide.messages": ("TruncatedError", "start_message"),
    "jsontide.streams": ("MessageStream",),
    "jsontide.providers": ("feed_sse",),
    "jsontide.events": ("JsonFragmentUpdate", "finish_events"),
    "jsontide.snapshots": ("finish_snapshots",),
}
TOP = {
    "schema": ("Partial",),
    "messages": ("Message", "ToolResult"),
    "streams": ("stream_message",),
    "providers": ("to_request",),
    "events": ("JsonFragmentAccumulator",),
    "tree": ("finalize",),
}
LOADED_BY_ITS_PACKAGE = """
from jsontide.{package} import {name}
print({name}.__module__)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("package", "name", "place"),
    [
        *((place.removeprefix("jsontide."), name, place) for place, names in PLACES.items() for name in names),
        *((package, name, "jsontide") for package, names in TOP.items() for name in names),
    ],
)
def test_it_is_the_same_place_whatever_is_imported_first(package: str, name: str, place: str) -> None:
    program = LOADED_BY_ITS_PACKAGE.format(package=package, name=name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.split() == [place]


def test_what_a_function_returns_says_it_too_when_only_the_function_was_imported() -> None:
    program = "from jsontide.providers import feed_sse as f, start_sse as s; print(type(f(s(), b'')[0]).__module__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout.split() == ["jsontide.providers"]


def test_tracebacks_show_public_names() -> None:
    for call, shown in (
        (lambda: jsontide.loads("[1,]"), "jsontide.JsonStreamError: expected a value"),
        (lambda: jsontide.first_value("1", "a["), "jsontide.PathSyntaxError: expected"),
        (lambda: list(jsontide.chunk_snapshots(['["a"]', '["b"]'])), "jsontide.SnapshotConflict: "),
        (lambda: list(jsontide.stream_model("1", {"type": "string"})), "jsontide.SchemaError: "),
    ):
        with pytest.raises(jsontide.JsontideError) as caught:
            call()
        assert "".join(traceback.format_exception_only(caught.value)).startswith(shown)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (jsontide.create_parser_state(), "jsontide.ParserState"),
        (events.start_events(), "jsontide.events.EventState"),
        (jsontide.JsonStreamChunker(), "jsontide.JsonStreamChunker"),
    ],
)
def test_what_has_no_repr_of_its_own_and_help_show_public_names(value: Any, place: str) -> None:
    assert object.__repr__(value).startswith(f"<{place} object at ")
    assert repr(type(value)) == f"<class '{place}'>"
    assert f"in module {place.rpartition('.')[0]}" in pydoc.plain(pydoc.render_doc(type(value)))
