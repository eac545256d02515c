"""The HTML report of a loop. Its data comes from the report, the profile, the recording and the source."""
import json
import os
import re
import shutil
import unittest

from support import Project

HAS_PAGE = os.environ.get("VPROF_HAS_PAGE") == "1"


class Html(Project):
    def data(self, file=".vprof/report.html"):
        text = (self.root / file).read_text(encoding="utf-8")
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))

    @unittest.skipUnless(HAS_PAGE, "built without npm")
    def test_the_loop_leaves_a_report_for_a_browser(self):
        # Every function counts as a factor, so that the loop expands the same ones on a busy machine.
        self.config('"record"', '"factors": { "k": 100, "threshold": 0, "dominance": 1 },\n  "record"')
        done = self.vprof("loop", "--auto")
        self.assertIn("report for a browser: .vprof/report.html", done.stdout)
        report = json.loads((self.root / ".vprof/report.json").read_text())
        data = self.data()
        self.assertEqual(data["title"], "project")
        self.assertEqual([f["functions"] for f in data["factors"]], [f["functions"] for f in report["factors"]])
        count = report["interval"]["count"]
        self.assertEqual(len(data["intervals"]), count)
        self.assertEqual(sum(n for _, _, n in data["bins"]), count)
        self.assertEqual(len(data["iterations"]), len(report["iterations"]))
        self.assertIn("slowest", data["timelines"][0]["why"])
        self.assertEqual(data["timelines"][0]["latency_ns"], report["interval"]["max_ns"])
        # All intervals that the page names have their timelines in it.
        shown = {timeline["id"] for timeline in data["timelines"]}
        named = {one[0] for factor in data["factors"] for one in factor["worst"] + factor["typical"]}
        self.assertLessEqual(named, shown)
        self.assertGreater(len(named), 3)
        self.assertEqual(named, {str(one["id"]) for f in report["factors"] for one in f["worst"] + f["typical"]})
        # Where, when and how it was recorded.
        made = report["provenance"]
        self.assertEqual(data["provenance"], made)
        self.assertRegex(made["date"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(made["host"], os.uname().nodename)
        self.assertIn(os.uname().release, made["kernel"])
        self.assertRegex(made["compiler"], r"\d+\.\d+")
        self.assertEqual(made["configuration"], (self.root / "vprof.json").read_text())
        self.assertEqual(made["command"], json.loads(made["configuration"])["run"])
        self.assertEqual((made["version"], made["commit"]), ("", ""))  # it is under no version control
        self.assertEqual(json.loads(next(self.root.glob(".vprof/iterations/*/trace/provenance.json")).read_text()), made)
        texts = {text["title"]: text for text in data["sources"]}
        self.assertIn("int spin(long ns) {", texts["spin"]["parts"][0]["lines"])
        self.costs_are_those_of_annotate(texts)
        # A factor's column has its time in each interval; their mean is the mean in the tree.
        factor = next(f for f in data["factors"] if f["kind"] == "variance")
        mean = sum(times[factor["columns"][0]] for _, _, _, _, times, *_ in data["intervals"]) / count
        self.assertAlmostEqual(mean, sum(data["nodes"]["mean"][node] for node in factor["nodes"]), delta=1)

        # The loop keeps the profile that `vprof diff` reads.
        self.assertGreater((self.root / ".vprof/profile.vprof").stat().st_size, 1000)
        self.vprof("diff", ".", ".")

        self.vprof("report", "--html", "again.html")
        self.assertEqual((self.root / "again.html").read_bytes(), (self.root / ".vprof/report.html").read_bytes())

        # The recording of an earlier iteration is gone.
        self.vprof("report", "--iteration", "1", "--html", "first.html")
        first = self.data("first.html")
        self.assertEqual(first["timelines"], [])
        self.assertFalse(any(text["costed"] for text in first["sources"]))
        self.assertTrue(any("without what calls cost" in note for note in first["notes"]), first["notes"])
        self.assertTrue(any("--keep-traces" in note for note in first["notes"]), first["notes"])
        self.assertEqual(len(first["intervals"]), first["interval"]["count"])

        self.changed_source_is_said()

        # A damaged profile is reported, and the page does without it.
        shutil.copy(self.root / ".vprof/profile.vprof", self.root / "kept.vprof")
        (self.root / ".vprof/profile.vprof").write_bytes(b"nonsense")
        self.vprof("report", "--html", "damaged.html")
        damaged = self.data("damaged.html")
        self.assertEqual(damaged["intervals"], [])
        self.assertTrue(any("cannot be read" in note for note in damaged["notes"]), damaged["notes"])
        self.fails("report", "--html", "vprof.json/x.html", words=["vprof.json"])

    def costs_are_those_of_annotate(self, texts):
        self.assertIn("order", texts)
        shown = texts["order"]
        [known] = json.loads(self.vprof("annotate", "order", "--json").stdout)["functions"]
        known = {(site["line"], site["callee"]): site for site in known["costs"]["sites"] if site["line"]}
        calls = {(line, callee): figures for line, callee, *figures in shown["calls"]}
        self.assertGreater(len(calls), 0)
        for place, (count, mean, deviation, share) in calls.items():
            site = known.pop(place)
            for value, exact in [(count, site["calls"]), (mean, site["cost"]["mean_ns"]),
                                 (deviation, site["cost"]["stddev_ns"]), (share, site["cost"]["share"])]:
                self.assertAlmostEqual(value, exact, delta=1e-5 * abs(exact))
            self.assertIn(place[1], "".join(shown["parts"][0]["lines"][place[0] - shown["first"]]))
        self.assertEqual([site for site in known.values() if site["cost"]["count"]], [])

    def changed_source_is_said(self):
        """First the user's file alone, then vprof's copy, too."""
        source = self.root / "src/main.c"
        source.write_text("// a line more\n" + source.read_text())
        for words in ["this is the text that was measured", "not the lines that were measured"]:
            with self.subTest(words):
                self.vprof("report", "--html", "edited.html")
                [text] = [one for one in self.data("edited.html")["sources"] if one["title"] == "order"]
                self.assertTrue(any(words in note for note in text["notes"]), text["notes"])
                self.assertEqual(text["calls"] == [], words.startswith("not"))
                self.assertIn(words, self.vprof("annotate", "order").stdout.replace("\n  ", " "))
            self.vprof("index")

    def test_there_is_no_report_yet(self):
        self.fails("report", "--html", "x.html", words=["vprof loop"])

    @unittest.skipIf(HAS_PAGE, "built with npm")
    def test_without_the_page_an_error_names_what_is_missing(self):
        done = self.vprof("loop", "--auto")
        self.assertNotIn("browser", done.stdout)
        self.fails("report", "--html", "x.html", words=["nodejs and npm"])


if __name__ == "__main__":
    unittest.main()
