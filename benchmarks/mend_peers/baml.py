"""BAML: its parser of answers, with a type that takes any JSON and with one that is made for each case.

In: a task. Out: an answer.
Rule: the made type is the best case: it comes from the schema, or else from the value that is expected; a case without
either is not asked. Fields that have not come yet are `None` in a partial answer; they do not count as shown.
"""

import os
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from benchmarks.mend_peers.tools import Answer, Task, Tool, again

ANY = "JSON"
SOURCE = """
type JSON = int | float | bool | string | null | JSON[] | map<string, JSON>
client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
"""
FUNCTION = """
function Read(text: string) -> %s {
  client Nobody
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
"""
SCALARS = {"string": "string", "integer": "int", "number": "float", "boolean": "bool", "null": "null"}


class Types:
    """The declarations that a type needs, and the keys behind the names of their fields."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self.keys: dict[str, dict[str, str]] = {}
        self.optional: dict[str, set[str]] = {}
        self.enums: set[str] = set()

    def of_schema(self, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
        if "enum" in schema:
            return self.declare_enum(schema["enum"])
        match schema.get("type"):
            case "object" if "properties" in schema:
                return self.declare_class(
                    {key: self.of_schema(node, root) for key, node in schema["properties"].items()}
                )
            case "object":
                return f"map<string, {ANY}>"
            case "array":
                return f"({self.of_schema(schema['items'], root)})[]" if "items" in schema else f"{ANY}[]"
            case name:
                return SCALARS.get(str(name), ANY)

    def of_values(self, values: list[Any]) -> str:
        """The type of all these values: those that stand at one place."""
        names = {kind: True for value in values for kind in [self.of_scalar(value)] if kind}
        items = [item for value in values if isinstance(value, list) for item in value]
        if any(isinstance(value, list) for value in values):
            names[f"({self.of_values(items)})[]" if items else f"{ANY}[]"] = True
        objects = [value for value in values if isinstance(value, dict)]
        if objects:
            names[self.of_objects(objects)] = True
        return " | ".join(names)

    def of_scalar(self, value: object) -> str:
        for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string"), (type(None), "null")):
            if isinstance(value, kind):
                return name
        return ""

    def of_objects(self, objects: list[dict[str, Any]]) -> str:
        keys = list(dict.fromkeys(key for item in objects for key in item))
        if not all(keys):
            return f"map<string, {ANY}>"  # an alias cannot be empty
        fields = {}
        for key in keys:
            found = [item[key] for item in objects if key in item]
            fields[key] = self.of_values(found) if len(found) == len(objects) else f"({self.of_values(found)})?"
        return self.declare_class(fields) if fields else f"map<string, {ANY}>"

    def declare_class(self, fields: Mapping[str, str]) -> str:
        name = f"Class{len(self.keys)}"
        self.keys[name] = {f"f{at}": key for at, key in enumerate(fields)}
        self.optional[name] = {key for key, kind in fields.items() if kind.endswith("?")}
        lines = [f"  f{at} {kind} @alias({quoted(key)})" for at, (key, kind) in enumerate(fields.items())]
        self.declared.append("\n".join([f"class {name} {{", *lines, "}"]))
        return name

    def declare_enum(self, values: list[str]) -> str:
        name = f"Enum{len(self.declared)}"
        lines = [f"  V{at} @alias({quoted(value)})" for at, value in enumerate(values)]
        self.enums.add(name)
        self.keys[name] = {f"V{at}": value for at, value in enumerate(values)}
        self.declared.append("\n".join([f"enum {name} {{", *lines, "}"]))
        return name


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Module(ModuleType):
    """Stands for a module of the generated client; objects become plain dictionaries."""

    def __init__(self, types: Types, *, is_partial: bool) -> None:
        super().__init__("generated")
        for name, keys in types.keys.items():
            absent = set(keys.values()) if is_partial else types.optional.get(name, set())
            made = enum_of(keys) if name in types.enums else class_of(keys, absent)
            setattr(self, name, made)


def enum_of(keys: Mapping[str, str]) -> type[Enum]:
    """An enum of the names that BAML knows; each has the word of the schema."""
    made = Enum("Made", {member: member for member in keys})  # type: ignore[misc] # its members are data
    for member in made:
        member.word = keys[member.name]  # type: ignore[attr-defined]
    return made


def class_of(keys: Mapping[str, str], absent: AbstractSet[str]) -> type:
    """A class that BAML fills; without those of the keys that may be absent and are `None`."""

    class Made:
        @staticmethod
        def model_validate(fields: Mapping[str, Any]) -> dict[str, Any]:
            named = {keys[name]: plain(value) for name, value in fields.items()}
            return {key: value for key, value in named.items() if value is not None or key not in absent}

    return Made


def plain(value: object) -> object:
    """The same with words for members of enums."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    return getattr(value, "word", value) if isinstance(value, Enum) else value


def compile_type(name: str, types: Types) -> tuple[Callable[[str], Any], Callable[[str], Any]]:
    """Two functions that read a text as this type: the whole, and the beginning of one."""
    os.environ.setdefault("BAML_LOG", "off")
    module = import_module("baml_py")
    source = "\n".join([SOURCE, *types.declared, FUNCTION % name])
    runtime = module.BamlRuntime.from_files("baml_src", {"case.baml": source}, {})
    context = module.BamlCtxManager(runtime)
    modules = [Module(types, is_partial=False), Module(types, is_partial=True)]

    def read(text: str, *, is_partial: bool) -> Any:  # noqa: ANN401 - any JSON
        arguments = (modules[0], *modules, is_partial, context.clone_context(), None, None, {})
        return plain(runtime.parse_llm_response("Read", text, *arguments))

    return partial(read, is_partial=False), partial(read, is_partial=True)


def any_json() -> Tool:
    return partial(again, *compile_type(ANY, Types()))


def made_type() -> Tool:
    import_module("baml_py")

    def answer(task: Task) -> Answer:
        types = Types()
        has_schema = task.schema is not None
        name = types.of_schema(task.schema, task.schema) if has_schema else types.of_values([task.value])
        return again(*compile_type(name, types), task)

    return answer
