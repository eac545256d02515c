"""The same figures as the analyzer's, to 1e-9: report.json, merged reports and `vprof diff --json` of recordings that this
test writes, and a report of the PostgreSQL recording of the example, which has waits and what was waited for."""

import gzip
import json
import os
import random
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import vprof
from support import Case, differences

VPROF = os.environ.get("VPROF", "vprof")
HERE = Path(__file__).resolve().parent
POSTGRESQL = HERE.parents[1] / "python" / "examples" / "postgresql"

BEGIN, END, CONT, LABEL, WORK = 0xFF0010, 0xFF0011, 0xFF0001, 0xFF0013, 0xFF0014  # docs/trace-format.md
PREEMPTED, WAIT_MUTEX, RELEASE_MUTEX = 0xFF0034, 0xFF0100, 0xFF0200
MUTEX = 0x10
PAGE = 4096
# Not in any table: what was waited for in event loops before the begin, single intervals, and what the search decided.
SKIP = ("loop_queue", "typical", "worst", "status")


def slot(word0, identity, payload=0):
    return struct.pack("<QQ", word0, payload << 24 | identity)


def label(time, interval, text):
    words = [int.from_bytes(text[at : at + 8].ljust(8, b"\0"), "little") for at in range(0, len(text), 8)]
    return slot(time, LABEL, len(text)) + slot(interval, CONT) + b"".join(slot(word, CONT) for word in words)


def recording(directory, run, requests, slow):
    """Requests of `handle`, which calls `parse`, `commit` and `log`; `commit` calls `log` as well, and is also called beside
    `handle`. `parse` loses its processor now and then, and `handle` waits for a mutex while another thread flushes. One tick
    is one nanosecond."""
    directory.mkdir()
    rng = random.Random(run)
    slots, now, flusher, releases = b"", 1000, b"", 0
    for number in range(1, requests + 1):
        kind = rng.choice((b"read", b"read", b"write", b""))
        load = rng.lognormvariate(0, 0.6) * (4 if kind == b"write" else 1)
        ns = lambda mean: int(rng.expovariate(1 / mean) * load) + 1
        parse, log, log_in_commit, commit, beside, rest = ns(900), ns(500), ns(700), ns(slow), ns(300), ns(400)
        begin, at = now, now + 10
        slots += slot(begin, BEGIN) + slot(number, CONT)
        if kind:
            slots += label(begin + 2, number, kind)
        if number % 3:
            slots += slot(begin + 4, WORK) + slot(number, CONT) + slot(parse // 100 + 1, CONT)
        handle = at
        if rng.random() < 0.2:
            slots += slot(at + 1, PREEMPTED, parse // 2) + slot(1, CONT)
        slots += slot(at, 2, parse)
        at += parse + 5
        if rng.random() < 0.7:
            slots += slot(at + 3, 4, log_in_commit) + slot(at, 3, commit + log_in_commit + 3)
            at += commit + log_in_commit + 8
        if rng.random() < 0.4:
            slots += slot(at, 5, log)
            at += log
        if rng.random() < 0.3:
            flush, releases = ns(900), releases + 1
            wait = flush + ns(100)
            flusher += slot(at + 2, 7, flush) + slot(at + 3 + flush, RELEASE_MUTEX) + slot(MUTEX, CONT) + slot(releases, CONT)
            slots += slot(at + 5, WAIT_MUTEX, wait) + slot(MUTEX, CONT) + slot(releases, CONT)
            at += wait + 9
        slots += slot(handle, 1, at - handle + rest)
        at += rest + 5
        if rng.random() < 0.2:
            slots += slot(at, 6, beside)
            at += beside
        now = at + rng.randrange(200)
        slots += slot(now, END) + slot(number, CONT)
        now += 1000
    chunks = b""
    for serial, name, own in ((1, b"worker", slots), (2, b"flusher", flusher)):
        size = (80 + len(own) + PAGE - 1) // PAGE * PAGE
        head = struct.pack("<IIIIIIQ16sQQI12x", 0x4B4E4843, size, serial, serial, 0, 0, 0, name, 0, 0, 0)
        chunks += (head + own).ljust(size, b"\0")
    header = struct.pack("<QIIIIIIQQQQQQ", 0x0A31525446525056, 2, 0x01020304, 16, 2, run, 0, 0, 0, run, 10**9,
                         PAGE + len(chunks), PAGE + len(chunks))
    (directory / f"{run}-0.vpt").write_bytes(header.ljust(PAGE, b"\0") + chunks)
    names = ("handle", "parse", "commit", "log", "flush")
    functions = [{"id": i + 1, "name": f"server::{name}", "key": f"server::{name}@a.c:{i}", "file": "a.c", "line": i + 1,
                  "height": 2 - i // 2, "expandable": i == 2, "expanded": i == 0} for i, name in enumerate(names)]
    of_site = {1: "handle", 2: "parse", 3: "commit", 4: "log", 5: "log", 6: "commit", 7: "flush"}
    sites = [{"id": site, "kind": "function", "function": names.index(name) + 1, "file": "b.c", "line": 10 + site}
             for site, name in of_site.items()]
    (directory / "sites.json").write_text(json.dumps({
        "functions": functions, "sites": sites, "intervals": [{"index": 0, "name": "request"}], "sync": []}))


def pruned(node, levels):
    """The tree without what is further down."""
    return {**node, "children": [pruned(child, levels - 1) for child in node["children"]] if levels else []}


class Analyzer(Case):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.shared = Path(scratch.name)
        (cls.shared / "vprof.json").write_text('{ "build": "true", "run": "true" }\n')
        recording(cls.shared / "a", 1, 6000, 800)
        recording(cls.shared / "b", 2, 3000, 1400)
        for name in "ab":
            cls.vprof("analyze", name, "--profile", f"{name}.vprof")
            cls.vprof("export", "--parquet", "both", "--host", name, name)
        cls.vprof("export", "--parquet", "sums", "--rollups", "a")

    @classmethod
    def vprof(cls, *arguments):
        done = subprocess.run([VPROF, *arguments], cwd=cls.shared, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr}"
        return done.stdout

    def same_report(self, tables, report, source="rows", skip=SKIP, levels=99):
        own = vprof.sums(tables, source=source)
        factors = vprof.factors(own)
        document = {"interval": vprof.summary(own).to_dict(), "tree": pruned(vprof.tree(own).to_dict(), levels),
                    "factors": [one.to_dict() for one in factors], "marked_share": factors.marked_share,
                    "more_to_tell": factors.more_to_tell}
        self.same(document, {key: report[key] for key in document}, skip=skip)

    def test_report(self):
        report = json.loads(self.vprof("analyze", "a", "--json"))
        self.assertGreater(len(report["factors"]), 4)
        self.assertTrue(report["interval"]["work"]["declared"] and len(report["interval"]["labels"]) == 3)
        self.assertTrue(any(one["tail_share_ci95"] for one in report["factors"]))
        self.assertTrue(any(len(one["instances"]) > 1 for one in report["factors"]))
        named = {name for one in report["factors"] for name in one["functions"]}
        self.assertLessEqual({"preempted", "server::flush", "wait(pthread_mutex_lock)"}, named)
        tables = vprof.read(self.shared / "both", hosts="a")
        self.same_report(tables, report)
        # The tail itself, and how many declared work, are in no roll-up.
        tails = (*SKIP, "tail_share", "tail_share_ci95", "declared")
        self.same_report(tables, report, source="rollups", skip=tails)
        self.same_report(vprof.read(self.shared / "sums"), report, source="rollups", skip=tails)

    def test_a_difference_would_be_seen(self):
        report = json.loads(self.vprof("analyze", "a", "--json"))
        other = vprof.tree(vprof.read(self.shared / "both", hosts="b")).to_dict()
        self.assertGreater(len(list(differences(other, report["tree"]))), 20)
        own = dict(report["tree"], share=1 + 2e-9)
        self.assertEqual(len(list(differences(own, report["tree"]))), 1)

    def test_merged_report(self):
        self.same_report(vprof.read(self.shared / "both"), json.loads(self.vprof("merge", "b.vprof", "a.vprof", "--json")))

    def test_diff(self):
        diff = json.loads(self.vprof("diff", "a.vprof", "b.vprof", "--json"))
        self.assertTrue(any(one["within"] for one in diff["factors"]))
        a, b = (vprof.read(self.shared / "both", hosts=host) for host in "ab")
        for source in ("rows", "rollups"):
            # Notes are those of the reports, which no table has.
            own = vprof.compare(a, b, source=source).to_dict()
            self.same(own, {key: value for key, value in diff.items() if key in own and key != "notes"})

    def test_postgresql(self):
        with gzip.open(HERE / "postgresql_report.json.gz") as file:
            report = json.load(file)
        tree = vprof.tree(vprof.read(POSTGRESQL))
        self.assertEqual({node.kind for _, node in tree.walk()}, {"function", "body", "wait", "blame", "preempted", "untracked"})
        self.same(tree.to_dict()["covariances"], report["covariances"])
        # Of the tree, the report that is stored has 9 levels, and covariances of the first only: it is small. It ranks as vprof
        # did when it was made.
        ranking = ("factors", "marked_share", "more_to_tell")
        self.same_report(vprof.read(POSTGRESQL), report, skip=(*SKIP, *ranking, "covariances"), levels=9)


if __name__ == "__main__":
    unittest.main()
