"""What is planted is found, and equal hosts are equal."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import made
import numpy as np
import pytest
from fleets import report

from vprof.fleet.hosts import compare_hosts
from vprof.fleet.units import Units, units_of
from vprof.fleet.versions import compare_versions

SERVER = made.server()
LATER = made.NOON + dt.timedelta(hours=1)


def test_a_host_with_a_slow_disk_is_found(tmp_path: Path) -> None:
    for h in range(10):
        slow = SERVER.with_place("read_page", mean_us=2800)
        made.record(tmp_path, f"db{h}", slow if h == 6 else SERVER, seed=h + 1, raw=False)
    found = report(tmp_path).outliers
    assert {o.host for o in found.outliers} == {"db6"}
    assert {o.mostly or o.function for o in found.outliers} == {"read_page@l.cpp"}
    worst = found.outliers[0]
    assert worst.low > 0 and worst.p < 0.01
    assert worst.value > worst.others + 150_000


def test_two_bad_hosts_do_not_hide_each_other(tmp_path: Path) -> None:
    for h in range(12):
        slow = SERVER.with_place("parse", mean_us=240)
        made.record(tmp_path, f"db{h}", slow if h in (2, 9) else SERVER, seed=h + 1, raw=False)
    found = report(tmp_path).outliers
    assert {o.host for o in found.outliers if o.function == "parse@p.cpp"} == {"db2", "db9"}


def test_a_regression_is_found_on_the_same_hosts(tmp_path: Path) -> None:
    slower = SERVER.with_place("parse", mean_us=180, spread=0.9)
    for h in range(6):
        made.record(tmp_path, f"db{h}", SERVER, seed=h + 1, raw=False)
        made.record(
            tmp_path, f"db{h}", slower, seed=h + 51, version="1.1", begin=LATER, raw=False
        )
    change = report(tmp_path).versions_compared[0]
    assert (change.before, change.after, change.paired) == ("1.0", "1.1", 6)
    by_function = {c.function: c for c in change.changes}
    assert by_function["parse@p.cpp"].mean_significant
    assert by_function["parse@p.cpp"].variance_significant
    assert by_function["parse@p.cpp"].mean_ns.value == pytest.approx(120_000, rel=0.1)
    assert by_function["parse@p.cpp"].variance.value > 0
    stars = {c.function for c in change.changes if c.mean_significant}
    assert stars <= {"parse@p.cpp", "handle@s.cpp", ""}


def test_a_regression_is_found_on_other_hosts(tmp_path: Path) -> None:
    slower = SERVER.with_place("parse", mean_us=180, spread=0.9)
    for h in range(6):
        made.record(tmp_path, f"db{h}", SERVER, seed=h + 1, raw=False)
    for h in range(6, 10):
        made.record(tmp_path, f"db{h}", slower, seed=h + 51, version="1.1", begin=LATER, raw=False)
    found = report(tmp_path)
    change = found.versions_compared[0]
    assert change.paired == 0
    assert {c.function: c for c in change.changes}["parse@p.cpp"].mean_significant
    # The hosts of the new version are no outliers among themselves.
    assert not found.outliers.outliers


def test_a_function_that_is_new_comes_with_its_variance(tmp_path: Path) -> None:
    new = made.Place("audit", 1, 200, 0.8, 0.5, "function", "a.cpp", 3, "s.cpp:21")
    for h in range(5):
        made.record(tmp_path, f"db{h}", SERVER, seed=h + 1, raw=False)
        made.record(
            tmp_path, f"db{h}", made.Program((*SERVER.places, new)), seed=h + 51,
            version="1.1", begin=LATER, raw=False,
        )  # fmt: skip
    by_function = {c.function: c for c in report(tmp_path).versions_compared[0].changes}
    assert by_function["audit@a.cpp"].mean_significant
    assert by_function["audit@a.cpp"].mean_ns.value == pytest.approx(100_000, rel=0.15)


def simulated(seed: int, *, hosts: int, n: int, apart: float, versions: int = 1) -> Units:
    """What sql/moments.sql yields for hosts that differ by a factor of about 1 + `apart`."""
    random = np.random.default_rng(seed)
    program = SERVER.places
    rows = []
    for h in range(hosts):
        factors = np.exp(random.normal(0, apart, len(program)))
        different = made.Program(
            tuple(
                made.replace(p, mean_us=p.mean_us * f)
                for p, f in zip(program, factors, strict=True)
            )
        )
        _, total, _ = made.draw(different, n, random, ("",))
        x = total.astype(float).reshape(16, n // 16, len(program))
        sums = np.stack([x.sum(axis=1), (x * x[:, :, :1]).sum(axis=1)])  # Σx, ΣxT by group

        def figures(sums: np.ndarray, n: int) -> np.ndarray:
            mean = sums[..., :, :] / n
            return np.stack([mean[0], mean[1] - mean[0] * mean[0][..., :1]])

        whole = figures(sums.sum(axis=1, keepdims=True), n)[:, 0]
        without = figures(sums.sum(axis=1, keepdims=True) - sums, n - n // 16)
        centre = without.mean(axis=1, keepdims=True)
        errors = np.sqrt(15 / 16 * ((without - centre) ** 2).sum(axis=1))
        version = str(h * versions // hosts)
        for i, place in enumerate(program):
            name = "" if i == 0 else f"{place.function}@{place.file}"
            count = float((total[:, i] > 0).sum())
            rows.append(
                (f"db{h}", version, name, n, count, 16, *whole[:, i], *errors[:, i])
            )
    inside = [
        (f"{program[p.parent or 0].function}@{program[p.parent or 0].file}",
         f"{p.function}@{p.file}", True, True)
        for p in program if p.parent
    ]  # fmt: skip
    return units_of(rows, inside)


@pytest.mark.parametrize("apart", [0.0, 0.1])
def test_equal_hosts_raise_no_alarm(apart: float) -> None:
    """Also hosts that are only as equal as hosts are: machines differ by a tenth."""
    alarms = sum(
        bool(compare_hosts(simulated(seed, hosts=10, n=320, apart=apart)).outliers)
        for seed in range(100)
    )
    assert alarms <= 5


@pytest.mark.parametrize("apart", [0.0, 0.1])
def test_equal_versions_have_no_stars(apart: float) -> None:
    starred = 0
    for seed in range(100):
        units = simulated(seed, hosts=10, n=320, apart=apart, versions=2)
        change = compare_versions(units, "0", "1")
        starred += any(c.mean_significant or c.variance_significant for c in change.changes)
    assert starred <= 5


def test_few_hosts_are_not_compared(tmp_path: Path) -> None:
    for h in range(3):
        slow = SERVER.with_place("parse", mean_us=900)
        made.record(tmp_path, f"db{h}", slow if h == 1 else SERVER, seed=h + 1, raw=False)
    found = report(tmp_path).outliers
    assert found.too_few == {"1.0": 3}
    assert not found.outliers and not found.tests
