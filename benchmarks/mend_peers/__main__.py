"""`python -m benchmarks.mend_peers`: ask every tool for every case of the corpus, and write its page."""

import sys
from collections.abc import Mapping, Sequence

from benchmarks.mend_peers.peers import PEERS, MissingToolError, Peer, start, version_of
from benchmarks.mend_peers.report import page, tables
from benchmarks.mend_peers.score import Score, add
from benchmarks.mend_peers.tools import NO_SCHEMA, task_of
from benchmarks.pages import Command
from tests.mend.cases import Case, read_corpus


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
    command = Command("benchmarks.mend_peers", "mend-peers.md", __doc__, "tools with this in their name")
    command.parser.add_argument("--cases", action="store_true", help="print the cases that a tool does not get right")
    options = command.parse(arguments)
    cases = read_corpus()
    scores: dict[str, Score] = {}
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    for peer in PEERS:
        if not command.has(peer.name):
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
    command.publish(tables(scores, cases), lambda: page(scores, cases, versions, missing))


def print_cases(scores: Mapping[str, Score]) -> None:
    for name, score in scores.items():
        for case, verdict in score.verdicts.items():
            if verdict != "right":
                print(f"{name}: {case}: {verdict} {score.errors.get(case, '')}")


if __name__ == "__main__":
    main(sys.argv[1:])
