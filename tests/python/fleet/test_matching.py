"""Hosts whose sites differ: other builds, other frontiers, calls that are left out."""

from __future__ import annotations

from pathlib import Path

import made
import pytest
from fleets import report, share

SERVER = made.server()


def test_functions_of_builds_whose_lines_moved_are_the_same(tmp_path: Path) -> None:
    for h in range(4):
        made.record(tmp_path, f"a{h}", SERVER, seed=h + 1)
        made.record(tmp_path, f"b{h}", SERVER.moved(7), seed=h + 51, version="1.1")
    found = report(tmp_path)
    assert found.fleet.functions["parse@p.cpp"].visible == 1
    assert sum(found.matched.values()) == pytest.approx(1)
    assert found.matched["path"] > 0.9  # on the hosts of each version
    assert found.versions_compared[0].not_comparable == []
    assert not found.outliers.outliers


def test_a_build_of_a_single_host_is_matched_by_function(tmp_path: Path) -> None:
    for h in range(3):
        made.record(tmp_path, f"a{h}", SERVER, seed=h + 1)
    made.record(tmp_path, "b", SERVER.moved(7), seed=9)
    found = report(tmp_path)
    assert 0.1 < found.matched["function"] < 0.5
    assert found.matched["alone"] == 0


def test_a_function_that_is_not_broken_down_is_one_function(tmp_path: Path) -> None:
    for h in range(5):
        program = SERVER.closed("lookup") if h == 4 else SERVER
        if h == 4:
            # All that is in it is in its own time.
            program = program.with_place("lookup", mean_us=150, spread=1.2)
        made.record(tmp_path, f"db{h}", program, seed=h + 1)
    found = report(tmp_path)
    functions = found.fleet.functions
    assert functions["lookup@l.cpp"].visible == 1
    # Known on four of five hosts, and as if the fifth one did not exist.
    for function in ("read_page@l.cpp", "body(lookup)@l.cpp"):
        assert functions[function].visible == pytest.approx(0.8)
    others = report(tmp_path, where=("host!=db4",))
    assert share(found, "read_page@l.cpp") == share(others, "read_page@l.cpp")
    assert found.matched["not_broken_down"] > 0.05
    assert not [o for o in found.outliers.outliers if o.function != "lookup@l.cpp"]


def test_a_call_that_one_host_leaves_out_is_no_difference(tmp_path: Path) -> None:
    """Its time is in the body of its caller there, so the caller differs in nothing."""
    for h in range(8):
        program = SERVER
        if h == 5:
            own = 40 + 60
            program = made.Program(
                tuple(
                    made.replace(p, parent=None if p.parent is None else p.parent - (p.parent > 3))
                    for i, p in enumerate(SERVER.places)
                    if i != 3
                )
            ).with_place("body(handle)", mean_us=own, spread=0.2)
        made.record(tmp_path, f"db{h}", program, seed=h + 1)
    found = report(tmp_path)
    assert [o.function for o in found.outliers.outliers] == []


def test_waits_are_seen_whatever_is_broken_down(tmp_path: Path) -> None:
    closed = SERVER.closed("log")
    at = next(i for i, p in enumerate(closed.places) if p.function == "log")
    closed = made.Program(
        closed.places
        + (made.Place("wait(pthread_mutex_lock)", at, 90, 1.0, 0.3, "wait", "", 0, "g.cpp:9"),)
    ).with_place("log", mean_us=40)
    for h in range(4):
        made.record(tmp_path, f"db{h}", closed if h == 3 else SERVER, seed=h + 1)
    found = report(tmp_path)
    assert found.fleet.functions["wait(pthread_mutex_lock)@"].visible == 1
    assert found.fleet.functions["body(log)@g.cpp"].visible == pytest.approx(0.75)
