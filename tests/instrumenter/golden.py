#!/usr/bin/env python3
"""Runs one golden test of the rewriter.

The input file says what to do in its own comments:
  EXPAND: f g          functions whose calls are measured (ALL: every function; EVERYTHING: trivial calls as well);
                       default ALL
  PLAN: {json}         more entries of plan.json (intervals, sync, ...)
  FLAGS: -std=c89      flags for the compilers, on top of -Wall -Wextra -Werror
  COMPILERS: gcc       only these families; default gcc and clang
  CHECK lines          read by FileCheck against the rewritten text
  UNWRAPPED: reason    a call must be listed as unwrapped for this reason
  LABELS: a b          labels that the trace must contain

Then the original, the instrumented and the armed text, in which the sites are in copies of the functions, are compiled
by both compilers and run (with sites: with each form of a site, without a trace, with all sites on, and with every other
one); all must print the same and exit the same.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def fail(message):
    print(message)
    sys.exit(1)


def directives(text, name):
    return [value.replace("*/", "").strip() for value in re.findall(r"(?:^|\W)" + name + r": *(.*)", text)]


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        fail(f"{' '.join(command)}\nexit {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def rewrite(arguments, text, mirror, work, name, flags, armed):
    driver = "clang++" if name.endswith((".cpp", ".cc")) else "clang"
    database = os.path.join(work, "compile_commands.json")
    with open(database, "w") as f:
        json.dump([{"directory": mirror, "file": name, "arguments": [driver, *flags, "-c", name]}], f)
    common = ["--mirror", mirror, "--pristine", os.path.join(work, "pristine")]
    index = os.path.join(work, "index.json")
    run([arguments.instrument, "index", "--compile-commands", database, "--cache", os.path.join(work, "cache"),
         "--out", index, *common])
    program = json.load(open(index))
    errors = [u for u in program["units"] if "error" in u]
    if errors:
        fail(f"not parsed: {errors}")
    wanted = " ".join(directives(text, "EXPAND")).split() or ["ALL"]
    expanded = [f["key"] for f in program["functions"]
                if f.get("in_tree") and (wanted == ["ALL"] or f["name"] in wanted)]
    plan = {"schema": 1, "expanded": expanded, "all": wanted == ["EVERYTHING"]}
    for extra in directives(text, "PLAN"):
        plan.update(json.loads(extra))
    if armed:
        plan.update({"all": True, "armed": True, "cxx_twins_from": 0})
    with open(os.path.join(work, "plan.json"), "w") as f:
        json.dump(plan, f)
    sites = os.path.join(work, "sites.json")
    run([arguments.instrument, "rewrite", "--index", index, "--plan", os.path.join(work, "plan.json"),
         "--sites", sites, *common])
    return json.load(open(sites))


def build_and_run(arguments, source, out, compiler, flags, instrumented):
    options = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-pthread", *flags]
    link = []
    if instrumented:
        options += ["-isystem", arguments.include]
        link = ["-L" + arguments.lib, "-Wl,-rpath," + arguments.lib, "-lvprof"]
    run([compiler, *options, "-o", out, source, "-lm", *link], cwd=os.path.dirname(source))
    outcomes = []
    environment = {k: v for k, v in os.environ.items() if not k.startswith("VPROF_")}
    some = ",".join(str(n) for n in range(1, 1000, 2))
    for sites in (None, "on", some) if instrumented else (None,):
        if sites:
            environment["VPROF_TRACE_DIR"] = trace_of(out)
            environment["VPROF_SITES"] = sites
            os.makedirs(environment["VPROF_TRACE_DIR"], exist_ok=True)
        done = subprocess.run([out], capture_output=True, text=True, env=environment, timeout=60)
        outcomes.append((done.returncode, done.stdout))
    return outcomes


def trace_of(program):
    return os.path.join(os.path.dirname(program), "trace")


def check_labels(trace, labels):
    """A label is stored in groups of 8 bytes, the last one padded with zeros; the first group is looked for."""
    recorded = b"".join(open(os.path.join(trace, name), "rb").read() for name in os.listdir(trace))
    for label in labels:
        if label.encode()[:8].ljust(8, b"\0") not in recorded:
            fail(f"the trace has no label \"{label}\"")


def parse_arguments(**more):
    parser = argparse.ArgumentParser()
    for option in ("instrument", "include", "lib", "filecheck", "clang"):
        parser.add_argument("--" + option, required=True)
    for name, options in more.items():
        parser.add_argument(name, **options)
    return parser.parse_args()


def forms_of(rewritten):
    """Flags for each form of a site, unless the text says which one it takes."""
    says = "#define VPROF_COLD_SITES" in open(rewritten, newline="").read()
    return [[]] if says else [["-UVPROF_COLD_SITES"], ["-DVPROF_COLD_SITES=1"]]


def compare(arguments, path, rewritten, work, flags):
    """All must print what the original prints, whoever compiles it."""
    expected = None
    cxx = path.endswith((".cpp", ".cc"))
    for family in " ".join(directives(open(path, newline="").read(), "COMPILERS")).split() or ["gcc", "clang"]:
        compiler = {"gcc": "g++" if cxx else "gcc",
                    "clang": arguments.clang.replace("clang", "clang++") if cxx else arguments.clang}[family]
        outcomes = build_and_run(arguments, os.path.abspath(path), os.path.join(work, "original"),
                                 compiler, flags, False)
        for text in rewritten:
            for form in forms_of(text):
                outcomes += build_and_run(arguments, text, executable_of(text), compiler, [*flags, *form], True)
        expected = expected or outcomes[0]
        for outcome in outcomes:
            if outcome != expected:
                fail(f"{family}: expected {expected}, got {outcome}")


def executable_of(rewritten):
    return os.path.join(os.path.dirname(os.path.dirname(rewritten)), "instrumented")


def rewritten_and_checked(arguments, path, work, flags, armed):
    """The rewritten text's path, and sites.json."""
    text = open(path, newline="").read()
    name = os.path.basename(path)
    mirror = os.path.join(work, "mirror")  # and with it, work
    shutil.copytree(os.path.dirname(os.path.abspath(path)), mirror)
    sites = rewrite(arguments, text, mirror, work, name, flags, armed)
    rewritten = os.path.join(mirror, name)
    prefix = "ARMED" if armed else "CHECK"
    if directives(text, prefix):
        run([arguments.filecheck, "--check-prefix", prefix, "--input-file", rewritten, path])
    if not armed:
        body = open(rewritten, newline="").read().split("#line 1\n", 1)[-1]
        if body.count("\n") != text.count("\n"):
            fail("rewriting changed the number of lines")
        reasons = {u["reason"] for u in sites["unwrapped"]}
        for reason in directives(text, "UNWRAPPED"):
            if not any(reason.strip() in r for r in reasons):
                fail(f"no call is unwrapped because: {reason}; there are {sorted(reasons)}")
    return rewritten, sites


def check(arguments, path):
    """sites.json of the instrumented program."""
    text = open(path, newline="").read()
    flags = " ".join(directives(text, "FLAGS")).split()
    with tempfile.TemporaryDirectory() as work:
        instrumented, sites = rewritten_and_checked(arguments, path, os.path.join(work, "instrumented"), flags, False)
        armed, _ = rewritten_and_checked(arguments, path, os.path.join(work, "armed"), flags, True)
        compare(arguments, path, (instrumented, armed), work, flags)
        labels = " ".join(directives(text, "LABELS")).split()
        for program in (instrumented, armed) if labels else ():
            check_labels(trace_of(executable_of(program)), labels)
    return sites


if __name__ == "__main__":
    options = parse_arguments(input={})
    check(options, options.input)
    print("1 passed, 0 failed")
