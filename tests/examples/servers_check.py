#!/usr/bin/env python3
"""The scripts of examples/httpd and examples/postgresql, without the servers: a small web server in
the place of httpd, and rounds of overhead.py that were written by hand.

Usage: servers_check.py EXAMPLES
"""

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
            "postgresql": ("latency average = 3.680 ms\ntps = 2172.1 (without initial connection time)\n"
                           "processor time of the server = 6.09 s\n",
                           {"rate": 2172.1, "latency_ms": 3.68, "processor_s": 6.09}),
        }
        for name, (text, figures) in printed.items():
            module = script(name)
            self.assertEqual(figures, module.overhead_study.figures(module.STUDY, text))

    def test_report_and_number_of_runs(self):
        for name in ("httpd", "postgresql"):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as scratch:
                root = Path(scratch)
                shutil.copytree(EXAMPLES / name, root / name, ignore=shutil.ignore_patterns(".vprof", "work"))
                shutil.copy(EXAMPLES / "overhead_study.py", root)
                place = root / name / "work/overhead"
                place.mkdir(parents=True)
                rounds = [{"plain": {"rate": 1000.0 * scale, "latency_ms": 1.0, "processor_s": 4.0},
                           "100": {"rate": 900.0 * scale, "latency_ms": 1.2, "processor_s": 5.0}} for scale in (1, 2, 5)]
                (place / "rounds.jsonl").write_text("".join(json.dumps(done) + "\n" for done in rounds))
                (place / "children.json").write_text(json.dumps(
                    [{"callee": f"f{number}", "expandable": True} for number in range(10)]))
                table = self.run_script(root / name, "report")
                self.assertRegex(table, r"(?m)^100 +1800 +1\.20 ms +5\.00 s +-10\.0 % +\+20\.0 % +\+25\.0 %$")
                self.assertIn("reaches f8 in run 4", self.run_script(root / name, "naive", "f2", "f8"))

    def run_script(self, example, *words):
        return subprocess.run([sys.executable, example / "overhead.py", *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
