"""examples/fleet: what is to be copied works, and names what exists."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import made
import promql_parser
import pytest
import yaml
from conftest import ROOT
from fleets import report, share
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from kubernetes_validate import validate

EXAMPLES = ROOT / "examples" / "fleet"


def metrics() -> dict[str, set[str]]:
    """The table of docs/fleet.md: metrics with their labels."""
    found: dict[str, set[str]] = {}
    labels: set[str] = set()
    for line in (ROOT / "docs" / "fleet.md").read_text().splitlines():
        row = re.match(r"\| `(vprof_\w+)` \| (\w+) \| (.*?) ?\| ", line)
        if row:
            if row[3] != "the same":
                labels = set(re.findall(r"`(\w+)`(?=[,;: ]|$)", row[3].split("`:")[0] + " "))
                labels |= set(re.findall(r"`(\w+)`:", row[3]))
            found[row[1]] = labels | {"instance"}
            if row[2] == "summary":
                found |= {row[1] + "_sum": found[row[1]], row[1] + "_count": found[row[1]]}
    return found


def dashboard() -> dict[str, Any]:
    return dict(json.loads((EXAMPLES / "grafana.json").read_text()))


def expressions() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]


def selectors(expression: str) -> list[tuple[str, set[str]]]:
    """The metrics in an expression with the labels that are asked for."""
    plain = expression.replace("$__rate_interval", "5m")
    promql_parser.parse(plain)  # raises if it is none
    found = re.findall(r"\b([a-z_]+_[a-z_]+)\{([^}]*)\}", plain)
    return [(name, set(re.findall(r"(\w+)(?:=~|!=|=)", labels))) for name, labels in found]


def test_the_table_of_metrics_is_read() -> None:
    found = metrics()
    assert len(found) > 20
    assert found["vprof_factor_share_low_ratio"] == {"interval", "function", "file", "instance"}
    assert found["vprof_records_lost_total"] == {"reason", "instance"}


def test_the_dashboard_uses_metrics_that_exist() -> None:
    known = metrics() | {"node_textfile_mtime_seconds": {"file", "instance"}}
    used = set()
    for expression in expressions():
        assert selectors(expression), expression
        for name, labels in selectors(expression):
            assert name in known, name
            assert labels <= known[name], (name, labels)
            used.add(name)
    for variable in dashboard()["templating"]["list"][1:]:
        name, label = re.match(r"label_values\((\w+), (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
        assert label in known[name]
    # What is written is shown.
    summaries = {"vprof_interval_latency_seconds", "vprof_label_latency_seconds"}
    shown = {name.removesuffix("_sum").removesuffix("_count") for name in used}
    assert {n.removesuffix("_sum").removesuffix("_count") for n in metrics()} <= shown | summaries


def test_the_dashboard_is_one_to_grafana() -> None:
    """Grafana's own types read it, and lose nothing that it shows."""
    read = json.loads(json.dumps(Dashboard.from_json(dashboard()), cls=JSONEncoder))
    panels = dashboard()["panels"]
    assert [p["title"] for p in read["panels"]] == [p["title"] for p in panels]
    for ours, theirs in zip(panels, read["panels"], strict=True):
        assert ours["gridPos"] == {k: theirs["gridPos"][k] for k in ours["gridPos"]}
        assert [t["expr"] for t in ours["targets"]] == [t["expr"] for t in theirs["targets"]]
    assert len({p["id"] for p in panels}) == len(panels)
    cells = [
        (x, y)
        for p in panels
        for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
        for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells) and max(x for x, _ in cells) < 24


def test_the_manifest_is_one_to_kubernetes() -> None:
    for document in yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text()):
        validate(document, "1.30", strict=True)
        pod = document["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_pipelines_of_the_collector_have_what_they_name() -> None:
    configuration = yaml.safe_load((EXAMPLES / "otel-collector.yaml").read_text())
    for pipeline in configuration["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert pipeline[kind] and set(pipeline[kind]) <= set(configuration[kind])
        # The limiter must be the first, says its manual.
        assert pipeline["processors"][0] == "memory_limiter"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_units_are_ones_to_systemd() -> None:
    units = [str(EXAMPLES / f"vprof-ship.{kind}") for kind in ("service", "timer")]
    found = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


# An rclone that copies, and during its first copy another recording becomes complete.
RCLONE = """#!/bin/sh
set -eu
shift; from=; exclude=; list=
while [ $# -gt 2 ]; do
  case $1 in
    --files-from) list=$2; shift 2 ;;
    --exclude) shift 2 ;;
    *) shift ;;
  esac
done
mkdir -p "$2"
if [ -n "$list" ]; then
  while read -r file; do (cd "$1" && cp --parents "$file" "$2"); done <"$list"
else
  cp -R "$1/." "$2"
fi
if [ -d "$LATER" ]; then cp -R "$LATER/." "$VPROF_TABLES"; rm -R "$LATER"; fi
if [ -n "${FAIL:-}" ] && [ "${1##*/}" = "$FAIL" ]; then exit 1; fi
"""


def ship(tmp_path: Path, **more: str) -> int:
    rclone = tmp_path / "rclone"
    rclone.write_text(RCLONE)
    rclone.chmod(0o755)
    environment = os.environ | {
        "VPROF_TABLES": str(tmp_path / "host"), "VPROF_TARGET": str(tmp_path / "bucket"),
        "RCLONE": str(rclone), "LATER": str(tmp_path / "later"),
    } | more  # fmt: skip
    return subprocess.run([EXAMPLES / "vprof-ship.sh"], env=environment, check=False).returncode


def test_what_is_shipped_is_complete(tmp_path: Path) -> None:
    server = made.server()
    made.record(tmp_path / "host", "a", server, seed=1, n=100)
    made.record(tmp_path / "later", "a", server, seed=2, n=100)
    assert ship(tmp_path) == 0
    assert report(tmp_path / "bucket").recordings == 1
    assert ship(tmp_path) == 0
    assert report(tmp_path / "bucket").recordings == 2


def test_a_copy_that_is_cut_off_counts_nothing_and_deletes_nothing(tmp_path: Path) -> None:
    made.record(tmp_path / "host", "a", made.server(), seed=1, n=100)
    old = 1_700_000_000
    for path in (tmp_path / "host").rglob("*.parquet"):
        os.utime(path, (old, old))
    before = sorted((tmp_path / "host").rglob("*.parquet"))
    assert ship(tmp_path, FAIL="sums") != 0
    assert not (tmp_path / "bucket" / "recordings").exists()
    assert sorted((tmp_path / "host").rglob("*.parquet")) == before
    assert ship(tmp_path) == 0  # what is old and shipped goes
    assert not list((tmp_path / "host").rglob("*.parquet"))
    assert report(tmp_path / "bucket").recordings == 1


def rolled(directory: Path, hour: str, out: Path) -> None:
    connection = duckdb.connect()
    for name, value in (("vprof", directory), ("hour", hour), ("out", out)):
        connection.execute(f"SET VARIABLE {name} = '{value}'")
    connection.execute((EXAMPLES / "roll_up.sql").read_text())


def test_hours_add_up_to_the_fleet_exactly(tmp_path: Path) -> None:
    tables, hours = tmp_path / "tables", tmp_path / "hours"
    hours.mkdir()
    for h in range(3):
        for minute in range(2):
            begin = made.NOON + made.dt.timedelta(minutes=59 * minute + 30)
            made.record(
                tables, f"db{h}", made.server(), seed=10 * h + minute, n=150, begin=begin
            )
    for hour in ("2026-11-24 12", "2026-11-24 13"):
        rolled(tables, hour, hours / f"{hour}.parquet")
    connection = duckdb.connect()
    exact = "sum(x), sum(xx), sum(xt), sum(n), sum(count)"
    of_hours = f"SELECT path, {exact} FROM read_parquet('{hours}/*.parquet') GROUP BY path"
    of_tables = (
        f"SELECT path, {exact} FROM read_parquet('{tables}/sums/*/*/*.parquet') s JOIN "
        f"read_parquet('{tables}/places/*/*/*.parquet') p USING (recording, place) GROUP BY path"
    )
    found = connection.execute(of_hours + " ORDER BY 1").fetchall()
    assert found == connection.execute(of_tables + " ORDER BY 1").fetchall()
    assert len(found) == len(made.server().places)
    connection.execute(f"SET VARIABLE rolled = '{hours}/*.parquet'")
    shares = {
        row[1].split(" > ")[-1]: row[3]
        for row in connection.execute((EXAMPLES / "add_up.sql").read_text()).fetchall()
    }
    assert shares["parse"] == pytest.approx(share(report(tables), "parse@p.cpp"), rel=1e-9)
