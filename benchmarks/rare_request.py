#!/usr/bin/env python3
"""Does the flight recorder find one slow request among very many? A program serves --requests
requests of some 50 us, and one of them, at a random place, takes 100 ms in one of its functions.
`vprof watch --slower-than 50ms` must keep that one, with that function first in its report, and count
all of them: mean and variance of its profile beside what the program has measured itself.

    rare_request.py [--rounds 10] [--requests 100000] [--vprof build/release/driver/vprof]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void work(long ns) {
  const long end = now() + ns;
  while (now() < end) continue;
}

__attribute__((noinline)) void look_up(long n) { work(10000 + n % 7 * 2000); }
__attribute__((noinline)) void compact(void) { work(100000000); }
__attribute__((noinline)) void answer(long n) { work(20000 + n % 11 * 1000); }

__attribute__((noinline)) void serve(long n, long slow) {
  look_up(n);
  if (n == slow) compact();
  answer(n);
}

int main(int count, char** words) {
  const long requests = atol(words[1]), slow = atol(words[2]);
  double sum = 0, squares = 0;
  for (long n = 0; n < requests; ++n) {
    const long begin = now();
    serve(n, slow);
    const double took = (double)(now() - begin);
    sum += took;
    squares += took * took;
  }
  const double mean = sum / (double)requests;
  FILE* truth = fopen("truth.txt", "w");
  fprintf(truth, "%.17g %.17g\n", mean, squares / (double)requests - mean * mean);
  fclose(truth);
  return count != 3;
}
"""


def one_round(options, directory, slow):
    configuration = {"build": "cc -O2 -g -o server server.c",
                     "run": f"./server {options.requests} {slow}",
                     "intervals": [{"name": "request", "function": "serve"}]}
    (directory / "server.c").write_text(SOURCE)
    (directory / "vprof.json").write_text(json.dumps(configuration))
    watched = subprocess.run([options.vprof, "-C", directory, "watch", "--slower-than", "50ms", "--json"],
                             capture_output=True, text=True)
    if watched.returncode != 0:
        raise SystemExit(f"vprof watch ended with {watched.returncode}: {watched.stderr[-2000:]}")
    report = json.loads(watched.stdout)
    mean, variance = map(float, (directory / ".vprof/mirror/truth.txt").read_text().split())
    kept = list((directory / ".vprof/watch/kept").glob("*"))
    return report, kept, mean, variance


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--requests", type=int, default=100000)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    options.vprof = pathlib.Path(options.vprof).resolve()
    found = 0
    for number in range(options.rounds):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="rare_request."))
        try:
            slow = random.randrange(options.requests // 10, options.requests * 9 // 10)
            report, kept, mean, variance = one_round(options, directory, slow)
        finally:
            shutil.rmtree(directory)
        interval, first = report["interval"], " with ".join(report["factors"][0]["functions"])
        good = len(kept) > 0 and first == "compact"
        found += good
        print(f"round {number + 1}: request {slow} of {options.requests}, {len(kept)} kept, {first} first "
              f"({report['factors'][0]['share']:.1%}); counted {interval['count']}, mean "
              f"{interval['mean_ns'] / mean:.4f} and variance {interval['variance_ns2'] / variance:.4f} of "
              f"what the program measured{'' if good else ': NOT FOUND'}", flush=True)
    print(f"kept, with its cause first: {found} of {options.rounds}")
    raise SystemExit(found != options.rounds)


if __name__ == "__main__":
    main()
