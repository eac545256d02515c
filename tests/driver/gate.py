"""The gate for continuous integration, examples/continuous-integration/compare.sh."""
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from xml.etree import ElementTree

from support import VPROF, Project

EXAMPLE = Path(os.environ["VPROF_DOCS"]).parent / "examples/continuous-integration"


class Gate(Project):
    def setUp(self):
        super().setUp()
        self.after = self.root.parent / "after"
        shutil.copytree(self.root, self.after)

    def edit(self, old, new):
        file = self.after / "src/work.c"
        text = file.read_text()
        self.assertIn(old, text)
        file.write_text(text.replace(old, new))

    def compare(self, *conditions, code, **environment):
        path = f"{Path(VPROF).resolve().parent}:{os.environ['PATH']}"
        done = subprocess.run(["sh", EXAMPLE / "compare.sh", self.root, self.after, *conditions], text=True,
                              capture_output=True, cwd=self.root.parent, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PATH": path, "RUNS": "4", "OUT": "gate out", **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_a_slower_version_fails(self):
        self.edit("500000L", "1500000L")
        done = self.compare("p99>1.1x", "share(deep) > 200%", code=1, EXPAND="step deep")
        self.assertIn("❌ `p99>1.1x`", done.stdout)
        self.assertIn("✅ `share(deep) > 200%`", done.stdout)
        self.assertIn("2.", re.search(r"^\| p99 .*$", done.stdout, re.M).group())
        out = self.root.parent / "gate out"
        self.assertEqual((out / "comment.md").read_text(), done.stdout[done.stdout.index("###"):])
        self.assertEqual(ElementTree.parse(out / "junit.xml").getroot()[0].get("failures"), "1")

    def test_an_equal_version_passes(self):
        self.assertIn("✅ `p99>1.1x`", self.compare(code=0).stdout)

    def test_an_error_is_no_verdict(self):
        self.edit("int spin(long ns) {", "int spin(long ns) { this is not C;")
        self.compare(code=2)
        done = subprocess.run(["sh", EXAMPLE / "compare.sh"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("compare.sh BEFORE AFTER", done.stderr)
        self.assertNotIn("set -eu", done.stderr)

    def test_the_workflow_calls_it(self):
        workflow = (EXAMPLE / "latency.yml").read_text()
        self.assertRegex(workflow, r"compare\.sh before after 'p99>1\.1x'")
        for file in re.findall(r"latency/([\w.]+)", workflow):
            self.assertIn(file, (EXAMPLE / "compare.sh").read_text())


if __name__ == "__main__":
    unittest.main()
