"""`vprof export --parquet`: reads the tables back with pyarrow. docs/tables.md has the schema."""
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow.dataset
import pyarrow.parquet

from profiles import VPROF, recording

DOCS = Path(os.environ["VPROF_DOCS"])
TABLES = ("recordings", "places", "intervals", "times", "sums", "products", "bins", "latencies")
TYPES = {"text": "string", "bool": "bool", "int32": "int32", "int64": "int64", "timestamp": "timestamp[us, tz=UTC]",
         "decimal": "decimal128(38, 0)"}


def columns_in_docs(table):
    """(name, type) of all columns, from the tables of docs/tables.md."""
    text = (DOCS / "tables.md").read_text().split(f"\n## {table}\n")[1].split("\n## ")[0]
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `"):
            continue
        names = [name.strip("` ") for name in cells[0].split(",")]
        types = [TYPES[name.strip()] for name in cells[1].split(",")]
        found += list(zip(names, types * len(names) if len(types) == 1 else types))
    return found


class Tables(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        (self.root / "vprof.json").write_text('{ "build": "true", "run": "true" }\n')
        recording(self.root / "trace", 20_000)

    def vprof(self, *arguments, code=0, env=None):
        done = subprocess.run([VPROF, *arguments], cwd=self.root, capture_output=True, text=True, check=False,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def export(self, *arguments, out="out", trace="trace"):
        return self.vprof("export", "--parquet", out, *arguments, trace)

    def fails(self, *arguments, words):
        done = self.vprof(*arguments, code=2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def read(self, table, out="out"):
        return pyarrow.dataset.dataset(self.root / out / table, format="parquet", partitioning="hive").to_table()

    def files(self, out="out"):
        return sorted(str(path.relative_to(self.root / out)) for path in (self.root / out).rglob("*") if path.is_file())

    def test_columns_are_those_of_the_documentation(self):
        self.assertIn("2000 intervals", self.export("--host", "db1").stdout)
        for table in TABLES:
            read = self.read(table)
            self.assertEqual([(field.name, str(field.type)) for field in read.schema][:-2], columns_in_docs(table), table)
            self.assertEqual([field.name for field in read.schema][-2:], ["day", "host"])
            self.assertEqual(set(read["host"].to_pylist()), {"db1"})
            if table not in ("recordings", "places", "products"):
                self.assertGreater(read.num_rows, 30, table)

    def test_figures_are_those_of_the_report(self):
        self.export()
        report = json.loads(self.vprof("analyze", "trace", "--json").stdout)
        intervals = self.read("intervals").to_pylist()
        latencies = [row["latency_ns"] for row in intervals]
        self.assertEqual(len(latencies), report["interval"]["count"])
        self.assertAlmostEqual(sum(latencies) / len(latencies), report["interval"]["mean_ns"], places=6)
        own = {}
        for row in self.read("times").to_pylist():
            own[row["interval"]] = own.get(row["interval"], 0) + row["self_ns"]
        self.assertEqual(own, {row["interval"]: row["latency_ns"] for row in intervals})
        names = {row["place"]: row["function"] for row in self.read("places").to_pylist()}
        time_in_g = sum(row["total_ns"] for row in self.read("times").to_pylist() if names[row["place"]] == "g")
        g = next(node for node in report["tree"]["children"] if node["function"] == "g")
        self.assertAlmostEqual(time_in_g / len(latencies), g["mean_ns"], places=6)

    def test_rows_are_small(self):
        self.export()
        file = next((self.root / "out/times").rglob("*.parquet"))
        groups = pyarrow.parquet.read_metadata(file)
        size = sum(groups.row_group(i).total_byte_size for i in range(groups.num_row_groups))
        self.assertLess(size / groups.num_rows, 40)

    def test_a_second_export_counts_nothing_twice(self):
        self.export("--host", "db1")
        files = self.files()
        self.export("--host", "db1")
        self.assertEqual(self.files(), files)
        self.export("--host", "db2", "--rollups")
        self.assertEqual(self.read("sums")["host"].unique().to_pylist(), ["db2"])
        self.assertFalse(any(name.startswith("times/") for name in self.files()))
        recording(self.root / "second", 20_000, run=2)
        self.export("--host", "db2", trace="second")
        self.assertEqual(self.read("recordings").num_rows, 2)

    def test_roll_ups_are_those_of_the_whole_export(self):
        self.export()
        self.export("--rollups", out="rollups")
        for table in ("places", "sums", "products", "bins", "latencies"):
            self.assertTrue(self.read(table).equals(self.read(table, "rollups")), table)

    def test_midnight(self):
        """Intervals are in the day in which they begin; what is not of one interval in that of the recording's begin."""
        midnight = 1_700_006_400 * 10**9
        file = self.root / "trace/1-0.vpt"
        data = bytearray(file.read_bytes())
        struct.pack_into("<Q", data, 48, midnight - 3_000_000)
        file.write_bytes(data)
        self.export()
        days = {row["interval"]: str(row["day"]) for row in self.read("intervals").to_pylist()}
        self.assertEqual(set(days.values()), {"2023-11-14", "2023-11-15"})
        for row in self.read("intervals").to_pylist():
            self.assertEqual(str(row["day"]), str(row["begin"].date()))
        for row in self.read("times").to_pylist():
            self.assertEqual(str(row["day"]), days[row["interval"]])
        self.assertEqual({str(day) for day in self.read("sums")["day"].to_pylist()}, {"2023-11-14"})

    def test_privacy(self):
        (self.root / "salt").write_text("a secret of some length")
        self.export("--host", "db1", "--hash", "hosts,paths", "--leave-out", "labels", "--salt-file", "salt")
        text = b"".join((self.root / "out" / name).read_bytes() + name.encode() for name in self.files())
        self.assertNotIn(b"db1", text)
        for row in self.read("places").to_pylist():
            self.assertNotIn("a.c", row["key"] + row["file"] + row["site"] + row["position"] + row["path"])
        self.assertEqual(set(self.read("intervals")["label"].to_pylist()), {""})

    def test_trace_contexts_and_odd_labels(self):
        context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        recording(self.root / "contexts", 20_000, run=3, context=lambda i: context.encode())
        self.export(trace="contexts")
        row = self.read("intervals").to_pylist()[0]
        self.assertEqual((row["trace_id"], row["span_id"]), (context[3:35], context[36:52]))

    def test_an_interrupted_export_leaves_nothing(self):
        self.export("--host", "db1")
        before = self.files()
        recording(self.root / "long", 20_000, requests=100_000, run=5)
        child = subprocess.Popen([VPROF, "export", "--parquet", "out", "long"], cwd=self.root, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        while not list((self.root / "out").glob(".vprof-*")) and child.poll() is None:
            pass
        child.send_signal(signal.SIGINT)
        child.communicate()
        if child.returncode == 130:
            self.assertEqual(self.files(), before)
        else:  # it was done before the signal came
            self.assertEqual(child.returncode, 0)
        self.export(trace="long")
        self.assertFalse(list((self.root / "out").glob(".vprof-*")))
        self.assertEqual(sorted(self.read("recordings")["intervals"].to_pylist()), [2000, 100_000])

    def test_a_full_disk(self):
        """A directory that cannot be written to: one line, and what was there stays."""
        self.export()
        before = self.files()
        (self.root / "file").write_text("")
        self.fails("export", "--parquet", "file", "trace", words=["file", "directory"])
        self.fails("export", "--parquet", "file/below", "trace", words=["file/below"])
        shutil.copytree(self.root / "trace", self.root / "cut")
        (self.root / "cut/sites.json").write_text("{")
        self.fails("export", "--parquet", "out", "cut", words=["sites.json"])
        self.assertEqual(self.files(), before)

    def test_bad_options(self):
        self.fails("export", "--rollups", "trace", words=["--parquet DIR"])
        self.fails("export", "--parquet", "out", "--hash", "users", "trace", words=["--hash users", "labels"])
        self.fails("export", "--parquet", "out", "--hash", "labels", "trace", words=["--salt-file"])
        self.fails("export", "--parquet", "out", "--interval", "nothing", "trace", words=["nothing"])
        self.assertFalse((self.root / "out").exists())

    def test_without_apache_arrow(self):
        locations = json.loads((Path(VPROF).parent / "vprof-locations.json").read_text())
        (self.root / "locations.json").write_text(json.dumps({**locations, "tables": ""}))
        done = self.vprof("export", "--parquet", "out", "trace", code=2, env={"VPROF_LOCATIONS": str(self.root / "locations.json")})
        self.assertIn("built without Apache Arrow", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
