"""`vprof live`: a program is built once, and its sites are switched while it runs.

The program of these tests only sleeps, so its latency is what it asks for, or more where the machine is busy: in either
case it passes in `nap`, called by `deep`, called by `step`.
"""
import fcntl
import json
import os
import signal
import struct
import subprocess
import time
import unittest

import support
from support import Project

MAIN_C = """#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "work.h"

static int order(int i) {
  int sum = step(i);
  sum += finish(i);
  return sum;
}

/* Handles orders on one thread until the file `stop` exists or the given number is reached. */
int main(int argc, char** argv) {
  const long most = argc > 1 ? atol(argv[1]) : 1000000;
  int sum = 0;
  for (long i = 0; i < most; ++i) {
    FILE* stop = fopen("stop", "r");
    if (stop != NULL) {
      fclose(stop);
      return 0;
    }
    sum += order((int)i);
  }
  return sum < 0;
}
"""

WORK_C = """#include "work.h"

#include <time.h>

int nap(long us) {
  struct timespec time = {0, us * 1000};
  return nanosleep(&time, NULL);
}

int deep(int i) {
  int sum = nap(i % 4 == 0 ? 8000 : 200);
  sum += nap(20);
  return sum;
}

int step(int i) {
  int sum = deep(i);
  sum += nap(20);
  return sum;
}

int finish(int i) {
  int sum = nap(20);
  return sum + i % 2;
}
"""

WORK_H = "int nap(long us);\nint deep(int i);\nint step(int i);\nint finish(int i);\n"

HEADER = struct.Struct("<QIIQQQQQQQ")  # runtime/include/vprof/runtime/frontier.h


class Live(Project):
    def setUp(self):
        super().setUp()
        self.write("src/main.c", MAIN_C)
        self.write("src/work.c", WORK_C)
        self.write("src/work.h", WORK_H)
        self.write("Makefile", (self.root / "Makefile").read_text().replace("$(SIMULATED_CLOCK)", ""))

    def frontier(self, where):
        """What the control file says: (heartbeat, epoch, numbers of the sites that are on)."""
        data = (self.root / ".vprof/live" / where / "frontier").read_bytes()
        fields = HEADER.unpack_from(data)
        sites = data[4096:]
        return fields[4], fields[5], [i for i in range(1, len(sites)) if sites[i]]

    def report(self):
        return json.loads((self.root / ".vprof/report.json").read_text())

    def start_program(self):
        """The armed program, as a service manager would start it."""
        trace = self.root / ".vprof/live/trace"
        child = subprocess.Popen(["./prog"], cwd=self.root / ".vprof/mirror",
                                 env={**os.environ, "VPROF_TRACE_DIR": str(trace), "VPROF_CLOCK": ""})
        self.addCleanup(support.end, child)
        return child

    def live(self, *arguments):
        """A program that sleeps is hardly ever busy, so any recording costs it much."""
        budget = [] if "--build" in arguments else ["--budget", "10000"]
        return self.vprof("live", *budget, *arguments, env={"VPROF_CLOCK": ""})

    def test_the_cause_is_found_in_one_run(self):
        before = self.snapshot()
        out = self.live("--epoch", "2").stdout
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(out.count("building the program with every call site"), 1, out)
        self.assertIn("breaking down", out)
        self.assertIn("done after iteration", out)
        report = self.report()
        self.assertGreaterEqual(len(report["iterations"]), 2)
        self.assertIn("deep", {name for one in report["iterations"] for name in one["expanded"]})
        leading = [f for f in report["factors"] if f["status"] == "selected"]
        self.assertTrue(leading, report["factors"])
        self.assertIn("deep", leading[0]["instances"][0]["path"])
        self.assertGreater(leading[0]["share"], 0.8)
        self.assertGreater(report["overhead"]["baseline_mean_ns"], 0)
        # All sites are off, and nobody drives any more.
        heartbeat, epoch, on = self.frontier("run")
        self.assertEqual((heartbeat, on), (0, []))
        self.assertGreater(epoch, 2)
        # What reads single intervals finds them.
        worst = leading[0]["worst"][0]["id"]
        self.assertIn("deep", self.vprof("timeline", str(worst)).stdout)
        self.assertIn("iteration 2", self.vprof("history").stdout)
        # All of it together would be a mixture of what was measured at different times.
        self.fails("analyze", words=["live run", "vprof report"])
        # A second one goes on without a build.
        again = self.live("--epoch", "1").stdout
        self.assertIn("resuming iteration", again)
        self.assertNotIn("building", again)

    def test_a_workload_that_ends_early_is_no_error(self):
        self.config('"./prog"', '"./prog 300"')
        out = self.live("--epoch", "60").stdout
        self.assertIn("the program has ended", out)
        self.assertGreater(self.report()["interval"]["count"], 0)
        self.config('"./prog 300"', '"./prog"')
        out = self.live("--epoch", "2").stdout
        self.assertNotIn("building", out)
        self.assertIn("done after iteration", out)

    def test_no_interval_is_one_line(self):
        self.config('"./prog"', '"true"')
        self.fails("live", words=["vprof.json:5", "order", "never called"])

    def test_attach_and_leave(self):
        out = self.live("--build").stdout
        self.assertIn("VPROF_TRACE_DIR=", out)
        child = self.start_program()
        out = self.live("--attach", str(child.pid), "--epoch", "2").stdout
        self.assertIn("done after iteration", out)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))
        # Again, and stopped in the middle.
        driver = self.start("live", "--attach", ".vprof/live/trace", "--restart", "--epoch", "600", "--budget", "10000",
                            env={**os.environ, "VPROF_CLOCK": ""})
        while not self.frontier("trace")[2]:
            self.assertIsNone(driver.poll())
            time.sleep(0.02)
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate()
        self.assertEqual(driver.returncode, 130, err)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))

    def test_a_driver_that_is_killed_leaves_all_sites_off(self):
        self.live("--build")
        child = self.start_program()
        driver = self.start("live", "--attach", str(child.pid), "--epoch", "600", "--budget", "10000",
                            env={**os.environ, "VPROF_CLOCK": ""})
        while not self.frontier("trace")[2]:
            self.assertIsNone(driver.poll())
            time.sleep(0.02)
        driver.kill()
        while True:  # ctest ends a test that hangs
            heartbeat, _, on = self.frontier("trace")
            if heartbeat == 0 and not on:
                break
            time.sleep(0.02)
        self.assertIsNone(child.poll(), "the program goes on")

    def test_bad_targets(self):
        self.live("--build")
        self.fails("live", "--attach", "999999999", words=["999999999"])
        self.fails("live", "--attach", str(os.getpid()), words=["VPROF_TRACE_DIR"])
        self.fails("live", "--attach", "src", words=["src/frontier", "vprof live --build"])
        file = self.root / ".vprof/live/trace/frontier"
        with open(file, "r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.fails("live", "--attach", ".vprof/live/trace", words=["another vprof"])
        file.write_bytes(b"not a control file")
        self.fails("live", "--attach", ".vprof/live/trace", words=["frontier", "delete it"])
        file.unlink()
        file.symlink_to("/etc/passwd")
        self.fails("live", "--attach", ".vprof/live/trace", words=["frontier"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
