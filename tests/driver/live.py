"""`vprof live`: a program is built once, and its sites are switched while it runs."""
import fcntl
import json
import os
import signal
import subprocess
import time
import unittest

from live_project import LiveProject


class Live(LiveProject):
    def test_the_cause_is_found_in_one_run(self):
        before = self.snapshot()
        out = self.live("--epoch", "2").stdout
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(out.count("building the program with its call sites"), 1, out)
        self.assertIn("breaking down", out)
        self.assertIn("done after iteration", out)
        report = self.report()
        self.assertGreaterEqual(len(report["iterations"]), 2)
        self.assertIn("deep", {name for one in report["iterations"] for name in one["expanded"]})
        leading = [f for f in report["factors"] if f["status"] == "selected"]
        self.assertTrue(leading, report["factors"])
        self.assertIn("deep", leading[0]["instances"][0]["path"])
        self.assertGreater(leading[0]["share"], 0.8)
        self.assertGreater(report["overhead"]["baseline_mean_ns"], 0)
        # All sites are off, and nobody drives any more.
        heartbeat, epoch, on = self.frontier("run")
        self.assertEqual((heartbeat, on), (0, []))
        self.assertGreater(epoch, 2)
        # What reads single intervals finds them.
        worst = leading[0]["worst"][0]["id"]
        self.assertIn("deep", self.vprof("timeline", "--all", str(worst)).stdout)
        self.assertIn("iteration 2", self.vprof("history").stdout)
        # All of it together would be a mixture of what was measured at different times.
        self.fails("analyze", words=["live run", "vprof report"])
        # A second one goes on without a build.
        again = self.live("--epoch", "1").stdout
        self.assertIn("resuming iteration", again)
        self.assertNotIn("building", again)

    def test_a_workload_that_ends_early_is_no_error(self):
        self.config('"./prog"', '"./prog 300"')
        out = self.live("--epoch", "60").stdout
        self.assertIn("the program has ended", out)
        self.assertGreater(self.report()["interval"]["count"], 0)
        self.config('"./prog 300"', '"./prog"')
        out = self.live("--epoch", "2").stdout
        self.assertNotIn("building", out)
        self.assertIn("done after iteration", out)

    def test_the_limit_of_iterations_ends_the_search(self):
        self.config('"run":', '"max_iterations": 1, "run":')
        out = self.live("--epoch", "2").stdout
        self.assertIn("stopped after iteration 1, the limit by `max_iterations`", out)
        self.assertNotIn("breaking down", out)
        self.assertEqual(len(self.report()["iterations"]), 1)

    def test_no_interval_is_one_line(self):
        self.config('"./prog"', '"true"')
        self.fails("live", words=["vprof.json:5", "order", "never called"])

    def test_attach_and_leave(self):
        out = self.live("--build").stdout
        self.assertIn("VPROF_TRACE_DIR=", out)
        child = self.start_program()
        out = self.live("--attach", str(child.pid), "--epoch", "2").stdout
        self.assertIn("done after iteration", out)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))
        # Again, and stopped in the middle.
        driver = self.start("live", "--attach", ".vprof/live/trace", "--restart", "--epoch", "600", "--budget", "10000",
                            env={**os.environ, "VPROF_CLOCK": ""})
        while not self.frontier("trace")[2]:
            self.assertIsNone(driver.poll())
            time.sleep(0.02)
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate()
        self.assertEqual(driver.returncode, 130, err)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))

    def test_what_costs_too_much_is_recorded_in_slices(self):
        self.vprof("live", "--build")
        child = self.start_program()
        # The program sleeps, so even its waits cost it more than that.
        out = self.vprof("live", "--attach", str(child.pid), "--budget", "0.5", "--epoch", "4",
                         env={"VPROF_CLOCK": ""}).stdout
        self.assertIn("done after iteration", out)
        slices = [[float(word) for word in line.split()]
                  for line in (self.root / ".vprof/live/trace/slices").read_text().splitlines()]
        self.assertGreater(len({since for since, *_ in slices}), 3, slices)
        for since, begin, end, until, cost, _ in slices:
            self.assertTrue(since <= begin < end <= until, slices)
            self.assertGreaterEqual(cost, 0)  # none: the program did not get a processor
        self.assertGreater(max(cost for *_, cost, _ in slices), 0)
        report = self.report()
        self.assertGreater(report["interval"]["count"], 1)
        # The call, if what it waits for is a processor rather than the clock.
        self.assertIn(report["factors"][0]["functions"], (["wait(sleep)"], ["nanosleep"]))
        worst = report["factors"][0]["worst"][0]
        self.assertIn(f"#{worst['id']}", self.vprof("timeline", str(worst["id"])).stdout)
        # Only what was recorded with the sites of the report.
        annotated = json.loads(self.vprof("annotate", "order", "--json").stdout)
        self.assertEqual(annotated["functions"][0]["costs"]["intervals"], report["interval"]["count"])

    def test_another_vprof_brings_its_library_without_a_build(self):
        self.live("--build")
        library = self.root / ".vprof/runtime/lib/libvprof.so"
        own = library.read_bytes()
        library.resolve().write_bytes(b"of another vprof")
        self.assertNotIn("building", self.live("--build").stdout)
        self.assertEqual(library.read_bytes(), own)

    def test_attaching_leaves_the_program_as_it_was_built(self):
        self.fails("live", "--attach", str(os.getpid()), words=["VPROF_TRACE_DIR"])
        self.live("--build")
        child = self.start_program()
        built = self.snapshot(".vprof/mirror")
        self.write("src/work.c", (self.root / "src/work.c").read_text() + "int more(void) { return 1; }\n")
        done = self.live("--attach", str(child.pid), "--epoch", "1")
        self.assertIn("done after iteration", done.stdout)
        self.assertEqual(self.snapshot(".vprof/mirror"), built)
        # What is recorded is not what this configuration asks for.
        self.config('"function": "order"', '"function": "step"')
        self.fails("live", "--attach", str(child.pid), words=["vprof live --build", "start it again"])
        (self.root / ".vprof/live/armed").unlink()
        self.fails("live", "--attach", str(child.pid), words=["vprof live --build"])
        self.assertEqual(self.snapshot(".vprof/mirror"), built)
        self.assertIsNone(child.poll(), "the program goes on")

    def test_a_program_of_an_earlier_build_is_refused(self):
        self.live("--build")
        child = self.start_program()
        self.write("src/work.c", (self.root / "src/work.c").read_text().replace("20)", "30)"))
        self.live("--build")
        for verb in (["live"], ["watch", "--slower-than", "1s"]):
            self.fails(*verb, "--attach", str(child.pid), words=[str(child.pid), "built again since", "start the program again"])

    def test_a_program_that_does_not_record_is_named(self):
        self.live("--build")
        trace = str(self.root / ".vprof/live/trace")
        other = subprocess.Popen(["sleep", "2"], env={**os.environ, "VPROF_TRACE_DIR": trace})
        self.fails("live", "--attach", str(other.pid),
                   words=["no process has recorded anything", "order", "vprof live --build", f"VPROF_TRACE_DIR={trace}"])
        other.wait()

    def test_a_driver_that_is_killed_leaves_all_sites_off(self):
        self.live("--build")
        child = self.start_program()
        driver = self.start("live", "--attach", str(child.pid), "--epoch", "600", "--budget", "10000",
                            env={**os.environ, "VPROF_CLOCK": ""})
        while not self.frontier("trace")[2]:
            self.assertIsNone(driver.poll())
            time.sleep(0.02)
        driver.kill()
        while True:  # ctest ends a test that hangs
            heartbeat, _, on = self.frontier("trace")
            if heartbeat == 0 and not on:
                break
            time.sleep(0.02)
        self.assertIsNone(child.poll(), "the program goes on")

    def test_bad_targets(self):
        self.live("--build")
        self.fails("live", "--attach", "999999999", words=["999999999"])
        self.fails("live", "--attach", str(os.getpid()), words=["VPROF_TRACE_DIR"])
        self.fails("live", "--attach", "src", words=["src/frontier", "vprof live --build"])
        file = self.root / ".vprof/live/trace/frontier"
        with open(file, "r+b") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.fails("live", "--attach", ".vprof/live/trace", words=["another vprof"])
        file.write_bytes(b"not a control file")
        self.fails("live", "--attach", ".vprof/live/trace", words=["frontier", "delete it"])
        file.unlink()
        file.symlink_to("/etc/passwd")
        self.fails("live", "--attach", ".vprof/live/trace", words=["frontier"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
