"""A project whose program only sleeps, so its latency is what it asks for, or more where the machine is busy: in either
case it passes in `nap`, called by `deep`, called by `step`. One request takes 0.3 s if there is a file `slow`.
"""
import json
import os
import struct
import subprocess

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
#include <unistd.h>

int nap(long us) {
  struct timespec time = {0, us * 1000};
  return nanosleep(&time, NULL);
}

int deep(int i) {
  int sum = nap(i % 4 == 0 ? 8000 : 200);
  if (unlink("slow") == 0) {
    sum += nap(300000);
  }
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


class LiveProject(Project):
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
        budget = [] if "--build" in arguments else ["--budget", "10000%"]
        return self.vprof("live", *budget, *arguments, env={"VPROF_CLOCK": ""})
