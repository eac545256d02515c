"""Which part of the fleet a report is about, as conditions in SQL."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from ..errors import InputError

COLUMNS = ("host", "version", "label", "day", "hour")
#: Groups of consecutive batches that the jackknife leaves out in turn.
GROUPS = 16

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_EXPRESSIONS = {
    "host": "host",
    "version": "version",
    "label": "coalesce(label, '(others)')",
    "day": "day",
    "hour": "hour",
}
# `day` and `hour` are those of a batch's first interval, in UTC.
_DAY = "CAST(CAST({begin} AS DATE) AS STRING)"
_HOUR = "substr(CAST({begin} AS STRING), 1, 13)"


def quoted(text: str) -> str:
    """A text as SQL has it. Engines differ in how a quotation mark is escaped, so none is."""
    return "(" + " || chr(39) || ".join(f"'{part}'" for part in text.split("'")) + ")"


@dataclass(frozen=True)
class Condition:
    column: str
    value: str
    equal: bool

    @staticmethod
    def parse(text: str) -> Condition:
        found = re.match(r"([a-z]+)(!?=)(.*)$", text, re.DOTALL)
        if found is None or found[1] not in COLUMNS:
            raise InputError(
                f"--where {text}: expected COLUMN=VALUE or COLUMN!=VALUE, where COLUMN is one of "
                + ", ".join(COLUMNS)
            )
        return Condition(found[1], found[3], found[2] == "=")


def nanoseconds(text: str) -> int:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s)", text)
    if found is None:
        raise InputError(f"latency {text!r}: expected a number with ns, us, ms or s, such as 50ms")
    return round(float(found[1]) * _UNITS[found[2]])


def instant(text: str) -> str:
    """A time as SQL: `2026-11-24` or `2026-11-24T12:30`, in UTC unless it says otherwise."""
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"time {text!r}: expected one such as 2026-11-24T12:30") from None
    if time.tzinfo is not None:
        time = time.astimezone(dt.timezone.utc)
    return f"CAST({quoted(time.strftime('%Y-%m-%d %H:%M:%S.%f') + '+00:00')} AS {{stamp}})"


@dataclass(frozen=True)
class Selection:
    """The intervals that count. Conditions on one column are alternatives, except with `!=`."""

    where: tuple[Condition, ...] = ()
    by: str = ""
    name: str = ""
    since: str = ""
    until: str = ""
    slower_than_ns: int | None = None

    def __post_init__(self) -> None:
        if self.by and self.by not in COLUMNS:
            raise InputError(f"--by {self.by}: expected one of {', '.join(COLUMNS)}")

    @property
    def needs_intervals(self) -> bool:
        """Whether roll-ups are too coarse for it."""
        return bool(self.since or self.until or self.slower_than_ns is not None)

    @property
    def needs_labels(self) -> bool:
        return self.by == "label" or any(c.column == "label" for c in self.where)

    def _conditions(self, columns: dict[str, str]) -> str:
        terms = []
        for column, expression in columns.items():
            equal = [c.value for c in self.where if c.column == column and c.equal]
            others = [c.value for c in self.where if c.column == column and not c.equal]
            if equal:
                terms.append(f"{expression} IN ({', '.join(map(quoted, equal))})")
            if others:
                terms.append(f"{expression} NOT IN ({', '.join(map(quoted, others))})")
        return " AND ".join(terms) or "TRUE"

    def of_recording(self, prefix: str = "") -> str:
        version = f"CASE WHEN {prefix}version = '' THEN '-' ELSE {prefix}version END"
        return self._conditions({"host": f"{prefix}host", "version": version})

    def of_batch(self) -> str:
        label = "coalesce(s.label, '(others)')"
        day, hour = (text.format(begin="s.first") for text in (_DAY, _HOUR))
        return self._conditions({"day": day, "hour": hour, "label": label})

    def of_sums(self) -> str:
        return self._conditions({"label": "coalesce(s.label, '(others)')"})

    def of_interval(self, stamp: str) -> str:
        """Conditions that only single intervals can meet."""
        terms = [f"i.name = {quoted(self.name)}"]
        if self.since:
            terms.append(f"i.begin >= {instant(self.since).format(stamp=stamp)}")
        if self.until:
            terms.append(f"i.begin < {instant(self.until).format(stamp=stamp)}")
        if self.slower_than_ns is not None:
            terms.append(f"i.latency_ns > {self.slower_than_ns}")
        return " AND ".join(terms)

    @property
    def day(self) -> str:
        return _DAY.format(begin="begin")

    @property
    def hour(self) -> str:
        return _HOUR.format(begin="begin")

    def slice(self) -> str:
        return _EXPRESSIONS.get(self.by, "''")
