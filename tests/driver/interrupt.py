"""Ctrl-C at every step: exit code 130, a state from which the loop goes on, no process left behind."""
import json
import os
import signal
import time
import unittest

from support import Project


class Interrupt(Project):
    def slow(self, key, flag):
        """Makes the command behind `key` wait in the middle as long as there is no file `free`."""
        command = {"build": '"make"', "run": '"./prog"', "configure": '"true"'}[key]
        waits = f"{command[:-1]}; touch {flag}; test -f '{self.root.parent}/free' || sleep 1000" + '"'
        self.config(f'"{key}": {command}', f'"{key}": {waits}')

    def interrupted(self, child, wanted=signal.SIGINT):
        child.send_signal(wanted)
        out, err = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 128 + wanted, out + err)
        self.assertIn("run the same command again to resume", err)
        self.assertNotIn(f"{self.root}", self.commands(), "a process was left behind")

    def commands(self):
        """Working directories of all `sleep 1000` on the machine."""
        places = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as line:
                    if line.read() == b"sleep\x001000\x00":
                        places.append(os.readlink(f"/proc/{pid}/cwd"))
            except OSError:
                pass
        return " ".join(places)

    def end_orphans(self):
        """Of a vprof that was killed: nobody could end its workload."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(f"{self.root}/.vprof"):
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass

    def resumes(self):
        (self.root.parent / "free").touch()
        before = self.snapshot()
        done = self.vprof("loop", "--auto", "--max-iterations", "2")
        self.assertEqual(self.snapshot(), before)
        self.assertTrue((self.root / ".vprof/iterations/2/report.json").exists())
        return done.stdout

    def test_while_configuring(self):
        self.config('"build"', '"configure": "true", "build"')
        self.slow("configure", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)
        self.resumes()

    def test_in_the_first_build(self):
        self.slow("build", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)
        self.resumes()

    def test_in_an_instrumented_build(self):
        self.slow("build", "$(test -f once && echo reached || echo once)")
        (self.root.parent / "free").touch()
        self.vprof("index")
        (self.root.parent / "free").unlink()
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)
        self.assertIn("resuming iteration 1", self.resumes())

    def test_in_the_workload(self):
        self.slow("run", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)
        state = json.loads((self.root / ".vprof/state.json").read_text())
        self.assertEqual((state["iteration"], state["step"]), (1, "measure"))
        self.assertIn("resuming iteration 1", self.resumes())

    def test_in_the_second_iteration(self):
        self.vprof("loop", "--auto", "--max-iterations", "1")
        self.slow("run", "reached")
        child = self.start("loop", "--auto", "--max-iterations", "2")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)
        self.assertIn("resuming iteration 2", self.resumes())

    def test_a_second_signal_kills_at_once(self):
        self.config('"./prog"', '"trap : INT TERM; touch reached; while :; do sleep 0.1; done"')
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(child.poll())
        start = time.time()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=10)
        self.assertEqual(child.returncode, 130)
        self.assertLess(time.time() - start, 2)

    def test_a_workload_that_does_not_listen_is_killed_after_a_while(self):
        self.config('"./prog"', '"trap : INT TERM; touch reached; while :; do sleep 0.1; done"')
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child)

    def test_termination_is_an_interruption_too(self):
        self.slow("run", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.interrupted(child, signal.SIGTERM)

    def test_killed_without_warning(self):
        self.slow("run", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        child.kill()
        child.wait()
        self.end_orphans()
        self.assertIn("resuming iteration 1", self.resumes())

    def test_two_at_once_refuse_each_other(self):
        self.slow("run", "reached")
        child = self.start("loop", "--auto")
        self.wait_for(".vprof/mirror/reached", child)
        self.fails("loop", "--auto", words=["another vprof"])
        self.fails("build", words=["another vprof"])
        self.vprof("check")
        self.interrupted(child)


if __name__ == "__main__":
    unittest.main()
