"""`vprof watch`: all intervals are measured, and the recordings of slow ones are kept."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from live_project import LiveProject
from support import VPROF

try:
    import pyarrow.parquet
except ImportError:  # scripts/setup.sh installs it for the tests
    pyarrow = None

SLOW = re.compile(r"#(\d+)  (\d+\.\d) ms(.*)")


def tables_can_be_written():
    locations = json.loads((Path(VPROF).parent / "vprof-locations.json").read_text())
    return pyarrow is not None and bool(locations["tables"])


class Watch(LiveProject):
    def watch(self, *arguments, env=None):
        """A program that sleeps is hardly ever busy, so any recording costs it much."""
        return self.start("watch", "--budget", "10000", *arguments,
                          env={**os.environ, "VPROF_CLOCK": "", **(env or {})})

    def slow_one(self, watcher):
        """Makes requests slow, one after the other, until something is said about one."""
        said = threading.Event()

        def make_slow():
            while not said.wait(0.1):
                self.write(".vprof/mirror/slow", "")

        maker = threading.Thread(target=make_slow)
        maker.start()
        try:
            for line in watcher.stdout:
                if (found := SLOW.search(line)) and float(found[2]) >= 300:
                    return found
        finally:
            said.set()
            maker.join()
        self.fail(watcher.communicate())

    def ids_in_tables(self):
        ids = []
        for file in sorted((self.root / "tables/intervals").rglob("*.parquet")):
            ids += pyarrow.parquet.read_table(file, columns=["id"])["id"].to_pylist()
        return ids

    def until(self, watcher, stream, words):
        for line in stream:
            if words in line:
                return
        self.fail(watcher.communicate())

    def old_recording(self):
        """One that an earlier watch has kept, damaged: it need not be read."""
        old = self.root / ".vprof/watch/kept/1"
        old.mkdir(parents=True)
        for name in ("sites.json", "1-1.vpt"):
            (old / name).write_text("damaged")
            os.utime(old / name, (1, 1))
        return old

    def begun(self, watcher):
        self.until(watcher, watcher.stdout, "watching")

    def test_a_slow_request_is_kept_and_explained(self):
        watcher = self.watch("--slower-than", "250ms")
        self.begun(watcher)
        old = self.old_recording()
        found = self.slow_one(watcher)
        self.assertIn("mostly wait(sleep) in step", found[3])
        watcher.send_signal(signal.SIGINT)
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("Where the variance comes from", out)
        self.assertRegex(out, r"watched for \d+ s; vprof itself took \d\.\d{3} s of processor time a second")
        report = self.report()
        self.assertGreaterEqual(report["interval"]["max_ns"], 300e6)
        self.assertEqual(self.frontier("run")[2], [])
        # It was kept: what the rings still hold is not needed.
        for file in (self.root / ".vprof/live/run").glob("*.vpt"):
            file.unlink()
        shown = self.vprof("timeline", found[1]).stdout
        self.assertIn("step", shown)
        self.assertNotIn("There are no timelines", (self.root / ".vprof/report.html").read_text())
        kept = [one for one in old.parent.iterdir() if one != old]
        self.assertTrue(kept)
        self.assertIn("completed", self.vprof("analyze", str(kept[0])).stdout)

    def test_a_service_is_watched_for_a_while_and_goes_on(self):
        self.live("--build")
        child = self.start_program()
        watcher = self.watch("--slower-than", "p99.9", "--for", "3", "--attach", str(child.pid))
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("completed", out)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))
        # A watch that counts nothing does not show the report of the one before, however it ends.
        child.send_signal(signal.SIGSTOP)
        watcher = self.watch("--slower-than", "p99.9", "--attach", str(child.pid))
        self.begun(watcher)
        watcher.send_signal(signal.SIGINT)
        out, err = watcher.communicate()
        child.send_signal(signal.SIGCONT)
        self.assertEqual(watcher.returncode, 2, err)
        self.assertRegex(err, "^vprof: .*counted anything|^vprof: .*never called")
        self.assertNotIn("completed", out)

    def test_windows_of_tables_hold_each_interval_once(self):
        """The report counts each interval of the watch once; so do the tables, whatever their windows are."""
        if not tables_can_be_written():
            self.skipTest("built without Apache Arrow")
        watcher = self.watch("--slower-than", "p99.9", "--for", "6", "--metrics", "m.prom", "--parquet", "tables", "--host", "db1")
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("completed", out)
        count = self.report()["interval"]["count"]
        self.assertIn(f'vprof_interval_latency_seconds_count{{interval="order"}} {count}\n', (self.root / "m.prom").read_text())
        self.assertRegex((self.root / "m.prom").read_text(), r"(?m)^vprof_own_processor_seconds_total [0-9.e-]*[1-9]")
        self.assertIn("m.prom", json.loads((self.root / ".vprof/outputs.json").read_text()), "it is no source")
        documented = re.findall(r"^\| `(vprof_\w+)` \|", (Path(os.environ["VPROF_DOCS"]) / "fleet.md").read_text(), re.M)
        self.assertEqual(set(re.findall(r"^# TYPE (\w+)", (self.root / "m.prom").read_text(), re.M)), set(documented))
        ids, intervals = self.ids_in_tables(), 0
        recordings = sorted((self.root / "tables/recordings").rglob("*.parquet"))
        for file in recordings:
            intervals += sum(pyarrow.parquet.read_table(file, columns=["intervals"])["intervals"].to_pylist())
        self.assertGreater(len(recordings), 1)
        self.assertEqual(len(ids), count)
        self.assertEqual(len(set(ids)), count)
        self.assertEqual(intervals, count)
        self.assertFalse((self.root / ".vprof/watch/tables").exists())

    def test_beyond_the_budget_a_part_of_the_time_is_recorded(self):
        tables = ("--parquet", "tables", "--host", "db1") if tables_can_be_written() else ()
        watcher = self.start("watch", "--budget", "1", "--slower-than", "p99.9", "--for", "8", "--metrics", "m.prom", *tables,
                             env={**os.environ, "VPROF_CLOCK": ""})
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertRegex(out, r"to record all the time costs \d+\.\d %, beyond the budget of 1 %")
        counted = re.search(r"watched for \d+ s, and counted the intervals of (\S+) % of it", out)
        report = self.report()
        part = report["overhead"]["recorded_part"]
        self.assertTrue(0 < part < 1, part)
        ratio = re.search(r"(?m)^vprof_recorded_ratio (\S+)", (self.root / "m.prom").read_text())
        self.assertAlmostEqual(float(ratio[1]), float(counted[1]) / 100, 2)
        self.assertLess(float(ratio[1]), part)  # recording goes on until what has begun has ended
        self.assertGreater(report["interval"]["count"], 0)
        if tables:
            ids = self.ids_in_tables()
            self.assertEqual(len(ids), report["interval"]["count"])
            self.assertEqual(len(set(ids)), len(ids))

    def test_named_functions_are_measured_whatever_they_cost(self):
        self.live("--build")
        child = self.start_program()
        watch = ("watch", "--budget", "1", "--slower-than", "p99.9", "--attach", str(child.pid))
        self.fails(*watch, "--expand", "depe", words=["--expand", "depe", "deep"])
        self.fails(*watch, "--expand", "nanosleep", words=["--expand", "nanosleep", "cannot be instrumented"])
        watcher = self.start(*watch, "--for", "5", "--expand", "deep", "finish", env={**os.environ, "VPROF_CLOCK": ""})
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("beyond the budget of 1 %", out)
        report = self.report()
        self.assertIn("the armed program has no site of a call in finish: small functions have none", err)
        self.assertEqual(report["iterations"][-1]["expanded"], ["deep", "finish"])
        self.assertEqual(report["overhead"]["demoted"], [])
        self.assertLess(report["overhead"]["recorded_part"], 1)
        sites = json.loads((self.root / ".vprof/sites.json").read_text())
        functions = {f["id"]: f["name"] for f in sites["functions"]}
        calls = {(functions[site["parent"]], functions[site["function"]]) for site in sites["sites"] if site["kind"] == "call"}
        # (The call in `step` stands for an entry of `deep`, which an armed program has not.)
        self.assertEqual(calls, {("step", "deep"), ("deep", "nap"), ("deep", "unlink")})

    def test_a_full_disk_is_waited_for(self):
        place = tempfile.TemporaryDirectory()  # the project's path has a blank, which LD_PRELOAD cannot have
        self.addCleanup(place.cleanup)
        library = f"{place.name}/full_disk.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("full_disk.c")], check=True)
        self.live("--build")
        child = self.start_program()
        watcher = self.watch("--slower-than", "250ms", "--attach", str(child.pid), env={"LD_PRELOAD": library})
        self.begun(watcher)
        self.write("full", "")
        self.until(watcher, watcher.stderr, "No space left on device; the watch goes on when there is room again")
        (self.root / "full").unlink()
        self.until(watcher, watcher.stdout, "there is room again")
        self.slow_one(watcher)
        watcher.send_signal(signal.SIGINT)
        out, err = watcher.communicate()
        self.assertEqual((watcher.returncode, err), (0, ""))
        self.assertRegex(out, r"watched for \d+ s, and counted the intervals of \d+ % of it")

    def test_without_its_trace_directory_a_watch_ends(self):
        self.live("--build")
        child = self.start_program()
        watcher = self.watch("--slower-than", "250ms", "--attach", str(child.pid))
        self.begun(watcher)
        self.slow_one(watcher)
        shutil.rmtree(self.root / ".vprof/live/trace")
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("the trace directory .vprof/live/trace was removed or replaced", err)
        self.assertIn("Where the variance comes from", out)
        self.assertIsNone(child.poll(), "the program goes on")

    def test_what_cannot_be_is_said_at_once(self):
        """Before the program is built, and not after days."""
        for verb in (["watch", "--slower-than", "1s"], ["live"]):
            self.fails(*verb, "--interval", "ordr", words=["--interval ordr", "there are: order"])
            self.fails(*verb, "--metrics", "nowhere/m.prom", words=["nowhere/m.prom", "No such file"])
        self.assertFalse((self.root / ".vprof/mirror").exists())

    def test_bad_bounds(self):
        for bound in ("50", "ms", "-1ms", "p50", "p99.99", "5 s"):
            self.fails("watch", f"--slower-than={bound}", words=["--slower-than", "50ms"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
