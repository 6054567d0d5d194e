"""Keys that front ends refuse, left out of a value by plain recursion."""

from typing import Any


def without_hostile(value: Any, parent: Any = None) -> Any:
    """The same value without `__proto__`, and without `prototype` inside `constructor`."""
    if isinstance(value, list):
        return [without_hostile(each) for each in value]
    if not isinstance(value, dict):
        return value
    is_constructor = parent == "constructor"
    return {
        key: without_hostile(each, key)
        for key, each in value.items()
        if key != "__proto__" and not (is_constructor and key == "prototype")
    }


def without_names(value: Any, names: set[str]) -> Any:
    """The same value without members of these names."""
    if isinstance(value, list):
        return [without_names(each, names) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: without_names(each, names) for key, each in value.items() if key not in names}
