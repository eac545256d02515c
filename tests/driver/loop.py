"""`vprof loop --auto`, its single steps, and edits of the source between two runs."""
import json
import os
import unittest

import support
from support import Project


class Loop(Project):
    def report(self):
        return json.loads((self.root / ".vprof/report.json").read_text())

    def state(self):
        return json.loads((self.root / ".vprof/state.json").read_text())

    def test_the_cause_is_found_and_the_source_left_alone(self):
        before = self.snapshot()
        out = self.vprof("loop", "--auto").stdout
        self.assertEqual(self.snapshot(), before)
        self.assertIn("expanding order", out)
        self.assertIn("expanding step", out)
        self.assertIn("deep", self.state()["expanded"][-1] + str(self.state()["expanded"]))
        report = self.report()
        self.assertEqual(report["schema"], 1)
        self.assertEqual(len(report["iterations"]), self.state()["iteration"])
        self.assertEqual(report["iterations"][0]["expanded"], ["order"])
        self.assertGreater(report["overhead"]["baseline_mean_ns"], 0)
        low, high = report["overhead"]["mean_ratio_ci95"]
        self.assertTrue(0 < low < report["overhead"]["mean_ratio"] < high, report["overhead"])
        self.assertTrue(any(f["status"] == "selected" for f in report["factors"]))
        # The profile outlives the decisions.
        merged = json.loads(self.vprof("merge", ".", "--json").stdout)
        self.assertEqual(merged["interval"]["count"], report["interval"]["count"])
        # Only the traces of the last iteration are kept, and none of the baseline.
        self.assertEqual([p.parent.name for p in (self.root / ".vprof/iterations").glob("*/trace")],
                         [str(self.state()["iteration"])])
        self.assertFalse(list((self.root / ".vprof/iterations").glob("*/baseline")))
        # diff and merge read the profile of the last iteration.
        profile = (self.root / ".vprof/profile.vprof").read_bytes()
        self.assertGreater(len(profile), 1000)
        self.assertEqual(profile, (self.root / f".vprof/iterations/{self.state()['iteration']}/profile.vprof").read_bytes())
        self.assertIn("variance", self.vprof("diff", ".", ".").stdout)
        # A finished loop stays finished: from the profile file it comes to the same decision and report.
        written = (self.root / ".vprof/report.json").read_bytes()
        again = self.vprof("loop", "--auto").stdout
        self.assertNotIn("expanding", again)
        self.assertIn("done after iteration", again)
        self.assertEqual((self.root / ".vprof/report.json").read_bytes(), written)

    def test_the_decision_does_not_need_the_report(self):
        self.vprof("loop", "--auto", "--max-iterations", "1")
        written = (self.root / ".vprof/report.json").read_bytes()
        for path in (".vprof/report.json", ".vprof/iterations/1/report.json"):
            (self.root / path).unlink()
        self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertEqual((self.root / ".vprof/report.json").read_bytes(), written)
        (self.root / ".vprof/iterations/1/profile.vprof").write_bytes(b"damaged")
        self.fails("loop", "--auto", words=["iterations/1/profile.vprof", "--restart"])

    def test_reports(self):
        self.vprof("loop", "--auto", "--max-iterations", "2", "--keep-traces")
        self.assertEqual(len(list((self.root / ".vprof/iterations").glob("*/trace"))), 2)
        self.assertIn("step", self.vprof("report").stdout)
        self.assertIn("order", self.vprof("report", "--tree").stdout)
        self.assertEqual(json.loads(self.vprof("report", "--json").stdout), self.report())
        first = json.loads(self.vprof("report", "--json", "--iteration", "1").stdout)
        self.assertEqual(len(first["iterations"]), 1)
        self.fails("report", "--iteration", "9", words=["iterations/9/report.json"])
        self.assertNotIn("\x1b", self.vprof("report").stdout)

    def test_the_limit_can_be_raised(self):
        self.assertIn("limit of 1", self.vprof("loop", "--auto", "--max-iterations", "1").stdout)
        self.assertEqual(self.state()["iteration"], 1)
        self.vprof("loop", "--auto", "--max-iterations", "2")
        self.assertEqual(self.state()["iteration"], 2)

    def test_history_and_back_to_an_earlier_iteration(self):
        self.fails("history", words=["vprof loop"])
        self.vprof("loop", "--auto")
        last = self.state()["iteration"]
        self.assertGreaterEqual(last, 2)
        out = self.vprof("history", env={"COLUMNS": "200"}).stdout
        self.assertIn("iteration 1: expanded order\n", out)
        self.assertRegex(out, r"iteration 2: expanded \w")
        self.assertRegex(out, r"compared with the run without recording: mean [\d.]+x, variance [\d.]+x")
        self.assertIn("accepted: ", out)
        history = json.loads(self.vprof("history", "--json").stdout)["iterations"]
        self.assertEqual(history, self.report()["iterations"])
        self.assertTrue(history[0]["leading"][0]["factor"])  # on a busy machine it may be preemption

        self.assertIn("there is no iteration 99", self.fails("loop", "--auto", "--from", "99", words=["99"]).stderr)
        log = self.root / ".vprof/iterations/1/run.log"
        ran = log.stat().st_mtime_ns
        out = self.vprof("loop", "--auto", "--from", "1", "--max-iterations", "1").stdout
        self.assertIn("back at iteration 1", out)
        self.assertEqual(log.stat().st_mtime_ns, ran, "nothing is measured again")
        self.assertEqual(self.state()["iteration"], 1)
        self.assertEqual(len(json.loads(self.vprof("history", "--json").stdout)["iterations"]), 1)
        self.assertTrue((self.root / ".vprof/iterations.previous/2/report.json").exists())
        self.assertFalse((self.root / ".vprof/iterations/2").exists())
        self.assertEqual((self.root / ".vprof/profile.vprof").read_bytes(),
                         (self.root / ".vprof/iterations/1/profile.vprof").read_bytes())
        # From there the search continues as usual.
        self.vprof("loop", "--auto")
        self.assertEqual(self.state()["iteration"], last)

    def test_json_on_standard_output_is_nothing_but_json(self):
        done = self.vprof("loop", "--auto", "--json", "--max-iterations", "1")
        self.assertEqual(json.loads(done.stdout), self.report())
        self.assertIn("iteration 1:", done.stderr)
        self.fails("loop", "--json", words=["--auto"])

    def called_functions(self):
        """Names of the functions whose calls the current plan measures."""
        sites = json.loads((self.root / ".vprof/sites.json").read_text())
        names = {f["id"]: f["name"] for f in sites["functions"]}
        return {names[s["function"]] for s in sites["sites"]}

    def test_the_plan_is_thinned_beyond_the_overhead_budget(self):
        # Each of many short orders calls tick() four times, which always takes the same time. Recording that takes about
        # as much processor time as the order itself, whatever else the machine does.
        self.write("src/main.c", support.MAIN_C.replace("i < 200", "i < 300000").replace(
            "static int order(int i) {\n", "int tick(int i);\nstatic int order(int i) {\n"
            "  for (int k = 0; k < 4; ++k) i += tick(i) - 1;\n").replace("  sum += finish(i);\n", ""))
        self.write("src/work.c", support.WORK_C[:support.WORK_C.index("int deep(")] + """
volatile int table[8];
int tick(int i) {
  for (int k = 0; k < 2; ++k) table[k] = i;
  return 1;
}
int step(int i) { return spin(i % 1000 == 3 ? 1000000 : 100); }
int finish(int i) { return i; }
""")
        done = self.vprof("loop", "--auto", "--overhead-budget", "5", "--max-iterations", "3")
        self.assertRegex(done.stdout, r"recording adds \d+\.\d % to the time that the program is busy, beyond the budget of "
                         r"5 %; the next plan leaves out \d call sites? called often and varying little")
        self.assertRegex(done.stdout, r"leaving out \d call site")
        overhead = self.report()["overhead"]
        self.assertEqual(overhead["budget"], 0.05)
        demoted = {one["function"]: one for one in overhead["demoted"]}
        self.assertIn("tick", demoted)
        self.assertGreater(demoted["tick"]["cost"], 0.05)
        self.assertEqual(demoted["tick"]["calls"], 4 * 300000)
        # step() may be left out as well, since it only passes on what varies: that stays.
        self.assertNotIn("spin", demoted)
        self.assertIn("spin", self.called_functions())
        self.assertRegex(self.vprof("report").stdout.replace("\n", " "),
                         r"Left out of the plan \(called often, vary little\): tick at src/main.c:\d+")
        first = json.loads(self.vprof("report", "--json", "--iteration", "1").stdout)["overhead"]
        self.assertLess(overhead["records"], first["records"])
        self.assertGreater(first["processor_ns"], 0)
        self.assertGreater(first["processor_ratio"], 0)
        self.assertNotIn("tick", self.called_functions())
        # Nothing was measured again to see how noisy the machine is.
        self.assertEqual(self.state()["baseline"]["iteration"], 1)
        # A large budget leaves nothing out.
        self.vprof("loop", "--auto", "--restart", "--max-iterations", "1", "--overhead-budget", "10000")
        self.assertEqual(self.report()["overhead"]["demoted"], [])

    def test_a_loop_within_one_interval_is_left_as_one_node(self):
        # One order in ten looks at 20,000 keys. Each look takes less than its record, so that the order takes several
        # times as long, and its looks seem to be the cause.
        self.write("src/main.c", support.MAIN_C.replace("i < 200", "i < 1000").replace(
            "static int order(int i) {\n", "int scan(int i);\nstatic int order(int i) {\n"
            "  if (i % 10 == 3) return scan(i);\n").replace("sum = step(i)", "sum = finish(i)"))
        self.write("src/work.c", support.WORK_C + """
int match(int i) { return i + (int)(now_ns() % 7); }
int scan(int i) {
  int found = 0;
  for (int k = 0; k < 20000; ++k) found += match(i + k) == 7;
  return found;
}
""")
        out = self.vprof("loop", "--auto").stdout
        self.assertRegex(out, r"in (all )?intervals.*, match is called 20000 times each, and recording that adds \d+ % to "
                         r"their latency; the next plan leaves out 1 call site of this kind")
        report = self.report()
        demoted = report["overhead"]["demoted"]
        self.assertEqual([(one["function"], one["calls"]) for one in demoted if one.get("heavy_in")], [("match", 20000)])
        self.assertNotIn("match", self.called_functions())
        self.assertFalse([f for f in report["factors"] if "match" in " ".join(f["functions"])])
        self.assertIn("scan", " ".join(report["iterations"][-1]["selected"]))
        text = self.vprof("report").stdout.replace("\n", " ")
        self.assertRegex(text, r"Left out of the plan \(too many calls within one interval\): match at src/work.c:\d+ "
                         r"\(in (all )?intervals.*: 20,000 calls each, which add \d")

    def test_through_a_function_that_a_macro_defines(self):
        # As httpd's hooks: nothing can be inserted into the function, nor at the call through the pointer.
        self.write("src/work.c", support.WORK_C.replace("int step(int i) {\n  int sum = deep(i);\n", """
static int slow_hook(int i) {
  int sum = deep(i);
""").replace("int finish(int i)", """
int finish(int i);
static int (*const hooks[])(int) = {finish, slow_hook};
#define RUN_HOOKS(name)                                                              \\
  int name(int i) {                                                                  \\
    int sum = 0;                                                                     \\
    for (unsigned k = 0; k < sizeof hooks / sizeof *hooks; ++k) sum += hooks[k](i);  \\
    return sum;                                                                      \\
  }
RUN_HOOKS(step)

int finish(int i)"""))
        out = self.vprof("loop", "--auto").stdout
        self.assertIn("expanding body(step)", out)
        self.assertRegex(out, r"expanding (.*, )?slow_hook")
        self.assertIn("deep", self.called_functions())

    def test_restart(self):
        self.vprof("loop", "--auto", "--max-iterations", "2")
        out = self.vprof("loop", "--auto", "--restart", "--max-iterations", "1").stdout
        self.assertNotIn("building the program as it is", out)
        self.assertEqual(self.state()["iteration"], 1)
        self.assertTrue((self.root / ".vprof/iterations.previous/2/report.json").exists())

    def test_other_intervals_are_another_search(self):
        self.vprof("loop", "--auto", "--max-iterations", "2")
        self.config('"function": "order"', '"function": "step"')
        self.assertIn("starting a new search", self.vprof("loop", "--auto", "--max-iterations", "1").stdout)
        self.assertEqual(self.report()["iterations"][0]["expanded"], ["step", "deep"])  # the only callee

    def test_an_edit_of_the_source_is_measured_again(self):
        self.vprof("loop", "--auto", "--max-iterations", "2")
        # Lines move, so every key changes.
        self.write("src/work.c", "/* one\n   more */\n" + (self.root / "src/work.c").read_text())
        out = self.vprof("loop", "--auto", "--max-iterations", "2").stdout
        self.assertIn("1 file copied again", out)
        self.assertIn("resuming iteration 2", out)
        self.assertTrue(all(key.startswith(("order@src/main.c:4", "step@src/work.c:27", "deep@src/work.c:21", "finish@src/work.c"))
                            for key in self.state()["expanded"]), self.state()["expanded"])

    def test_single_steps_make_one_iteration(self):
        self.vprof("index")
        self.assertIn("2 functions expanded", self.vprof("instrument", "--expand", "step").stdout)
        self.assertIn("compiled in", self.vprof("build").stdout)
        self.vprof("record", "--baseline")
        self.vprof("record")
        self.assertIn("deep", self.vprof("analyze").stdout)
        self.assertEqual(json.loads(self.vprof("analyze", "--json").stdout)["schema"], 1)
        self.vprof("record", "--", "sh", "-c", "./prog && touch was_here")
        self.assertTrue((self.root / ".vprof/mirror/was_here").exists())
        self.assertIn("resuming iteration 1", self.vprof("loop", "--auto", "--max-iterations", "1").stdout)

    def test_graph(self):
        self.vprof("index")
        out = self.vprof("graph", "step").stdout
        self.assertRegex(out, r"step  src/work.c:\d+  height \d+  can be broken down")
        self.assertRegex(out, r"order  src/main.c:5")
        self.assertRegex(out, r"deep  src/work.c:\d+")
        self.fails("graph", "stepp", words=['"step"'])

    def test_the_workload_is_run_without_shims_and_with_its_environment(self):
        self.config('"run": "./prog"', '"env": {"MINE": "a b"}, "run": "env > env.txt; ./prog"')
        self.vprof("loop", "--auto", "--max-iterations", "1")
        env = (self.root / ".vprof/mirror/env.txt").read_text()
        self.assertIn("MINE=a b\n", env)
        self.assertIn(f"VPROF_TRACE_DIR={self.root}/.vprof/iterations/1/trace\n", env)
        self.assertNotIn(".vprof/shims", env)
        self.assertNotIn("VPROF_SITES", env)

    def test_the_trace_directory_is_open_to_servers_that_give_up_root(self):
        self.vprof("loop", "--auto", "--max-iterations", "1", env={"UMASK": "077"})
        self.assertEqual(os.stat(self.root / ".vprof/iterations/1/trace").st_mode & 0o7777, 0o1777)

    def test_what_the_workload_leaves_running_is_ended(self):
        self.config('"./prog"', '"./prog; sleep 1000 & echo $! > pid"')
        done = self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertIn("left processes running", done.stderr)
        pid = (self.root / ".vprof/mirror/pid").read_text().strip()
        self.assertFalse(os.path.exists(f"/proc/{pid}") and ") Z" not in open(f"/proc/{pid}/stat").read())

    def test_only_what_changed_is_rebuilt(self):
        self.vprof("loop", "--auto", "--max-iterations", "1")
        log = (self.root / ".vprof/iterations/1/build.log").read_text()
        self.assertIn("main.c", log)
        self.assertNotIn("-c src/work.c", log)

    def test_the_source_may_be_elsewhere(self):
        outside = self.root / "profiling"
        outside.mkdir()
        (self.root / "vprof.json").rename(outside / "vprof.json")
        (outside / "vprof.json").write_text((outside / "vprof.json").read_text().replace("{", '{"source": "..",', 1))
        self.vprof("-C", "profiling", "loop", "--auto", "--max-iterations", "1")
        self.assertTrue((outside / ".vprof/report.json").exists())
        self.assertFalse((self.root / ".vprof").exists())


if __name__ == "__main__":
    unittest.main()
