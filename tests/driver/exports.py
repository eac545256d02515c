"""`vprof export`: reads each file back with a reader of its format. The queries are those of docs/formats.md."""
import csv
import json
import os
import re
import sqlite3
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from profiles import VPROF, recording

ROOT = Path(__file__).resolve().parents[2]


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = Path(scratch.name)
        recording(cls.root / "trace", 20_000)
        cls.done = cls.vprof("export", "--perfetto", "p.json", "--csv", "t.csv", "--sqlite", "t.db", "--folded", "f.txt", "trace")
        cls.report = json.loads(cls.vprof("analyze", "trace", "--json").stdout)

    @classmethod
    def vprof(cls, *arguments, code=0):
        (cls.root / "vprof.json").write_text('{ "build": "true", "run": "true" }\n')
        done = subprocess.run([VPROF, *arguments], cwd=cls.root, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done

    def test_says_what_it_wrote(self):
        self.assertIn("t.csv: 2000 intervals", self.done.stdout)
        self.assertIn("t.db: 2000 intervals", self.done.stdout)
        self.assertIn("f.txt", self.done.stdout)
        self.assertFalse(list(self.root.glob("*.part")))

    def test_links_and_special_files_stay(self):
        (self.root / "target.csv").write_text("old")
        (self.root / "link.csv").symlink_to("target.csv")
        (self.root / "new.json").symlink_to("made.json")
        self.vprof("export", "--csv", "link.csv", "--perfetto", "new.json", "trace")
        self.assertTrue((self.root / "link.csv").is_symlink())
        self.assertEqual((self.root / "target.csv").read_bytes(), (self.root / "t.csv").read_bytes())
        self.assertTrue((self.root / "new.json").is_symlink())
        self.assertEqual((self.root / "made.json").read_bytes(), (self.root / "p.json").read_bytes())
        os.mkfifo(self.root / "pipe")
        with subprocess.Popen(["cat", self.root / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
            self.vprof("export", "--folded", "pipe", "trace")
            self.assertEqual(reader.stdout.read(), (self.root / "f.txt").read_text())
        self.assertTrue(stat.S_ISFIFO(os.stat(self.root / "pipe").st_mode))
        self.assertIn("a database needs a regular file", self.vprof("export", "--sqlite", "pipe", "trace", code=2).stderr)

    def test_standard_output(self):
        for name in ("-", "/dev/stdout"):
            done = self.vprof("export", "--folded", name, "trace")
            self.assertEqual(done.stdout, (self.root / "f.txt").read_text())
            self.assertIn("stacks", done.stderr)  # what it says goes elsewhere
        with open(self.root / "redirected", "w+", encoding="utf-8") as file:
            file.write("before\n")
            file.flush()
            subprocess.run([VPROF, "export", "--csv", "/dev/stdout", "trace"], cwd=self.root, stdout=file, stderr=subprocess.DEVNULL,
                           check=True)
        text = (self.root / "redirected").read_bytes()
        self.assertEqual(text, b"before\n" + (self.root / "t.csv").read_bytes())
        self.assertFalse((self.root / "-").exists())

    def test_perfetto(self):
        events = json.loads((self.root / "p.json").read_text())["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertGreaterEqual(len(names), 5)
        self.assertTrue(any("slowest" in name for name in names.values()), names)
        self.assertTrue(any("median" in name for name in names.values()), names)
        for pid in names:
            slices = [e for e in events if e["pid"] == pid and e["ph"] == "X"]
            whole = [e for e in slices if e["cat"] == "interval"]
            self.assertEqual(len(whole), 1)
            path = [e for e in slices if e["cat"] != "interval"]
            self.assertEqual(sum(e["args"]["self_ns"] for e in path), whole[0]["args"]["latency_ns"])
            self.assertNotIn("(own time)", {e["name"] for e in path})
            for row in {e["tid"] for e in path}:  # slices of a row are within each other or apart
                open_slices = []
                for one in (e for e in path if e["tid"] == row):
                    while open_slices and open_slices[-1] <= one["ts"] + 1e-6:
                        open_slices.pop()
                    end = one["ts"] + one["dur"]
                    self.assertTrue(not open_slices or end <= open_slices[-1] + 1e-6, one)
                    open_slices.append(end)
        worst = max(e["args"]["latency_ns"] for e in events if e.get("cat") == "interval")
        self.assertEqual(worst, self.report["interval"]["max_ns"])

    def test_csv(self):
        with open(self.root / "t.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        whole = [row for row in rows if row["path"] == "request"]
        self.assertEqual(len(whole), 2000)
        self.assertEqual(len({row["id"] for row in whole}), 2000)
        self.assertTrue(all(row["ns"] == row["latency_ns"] for row in whole))
        # Each row leads to its interval.
        self.assertIn(f"#{whole[7]['id']} key {whole[7]['key']}", self.vprof("timeline", whole[7]["id"], "trace").stdout)
        mean = sum(int(row["latency_ns"]) for row in whole) / 2000
        self.assertAlmostEqual(mean, self.report["interval"]["mean_ns"], places=3)
        in_g = sum(int(row["ns"]) for row in rows if row["path"] == "request > g")
        g = next(node for node in self.report["tree"]["children"] if node["function"] == "g")
        self.assertAlmostEqual(in_g / 2000, g["mean_ns"], places=3)
        self.assertEqual({row["site"] for row in rows if row["function"] == "g"}, {"a.c:2"})

    def test_sqlite(self):
        database = sqlite3.connect(self.root / "t.db")
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        self.assertEqual(database.execute("SELECT count(*), sum(latency_ns) FROM intervals").fetchone(),
                         database.execute("SELECT count(*), sum(ns) FROM times WHERE place = 0").fetchone())
        broken = database.execute("""
            SELECT count(*) FROM (
              SELECT t.ns - sum(c.ns) AS rest FROM places p JOIN times t USING (place)
              JOIN places child ON child.parent = p.place JOIN times c ON c.place = child.place AND c.interval = t.interval
              GROUP BY t.place, t.interval HAVING rest <> 0)""").fetchone()
        self.assertEqual(broken, (0,), "children add up to their parent in every interval")

    def test_the_queries_of_the_documentation(self):
        text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
        queries = re.findall(r"```sql\n(.*?)```", text, re.S)
        self.assertEqual(len(queries), 3)
        database = sqlite3.connect(self.root / "t.db")
        self.addCleanup(database.close)
        by_variance, slowest, over_time = (database.execute(query).fetchall() for query in queries)
        # The first query: factors by share. g explains nearly everything.
        self.assertEqual(by_variance[0][0], "request > g")
        g = next(factor for factor in self.report["factors"] if factor["functions"] == ["g"])
        self.assertAlmostEqual(by_variance[0][2], 100 * g["share"], places=1)
        # The second query: where the slowest intervals spent most of their time.
        self.assertEqual(len(slowest), 10)
        self.assertEqual(slowest[0][1], self.report["interval"]["max_ns"])
        self.assertTrue(all("g" in row[2] for row in slowest))
        # The third query: latency by time.
        self.assertEqual(sum(row[1] for row in over_time), 2000)

    def test_folded(self):
        lines = (self.root / "f.txt").read_text().splitlines()
        weights = {}
        for line in lines:
            stack, weight = line.rsplit(" ", 1)
            weights[stack] = int(weight)
        self.assertEqual(max(weights, key=weights.get), "request;g")
        self.assertAlmostEqual(sum(weights.values()), 1_000_000, delta=20_000)

    def test_the_same_bytes_again(self):
        before = {name: (self.root / name).read_bytes() for name in ("p.json", "t.csv", "f.txt")}
        self.vprof("export", "--perfetto", "p.json", "--csv", "t.csv", "--folded", "f.txt", "trace")
        for name, content in before.items():
            self.assertEqual((self.root / name).read_bytes(), content, name)

    def test_what_goes_wrong_is_said(self):
        for arguments, words in ((["export", "trace"], "nothing to export"),
                                 (["export", "--csv", "x.csv", "nowhere"], "no recording nowhere"),
                                 (["export", "--csv", "no/dir/x.csv", "trace"], "no/dir/x.csv"),
                                 (["export", "--sqlite", "no/dir/x.db", "trace"], "no/dir/x.db"),
                                 (["export", "--csv", "x.csv", "--interval", "other", "trace"], "other")):
            done = self.vprof(*arguments, code=2)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(words, done.stderr)
        self.assertFalse((self.root / "x.csv").exists())


if __name__ == "__main__":
    unittest.main()
