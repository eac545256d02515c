#!/usr/bin/env python3
"""The scripts of the examples with servers, without the servers: a small web server in the place of
httpd, a script in the place of vprof, and rounds of overhead.py that were written by hand.

Usage: servers_check.py EXAMPLES
"""

import dataclasses
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLES = Path(sys.argv.pop(1)).resolve()

# Serves the files that the configuration names, and keeps connections alive, as httpd does. FAULT
# says what it does wrong.
SERVER = r'''#!/usr/bin/env python3
import http.server, os, pathlib, re, signal, sys, threading
text = pathlib.Path(sys.argv[sys.argv.index("-f") + 1]).read_text()
def told(key):
    return re.search(rf'^{key} "?([^"\n]+)', text, re.M)[1]
root, fault = pathlib.Path(told("DocumentRoot")), os.environ.get("FAULT")
pathlib.Path(os.environ["SEEN"]).write_text(text + f"\nrecorded: {os.environ.get('VPROF_TRACE_DIR')}\n")
pathlib.Path(told("ErrorLog")).write_text("AH00052: child exit signal Segmentation fault\n" if fault == "child" else "")
asked = open(told("CustomLog").split()[0], "w", buffering=1)
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", 1 << 16
    def log_message(self, *words): pass
    def do_GET(self):
        path, _, label = self.path.partition("?")
        asked.write(f"{path} {label} {self.headers.get('Connection')}\n")
        file = root / path[1:]
        bad = not file.is_file() or (fault == "status" and label == "medium")
        body = b"" if bad else file.read_bytes()
        self.send_response(500 if bad else 200)
        self.send_header("Content-Length", str(len(body)))
        if self.headers.get("Connection") == "close": self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64
    def handle_error(self, *words): pass
server = Server(("127.0.0.1", int(told("Listen").split(":")[1])), Handler)
def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "mpm_prefork" in text: os.killpg(0, signal.SIGTERM)  # as httpd's prefork does
    threading.Thread(target=server.shutdown).start()
signal.signal(signal.SIGTERM, end)
server.serve_forever()
os._exit(3 if fault == "exit" else 0)
'''


class Workload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = Path(tempfile.mkdtemp())  # made once for all tests
        cls.addClassCleanup(shutil.rmtree, cls.files)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.place)
        (self.place / "installed/bin").mkdir(parents=True)
        (self.place / "installed/modules").mkdir()
        for module in ("mpm_event", "mpm_prefork", "dir"):
            (self.place / f"installed/modules/mod_{module}.so").touch()
        server = self.place / "installed/bin/httpd"
        server.write_text(SERVER)
        server.chmod(0o755)

    def work(self, *words, **environment):
        told = {"REQUESTS": "400", "CONNECTIONS": "4", "WORK": str(self.files), "SEEN": str(self.place / "seen")}
        done = subprocess.run([EXAMPLES / "httpd/workload.sh", *words], cwd=self.place, env={**os.environ, **told, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def asked(self):
        return [line.split() for line in (self.files / "access.log").read_text().splitlines()]

    def test_all_requests_are_answered(self):
        status, out = self.work(VPROF_TRACE_DIR="/somewhere", SETTINGS="EnableMMAP off; KeepAliveTimeout 7", COLD="20", CLOSE="50")
        self.assertEqual(0, status, out)
        # wrk ends soon after the last request, not with it.
        self.assertGreaterEqual(int(re.search(r"(?m)^requests = (\d+), failed = 0$", out)[1]), 380)
        for figure in ("requests per second", "latency average", "processor time of the server"):
            self.assertRegex(out, rf"(?m)^{figure} = [\d.]+")
        labels = [label for _, label, _ in self.asked()]
        self.assertLessEqual({"small", "medium", "large", "cold"}, set(labels))
        cold = [path for path, label, _ in self.asked() if label == "cold"]
        self.assertEqual(len(cold), len(set(cold)), "a cold file was asked for twice")
        self.assertGreater(len(cold), 30)
        closed = sum(how == "close" for _, _, how in self.asked())
        self.assertTrue(0.3 < closed / len(labels) < 0.7, closed)
        seen = (self.place / "seen").read_text()
        self.assertIn("recorded: /somewhere", seen)
        self.assertRegex(seen, r"EnableMMAP off\n+ *KeepAliveTimeout 7")
        self.assertIn("LoadModule mpm_event_module", seen)
        self.assertNotIn("LoadModule mpm_prefork_module", seen)

    def test_a_load_without_end_has_few_cold_files(self):
        status, out = self.work(COLD="40", COLD_FILES="10")
        self.assertEqual(0, status, out)
        cold = [path for path, label, _ in self.asked() if label == "cold"]
        self.assertEqual({f"/cold/{number}" for number in range(10)}, set(cold))
        self.assertGreater(len(cold), 30)

    def test_the_other_mpm(self):
        status, out = self.work(MPM="prefork")
        self.assertEqual(0, status, out)
        self.assertIn("LoadModule mpm_prefork_module", (self.place / "seen").read_text())
        status, out = self.work(MPM="wroker")
        self.assertEqual(2, status, out)

    def test_what_fails_is_not_a_measurement(self):
        for fault, says in (("status", "requests failed"), ("exit", "ended with status 3"), ("child", "a child of the server died")):
            with self.subTest(fault=fault):
                status, out = self.work(FAULT=fault)
                self.assertEqual(1, status, out)
                self.assertIn(says, out)

    def test_responses_are_the_same_twice(self):
        for name in ("first", "second"):
            status, out = self.work("responses", str(self.place / name))
            self.assertEqual(0, status, out)
        self.assertEqual((self.place / "first").read_bytes(), (self.place / "second").read_bytes())
        self.assertGreater((self.place / "first").stat().st_size, 1 << 20)


# A program in the place of vprof: root calls hot 30 times and seldom once, hot calls x once for each
# ten times it runs, seldom calls deep, which is measured at its entry and calls y. It builds a file
# that says which sites are in it.
VPROF = r'''
import array, json, os, pathlib, sys
here, verb = pathlib.Path(sys.argv[2]), sys.argv[5]  # -C DIR --config FILE VERB
if verb == "record": assert (here / sys.argv[4]).exists()
dot = here / ".vprof"
SITES = [("root", "hot", 1, 30), ("root", "seldom", 2, 1), ("hot", "x", 3, 3), ("seldom", "deep", 4, 1), ("deep", "y", 5, 1)]
FUNCTIONS = ["root", "hot", "seldom", "deep", "x", "y"]
state = json.loads((dot / "state.json").read_text())
expanded = {"root", *state["expanded"]}
out = {one["site"] for one in state["demoted"]}
on = [(i, *site) for i, site in enumerate(SITES) if site[0] in expanded and f"a.c:{site[2]}:1" not in out]
if verb == "build":
    if len(on) == int(os.environ.get("FAIL", 99)): sys.exit("cannot build")
    (dot / "mirror/memcached").write_text(json.dumps({"expanded": state["expanded"], "sites": [f"a.c:{s[3]}:1" for s in on]}))
elif verb == "instrument":
    (dot / "sites.json").write_text(json.dumps({
        "functions": [{"id": i, "name": name, "key": name, "expandable": name not in "xy"} for i, name in enumerate(FUNCTIONS)],
        "sites": [{"id": i, "file": "a.c", "line": line, "column": 1, "function": FUNCTIONS.index(callee),
                   **({"kind": "function"} if callee == "deep" else {"kind": "call", "parent": FUNCTIONS.index(parent)})}
                  for i, parent, callee, line, _ in on]}))
elif verb == "record":
    trace = dot / "iterations/3/trace"
    trace.mkdir(parents=True, exist_ok=True)
    words = [word for i, *_, calls in on for _ in range(2 * calls) for word in (1, i)]
    (trace / "1.vpt").write_bytes(array.array("Q", words).tobytes())
elif verb == "analyze":
    def node(name, site):
        below = [node(callee, "" if callee == "deep" else f"a.c:{line}") for _, parent, callee, line, _ in on if parent == name]
        return {"kind": "function", "function": name, "key": name, "site": site, "children": below + [{"kind": "body", "function": name, "children": []}]}
    tree = node("root", "")
    print(json.dumps({"interval": {"count": 2}, "tree": {"kind": "function", "function": "request", "children": [tree]}}))
'''


def script(name):
    spec = importlib.util.spec_from_file_location(f"{name}_overhead", EXAMPLES / name / "overhead.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Overhead(unittest.TestCase):
    def test_figures_are_those_that_the_workloads_print(self):
        printed = {
            "httpd": ("requests per second = 11095.8\nlatency average = 1.130 ms\nprocessor time of the server = 4.77 s\n",
                      {"rate": 11095.8, "latency_ms": 1.13, "processor_s": 4.77}),
            "mariadb": ("    transactions:                        8000   (560.74 per sec.)\n         avg:                 14.25\n"
                        "processor time of the server = 6.00 s\n",
                        {"rate": 560.74, "latency_ms": 14.25, "processor_s": 6.0}),
            "memcached": ("300000 requests in 6.8 s (44425/s, 1618 MB/s), 91.1 % of keys found, 0 failed\n"
                          "processor time of the server = 5.79 s\n", {"rate": 44425.0, "processor_s": 5.79}),
            "postgresql": ("latency average = 3.680 ms\ntps = 2172.1 (without initial connection time)\n"
                           "processor time of the server = 6.09 s\n",
                           {"rate": 2172.1, "latency_ms": 3.68, "processor_s": 6.09}),
        }
        for name, (text, figures) in printed.items():
            module = script(name)
            self.assertEqual(figures, module.overhead_study.figures(module.STUDY, text))

    def test_report_and_number_of_runs(self):
        for name in ("httpd", "mariadb", "postgresql"):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as scratch:
                root = Path(scratch)
                shutil.copytree(EXAMPLES / name, root / name, ignore=shutil.ignore_patterns(".vprof", "work"))
                shutil.copy(EXAMPLES / "overhead_study.py", root)
                place = root / name / "work/overhead"
                place.mkdir(parents=True)
                rounds = [{"plain": {"rate": 1000.0 * scale, "latency_ms": 1.0, "processor_s": 4.0},
                           "100": {"rate": 900.0 * scale, "latency_ms": 1.2, "processor_s": 5.0}} for scale in (1, 2, 5)]
                (place / "rounds.jsonl").write_text("".join(json.dumps(done) + "\n" for done in rounds))
                children = [{"callee": f"f{number}", "expandable": True} for number in range(10)]
                (place / "children.json").write_text(json.dumps([children, [], {}]))
                table = self.run_script(root / name, "report")
                self.assertRegex(table, r"(?m)^100 +1800 +1\.20 ms +5\.00 s +-10\.0 % +\+20\.0 % +\+25\.0 %$")
                self.assertIn("reaches f8 in run 4", self.run_script(root / name, "naive", "f2", "f8"))

    def test_what_is_broken_down_next(self):
        keys = ["a@sql/a.cc:1", "T::b@sql/b.h:2", "c@storage/innobase/include/c.ic:3", "d@sql/d.cc:4", "a@sql/a.cc:1"]
        children = [{"key": key, "expandable": True} for key in keys] + [{"key": "e@sql/e.cc:5", "expandable": False}]
        for name, more in (("mariadb", ["a@sql/a.cc:1"]), ("memcached", keys[:3])):
            module = script(name)
            self.assertEqual(more, module.overhead_study.to_break_down(module.STUDY, children, ["d@sql/d.cc:4"]))

    def test_variants_are_what_requests_call_level_by_level(self):
        with tempfile.TemporaryDirectory() as scratch:
            example = Path(scratch) / "memcached"
            shutil.copytree(EXAMPLES / "memcached", example, ignore=shutil.ignore_patterns(".vprof", "work"))
            shutil.copy(EXAMPLES / "overhead_study.py", scratch)
            (example / ".vprof/mirror").mkdir(parents=True)
            (example / "work").mkdir()
            (example / "plain.sh").write_text("#!/bin/sh\ntouch work/built\n")
            left = {"expanded": ["of the search"], "demoted": [], "iteration": 3, "history": []}
            state = example / ".vprof/state.json"
            state.write_text(json.dumps(left))
            vprof = Path(scratch) / "vprof"
            vprof.write_text(f"#!{sys.executable}\n" + VPROF)
            vprof.chmod(0o755)
            environment = {**os.environ, "VPROF": str(vprof)}

            def prepare(**more):
                return subprocess.run([sys.executable, example / "overhead.py", "prepare", "--children", "1,4"], cwd=example,
                                      env={**environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

            done = prepare()
            self.assertEqual(0, done.returncode, done.stdout)
            # root makes a call 30 times per request, and hot is called as often, so "4 seldom" has only what the others call.
            built = {name: json.loads((example / "work/overhead" / name / "memcached").read_text()) for name in ("1", "4", "4 seldom")}
            self.assertEqual({"1": ["a.c:1:1"], "4": ["a.c:1:1", "a.c:2:1", "a.c:3:1", "a.c:4:1"],
                              "4 seldom": ["a.c:4:1", "a.c:5:1"]},
                             {name: one["sites"] for name, one in built.items()})
            self.assertEqual({"1": ["root"], "4": ["hot", "root", "seldom"], "4 seldom": ["deep", "seldom"]},
                             {name: one["expanded"] for name, one in built.items()})
            self.assertIn("2 functions are called, or make a call, more than 20 times", done.stdout)
            self.assertIn("4: built with 4 call sites in 3 functions, 35 calls recorded per request", done.stdout)
            self.assertEqual(left, json.loads(state.read_text()))

            # What is there is not built again.
            shutil.rmtree(example / "work/overhead/4")
            done = prepare(FAIL="4")
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertEqual(left, json.loads(state.read_text()), "a failure must leave the search as it was")
            self.assertFalse((example / "vprof.overhead.json").exists())
            done = prepare()
            self.assertEqual(0, done.returncode, done.stdout)
            self.assertTrue((example / "work/overhead/4/memcached").exists())
            self.assertEqual(["4"], re.findall(r"(?m)^(.*): built with", done.stdout))
            self.assertNotIn("broken down", done.stdout)

    def test_files_to_leave_whole_are_added_to_those_excluded(self):
        with tempfile.TemporaryDirectory() as scratch:
            module = script("mariadb")
            Path(scratch, ".vprof").mkdir()
            shutil.copy(EXAMPLES / "mariadb/vprof.json", scratch)
            study = dataclasses.replace(module.STUDY, here=Path(scratch))
            module.overhead_study.write_configuration(study)
            before, after = (Path(scratch, name).read_text() for name in ("vprof.json", "vprof.overhead.json"))
            self.assertEqual(before.replace('"exclude": [', '"exclude": ["*.h", "*.ic", "*.hpp", '), after)
            self.assertNotEqual(before, after)
            Path(scratch, "vprof.json").write_text("{}")
            with self.assertRaisesRegex(SystemExit, "has no list `exclude`"):
                module.overhead_study.write_configuration(study)

    def run_script(self, example, *words):
        return subprocess.run([sys.executable, example / "overhead.py", *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
