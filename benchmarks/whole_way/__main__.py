"""`python -m benchmarks.whole_way`: check, measure, print, and write docs/measured/whole-way.md."""

import json
import sys
from collections.abc import Sequence
from importlib import import_module

from benchmarks.documents import SIZES
from benchmarks.pages import PURE, Command, load
from benchmarks.whole_way import clients, sides
from benchmarks.whole_way.measure import EVERY, MANY, Extent, measure
from benchmarks.whole_way.report import page, sections
from benchmarks.whole_way.works import LOOP

PEERS = {
    sides.BY_HAND: (("orjson", "jiter"), sides.by_hand),
    sides.FLOOR: ((), lambda: sides.floor(json.loads)),
    sides.FLOOR_ORJSON: (("orjson",), lambda: sides.floor(import_module("orjson").loads)),
    clients.CREATE: (("openai",), clients.openai_create),
    clients.CREATE_JITER: (("openai", "jiter"), clients.openai_create_jiter),
    clients.STREAM: (("openai",), clients.openai_stream),
    clients.ANTHROPIC: (("anthropic",), clients.anthropic_stream),
    clients.GENAI: (("google-genai",), clients.google_genai),
    clients.LANGCHAIN: (("langchain-core",), clients.langchain),
    clients.INSTRUCTOR: (("instructor", "pydantic"), clients.instructor),
    clients.PYDANTIC_AI: (("pydantic-ai-slim",), clients.pydantic_ai),
    clients.LITELLM: (("litellm",), clients.litellm),
}
"""By name: the distributions, and what loads the side; that raises `ImportError` where one is not installed."""


def main(arguments: Sequence[str]) -> None:
    command = Command("benchmarks.whole_way", "whole-way.md", __doc__, "streams with this in their name")
    command.add_clock()
    options = command.parse(arguments)
    extent = Extent(
        options.rounds,
        [work for work in EVERY if command.has(work.name)],
        SIZES[:1] if options.quick else SIZES,
        0 if options.only else MANY,
    )
    modules, no_modules = command.load_builds()
    own = {name: sides.jsontide_openers(module) for name, module in modules.items()}
    others, no_others = load({name: loader for name, (_, loader) in PEERS.items()})
    run = measure({**own, **others}, extent)
    LOOP.run_until_complete(LOOP.shutdown_asyncgens())  # streams that were timed at places are still open
    distributions = [name for names, _ in PEERS.values() for name in names]
    missing = {**no_modules, **no_others, **run.missing}
    made_with = command.circumstances(modules[PURE].__version__, distributions, missing)
    command.publish([*made_with, "", *sections(run, extent)], lambda: page(run, extent, made_with))


if __name__ == "__main__":
    main(sys.argv[1:])
