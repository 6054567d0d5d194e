"""Names that are loaded when somebody asks for them."""

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import jsontide
from jsontide import adapters, messages
from jsontide._lazy import homes_of, lazily

PACKAGES = [jsontide, adapters]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_asked_for_and_stays_the_same_object(package: ModuleType) -> None:
    for name in package.__all__:
        found = getattr(package, name)
        assert getattr(package, name) is found
        assert name in vars(package)


def test_names_of_messages_are_the_same_wherever_they_are_imported_from() -> None:
    for name in set(messages.__all__) & set(jsontide.__all__):
        assert getattr(jsontide, name) is getattr(messages, name)
    for name in set(adapters.__all__) & set(jsontide.__all__):
        assert getattr(jsontide, name) is getattr(adapters, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_misspelled_name_is_an_attribute_error_that_knows_what_was_asked(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'stream_mesage'") as caught:
        package.stream_mesage  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("stream_mesage", package)
    assert not hasattr(package, "__wrapped__")
    with pytest.raises(ImportError, match="stream_mesage"):
        exec(f"from {package.__name__} import stream_mesage")  # noqa: S102


def test_a_name_is_loaded_once_and_then_belongs_to_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("a_package")
    monkeypatch.setitem(sys.modules, "a_package", package)
    load = lazily("a_package", homes_of({"json": ("dumps", "loads"), "json.decoder": ("JSONDecoder",)}))
    assert load("JSONDecoder") is importlib.import_module("json.decoder").JSONDecoder
    assert set(vars(package)) & {"JSONDecoder", "dumps"} == {"JSONDecoder"}


def test_importing_the_package_loads_no_messages() -> None:
    program = "import sys, jsontide; sys.exit(any(name.startswith('jsontide.messages') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
