"""Recordings from elsewhere: analyze with --profile and --skip, merge, diff and its gates, timeline."""
import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

VPROF = os.environ.get("VPROF", "vprof")

BEGIN, END, CONT, TRACE_CONTEXT = 0xFF0010, 0xFF0011, 0xFF0001, 0xFF0015
PAGE = 4096


def slot(word0, identity, payload=0):
    return struct.pack("<QQ", word0, payload << 24 | identity)


def trace_context(time, interval, text):
    words = [int.from_bytes(text[at:at + 8], "little") for at in range(0, len(text), 8)]
    return slot(time, TRACE_CONTEXT, len(text)) + slot(interval, CONT) + b"".join(slot(word, CONT) for word in words)


def recording(directory, slow_ns, requests=2000, run=1, context=None):
    """Requests of 3 us in f; every tenth spends slow_ns more in g, unless that is 0. One tick is one nanosecond.
    `context`: of request i."""
    directory.mkdir()
    slots = bytearray()
    now = 1000
    for i in range(requests):
        in_f = 3000 + (i * 7919) % 257
        in_g = slow_ns + (i * 104729) % 1013 if slow_ns and i % 10 == 3 else 0
        slots += slot(now, BEGIN) + slot(i + 1, CONT) + slot(now + 10, 1, in_f)
        if context:
            slots += trace_context(now + 5, i + 1, context(i))
        if in_g:
            slots += slot(now + 20 + in_f, 2, in_g)
        now += in_f + in_g + 100
        slots += slot(now, END) + slot(i + 1, CONT)
        now += 1000
    size = (80 + len(slots) + PAGE - 1) // PAGE * PAGE
    chunk = struct.pack("<IIIIIIQ16sQQI12x", 0x4B4E4843, size, 1, 1, 0, 0, 0, b"worker", 0, 0, 0) + slots
    header = struct.pack("<QIIIIIIQQQQQQ", 0x0A31525446525056, 2, 0x01020304, 16, 2, run, 0, 0, 0, run, 10**9,
                         PAGE + size, PAGE + size)
    (directory / f"{run}-0.vpt").write_bytes(header.ljust(PAGE, b"\0") + chunk.ljust(size, b"\0"))
    functions = [{"id": i + 1, "name": n, "key": n, "file": "a.c", "line": i + 1} for i, n in enumerate("fg")]
    sites = [{"id": i, "kind": "function", "function": i, "file": "a.c", "line": i} for i in (1, 2)]
    (directory / "sites.json").write_text(json.dumps({
        "functions": functions, "sites": sites, "intervals": [{"index": 0, "name": "request"}], "sync": []}))


class Profiles(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.root = Path(self.scratch.name)
        (self.root / "vprof.json").write_text('{ "build": "true", "run": "true" }\n')
        recording(self.root / "before", 20_000)
        recording(self.root / "after", 60_000, run=2)
        for name in ("before", "after"):
            self.vprof("analyze", name, "--profile", name + ".vprof")

    def vprof(self, *arguments, code=0):
        done = subprocess.run([VPROF, *arguments], cwd=self.root, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def fails(self, *arguments, words):
        done = self.vprof(*arguments, code=2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_diff(self):
        done = self.vprof("diff", "before.vprof", "after.vprof")
        for word in ("variance", "p99", "x", "g"):
            self.assertIn(word, done.stdout)
        result = json.loads(self.vprof("diff", "before.vprof", "after.vprof", "--json").stdout)
        self.assertEqual(result["factors"][0]["functions"], ["g"])
        p99 = next(f for f in result["figures"] if f["figure"] == "p99")
        self.assertGreater(p99["ratio"], 2)

    def test_gate(self):
        pair = ("diff", "before.vprof", "after.vprof")
        self.assertIn("p99>1.1x", self.vprof(*pair, "--fail-if", "p99>1.1x", code=1).stderr)
        self.vprof(*pair, "--fail-if", "p99>1.1x", "--certainly", code=1)
        self.vprof(*pair, "--fail-if", "p50>1.1x", "--fail-if", "max>90ms")
        self.vprof("diff", "after.vprof", "before.vprof", "--fail-if", "p99>1.1x")
        self.fails(*pair, "--fail-if", "p99>1.1", words=["--fail-if", "p99>1.1x"])

    def test_conditions_that_hold_print_the_values(self):
        pair = ("diff", "before.vprof", "after.vprof")
        done = self.vprof(*pair, "--fail-if", " p99 > 1.1 x", "--fail-if", "share(g) > 10 %", code=1)
        self.assertRegex(done.stderr, r"p99 > 1\.1 x holds; \d\.\d\dx \(95 % confidence \d\.\d\dx to \d\.\d\dx\)")
        self.assertRegex(done.stderr, r"share\(g\) > 10 % holds; \d+\.\d % \(95 % confidence")
        self.fails(*pair, "--fail-if", "share(gg)>1%", words=["share(gg)>1%", "did you mean 'g'?"])
        self.fails(*pair, "--fail-if", "p99(GET)>1x", words=["no label 'GET'"])
        # That the function has gone is no reason to fail.
        recording(self.root / "fixed", 0, run=3)
        self.vprof("analyze", "fixed", "--profile", "fixed.vprof")
        self.vprof("diff", "before.vprof", "fixed.vprof", "--fail-if", "share(g)>10%")

    def test_different_programs(self):
        recording(self.root / "other", 20_000, run=4)
        sites = json.loads((self.root / "other/sites.json").read_text())
        for one in sites["functions"]:
            one["name"] = one["key"] = "other_" + one["name"]
        (self.root / "other/sites.json").write_text(json.dumps(sites))
        self.vprof("analyze", "other", "--profile", "other.vprof")
        self.fails("diff", "before.vprof", "other.vprof", words=["different programs", "--force"])
        self.vprof("diff", "before.vprof", "other.vprof", "--force")
        sites["intervals"][0]["name"] = "order"
        (self.root / "other/sites.json").write_text(json.dumps(sites))
        self.vprof("analyze", "other", "--profile", "other.vprof")
        self.fails("diff", "before.vprof", "other.vprof", words=["'request'", "'order'", "--force"])

    def test_markdown_and_junit(self):
        pair = ("diff", "before.vprof", "after.vprof")
        gates = ("--fail-if", "p99>1.1x", "--fail-if", "p50>9x")
        done = self.vprof(*pair, "--markdown", "--junit", "junit.xml", *gates, code=1)
        self.assertTrue(done.stdout.startswith("### Latency of `request`: p99 "), done.stdout)
        self.assertIn("❌ `p99>1.1x`", done.stdout)
        self.assertIn("✅ `p50>9x`", done.stdout)
        suite = ElementTree.parse(self.root / "junit.xml").getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "1"))
        failed = {case.get("name"): case.find("failure") is not None for case in suite}
        self.assertEqual(failed, {"p99>1.1x": True, "p50>9x": False})
        self.assertEqual(json.loads(self.vprof(*pair, "--json", *gates, code=1).stdout)["conditions"][0]["holds"], True)
        self.vprof(*pair, "--junit", "-", "--fail-if", "p50>9x")
        self.fails(*pair, "--junit", "junit.xml", words=["--fail-if"])
        self.fails(*pair, "--markdown", "--json", words=["--markdown", "--json"])

    def test_merge(self):
        self.vprof("merge", "before.vprof", "after.vprof", "-o", "both.vprof")
        self.vprof("merge", "after.vprof", "before.vprof", "-o", "turned.vprof")
        self.assertEqual((self.root / "both.vprof").read_bytes(), (self.root / "turned.vprof").read_bytes())
        report = json.loads(self.vprof("merge", "both.vprof", "--json").stdout)
        self.assertEqual(report["interval"]["count"], 4000)

    def test_threads_do_not_show(self):
        one = self.vprof("analyze", "before", "--threads", "1", "--json").stdout
        self.assertEqual(self.vprof("analyze", "before", "--threads", "3", "--json").stdout, one)

    def test_skip(self):
        report = json.loads(self.vprof("analyze", "before", "--skip", "5ms", "--json").stdout)
        self.assertLess(report["interval"]["count"], 2000)
        self.assertTrue(any("--skip" in note for note in report["losses"]["notes"]))
        self.fails("analyze", "before", "--skip", "5", words=["--skip 5", "2s"])
        self.fails("analyze", "before", "--skip", "99s", words=["--skip 99s", "later than that"])

    def test_timeline(self):
        report = json.loads(self.vprof("analyze", "before", "--json").stdout)
        worst = next(f for f in report["factors"] if f["functions"] == ["g"])["worst"][0]["id"]
        text = self.vprof("timeline", str(worst), "before").stdout
        self.assertIn(f"#{worst}", text)
        self.assertIn("g", text)
        events = json.loads(self.vprof("timeline", str(worst), "before", "--trace-events").stdout)["traceEvents"]
        self.assertLessEqual({"f", "g"}, {event["name"] for event in events})
        self.assertNotIn("(own time)", {event["name"] for event in events})
        self.assertIsInstance(worst, str)  # JSON's numbers do not hold it
        answer = json.loads(self.vprof("timeline", str(worst), "before", "--json").stdout)
        self.assertEqual(answer["id"], str(worst))
        self.assertEqual(answer["pieces"][-1]["to_ns"], answer["latency_ns"])
        self.fails("timeline", "999999", "before", words=["999999"])
        self.fails("timeline", "worst", "before", words=["worst", "trace id"])
        self.fails("timeline", "ab" * 16, "before", words=["ab" * 16, "vprof_trace_context"])

    def test_no_such_interval(self):
        for arguments in (["analyze", "before"], ["timeline", "1", "before"], ["export", "before", "--csv", "-"]):
            self.fails(*arguments, "--interval", "nope", words=["no interval is named 'nope'; there are: "])

    def test_bad_profiles(self):
        (self.root / "bad.vprof").write_bytes(b"no profile")
        self.fails("merge", "before.vprof", "bad.vprof", words=["bad.vprof", "not a whole profile"])
        self.fails("diff", "missing", "before.vprof", words=["missing"])
        self.fails("diff", "before", "before.vprof", words=["before", "profile.vprof"])


if __name__ == "__main__":
    unittest.main()
