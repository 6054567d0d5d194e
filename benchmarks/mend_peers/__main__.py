"""`python -m benchmarks.mend_peers`: ask every tool for every case of the corpus, and write its page."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import builds
from benchmarks.mend_peers.peers import PEERS, MissingToolError, Peer, start, version_of
from benchmarks.mend_peers.report import page, tables
from benchmarks.mend_peers.score import Score, add
from benchmarks.mend_peers.tools import NO_SCHEMA, task_of
from tests.mend.cases import Case, read_corpus

PAGE = "mend-peers.md"


def parse_options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mend_peers", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="tools with this in their name; writes no page")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="where to write the page (default: docs)")
    parser.add_argument("--cases", action="store_true", help="print the cases that a tool does not get right")
    return parser.parse_args(arguments)


def score_peer(peer: Peer, cases: Sequence[Case]) -> Score:
    asker = start(peer)
    score = Score()
    try:
        for case in cases:
            if peer.needs_type and case.expect == "refused" and case.schema is None:
                continue
            add(score, case, asker.ask(task_of(case)))
    finally:
        asker.stop()
    return score


def main(arguments: Sequence[str]) -> None:
    options = parse_options(arguments)
    directory: Path = options.docs or builds.ROOT / "docs" / "measured"
    directory.mkdir(parents=True, exist_ok=True)  # before anything is asked, so that no run is lost
    cases = read_corpus()
    scores: dict[str, Score] = {}
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    for peer in PEERS:
        if options.only not in peer.name:
            continue
        try:
            scores[peer.name] = score_peer(peer, cases)
            versions[peer.distribution] = version_of(peer)
        except MissingToolError as error:
            missing[peer.name] = str(error)
    for name, score in scores.items():
        if not any(case.schema is not None and case.name in score.verdicts for case in cases):
            missing[f"{name} with a schema"] = NO_SCHEMA
    if options.cases:
        print_cases(scores)
    if options.only and not options.docs:
        print(*tables(scores, cases), *missing.items(), sep="\n")
        return
    (directory / PAGE).write_text(page(scores, cases, versions, missing), "utf-8")
    print(f"written: {directory / PAGE}")


def print_cases(scores: dict[str, Score]) -> None:
    for name, score in scores.items():
        for case, verdict in score.verdicts.items():
            if verdict != "right":
                print(f"{name}: {case}: {verdict} {score.errors.get(case, '')}")


if __name__ == "__main__":
    main(sys.argv[1:])
