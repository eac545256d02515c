"""A report for a terminal, in the words and the layout of `vprof report`."""

from __future__ import annotations

import math
import textwrap

from .figures import LEAST, Estimate, FunctionFigures
from .report import FleetReport
from .versions import VersionChange

_FACTORS = 10
_OUTLIERS = 10
_CHANGES = 12
_SLICES = 40


def duration(ns: float) -> str:
    """Three digits, as the other reports."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size * 0.9995:
            return f"{_digits(ns / size)} {unit}"
    return f"{ns:.0f} ns"


def _digits(value: float) -> str:
    size = abs(value)
    return f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:,.0f}"


def percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def _interval(estimate: Estimate) -> str:
    if not math.isfinite(estimate.low):
        return "± ?"
    return f"± {100 * max(estimate.high - estimate.value, estimate.value - estimate.low):.1f}"


def _several(n: int, word: str) -> str:
    return f"{n:,} {word}" + ("" if n == 1 else "s")


class _Writer:
    def __init__(self, width: int) -> None:
        self.width = max(width, 60)
        self.lines: list[str] = []

    def line(self, text: str = "") -> None:
        self.lines.append(text.rstrip()[: self.width])

    def paragraph(self, text: str, indent: int = 0) -> None:
        self.lines += textwrap.wrap(
            text, self.width, initial_indent=" " * indent, subsequent_indent=" " * indent,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip

    def item(self, text: str) -> None:
        self.lines += textwrap.wrap(
            text, self.width, initial_indent="  - ", subsequent_indent="    ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip

    def side_by_side(self, items: list[str]) -> None:
        """As many as fit on a line; an item is never broken."""
        line = " "
        for item in items:
            if len(line) + len(item) + 1 > self.width:
                self.line(line)
                line = " "
            line += f" {item}  "
        self.line(line)

    def name(self, text: str, width: int) -> str:
        """Cut in the middle: of a name, both ends matter most."""
        if len(text) <= width:
            return text.ljust(width)
        head = (width - 1) // 2
        return text[:head] + "…" + text[len(text) - (width - 1 - head) :]


def to_text(report: FleetReport, width: int) -> str:
    out = _Writer(width)
    _summary(report, out)
    _ranking(report, out)
    _table(report, out)
    _hosts(report, out)
    for change in report.versions_compared[-3:]:
        _change(report, change, out)
    _caveats(report, out)
    return "\n".join(out.lines)


def _summary(report: FleetReport, out: _Writer) -> None:
    fleet = report.fleet
    out.paragraph(
        f"{report.name}: {fleet.intervals:,} completed on {_several(report.hosts, 'host')}, "
        f"{_several(len(report.versions), 'version')}, {report.begin} to {report.end} UTC"
    )
    figures = [f"mean {duration(fleet.mean_ns)}", f"stddev {duration(fleet.stddev_ns)}"]
    for key, label in (("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p999", "p99.9"),
                       ("max", "max")):  # fmt: skip
        if key in report.quantiles:
            figures.append(f"{label} {duration(report.quantiles[key])}")
    out.side_by_side(figures)
    between = []
    if report.hosts > 1:
        between.append(f"{percent(report.between_hosts)} between hosts")
    if len(report.versions) > 1:
        between.append(f"{percent(report.between_versions)} between versions")
    if between:
        out.paragraph("of the variance, " + ", ".join(between), 2)


def _ranking(report: FleetReport, out: _Writer) -> None:
    out.line()
    out.line("Where the variance comes from")
    out.line("  rank     share            score  mean        hosts")
    own = [f for f in report.factors if abs(f.counts) >= LEAST]
    for factor in own[:_FACTORS]:
        share = factor.figures.share
        out.line(
            f"  {factor.rank:>3}  {percent(share.value):>9} {_interval(share):<8} "
            f"{_digits(factor.score):>7}  {duration(factor.figures.mean_ns):<10}  {factor.hosts:,}"
        )
        where = f"{factor.function}  {factor.location}" if factor.location else factor.function
        out.line(" " * 7 + out.name(where, out.width - 7).rstrip())
        notes = []
        if abs(factor.counts - share.value) > 0.02:
            notes.append(f"{percent(factor.counts)} not explained by callees")
        if not factor.figures.significant:
            notes.append("may be chance")
        if factor.figures.visible < 1:
            notes.append(
                f"of the {percent(factor.figures.visible)} of the intervals whose recordings show it"
            )
        if notes:
            out.paragraph("; ".join(notes), 7)
    if not own:
        out.line("  nothing holds 1 % of it")
    elif len(own) > _FACTORS:
        out.line(f"  {len(own) - _FACTORS} more with --json")
    callers = [f for f in report.factors if f not in own]
    if callers:
        named = [f"{f.function} {percent(f.figures.share.value)}" for f in callers[:6]]
        out.paragraph("Around these, with nothing of their own: " + ", ".join(named), 2)


def _table(report: FleetReport, out: _Writer) -> None:
    if not report.slices:
        return
    out.line()
    out.line(f"By {report.selection.by}")
    out.line(f"  {'':<13} {'intervals':>10}  {'mean':<9}  {'stddev':<9}  {'p99':<9}  most of it")
    ordered = sorted(report.slices, key=lambda s: -s.figures.stddev_ns)
    shown = report.slices
    if len(shown) > _SLICES:
        shown = ordered[:_SLICES]
    for found in shown:
        one = found.figures
        p99 = "-" if found.p99_ns is None else duration(found.p99_ns)
        leading = out.name(_leading(report, found.top), max(20, out.width - 60)).rstrip()
        out.line(
            f"  {out.name(one.slice or '(none)', 13)} {one.intervals:>10,}  "
            f"{duration(one.mean_ns):<9}  {duration(one.stddev_ns):<9}  {p99:<9}  {leading}"
        )
    if len(report.slices) > _SLICES:
        out.line(f"  the {_SLICES} with the largest stddev of {len(report.slices):,}; all with --json")


def _leading(report: FleetReport, top: list[FunctionFigures]) -> str:
    """The function deepest in the ranking of the fleet that holds most here."""
    score = {f.figures.function: f.score for f in report.factors}
    known = [f for f in top if score.get(f.function, 0) > 0]
    best = max(known, key=lambda f: f.share.value * score[f.function], default=None)
    if best is None:
        return ""
    name = report.name_of(best.function)
    short = name if "(" in name else name.rsplit("::", 1)[-1]
    return f"{percent(best.share.value)} {short}"


def _hosts(report: FleetReport, out: _Writer) -> None:
    found = report.outliers
    if report.hosts < 2:
        return
    out.line()
    out.line("Hosts that differ from the others of their version")
    for version, hosts in sorted(found.too_few.items()):
        out.item(
            (f"version {version}: " if version != "-" else "") + f"{_several(hosts, 'host')}; with fewer than 4, nothing is known of "
            "how much hosts differ anyway"
        )
    if not found.tests:
        return
    for o in found.outliers[:_OUTLIERS]:
        name = report.name_of(o.function)
        if o.measure == "mean":
            value, others, spread = duration(o.value), duration(o.others), duration(o.spread)
            what = f"takes {value} in the mean; others {others}, apart by {spread}"
        else:
            scale = report.fleet.stddev_ns**2 or 1
            what = (
                f"goes with {percent(o.value / scale)} of the fleet's variance; others "
                f"{percent(o.others / scale)}, apart by {percent(o.spread / scale)}"
            )
        mostly = f"; most of that is {report.name_of(o.mostly)}" if o.mostly else ""
        out.item(f"{o.host}: {name} {what}{mostly} (p = {o.p:.1g})")
    if len(found.outliers) > _OUTLIERS:
        out.item(f"{len(found.outliers) - _OUTLIERS:,} more with --json")
    if found.outliers:
        out.paragraph(
            f"p is corrected for all {found.tests:,} comparisons: in 5 % of fleets of equal hosts, "
            "any is listed", 2,
        )  # fmt: skip
    else:
        out.paragraph(f"none, in {found.tests:,} comparisons of hosts and functions", 2)


def _change(report: FleetReport, change: VersionChange, out: _Writer) -> None:
    out.line()
    out.paragraph(
        f"What changed from {change.before} ({_several(change.hosts_before, 'host')}, "
        f"{change.intervals_before:,} intervals) to {change.after} "
        f"({_several(change.hosts_after, 'host')}, {change.intervals_after:,})"
    )
    if change.variance_before <= 0:
        out.paragraph("nothing to compare: the latency did not vary before", 2)
        return
    ratio = change.mean_after_ns / change.mean_before_ns if change.mean_before_ns else math.nan
    out.paragraph(
        f"mean {duration(change.mean_before_ns)} to {duration(change.mean_after_ns)}, {ratio:.2f}x; "
        f"variance on a host {change.variance_after / change.variance_before:.2f}x", 2,
    )  # fmt: skip
    out.line("  of the variance before   of the mean")
    width = max(20, out.width - 48)
    shown = [
        c for c in change.changes
        if c.function and (abs(c.variance.value) >= 0.01 or c.mean_significant)
    ]  # fmt: skip
    for one in shown[:_CHANGES]:
        variance = f"{100 * one.variance.value:+.1f} %"
        reach = f"± {100 * (one.variance.high - one.variance.value):.1f}"
        mean = ("+" if one.mean_ns.value >= 0 else "") + duration(one.mean_ns.value)
        star = "*" if one.variance_significant else " "
        star_of_mean = "*" if one.mean_significant else " "
        out.line(f"  {variance:>9} {star} {reach:<10} {mean:>10} {star_of_mean}  "
                 + out.name(report.name_of(one.function), width).rstrip())  # fmt: skip
    if not shown:
        out.line("  nothing by 1 % or more")
    out.paragraph("* significant: between equal versions, any star in 5 % of comparisons", 2)
    if change.paired:
        out.paragraph(f"{change.paired} hosts ran both, and each is compared with itself", 2)
    elif min(change.hosts_before, change.hosts_after) < 2:
        out.paragraph(
            "One of the versions ran on a single host, so a difference may be that of the host", 2
        )
    if change.not_comparable:
        names = ", ".join(report.name_of(f) for f in change.not_comparable[:4])
        more = len(change.not_comparable) - 4
        out.paragraph(
            "not comparable, since one of the two does not break down what they are in: " + names
            + (f" and {more} more" if more > 0 else ""), 2,
        )  # fmt: skip


def _caveats(report: FleetReport, out: _Writer) -> None:
    losses, matched = report.losses, report.matched
    lines = [*report.skipped]
    if report.skipped:
        lines.insert(0, f"{_several(len(report.skipped), 'recording')} left out (--skip-bad):")
    if report.incomplete_exports:
        lines.append(
            f"{_several(report.incomplete_exports, 'recording')} not counted: on their way, or of "
            "an export that was stopped"
        )
    apart = matched["alone"] + matched["not_broken_down"] + matched["function"]
    if report.hosts > 1 or len(report.versions) > 1:
        if abs(apart) >= 0.0005 or any(abs(matched[k]) >= 0.0005 for k in ("alone", "function")):
            lines.append(
                "of the variance, "
                f"{percent(matched['path_everywhere'] + matched['path'])} is in places that hosts "
                f"and versions have in common, {percent(matched['function'])} is matched by "
                f"function and file only, {percent(matched['alone'])} is in functions that a single "
                f"one has, and {percent(matched['not_broken_down'])} in functions that are broken "
                "down elsewhere, but not there"
            )
    if losses["dropped"] or losses["torn"] or losses["unreadable_bytes"]:
        lines.append(
            f"lost: {losses['dropped']:,} records dropped, {losses['torn']:,} cut off, of "
            f"{losses['records']:,} made; {losses['unreadable_bytes']:,} bytes not readable"
        )
    if losses["incomplete"] or losses["left_out"]:
        lines.append(
            f"{_several(losses['incomplete'], 'interval')} without begin or end, "
            f"{losses['left_out']:,} too long to follow"
        )
    waits = losses["inferred_edges"] + losses["exact_edges"] + losses["unknown_waits"]
    if losses["unknown_waits"] or losses["inferred_edges"]:
        lines.append(
            f"of {waits:,} waits on critical paths: waker inferred for "
            f"{losses['inferred_edges']:,}, unknown for {losses['unknown_waits']:,}"
        )
    if not lines:
        return
    out.line()
    out.line("Caveats")
    for line in lines:
        out.item(line)
