"""Bad input: one clear error line, exit code 2, no data lost, and an unchanged source tree."""
import shutil
import subprocess
import unittest

from support import VPROF, Project


class BadInput(Project):
    def fails(self, *arguments, words, env=None):
        before = self.snapshot()
        done = super().fails(*arguments, words=words, env=env)
        self.assertEqual(self.snapshot(), before)
        return done

    def test_no_configuration(self):
        (self.root / "vprof.json").unlink()
        for verb in ("loop", "check", "index", "build", "record", "analyze", "report"):
            self.fails(verb, *(["--auto"] if verb == "loop" else []), words=["vprof.json", "vprof init"])
        self.fails("-C", "nowhere", "check", words=["nowhere"])

    def test_malformed_json(self):
        self.config('"run": "./prog",', '"run": "./prog"')
        self.fails("loop", "--auto", words=["vprof.json:4:", "malformed JSON"])

    def test_unknown_key(self):
        self.config('"intervals"', '"intervls"')
        self.fails("loop", "--auto", words=["vprof.json:4:", '"intervls" is unknown', 'did you mean "intervals"?'])

    def test_unknown_verb_and_option(self):
        self.fails("lop", words=["no verb 'lop'", "did you mean 'loop'?", "vprof --help"])
        self.fails("-C", ".", "histroy", words=["did you mean 'history'?"])
        self.fails("xyzzyx", words=["no verb 'xyzzyx'; `vprof --help`"])
        self.fails("loop", "--atuo", words=["no option --atuo", "did you mean '--auto'?", "vprof loop --help"])
        self.fails("diff", "a", "b", "--fail-iff=p99>1x", words=["did you mean '--fail-if'?"])
        self.fails("loop", "--resume", "--restart", words=["--re"])

    def test_one_answer_at_a_time(self):
        for options in (["--json", "--tree"], ["--tree", "--html", "a.html"], ["--html", "a.html", "--json"]):
            self.fails("report", *options, words=["excludes"])
        self.fails("report", "--html", "--json", words=["--html", "name a file; --json is an option"])
        self.fails("export", "--csv", "-", "--otlp", "-", words=["only one of --perfetto", "standard output"])

    def test_an_answer_that_is_not_written_is_an_error(self):
        for arguments in (("manual",), ("check", "--json"), ("--help",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([VPROF, *arguments], cwd=self.root, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"^vprof: cannot write to standard output(: No space left on device)?\n$")
        # Nobody reads on, as with `| head -1`: that is no error.
        reader = subprocess.Popen([VPROF, "manual"], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reader.stdout.close()
        self.assertEqual((reader.wait(), reader.stderr.read()), (0, b""))
        reader.stderr.close()

    def test_no_terminal_to_ask_at(self):
        self.fails("loop", words=["--auto"])
        self.assertFalse((self.root / ".vprof").exists())

    def test_unknown_function(self):
        self.config('"function": "order"', '"function": "oder"')
        self.fails("loop", "--auto", words=["vprof.json:5:", '"oder"', '"order"', "src/main.c:4"])
        self.fails("instrument", words=["vprof.json:5:", '"oder"'])
        self.fails("check", words=["1 problem"])
        # No data is lost: the index exists, and the corrected name works.
        self.config('"function": "oder"', '"function": "order"')
        self.vprof("instrument", "--expand", "step")
        self.fails("instrument", "--expand", "stepp", words=["--expand", '"step"'])

    def test_ambiguous_function(self):
        self.write("src/other.c", "static int order(int i) {\n  return i;\n}\nint other(void) {\n  return order(1);\n}\n")
        self.write("Makefile", (self.root / "Makefile").read_text().replace("src/work.o", "src/work.o src/other.o", 1))
        self.fails("loop", "--auto", words=["ambiguous", "order@src/main.c:4", "order@src/other.c:1"])

    def test_function_of_a_library(self):
        self.config('"function": "order"', '"function": "clock_gettime"')
        self.fails("loop", "--auto", words=["clock_gettime", "not defined in the source tree"])

    def test_function_that_is_never_called(self):
        self.config('"function": "order"', '"function": "never"')
        self.fails("loop", "--auto", words=["vprof.json:5:", "order", "never", "never called"])
        # With a function of the workload the loop continues; only the search starts over.
        self.config('"function": "never"', '"function": "order"')
        self.vprof("loop", "--auto", "--max-iterations", "1")

    def test_no_interval_is_defined(self):
        self.config('{ "name": "order", "function": "order" }', "")
        self.fails("loop", "--auto", words=["intervals", "vprof_begin"])

    def test_build_that_fails(self):
        self.write("src/work.c", (self.root / "src/work.c").read_text() + "this is not C\n")
        done = self.fails("loop", "--auto", words=["build command", "exit code 2", ".vprof/iterations/0/build.log"])
        self.assertIn("  | src/work.c", done.stderr)
        self.write("src/work.c", (self.root / "src/work.c").read_text().replace("this is not C\n", ""))
        self.vprof("loop", "--auto", "--max-iterations", "1")

    def test_configure_that_fails(self):
        self.config('"build"', '"configure": "echo no compiler; exit 77", "build"')
        done = self.fails("loop", "--auto", words=["configure command", "exit code 77", "configure.log"])
        self.assertIn("  | no compiler", done.stderr)

    def test_build_that_compiles_nothing(self):
        self.config('"make"', '"true"')
        self.fails("loop", "--auto", words=["compiled nothing", "make clean", "statically linked build tool"])

    def test_workload_that_fails(self):
        self.config('"./prog"', '"./prog && echo server lost >&2 && exit 3"')
        done = self.fails("loop", "--auto", words=["the workload failed with exit code 3", "baseline.log"])
        self.assertIn("  | server lost", done.stderr)
        self.config(' && echo server lost >&2 && exit 3', "")
        self.assertIn("resuming iteration 1", self.vprof("loop", "--auto", "--max-iterations", "1").stdout)

    def test_workload_that_is_killed(self):
        self.config('"./prog"', '"kill -SEGV $$"')
        self.fails("loop", "--auto", words=["killed by signal 11"])

    def test_workload_without_the_program(self):
        self.config('"./prog"', '"true"')
        self.fails("loop", "--auto", words=['"run" does not start the program', ".vprof/mirror"])

    def test_workload_without_an_interval(self):
        self.write("src/main.c", (self.root / "src/main.c").read_text().replace("i < 200", "i < 0"))
        self.fails("loop", "--auto", words=["vprof.json:5:", '"order"', "never called"])

    def test_steps_out_of_order(self):
        self.fails("instrument", words=["vprof index"])
        self.fails("record", words=["vprof index"])
        self.fails("report", words=["vprof loop"])
        self.fails("graph", "order", words=["vprof index"])
        for arguments in (("analyze",), ("timeline", "5"), ("export", "--csv", "rows.csv")):
            self.fails(*arguments, words=["there is no recording .vprof/iterations/", "`vprof record` makes one"])

    def test_damaged_state(self):
        self.vprof("index")
        self.write(".vprof/state.json", "{")
        self.fails("loop", "--auto", words=["state.json", "damaged"])
        self.write(".vprof/state.json", "{}")
        self.fails("loop", "--auto", words=["state.json", "delete it"])

    def test_missing_installation(self):
        self.fails("index", words=["VPROF_HOME"], env={"VPROF_HOME": "/nonexistent"})


class BadTraces(Project):
    """Files that are not traces, and traces with parts missing."""

    def setUp(self):
        super().setUp()
        self.vprof("loop", "--auto", "--max-iterations", "1")
        self.copy = self.root.parent / "copy"
        shutil.copytree(self.root / ".vprof/iterations/1/trace", self.copy)
        self.trace = next(self.copy.glob("*.vpt"))

    def test_a_recording_from_elsewhere_is_analysed(self):
        state = (self.root / ".vprof/state.json").read_text()
        self.assertIn("step", self.vprof("analyze", str(self.copy)).stdout)
        self.assertEqual((self.root / ".vprof/state.json").read_text(), state)

    def test_foreign_trace(self):
        self.trace.write_bytes(b"#!/bin/sh\necho not a trace\n" * 1000)
        self.fails("analyze", str(self.copy), words=[self.trace.name])

    def test_truncated_trace(self):
        whole = self.trace.read_bytes()
        for size in (0, 7, 100):
            self.trace.write_bytes(whole[:size])
            self.fails("analyze", str(self.copy), words=[])

    def test_trace_without_its_second_half(self):
        whole = self.trace.read_bytes()
        self.trace.write_bytes(whole[:len(whole) // 2])
        # Either the rest is analysed, or one line says why not; never a crash.
        result = subprocess.run([VPROF, "analyze", str(self.copy)], cwd=self.root, capture_output=True, text=True)
        self.assertIn(result.returncode, (0, 2), result.stderr)

    def test_no_trace(self):
        self.trace.unlink()
        self.fails("analyze", str(self.copy), words=["copy"])
        self.fails("analyze", str(self.root / "src"), words=["sites.json"])
        self.fails("analyze", "nowhere", words=["nowhere"])


if __name__ == "__main__":
    unittest.main()
