#!/usr/bin/env python3
"""How long a compiler takes for one large C++ function, as a parser has it, with many timed calls.

    large_function.py [--compiler g++] [--calls 100,200,400,800] [--include DIRECTORY]

DIRECTORY is runtime/include of another version, to compare with. Prints, for each number of calls, the seconds with and
without sites, their ratio, and the bytes of text.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "runtime" / "include"


def source(calls, sites):
    """A loop around a switch. In each of its cases a call that may throw, and a way out of the loop."""
    lines = ["#define VPROF_COLD_SITES 1", "#include <vprof/runtime/scope.h>"] if sites else []
    lines += [f"int action_{i}(int, int);" for i in range(calls)]
    lines += ["bool parse(int* stack, int (*next)()) {", f"VPROF_FUNCTION_N(1, {calls});" if sites else "",
              "int* top = stack; int value = 0;", "for (;;) {", "switch (next()) {"]
    for i in range(calls):
        call = f"action_{i}(top[0], top[-1])"
        if sites:
            call = f"VPROF_VALUE({i}, {i + 2}) {call} VPROF_VALUE_END({i})"
        lines.append(f"case {i}: if ({call}) return true; value = top[{i % 7}]; break;")
    lines += ["default: return false;", "}", "*++top = value;", "}", "}"]
    return "\n".join(lines) + "\n"


def compiled(options, text, directory):
    (directory / "parser.cpp").write_text(text, encoding="utf-8")
    start = time.monotonic()
    subprocess.run([options.compiler, "-O2", f"-I{options.include.resolve()}", "-c", "parser.cpp"], cwd=directory, check=True)
    seconds = time.monotonic() - start
    size = subprocess.run(["size", "parser.o"], cwd=directory, check=True, capture_output=True, text=True).stdout
    return seconds, int(size.splitlines()[1].split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--calls", default="100,200,400,800")
    parser.add_argument("--include", type=pathlib.Path, default=INCLUDE)
    options = parser.parse_args()
    print(f"{'calls':>6}{'plain':>10}{'sites':>10}{'ratio':>8}{'text':>10}{'with sites':>12}")
    with tempfile.TemporaryDirectory() as directory:
        for calls in map(int, options.calls.split(",")):
            plain_s, plain = compiled(options, source(calls, False), pathlib.Path(directory))
            sites_s, sites = compiled(options, source(calls, True), pathlib.Path(directory))
            print(f"{calls:6}{plain_s:8.2f} s{sites_s:8.2f} s{sites_s / plain_s:8.1f}{plain:8} B{sites:10} B")


main()
