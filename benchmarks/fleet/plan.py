"""The arithmetic of docs/fleet.md: bytes, requests and cost of a fleet, and a simulation of it.

    plan.py            the tables of docs/fleet.md, as Markdown
    plan.py --check    the same amounts, file by file, through 500 simulated days

Sizes are measured (see the names of the constants); prices are those of Amazon S3 Standard in
us-east-1 in 2026, in US dollars. Change them here; a test compares the document with the output.
"""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import dataclass

#: `vprof export --parquet --rollups` of examples/quickstart: 3,000 intervals with 3 labels, 100
#: places, 47 batches, in 6 files.
BYTES_OF_A_MINUTE = 186_000
FILES_OF_A_MINUTE = 6
#: examples/fleet/roll_up.sql over 60 of them, and add_up over 24 of these: a row per place and label.
BYTES_OF_AN_HOUR = 12_600
BYTES_OF_A_DAY = 12_600

DOLLARS_PER_GB_MONTH = 0.023
DOLLARS_PER_1000_PUTS = 0.005
DOLLARS_PER_1000_GETS = 0.0004
DAYS_OF_A_MONTH = 30
GB = 10**9


@dataclass(frozen=True)
class Tier:
    """Files that a host makes at an interval, and how long they are kept."""

    name: str
    per_day: int  #: files or sets of files of one host
    bytes: int
    files: int
    days_kept: int
    shipped: bool  #: to object storage; else it stays on the host

    def bytes_per_day(self, hosts: int) -> int:
        return hosts * self.per_day * self.bytes

    def stored(self, hosts: int) -> int:
        return self.bytes_per_day(hosts) * self.days_kept

    def puts_per_day(self, hosts: int) -> int:
        return hosts * self.per_day * self.files if self.shipped else 0


@dataclass(frozen=True)
class Plan:
    name: str
    tiers: tuple[Tier, ...]

    def dollars_per_month(self, hosts: int) -> float:
        stored = sum(tier.stored(hosts) for tier in self.tiers if tier.shipped)
        puts = sum(tier.puts_per_day(hosts) for tier in self.tiers) * DAYS_OF_A_MONTH
        return stored / GB * DOLLARS_PER_GB_MONTH + puts / 1000 * DOLLARS_PER_1000_PUTS


MINUTES = Tier("minute", 1440, BYTES_OF_A_MINUTE, FILES_OF_A_MINUTE, 2, True)
HOURS = Tier("hour", 24, BYTES_OF_AN_HOUR, 1, 30, True)
DAYS = Tier("day", 1, BYTES_OF_A_DAY, 1, 400, True)

PLANS = (
    Plan("every minute to object storage", (MINUTES, HOURS, DAYS)),
    Plan(
        "minutes stay on the host",
        (Tier("minute", 1440, BYTES_OF_A_MINUTE, FILES_OF_A_MINUTE, 2, False), HOURS, DAYS),
    ),
)
HOSTS = 10_000


@dataclass
class Simulated:
    """What one host has done by the end of the simulated days."""

    stored: dict[str, int]
    puts: int
    written: int


def simulate(plan: Plan, days: int) -> Simulated:
    """One host, file by file: written, kept for its days, deleted."""
    kept: dict[str, deque[tuple[int, int]]] = {tier.name: deque() for tier in plan.tiers}
    result = Simulated({}, 0, 0)
    for minute in range(days * 1440):
        for tier in plan.tiers:
            every = 1440 // tier.per_day
            if minute % every == every - 1:
                kept[tier.name].append((minute, tier.bytes))
                result.written += tier.bytes
                result.puts += tier.files if tier.shipped else 0
            files = kept[tier.name]
            while files and files[0][0] <= minute - tier.days_kept * 1440:
                files.popleft()
    result.stored = {name: sum(size for _, size in files) for name, files in kept.items()}
    return result


def check(plan: Plan, days: int = 500) -> None:
    """The formulas above against the simulation; after the longest retention all is steady."""
    simulated = simulate(plan, days)
    for tier in plan.tiers:
        assert simulated.stored[tier.name] == tier.stored(1), tier
    assert simulated.puts == days * sum(tier.puts_per_day(1) for tier in plan.tiers)
    assert simulated.written == days * sum(tier.bytes_per_day(1) for tier in plan.tiers)


def amount(size: float) -> str:
    for unit, of in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= of:
            return f"{size / of:,.1f} {unit}"
    return f"{size / 1e3:,.0f} kB"


def tables(hosts: int = HOSTS) -> str:
    lines = []
    for plan in PLANS:
        lines += [
            f"**{plan.name[0].upper() + plan.name[1:]}**: "
            f"${plan.dollars_per_month(hosts):,.0f} a month",
            "",
            "| roll-up | bytes each | a day | kept | stored | PUTs a day |",
            "|---|---|---|---|---|---|",
        ]
        for tier in plan.tiers:
            where = "" if tier.shipped else " on hosts"
            lines.append(
                f"| {tier.name} | {amount(tier.bytes)} | {amount(tier.bytes_per_day(hosts))} | "
                f"{tier.days_kept} days | {amount(tier.stored(hosts))}{where} | "
                f"{tier.puts_per_day(hosts):,} |"
            )
        lines.append("")
    day_files = hosts
    lines += [
        f"A report on a month of days reads {amount(30 * DAYS.bytes_per_day(hosts))} in "
        f"{30 * day_files:,} GETs: ${30 * day_files / 1000 * DOLLARS_PER_1000_GETS:.2f}. On one "
        f"hour of all hosts: {amount(hosts * BYTES_OF_AN_HOUR)}, "
        f"${hosts / 1000 * DOLLARS_PER_1000_GETS:.3f}."
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        for plan in PLANS:
            check(plan)
            print(f"{plan.name}: formulas and simulation agree")
    else:
        print(tables())


if __name__ == "__main__":
    main()
