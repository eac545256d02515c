#!/usr/bin/env python3
"""How long a compiler takes for one large C++ function, as a parser has it, with many timed calls, and what that needs.

    large_function.py [--compiler g++] [--calls 100,200,400,800] [--own-slots]

With --own-slots each call has a slot of its own in the function's frame, as if all were in one expression. Prints, for
each number of calls, the seconds with and without sites, their ratio, and the bytes of text and of stack of both.
"""
import argparse
import pathlib
import subprocess
import tempfile
import time

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "runtime" / "include"


def source(calls, sites, slots):
    """A loop around a switch. In each of its cases a call that may throw, and a way out of the loop."""
    lines = ["#define VPROF_COLD_SITES 1", "#include <vprof/runtime/scope.h>"] if sites else []
    lines += [f"int action_{i}(int, int);" for i in range(calls)]
    lines += ["bool parse(int* stack, int (*next)()) {", f"VPROF_FUNCTION_N(1, {slots});" if sites else "",
              "int* top = stack; int value = 0;", "for (;;) {", "switch (next()) {"]
    for i in range(calls):
        call = f"action_{i}(top[0], top[-1])"
        if sites:
            call = f"VPROF_VALUE({i % slots}, {i + 2}) {call} VPROF_VALUE_END({i % slots})"
        lines.append(f"case {i}: if ({call}) return true; value = top[{i % 7}]; break;")
    lines += ["default: return false;", "}", "*++top = value;", "}", "}"]
    return "\n".join(lines) + "\n"


def compiled(options, text, directory):
    (directory / "parser.cpp").write_text(text, encoding="utf-8")
    start = time.monotonic()
    subprocess.run([options.compiler, "-O2", "-fstack-usage", f"-I{INCLUDE}", "-c", "parser.cpp"], cwd=directory, check=True)
    seconds = time.monotonic() - start
    size = subprocess.run(["size", "parser.o"], cwd=directory, check=True, capture_output=True, text=True).stdout
    usage = (directory / "parser.su").read_text(encoding="utf-8")
    stack = next(line.split("\t")[1] for line in usage.splitlines() if "parse(" in line)
    return seconds, int(size.splitlines()[1].split()[0]), int(stack)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--calls", default="100,200,400,800")
    parser.add_argument("--own-slots", action="store_true")
    options = parser.parse_args()
    print("calls      plain       sites   ratio        text  with sites    stack  with sites")
    with tempfile.TemporaryDirectory() as directory:
        for calls in map(int, options.calls.split(",")):
            slots = calls if options.own_slots else 1
            plain_s, plain, stack = compiled(options, source(calls, False, slots), pathlib.Path(directory))
            sites_s, sites, deep = compiled(options, source(calls, True, slots), pathlib.Path(directory))
            print(f"{calls:5}{plain_s:9.2f} s{sites_s:10.2f} s{sites_s / plain_s:8.1f}{plain:10} B{sites:10} B"
                  f"{stack:7} B{deep:10} B")


main()
