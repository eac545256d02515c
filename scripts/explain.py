#!/usr/bin/env python3
"""Says in two sentences what the first factor in a report.json means."""

import json
import sys


def milliseconds(ns):
    return f"{ns / 1e6:.1f} ms" if ns >= 1e5 else f"{ns / 1e3:.0f} µs"


def describe(factor):
    names = " and ".join(factor["functions"])
    instance = next(iter(factor["instances"]), None)
    place = f" ({instance['site']})" if instance and instance.get("site") else ""
    if factor["kind"] == "covariance":
        return f"{names} varying together{place}"
    return f"{names}{place}"


def explain(report):
    interval = report["interval"]
    name = interval["name"] or "interval"
    first = (
        f"The latency of {interval['count']} executions of \"{name}\" is "
        f"{milliseconds(interval['mean_ns'])} on average, but 1 in 100 takes longer than "
        f"{milliseconds(interval['p99_ns'])} and 1 in 2 less than {milliseconds(interval['p50_ns'])}"
    )
    if not report["factors"]:
        return f"{first}. No factor contributes enough to be named."
    factor = report["factors"][0]
    second = f"{describe(factor)} accounts for {100 * factor['share']:.0f} % of that variance"
    path = next(iter(factor["instances"]), {}).get("path", [])
    if len(path) > 1:
        second += f", reached through {' → '.join(path)}"
    second += (
        f": if it always took the same time, the standard deviation would fall from "
        f"{milliseconds(interval['stddev_ns'])} to about "
        f"{milliseconds(interval['stddev_ns'] * max(0.0, 1 - factor['share']) ** 0.5)}"
    )
    return f"{first}. {second}."


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: explain.py REPORT.JSON")
    with open(sys.argv[1], encoding="utf-8") as file:
        print(explain(json.load(file)))


if __name__ == "__main__":
    main()
