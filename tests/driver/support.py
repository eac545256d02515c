"""Shared by the tests of the real `vprof`: a small project, and helpers that run the program and look at its results.

The project has an interval `order`. Its variance comes from `spin`, called by `deep`, called by `step`, and is much
larger than what recording adds. Time is simulated (simulated_clock.c): `spin` takes what it is asked for, however busy
the machine is. Preemption is not recorded, since it would be on another clock.
"""
import os
import signal
import stat
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

VPROF = os.environ.get("VPROF", "vprof")
os.environ["NO_COLOR"] = "1"  # what is matched is text
if "SIMULATED_CLOCK" in os.environ:
    os.environ["VPROF_CLOCK"] = "program"

MAIN_C = """#include <stdio.h>
#include "work.h"

static int order(int i) {
  int sum = step(i);
  sum += finish(i);
  return sum;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 200; ++i) {
    sum += order(i);
  }
  printf("%d\\n", sum);
  return 0;
}
"""

WORK_C = """#include "work.h"

#include <time.h>

static long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

int spin(long ns) {
  int turns = 0;
  for (long end = now_ns() + ns; now_ns() < end;) {
    ++turns;
  }
  return turns > 0;
}

int deep(int i) {
  int sum = spin(20000 + (i % 8) * 500000L);
  sum += spin(1000);
  return sum;
}

int step(int i) {
  int sum = deep(i);
  sum += spin(2000);
  return sum;
}

int finish(int i) {
  int sum = spin(5000);
  return sum + i % 2;
}

int never(int i) {
  int sum = spin(i);
  return sum;
}

int twice_used(int i) {
  int sum = never(i);
  return sum;
}
"""

WORK_H = "int spin(long ns);\nint deep(int i);\nint step(int i);\nint finish(int i);\n" \
         "int never(int i);\nint twice_used(int i);\n"

MAKEFILE = """CFLAGS = -O1 -g
prog: src/main.o src/work.o
\t$(CC) -o $@ src/main.o src/work.o $(SIMULATED_CLOCK)
%.o: %.c src/work.h
\t$(CC) $(CFLAGS) -c $< -o $@
"""

CONFIG = """{
  "build": "make",
  "run": "./prog",
  "intervals": [
    { "name": "order", "function": "order" }
  ],
  "record": { "leave_out": ["preemption"] }
}
"""


class Project(unittest.TestCase):
    """A test with its own project, in a directory whose name contains a space."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="vprof driver ")
        self.addCleanup(self.temporary.cleanup)
        self.root = Path(self.temporary.name) / "project"
        for name, text in {"src/main.c": MAIN_C, "src/work.c": WORK_C, "src/work.h": WORK_H,
                           "Makefile": MAKEFILE, "vprof.json": CONFIG}.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def config(self, old, new):
        """Replaces a part of vprof.json."""
        text = (self.root / "vprof.json").read_text()
        self.assertIn(old, text)
        self.write("vprof.json", text.replace(old, new))

    def vprof(self, *arguments, code=0, env=None):
        done = subprocess.run([VPROF, *arguments], cwd=self.root, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def fails(self, *arguments, words, env=None):
        """Expects exit code 2 and exactly one line `vprof: ...`, which contains all `words`."""
        done = self.vprof(*arguments, code=2, env=env)
        lines = [line for line in done.stderr.splitlines()
                 if line.startswith("vprof: ") and not line.startswith("vprof: warning:")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], lines[0])
        for word in words:
            self.assertIn(word, lines[0])
        return done

    def start(self, *arguments, **keywords):
        child = subprocess.Popen([VPROF, *arguments], cwd=self.root, text=True, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
        self.addCleanup(end, child)
        return child

    def snapshot(self, tree="."):
        """Every name, content, mode and time of a tree of the project, except .vprof in it."""
        everything = {}
        for path in sorted((self.root / tree).rglob("*")):
            relative = path.relative_to(self.root / tree)
            if relative.parts[0] == ".vprof":
                continue
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            everything[str(relative)] = (status.st_mode, status.st_mtime_ns, content)
        return everything

    def wait_for(self, path, child):
        """Until a file below the project exists. ctest ends a test that hangs."""
        while not (self.root / path).exists():
            if child.poll() is not None:
                self.fail(f"{path} did not appear\n{child.communicate()}")
            time.sleep(0.02)


def end(child):
    if child.poll() is None:
        child.send_signal(signal.SIGKILL)
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
