"""The packages that offer names to users: all there are, but for the scanner and the command."""

import importlib
import pkgutil

import jsontide

PUBLIC = [
    importlib.import_module(f"jsontide.{found.name}")
    for found in pkgutil.iter_modules(jsontide.__path__)
    if found.ispkg and found.name not in {"text", "cli"}
]
