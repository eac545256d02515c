"""Bad input: one line that says what to do, exit code 2, and nothing counted twice."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import made
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from fleets import NOW

from vprof.errors import InputError
from vprof.fleet.__main__ import main
from vprof.fleet.files import find

SERVER = made.server()


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for h in range(4):
        made.record(tmp_path / "t", f"db{h}", SERVER, seed=h + 1, n=200)
    return tmp_path / "t"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["report", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


def goes_on(capsys: pytest.CaptureFixture[str], fleet: Path, intervals: int) -> dict[str, object]:
    assert main(["report", str(fleet), "--skip-bad", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["intervals"] == intervals
    assert len(answer["skipped"]) == 1
    return dict(answer)


def test_no_directory_and_no_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such directory" in refused(capsys, str(tmp_path / "none"))
    assert "vprof export --parquet" in refused(capsys, str(tmp_path))


@pytest.mark.parametrize("table", ["recordings", "sums", "times", "places"])
def test_a_truncated_file(fleet: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = sorted((fleet / table).rglob("*.parquet"))[1]
    path.write_bytes(path.read_bytes()[:-40])
    line = refused(capsys, str(fleet))
    assert str(path) in line and "copy it again" in line
    goes_on(capsys, fleet, 600)


def test_a_newer_schema(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.record(fleet, "new", SERVER, seed=77, n=200, schema=2)
    line = refused(capsys, str(fleet))
    assert "schema 2 is newer" in line and "host=new" in line
    goes_on(capsys, fleet, 800)


def test_the_same_recording_twice(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(fleet / "recordings" / "day=2026-11-24" / "host=db1",
                    fleet / "recordings" / "day=2026-11-25" / "host=db1")  # fmt: skip
    line = refused(capsys, str(fleet))
    assert "day=2026-11-25" in line and "day=2026-11-24" in line and "delete one" in line
    goes_on(capsys, fleet, 600)


def test_two_directories_with_one_recording(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(fleet, tmp_path / "copy")
    assert "delete one" in refused(capsys, str(fleet), str(tmp_path / "copy"))


def test_one_run_under_two_ids(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exported again under another host name: the id differs, the intervals do not."""
    made.record(fleet, "alias", SERVER, seed=2, n=200, id="feedfeedfeedfeed")
    line = refused(capsys, str(fleet))
    assert "same intervals" in line and "host=alias" in line
    goes_on(capsys, fleet, 800)


def test_a_clock_that_is_hours_ahead(fleet: Path) -> None:
    made.record(fleet, "ahead", SERVER, seed=88, n=200, begin=made.NOON + dt.timedelta(hours=30))
    with pytest.raises(InputError, match=r"clock of host ahead is ahead.* 6\.0 h from now"):
        find([fleet], now=NOW)
    assert len(find([fleet], skip_bad=True, now=NOW).recordings) == 4
    assert len(find([fleet], now=NOW + dt.timedelta(hours=6)).recordings) == 5


def test_a_recording_on_its_way_does_not_count(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`recordings` comes last, so what has no row there is not complete."""
    shutil.rmtree(fleet / "recordings" / "day=2026-11-24" / "host=db3")
    assert main(["report", str(fleet), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["intervals"], answer["incomplete_exports"]) == (600, 1)


def test_a_recording_without_its_sums(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(fleet / "sums" / "day=2026-11-24" / "host=db3")
    assert "no file in sums" in refused(capsys, str(fleet))
    goes_on(capsys, fleet, 600)
    # Single intervals are added up here.
    assert main(["report", str(fleet), "--json", "--since", "2026-11-01"]) == 0
    assert json.loads(capsys.readouterr().out)["intervals"] == 800
    shutil.rmtree(fleet / "times" / "day=2026-11-24" / "host=db3")
    assert "no file in sums" in refused(capsys, str(fleet), "--since", "2026-11-01")


def test_a_file_that_is_no_table_of_ours(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sorted((fleet / "recordings").rglob("*.parquet"))[0]
    pq.write_table(pa.table({"recording": ["x"]}), path)
    assert "not a table of recordings" in refused(capsys, str(fleet))


def test_options_that_mean_nothing(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "COLUMN=VALUE" in refused(capsys, str(fleet), "--where", "colour=red")
    assert "expected one of" in refused(capsys, str(fleet), "--by", "colour")
    assert "such as 50ms" in refused(capsys, str(fleet), "--slower-than", "50")
    assert "such as 2026" in refused(capsys, str(fleet), "--since", "yesterday")
    assert "no interval meets" in refused(capsys, str(fleet), "--where", "host=nobody")
    assert "no such intervals" in refused(capsys, str(fleet), "--interval", "job")


def test_a_report_that_cannot_be_made_or_written(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--memory much" in refused(capsys, str(fleet), "--memory", "much")
    command = [sys.executable, "-m", "vprof.fleet", "report", str(fleet)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT / "python" / "src")},
                              stdout=full, stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2, "vprof fleet: cannot write to standard output: No space left on device\n"
    )  # fmt: skip


def test_intervals_of_two_names(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.record(fleet, "db9", SERVER, seed=99, n=200, name="job")
    assert "job, request" in refused(capsys, str(fleet))
    assert main(["report", str(fleet), "--interval", "job", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["intervals"] == 200


def test_roll_ups_have_no_single_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made.record(tmp_path, "a", SERVER, seed=1, n=200, raw=False)
    assert "without --rollups" in refused(capsys, str(tmp_path), "--slower-than", "1ms")
