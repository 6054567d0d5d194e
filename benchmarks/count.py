"""`python -m benchmarks.count`: count the instructions of nine ways, and compare them with benchmarks/counts.json.

In: the optimized compiled build, which `builds.installed` makes once for each state of the sources, in build/bench.
Out: instructions per step of each way; exit status 1 if one of them changed by more than `TOLERANCE`.
Rule: a count depends on Python and the C compiler, so the file names both, and only counts made with the same are
compared.

Valgrind runs this module as a program of its own.
That program prepares a way and forks twice: the children run it once and several times, so the difference between them
contains neither start-up nor preparation.
"""

import argparse
import gc
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import jsontide
from benchmarks import builds
from benchmarks.documents import dirty_document, document
from benchmarks.whole_way.streams import CHAT_TEXT, CHAT_TOOL, Format, Response, pieces_of, prose_text, records_text
from jsontide import frontends, mend, runs, schema

RECORD = Path(__file__).with_name("counts.json")
TOLERANCE = 0.05
SIZE = 4_000
ROUNDS = 4
"""How many rounds the longer run has more than the shorter one."""

Run = Callable[[], int]
"""Does the work of one round, and returns its number of steps."""

POSITION = {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}
PLACE = {"type": "object", "properties": {"position": POSITION, "open": {"type": "boolean"}, "closed_until": {}}}
ITEM = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": "string"},
        "place": PLACE,
    },
}
TRIP = {
    "type": "object",
    "required": ["items"],
    "properties": {"trip": {"type": "string"}, "items": {"type": "array", "items": ITEM}, "done": {"type": "boolean"}},
}


def chunks() -> Sequence[str]:
    return document("records", SIZE, "tokens").chunks


def parser_chunk() -> Run:
    pieces = chunks()

    def run() -> int:
        state = jsontide.create_parser_state()
        for piece in pieces:
            state = jsontide.parse_chunk(state, piece)
            _ = state.value
        return len(pieces)

    return run


def event() -> Run:
    pieces = chunks()

    def run() -> int:
        accumulator, steps = jsontide.JsonFragmentAccumulator(values=False), 0
        for piece in pieces:
            for update in accumulator.add_fragment(piece):
                _ = update.kind, update.path, update.value
                steps += 1
        return steps

    return run


def snapshot() -> Run:
    snapshots = list(jsontide.values(chunks()))

    def run() -> int:
        chunker = jsontide.JsonStreamChunker()
        for value in snapshots:
            chunker.process_value(value)
        chunker.flush()
        return len(snapshots)

    return run


def reads(form: Format, text: str) -> Sequence[bytes]:
    return Response(form, pieces_of(form, text)).reads


def text_event() -> Run:
    received = reads(CHAT_TEXT, prose_text(SIZE))

    def run() -> int:
        for message in jsontide.stream_message(received):
            _ = message.content
        return len(received)

    return run


def tool_call_event() -> Run:
    received = reads(CHAT_TOOL, records_text(SIZE))

    def run() -> int:
        for message in jsontide.stream_message(received):
            for call in message.tool_calls:
                _ = call.partial
        return len(received)

    return run


def text_event_of_a_run() -> Run:
    """What a run costs besides an event of its messages; what happens once, such as opening a loop, is spread thin."""
    received = reads(CHAT_TEXT, prose_text(10 * SIZE))

    def run() -> int:
        for run in runs.run_agent(lambda _: received, "?"):
            _ = run.content
        return len(received)

    return run


def delta() -> Run:
    messages = list(jsontide.stream_message(reads(CHAT_TOOL, records_text(SIZE))))
    encoder = frontends.CompactEncoder()

    def run() -> int:
        state, _ = encoder.begin()
        for message in messages:
            state, _ = encoder.encode(state, message)
        return len(messages)

    return run


def mend_chunk() -> Run:
    pieces = dirty_document(SIZE).chunks

    def run() -> int:
        for _ in jsontide.values(pieces, mend=mend.MODELS):
            pass
        return len(pieces)

    return run


def schema_chunk() -> Run:
    pieces = chunks()

    def run() -> int:
        state = jsontide.create_parser_state()
        resolution = schema.from_json_ast(TRIP, state)
        for piece in pieces:
            state = jsontide.parse_chunk(state, piece)
            resolution = schema.from_json_ast(TRIP, state, resolution)
            _ = resolution.value
        return len(pieces)

    return run


WAYS: Mapping[str, Callable[[], Run]] = {
    "chunk of text": parser_chunk,
    "event": event,
    "snapshot": snapshot,
    "text of a message": text_event,
    "tool call of a message": tool_call_event,
    "text of a run": text_event_of_a_run,
    "delta for a browser": delta,
    "chunk that is mended": mend_chunk,
    "chunk with a schema": schema_chunk,
}


def fork_runs() -> None:
    """Run in valgrind: print for each run its way, its number of steps, and the process that valgrind counts."""
    if not jsontide.COMPILED:
        raise SystemExit("this is not the compiled build")
    gc.disable()  # when it runs depends on all that exists
    for name, prepare in WAYS.items():
        run = prepare()
        steps = run()  # once before the fork: what is imported or cached at first is no step
        for rounds in (1, 1 + ROUNDS):
            process = os.fork()
            if not process:
                for _ in range(rounds):
                    run()
                os._exit(0)
            os.waitpid(process, 0)
            print(json.dumps([name, rounds * steps, process]), flush=True)


def count(build: Path) -> dict[str, int]:
    """Return the instructions per step of each way, counted with the build in a folder."""
    with TemporaryDirectory() as folder:
        command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={folder}/%p", sys.executable]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(build), str(builds.ROOT)]),
            "PYTHONHASHSEED": "0",
        }
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, "-m", "benchmarks.count", "--forked"], env=environment, stdout=subprocess.PIPE, check=True
        )
        runs: dict[str, list[tuple[int, int]]] = {}
        for name, steps, process in map(json.loads, done.stdout.splitlines()):
            runs.setdefault(name, []).append((steps, instructions(Path(folder, str(process)))))
    return {name: round((most - least) / (more - less)) for name, ((less, least), (more, most)) in runs.items()}


def instructions(output: Path) -> int:
    found = re.search(r"^totals: (\d+)", output.read_text("utf-8"), re.MULTILINE)
    assert found is not None, output  # noqa: S101 - callgrind ends every file with it
    return int(found[1])


def toolchain() -> dict[str, str]:
    """Return what a count depends on beside the sources."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
    version = "none"
    if shutil.which(compiler) is not None:
        said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
        version = said.stdout.partition("\n")[0]
    return {"machine": os.uname().machine, "python": sys.version, "compiler": version}


def changed(recorded: Mapping[str, int], counted: Mapping[str, int]) -> list[str]:
    """Return the ways whose count is not the recorded one, within the tolerance."""
    pairs = ((name, recorded.get(name, 0)) for name in WAYS)
    return [name for name, before in pairs if abs(counted[name] - before) > TOLERANCE * before]


def find_build(given: Path | None) -> Path:
    """Return the folder of the optimized build; raises ImportError where it, or valgrind, cannot be had."""
    if shutil.which("valgrind") is None:
        raise ImportError("valgrind is not installed")
    return given or builds.installed()


def leave_out(reason: object) -> None:
    print(f"left out: counting instructions: {reason}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.count", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help=f"write {RECORD.name} instead of comparing")
    parser.add_argument("--compiled", type=Path, metavar="DIR", help="take the compiled build from this directory")
    parser.add_argument("--forked", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.forked:
        fork_runs()
        return 0
    record = json.loads(RECORD.read_text("utf-8"))
    if record["toolchain"] != toolchain() and not options.update:
        leave_out(f"{RECORD.name} was written with {record['toolchain']}, here is {toolchain()}")
        return 0
    try:
        counted = count(find_build(options.compiled))
    except ImportError as error:
        leave_out(error)
        return int(bool(os.environ.get("JSONTIDE_COMPLETE")))
    print("instructions per step        counted  recorded")
    for name, found in counted.items():
        recorded = record["instructions"].get(name, found)
        print(f"{name:24}{found:>12,}{recorded:>10,}  {found / recorded - 1:+.1%}")
    if options.update:
        text = json.dumps({"toolchain": toolchain(), "instructions": counted}, indent=2)
        RECORD.write_text(f"{text}\n", "utf-8")
        return 0
    if names := changed(record["instructions"], counted):
        print(f"error: changed by more than {TOLERANCE:.0%}: {', '.join(names)}; `make count UPDATE=1` records it")
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
