"""`python -m benchmarks.whole_way`: check, measure, print, and write docs/measured/whole-way.md."""

import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from benchmarks.command import Command, load
from benchmarks.jsontide_sides import PURE
from benchmarks.whole_way import clients, sides
from benchmarks.whole_way.measure import EVERY, Extent, measure
from benchmarks.whole_way.report import page, sections
from benchmarks.whole_way.works import LOOP, SIZES, Openers


class Peer(NamedTuple):
    """`load` raises `ImportError` for a library that is not installed."""

    name: str
    distributions: tuple[str, ...]
    load: Callable[[], Openers]


PEERS = (
    Peer(sides.BY_HAND, ("orjson", "jiter"), sides.by_hand),
    Peer(sides.FLOOR, (), lambda: sides.floor(json.loads)),
    Peer(sides.FLOOR_ORJSON, ("orjson",), lambda: sides.floor(import_module("orjson").loads)),
    Peer(clients.CREATE, ("openai",), clients.openai_create),
    Peer(clients.CREATE_JITER, ("openai", "jiter"), clients.openai_create_jiter),
    Peer(clients.STREAM, ("openai",), clients.openai_stream),
    Peer(clients.ANTHROPIC, ("anthropic",), clients.anthropic_stream),
    Peer(clients.GENAI, ("google-genai",), clients.google_genai),
    Peer(clients.LANGCHAIN, ("langchain-core",), clients.langchain),
    Peer(clients.INSTRUCTOR, ("instructor", "pydantic"), clients.instructor),
    Peer(clients.PYDANTIC_AI, ("pydantic-ai-slim",), clients.pydantic_ai),
    Peer(clients.LITELLM, ("litellm",), clients.litellm),
)


def main(arguments: Sequence[str]) -> None:
    command = Command("benchmarks.whole_way", "whole-way.md", __doc__)
    command.parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="streams with this in their name"
    )
    options = command.parse(arguments)
    extent = Extent(
        rounds=options.rounds,
        works=[work for work in EVERY if all(word in work.name for word in options.only)],
        sizes=SIZES[:1] if options.quick else SIZES,
        **({"streams": 0} if options.only else {}),
    )
    modules, no_modules = command.load_builds()
    own = {name: sides.jsontide_openers(module) for name, module in modules.items()}
    others, no_others = load({peer.name: peer.load for peer in PEERS})
    found = measure({**own, **others}, extent)
    LOOP.run_until_complete(LOOP.shutdown_asyncgens())  # streams that were timed at places are still open
    distributions = [name for peer in PEERS for name in peer.distributions]
    missing = {**no_modules, **no_others, **found.missing}
    made_with = command.circumstances(modules[PURE].__version__, distributions, missing)
    command.publish([*made_with, "", *sections(found, extent)], lambda: page(found, extent, made_with))


if __name__ == "__main__":
    main(sys.argv[1:])
