"""`vprof try`: from a source tree to a first report, without a vprof.json."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import support
from support import Project

# Begins as a server does, and ends only when it is told to. As a background job of a shell it ignores SIGINT.
SERVER_C = """#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include "work.h"

static volatile sig_atomic_t stop;
static void on_signal(int number) { stop = number; }

int handle_request(int i) {
  int sum = step(i);
  sum += finish(i);
  return sum;
}

int main(void) {
  signal(SIGINT, on_signal);
  signal(SIGTERM, on_signal);
  int sum = 0;
  for (int i = 0; i < 200; ++i) {
    sum += handle_request(i);
  }
  FILE *served = fopen("served", "w");
  fprintf(served, "%d", sum);
  fclose(served);
  while (!stop) {
    pause();
  }
  return 3;
}
"""


class Try(Project):
    def setUp(self):
        super().setUp()
        (self.root / "vprof.json").unlink()

    def written(self):
        return (self.root / "vprof.json").read_text()

    def report(self):
        return json.loads(self.vprof("report", "--json").stdout)

    def test_everything_is_guessed_and_said(self):
        out = self.vprof("try", "--", "./prog").stdout
        self.assertIn("wrote vprof.json; these are guesses, which you can change there:", out)
        self.assertRegex(out, r"build     make -j\d")
        self.assertRegex(out, r"request   order  src/main.c:4: called in a loop of main")
        self.assertIn("workload  ./prog", out)
        self.assertIn("put load on it now; Ctrl-C ends it", out)
        self.assertIn("request: 200 completed", out)
        self.assertIn("next: `vprof loop`", out)
        self.assertIn('"run": "./prog"', self.written())
        self.vprof("check")
        # The loop goes on from this measurement.
        self.assertIn("resuming iteration 1", self.vprof("loop", "--auto").stdout)

    def test_a_function_that_is_named(self):
        self.vprof("try", "step", "--", "./prog")
        self.assertIn('{ "name": "request", "function": "step" }', self.written())
        self.assertIn("1. step  src/work.c:25", self.written())
        self.assertEqual(self.report()["tree"]["function"], "request")

    def test_a_function_that_is_misspelt(self):
        self.fails("try", "ordr", "--", "./prog", words=["no function ordr", "did you mean order?"])
        self.assertFalse((self.root / "vprof.json").exists())
        self.assertFalse((self.root / ".vprof").exists())

    def test_an_existing_configuration_is_used_and_kept(self):
        self.write("vprof.json", support.CONFIG)
        out = self.vprof("try").stdout
        self.assertIn("using vprof.json", out)
        self.assertIn("order: 200 completed", out)
        out = self.vprof("try", "deep", "--", "./prog").stdout
        self.assertIn("for this run a request is a call of deep; vprof.json stays as it is", out)
        self.assertIn("deep: 200 completed", out)
        self.assertEqual(self.written(), support.CONFIG)
        self.fails("try", "dep", "--", "./prog", words=["did you mean deep?"])

    def test_a_search_is_not_put_aside(self):
        self.write("vprof.json", support.CONFIG)
        self.vprof("loop", "--auto", "--max-iterations", "2")
        self.fails("try", "--", "./prog", words=["search of 2 iterations", "vprof loop"])
        self.assertTrue((self.root / ".vprof/iterations/2").exists())

    def test_no_build_system(self):
        (self.root / "Makefile").rename(self.root / "build.mk")
        self.fails("try", "--", "./prog", words=["no CMakeLists.txt, configure, meson.build or Makefile", "--build"])
        self.assertFalse((self.root / "vprof.json").exists())
        self.vprof("try", "--build", "make -f build.mk", "--", "./prog")
        self.assertIn('"build": "make -f build.mk"', self.written())

    def test_a_program_that_is_built_in_the_source_tree(self):
        subprocess.run(["make"], cwd=self.root, check=True, capture_output=True)
        # This makefile has no target clean.
        self.fails("try", "--", "./prog", words=["the configure command failed", "correct it in vprof.json"])
        self.assertIn('"configure": "make clean"', self.written())
        self.write("Makefile", support.MAKEFILE + "clean:\n\trm -f prog src/*.o\n")
        self.vprof("try", "--", str(self.root / "prog"))

    def test_a_function_that_is_never_called(self):
        self.fails("try", "twice_used", "--", "./prog", words=["twice_used was never called", "vprof try FUNCTION"])

    def test_no_request_in_sight(self):
        self.write("src/main.c", "int main(void) { return 0; }\n")
        self.write("src/work.c", "")
        self.fails("try", "--", "./prog", words=["looks like a request handler", "vprof try FUNCTION -- COMMAND"])

    def test_a_program_that_the_build_does_not_make(self):
        self.fails("try", "--", "./porg", words=["does not make ./porg", "it makes ./prog"])

    def test_the_command_line(self):
        self.fails("try", words=["how the program is started", "vprof try [FUNCTION] -- COMMAND"])
        self.fails("try", "./prog", words=["write `--` before the command", "-- ./prog"])
        self.fails("try", "--seconds", "0", "--", "./prog", words=["--seconds"])
        self.write("with space", "")
        self.vprof("try", "--", "./prog", "it's", "a b")
        self.assertIn(json.dumps("./prog 'it'\\''s' 'a b'"), self.written())


class Server(Project):
    """A program that does not end by itself."""

    def setUp(self):
        super().setUp()
        (self.root / "vprof.json").unlink()
        self.write("src/main.c", SERVER_C)

    def count(self):
        return json.loads(self.vprof("report", "--json").stdout)["interval"]["count"]

    def test_ctrl_c_ends_the_server_and_the_report_follows(self):
        child = self.start("try", "--", "./prog")
        self.wait_for(".vprof/mirror/served", child)
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate()
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("request: 200 completed", out)
        self.assertEqual(self.count(), 200)
        # Once more: what there was is put aside.
        (self.root / ".vprof/mirror/served").unlink()
        child = self.start("try", "--", "./prog")
        self.wait_for(".vprof/mirror/served", child)
        child.send_signal(signal.SIGINT)
        child.communicate()
        self.assertEqual(child.returncode, 0)

    def test_a_server_in_the_background_of_a_script(self):
        self.write("start.sh", "./prog & wait\n")
        child = self.start("try", "--", "sh", "start.sh")
        self.wait_for(".vprof/mirror/served", child)
        child.send_signal(signal.SIGINT)
        out, errors = child.communicate()
        self.assertEqual(child.returncode, 0, errors)
        self.assertIn("request: 200 completed", out)
        self.assertNotIn("left processes", errors)

    def test_sigterm_interrupts_vprof_itself(self):
        child = self.start("try", "--", "./prog")
        self.wait_for(".vprof/mirror/served", child)
        child.send_signal(signal.SIGTERM)
        child.communicate()
        self.assertEqual(child.returncode, 128 + signal.SIGTERM)


class Ignored(Project):
    def test_git_does_not_see_the_workspace(self):
        run = lambda *command: subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout
        run("git", "init", "-q")
        run("git", "add", ".")
        self.vprof("index")
        self.assertTrue((self.root / ".vprof/index.json").exists())
        self.assertNotIn(".vprof", run("git", "status", "--short", "--untracked-files=all"))
        self.assertEqual((self.root / ".vprof/.gitignore").read_text(), "*\n")
        self.write(".vprof/.gitignore", "mine")
        self.vprof("index")
        self.assertEqual((self.root / ".vprof/.gitignore").read_text(), "mine")


if __name__ == "__main__":
    assert shutil.which("git"), "git is needed (scripts/setup.sh installs it)"
    unittest.main()
