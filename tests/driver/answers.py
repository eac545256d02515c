"""Answers for programs: every --json against its schema, OTLP against OpenTelemetry's own messages, links, annotated
source, and the server for assistants with a real client."""
import asyncio
import base64
import json
import os
import pty
import re
import stat
import subprocess
import sys
import unittest
from pathlib import Path
from urllib.parse import quote

import jsonschema
from google.protobuf import json_format
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from profiles import recording
from support import VPROF, Project

SCHEMAS = Path(os.environ["VPROF_DOCS"]).parent / "schemas"
TRACE = "4bf92f3577b34da6a3ce929d0e0e%04x"
SPAN = "00f067aa0ba902b7"


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.project = Project()
        cls.project.setUp()
        cls.addClassCleanup(cls.project.doCleanups)
        cls.root = cls.project.root
        cls.run_vprof("loop", "--auto", "--max-iterations", "2")
        recording(cls.root / "elsewhere", 20_000, context=lambda i: f"00-{TRACE % (i % 500 + 1)}-{SPAN}-01".encode())

    @classmethod
    def run_vprof(cls, *arguments, code=0, **environment):
        done = subprocess.run([VPROF, *map(str, arguments)], cwd=cls.root, capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    @classmethod
    def json(cls, *arguments, code=0):
        return json.loads(cls.run_vprof(*arguments, "--json", code=code).stdout)

    def valid(self, document, name):
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        self.assertEqual(schema["$id"], f"{name}.schema.json")
        errors = [f"{list(e.absolute_path)}: {e.message[:200]}" for e in
                  jsonschema.Draft7Validator(schema).iter_errors(document)]
        self.assertEqual(errors, [])
        self.assertEqual(document["$schema"], f"{name}.schema.json")
        self.assertEqual(document["schema"], 1)

    def worst(self):
        return str(self.json("report")["factors"][0]["worst"][0]["id"])

    def test_every_answer_has_its_schema(self):
        profile = self.root / ".vprof/iterations/1/profile.vprof"
        answers = [("report", "report"), ("report", "report", "--iteration", 1), ("report", "analyze"),
                   ("report", "analyze", "elsewhere"), ("report", "merge", "."), ("history", "history"),
                   ("timeline", "timeline", self.worst()), ("diff", "diff", profile, "."), ("check", "check"),
                   ("graph", "graph"), ("graph", "graph", "step"), ("source", "source", "order"),
                   ("annotate", "annotate", "order"), ("annotate", "annotate", "main")]
        for name, *arguments in answers:
            with self.subTest(arguments):
                self.valid(self.json(*arguments), name)

    def test_an_answer_with_a_trace_has_its_schema(self):
        self.valid(self.json("analyze", "elsewhere"), "report")
        timeline = self.json("timeline", TRACE % 4, "elsewhere")
        self.valid(timeline, "timeline")
        self.assertEqual(timeline["trace"], {"trace_id": TRACE % 4, "span_id": SPAN})
        self.assertEqual(timeline["others"], 3)

    def test_schemas_refuse_what_is_wrong(self):
        report = self.json("report")
        del report["interval"]
        with self.assertRaises(AssertionError):
            self.valid(report, "report")

    def test_check_says_what_is_wrong(self):
        file = self.root / "vprof.json"
        before = file.read_text()
        self.addCleanup(file.write_text, before)
        file.write_text(before.replace('"order"', '"odrer"'))
        answer = self.json("check", code=2)
        self.valid(answer, "check")
        self.assertEqual(answer["problems"], 1)
        self.assertIn("odrer", next(item for item in answer["items"] if item["state"] == "problem")["found"])

    def test_report_names_traces(self):
        self.assertRegex(self.run_vprof("analyze", "elsewhere", COLUMNS="200").stdout, r"trace 4bf92f3577b34da6a3ce929d0e0e")
        text = self.run_vprof("timeline", TRACE % 4, "elsewhere").stdout
        self.assertIn(f"trace {TRACE % 4}, within span {SPAN}", text)
        self.assertIn("the slowest of 4 with this key or trace", text)

    # ---- annotated source

    def test_annotate(self):
        function = self.json("annotate", "order")["functions"][0]
        self.assertTrue(function["measured"])
        self.assertFalse(function["changed"])
        costs = function["costs"]
        self.assertEqual(costs["intervals"], 200)
        step = next(site for site in costs["sites"] if site["callee"] == "step")
        self.assertEqual(function["lines"][step["line"] - function["first"]].strip(), "int sum = step(i);")
        self.assertEqual(step["calls"], 1)
        self.assertGreater(step["cost"]["share"], 0.9)
        text = self.run_vprof("annotate", "order", COLUMNS="120").stdout
        self.assertRegex(text, r"> +1\.00 +[\d.]+ \w+ +[\d.]+ \w+ +\d[\d.]* % +\d+ +int sum = step\(i\);")
        self.assertRegex(text, r"\n  +\d+  \}\n")

    def test_annotate_shows_what_was_measured(self):
        file = self.root / "src/main.c"
        before = file.read_text()
        self.addCleanup(file.write_text, before)
        file.write_text("\n\n" + before.replace("step(i)", "step(i + 0)"))
        function = self.json("annotate", "order")["functions"][0]
        self.assertTrue(function["changed"])
        self.assertIn("  int sum = step(i);", function["lines"])
        self.assertIn("edited since", self.run_vprof("annotate", "order").stdout)

    def test_annotate_of_what_has_no_source(self):
        for name, words in (("ordre", "order"), ("printf", "no definition")):
            self.assertIn(words, self.run_vprof("annotate", name, code=2).stderr)
        self.assertIn("interval", self.run_vprof("annotate", "order", "--interval", "none", code=2).stderr)

    # ---- links

    def at_a_terminal(self, *arguments, **environment):
        """What vprof writes to a pseudo-terminal."""
        controller, terminal = pty.openpty()
        done = subprocess.Popen([VPROF, *arguments], cwd=self.root, stdout=terminal, stderr=subprocess.STDOUT,
                                env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **environment})
        os.close(terminal)
        text = b""
        try:
            while part := os.read(controller, 65536):
                text += part
        except OSError:  # closed
            pass
        os.close(controller)
        return done.wait(), text.decode()

    def test_links_at_terminals(self):
        path = re.escape(quote(str(self.root / "src"))) + r"/(?:main|work)\.c"
        for verb in (("report",), ("report", "--tree"), ("annotate", "order")):
            code, text = self.at_a_terminal(*verb)
            self.assertEqual(code, 0)
            self.assertRegex(text, rf"\033]8;;file://[^/;]*{path}\033\\src/(?:main|work)\.c:\d+\033]8;;\033\\")
        _, text = self.at_a_terminal("report", VPROF_LINK_FORMAT="vscode")
        self.assertRegex(text, rf"\033]8;;vscode://file{path}:\d+:1\033")
        _, text = self.at_a_terminal("report", VPROF_LINK_FORMAT="x://open?{path}&at={line}")
        self.assertRegex(text, rf"\033]8;;x://open\?{path}&at=\d+\033")

    def test_no_links_elsewhere(self):
        for environment in ({"TERM": "dumb"}, {"TERM": ""}, {"VPROF_LINK_FORMAT": "none"}):
            self.assertNotIn("\033]8", self.at_a_terminal("report", **environment)[1])
        self.assertNotIn("\033", self.run_vprof("report", TERM="xterm").stdout)

    def test_a_format_of_links_that_is_none(self):
        code, text = self.at_a_terminal("report", VPROF_LINK_FORMAT="vscoed")
        self.assertEqual(code, 2)
        self.assertIn("VPROF_LINK_FORMAT", text)

    # ---- OpenTelemetry

    def spans(self, *arguments):
        """Parsed by OpenTelemetry's own messages. Their JSON has ids in hexadecimal, other than that of protocol
        buffers."""
        self.run_vprof("export", "--otlp", "spans.jsonl", *arguments)
        all_spans, services = [], set()
        for line in (self.root / "spans.jsonl").read_text().splitlines():
            document = json.loads(re.sub(r'"((?:trace|span|parentSpan)Id)":"([0-9a-f]*)"', lambda m: '"%s":"%s"' % (
                m[1], base64.b64encode(bytes.fromhex(m[2])).decode()), line))
            request = json_format.ParseDict(document, ExportTraceServiceRequest())
            for resource in request.resource_spans:
                services |= {a.value.string_value for a in resource.resource.attributes if a.key == "service.name"}
                all_spans += [span for scope in resource.scope_spans for span in scope.spans]
        return all_spans, services

    def test_spans_below_those_of_the_service(self):
        spans, services = self.spans("elsewhere")
        self.assertEqual(services, {"unknown_service"})  # the recording names no program
        known = {span.span_id: span for span in spans}
        self.assertEqual(len(known), len(spans), "span ids are unique")
        roots = [span for span in spans if span.parent_span_id not in known]
        self.assertTrue(all(span.name == "request" and span.parent_span_id.hex() == SPAN for span in roots))
        self.assertTrue(all(len(span.trace_id) == 16 and len(span.span_id) == 8 for span in spans))
        for span in spans:
            parent = known.get(span.parent_span_id)
            self.assertLess(span.start_time_unix_nano, span.end_time_unix_nano)
            if parent:
                self.assertEqual(span.trace_id, parent.trace_id)
                self.assertLessEqual(parent.start_time_unix_nano, span.start_time_unix_nano)
                self.assertGreaterEqual(parent.end_time_unix_nano, span.end_time_unix_nano)
            self.assertTrue(all(link.span_id in known for link in span.links))
        self.assertIn("g", {span.name for span in spans})

    def test_spans_of_a_program_without_traces(self):
        spans, services = self.spans()
        self.assertEqual(services, {"prog"})
        self.assertTrue(any(span.name == "step" for span in spans))
        self.run_vprof("export", "--otlp", "named.jsonl", OTEL_SERVICE_NAME="shop")
        self.assertIn('{"stringValue":"shop"}', (self.root / "named.jsonl").read_text())

    # ---- the server for assistants

    def session(self, talk, *options):
        async def run():
            server = StdioServerParameters(command=VPROF, args=["-C", str(self.root), "mcp", *options],
                                           env={**os.environ, "VPROF_PYTHON": sys.executable})
            async with Client(server) as client:
                await talk(client)

        asyncio.run(run())

    def test_an_assistant_reads_results(self):
        async def talk(client):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            self.assertEqual(set(tools), {"iterations", "factors", "tree", "timeline", "annotate", "graph", "source", "diff",
                                          "check"})
            self.assertTrue(all(tool.annotations.read_only_hint and tool.description for tool in tools.values()))

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                self.assertFalse(result.is_error, result.content)
                return result.structured_content

            self.assertEqual((await call("iterations"))["iterations"], self.json("history")["iterations"])
            factors = await call("factors", most=1)
            self.assertEqual(len(factors["factors"]), 1)
            self.assertEqual(factors["more_factors"], len(self.json("report")["factors"]) - 1)
            interval = str(factors["factors"][0]["worst"][0]["id"])
            timeline = await call("timeline", interval=interval, most=2)
            self.assertEqual(timeline["id"], interval)
            self.assertLessEqual(len(timeline["pieces"]), 2)
            tree = (await call("tree", iteration=1, least=0.5))["tree"]
            self.assertEqual(tree["function"], "order")
            children = self.json("report", "--iteration", 1)["tree"]["children"]
            large = [child for child in children if max(abs(child["share"]), abs(child["contribution"])) >= 0.5]
            self.assertEqual(tree["left_out"], len(children) - len(large))
            self.assertEqual([child["function"] for child in tree["children"]], [child["function"] for child in large])
            self.assertEqual((await call("annotate", function="order"))["functions"][0]["name"], "order")
            self.assertIn("edges", await call("graph", function="step"))
            self.assertIn("VPROF_", (await call("source", function="order"))["diff"])
            self.assertIn("figures", await call("diff", before="1", after="2"))
            self.assertEqual((await call("check"))["problems"], 0)

        self.session(talk)

    def test_an_assistant_gets_errors_as_they_are(self):
        async def talk(client):
            for name, arguments, words in (("annotate", {"function": "ordre"}, 'did you mean "order"'),
                                           ("annotate", {"function": "--help"}, "--help"),
                                           ("factors", {"iteration": 99}, "99"),
                                           ("diff", {"before": "1", "after": "--json"}, "--json"),
                                           ("timeline", {"interval": "x; rm"}, "pattern"),
                                           ("loop", {}, "loop")):
                try:
                    result = await client.call_tool(name, arguments)
                    self.assertTrue(result.is_error, name)
                    text = str(result.content)
                except Exception as error:  # of the protocol, such as an unknown tool
                    text = str(error)
                self.assertIn(words, text)

        before = sorted(path.stat().st_mtime_ns for path in (self.root / ".vprof").rglob("*.json"))
        self.session(talk)
        self.assertEqual(sorted(path.stat().st_mtime_ns for path in (self.root / ".vprof").rglob("*.json")), before)

    def test_an_assistant_may_run_the_loop_if_told(self):
        async def talk(client):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            self.assertFalse(tools["loop"].annotations.read_only_hint)
            result = await client.call_tool("loop", {"max_iterations": 2})
            self.assertFalse(result.is_error, result.content)
            self.assertEqual(len(result.structured_content["iterations"]), 2)

        self.session(talk, "--allow-runs")

    def test_without_the_package_one_line_says_how_to_get_it(self):
        python = self.root / "python-without-packages"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        done = subprocess.run([VPROF, "mcp"], cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, env={**os.environ, "VPROF_PYTHON": str(python)})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("pip install", done.stderr)
        self.run_vprof("mcp", code=2, VPROF_PYTHON="/no/such/python")


if __name__ == "__main__":
    unittest.main()
