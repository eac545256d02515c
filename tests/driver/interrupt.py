"""Ctrl-C in every step: exit code 130, a state from which the loop continues, and no process left behind.

Nothing here depends on time. A command blocks at a gate, a FIFO that nobody writes to, until a signal ends it. Waits have no bound
except HANG_GUARD, which only turns a hang into a failure.
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from support import Project

HANG_GUARD = 600  # seconds
CUT_SHORT = pathlib.Path(__file__).with_name("cut_short.c")
# A workload that ignores signals. It ends when it is killed.
DEAF = r'''"trap 'touch asked' INT TERM; touch reached; while :; do cat ../../gate; done"'''


class Interrupt(Project):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.root / "gate")
        self.addCleanup(self.end_orphans)

    def block(self, key, flag):
        """Makes the command at `key` create the file `flag` and block, unless the file `free` exists."""
        command = {"build": '"make"', "run": '"./prog"', "configure": '"true"'}[key]
        blocks = f"{command[:-1]}; touch {flag}; test -f '{self.root.parent}/free' || cat ../../gate" + '"'
        self.config(f'"{key}": {command}', f'"{key}": {blocks}')

    def loop_until_blocked(self, *arguments, env=None):
        child = self.start("loop", "--auto", *arguments, env={**os.environ, **(env or {})})
        self.wait_for(".vprof/mirror/reached", child)
        return child

    def interrupted(self, child, wanted=signal.SIGINT):
        child.send_signal(wanted)
        out, err = child.communicate(timeout=HANG_GUARD)
        self.assertEqual(child.returncode, 128 + wanted, out + err)
        self.assertIn("run the same command again to resume", err)
        deadline = time.monotonic() + HANG_GUARD
        while self.orphans():  # a killed process takes a moment to disappear
            self.assertLess(time.monotonic(), deadline, "a process was left behind")
            time.sleep(0.01)

    def orphans(self):
        """Processes that run in the mirror."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(f"{self.root}/.vprof"):
                    found.append(int(pid))
            except OSError:
                pass
        return found

    def end_orphans(self):
        """A vprof that was killed could not end its workload."""
        for pid in self.orphans():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def resumes(self, iteration=1):
        """Lets the command pass its gate and completes an iteration."""
        (self.root.parent / "free").touch()
        before = self.snapshot()
        done = self.vprof("loop", "--auto", "--max-iterations", str(iteration))
        self.assertEqual(self.snapshot(), before)
        self.assertTrue((self.root / f".vprof/iterations/{iteration}/report.json").exists())
        return done.stdout

    def copying_cut_short_by(self, signal_number):
        """Starts `vprof index`, and lets the signal arrive while it copies the first file of the source."""
        place = tempfile.TemporaryDirectory()  # the project's path has a blank, which LD_PRELOAD cannot have
        self.addCleanup(place.cleanup)
        library = f"{place.name}/cut_short.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, CUT_SHORT, "-ldl"], check=True)
        # The kernel stops no orphaned process group, which a session of its own makes of vprof.
        return self.start("index", start_new_session=True, env={
            **os.environ, "LD_PRELOAD": library, "CUT_SHORT": str(int(signal_number))})

    def test_while_copying_a_file(self):
        out, err = (child := self.copying_cut_short_by(signal.SIGINT)).communicate(timeout=HANG_GUARD)
        self.assertEqual(child.returncode, 130, out + err)
        self.assertEqual([line for line in err.splitlines() if line.startswith("vprof: ")],
                         ["vprof: interrupted; run the same command again to resume"])
        self.resumes()

    def test_ctrl_z_while_copying_a_file(self):
        out, err = (child := self.copying_cut_short_by(signal.SIGTSTP)).communicate(timeout=HANG_GUARD)
        self.assertEqual(child.returncode, 0, out + err)

    def test_while_configuring(self):
        self.config('"build"', '"configure": "true", "build"')
        self.block("configure", "reached")
        self.interrupted(self.loop_until_blocked())
        self.resumes()

    def test_in_the_first_build(self):
        self.block("build", "reached")
        self.interrupted(self.loop_until_blocked())
        self.resumes()

    def test_in_an_instrumented_build(self):
        self.block("build", "$(test -f once && echo reached || echo once)")
        (self.root.parent / "free").touch()
        self.vprof("index")
        (self.root.parent / "free").unlink()
        self.interrupted(self.loop_until_blocked())
        self.assertIn("resuming iteration 1", self.resumes())

    def test_in_the_workload(self):
        self.block("run", "reached")
        self.interrupted(self.loop_until_blocked())
        state = json.loads((self.root / ".vprof/state.json").read_text())
        self.assertEqual((state["iteration"], state["step"]), (1, "measure"))
        self.assertIn("resuming iteration 1", self.resumes())

    def test_in_the_second_iteration(self):
        # Every function counts as a factor, so that there is a second iteration even on a busy machine.
        self.config('"record"', '"factors": { "k": 100, "threshold": 0, "dominance": 1 },\n  "record"')
        self.vprof("loop", "--auto", "--max-iterations", "1")
        self.block("run", "reached")
        self.interrupted(self.loop_until_blocked("--max-iterations", "2"))
        self.assertIn("resuming iteration 2", self.resumes(iteration=2))

    def test_a_second_signal_kills_at_once(self):
        self.config('"./prog"', DEAF)
        # The grace period never ends, so that only the second signal can end the workload.
        child = self.loop_until_blocked(env={"VPROF_GRACE_S": "1000000"})
        child.send_signal(signal.SIGINT)
        self.wait_for(".vprof/mirror/asked", child)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=HANG_GUARD)
        self.assertEqual(child.returncode, 130)

    def test_a_workload_that_ignores_signals_is_killed_after_the_grace_period(self):
        self.config('"./prog"', DEAF)
        self.interrupted(self.loop_until_blocked(env={"VPROF_GRACE_S": "0"}))

    def test_termination_is_an_interruption(self):
        self.block("run", "reached")
        self.interrupted(self.loop_until_blocked(), signal.SIGTERM)

    def test_killed_without_warning(self):
        self.block("run", "reached")
        child = self.loop_until_blocked()
        child.kill()
        child.wait()
        self.end_orphans()
        self.assertIn("resuming iteration 1", self.resumes())

    def test_two_at_once_refuse_each_other(self):
        self.block("run", "reached")
        child = self.loop_until_blocked()
        self.fails("loop", "--auto", words=["another vprof"])
        self.fails("build", words=["another vprof"])
        self.vprof("check")
        self.interrupted(child)


if __name__ == "__main__":
    unittest.main()
