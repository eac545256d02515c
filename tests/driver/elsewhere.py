"""A program that is built on one host and runs on another: only the program and the runtime are copied there, and the traces are
copied back. Also several processes and several hosts."""
import json
import os
import shutil
import subprocess
import unittest

from support import MAIN_C, Project


class Elsewhere(Project):
    def build(self):
        self.vprof("index")
        self.vprof("instrument", "--expand", "step")
        self.vprof("build")

    def carry(self, name):
        """Copies what docs/how-to.md says to copy."""
        there = self.root.parent / name
        there.mkdir()
        shutil.copy2(self.root / ".vprof/mirror/prog", there)
        shutil.copy2(self.root / ".vprof/runtime/lib/libvprof.so.0", there)
        return there

    def run_there(self, there, *arguments):
        """Runs the program there while the directory that it was built in does not exist. Returns the traces."""
        away = self.root.parent / "away"
        self.root.rename(away)
        try:
            (there / "trace").mkdir()
            subprocess.run(["./prog", *arguments], cwd=there, check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "VPROF_TRACE_DIR": str(there / "trace"), "LD_LIBRARY_PATH": "."})
        finally:
            away.rename(self.root)
        shutil.copy2(self.root / ".vprof/sites.json", there / "trace")
        return there / "trace"

    def test_a_recording_from_another_host_is_analysed(self):
        # Every function counts as a factor, so that a busy machine does not change the result.
        self.config('"record"', '"factors": { "k": 100, "threshold": 0, "dominance": 1 },\n  "record"')
        self.build()
        trace = self.run_there(self.carry("host"))
        report = json.loads(self.vprof("analyze", str(trace), "--json").stdout)
        self.assertEqual(report["interval"]["count"], 200)
        names = [name for factor in report["factors"] for name in factor["functions"]]
        self.assertTrue(any("deep" in name for name in names), names)
        self.assertFalse((self.root / ".vprof/report.json").exists(), "a recording from another host must not change the state here")

    def test_two_hosts_in_one_profile(self):
        self.build()
        for name in ("a", "b"):
            self.vprof("analyze", str(self.run_there(self.carry(name))), "--profile", name + ".vprof")
        self.vprof("merge", "a.vprof", "b.vprof", "-o", "all.vprof")
        report = json.loads(self.vprof("merge", "all.vprof", "--json").stdout)
        self.assertEqual(report["interval"]["count"], 400)

    def test_several_processes_in_one_recording(self):
        self.write("src/main.c", MAIN_C.replace("#include <stdio.h>", "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>")
                   .replace("  int sum = 0;\n  for", "  int sum = 0;\n  pid_t child = fork();\n  for")
                   .replace("  return 0;", "  if (child != 0) wait(0);\n  return 0;"))
        self.build()
        self.vprof("record")
        self.assertEqual(len(list((self.root / ".vprof/iterations/1/trace").glob("*.vpt"))), 2)
        self.assertEqual(json.loads(self.vprof("analyze", "--json").stdout)["interval"]["count"], 400)


if __name__ == "__main__":
    unittest.main()
