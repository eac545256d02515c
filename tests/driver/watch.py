"""`vprof watch`: all intervals are measured, and the recordings of slow ones are kept."""
import os
import re
import signal
import unittest

from live_project import LiveProject

SLOW = re.compile(r"#(\d+)  (\d+\.\d) ms(.*)")


class Watch(LiveProject):
    def watch(self, *arguments):
        """A program that sleeps is hardly ever busy, so any recording costs it much."""
        return self.start("watch", "--budget", "10000", *arguments, env={**os.environ, "VPROF_CLOCK": ""})

    def slow_one(self, watcher):
        """Makes a request slow, and waits for what is said about it."""
        self.write(".vprof/mirror/slow", "")
        for line in watcher.stdout:
            if (found := SLOW.search(line)) and float(found[2]) >= 300:
                return found
        self.fail(watcher.communicate())

    def begun(self, watcher):
        for line in watcher.stdout:
            if line.startswith("watching"):
                return
        self.fail(watcher.communicate())

    def test_a_slow_request_is_kept_and_explained(self):
        watcher = self.watch("--slower-than", "250ms")
        self.begun(watcher)
        found = self.slow_one(watcher)
        self.assertIn("mostly wait(sleep) in step", found[3])
        watcher.send_signal(signal.SIGINT)
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("Where the variance comes from", out)
        report = self.report()
        self.assertGreaterEqual(report["interval"]["max_ns"], 300e6)
        self.assertEqual(self.frontier("run")[2], [])
        # It was kept: what the rings still hold is not needed.
        for file in (self.root / ".vprof/live/run").glob("*.vpt"):
            file.unlink()
        shown = self.vprof("timeline", found[1]).stdout
        self.assertIn("step", shown)
        kept = list((self.root / ".vprof/watch/kept").iterdir())
        self.assertTrue(kept)
        self.assertIn("completed", self.vprof("analyze", str(kept[0])).stdout)

    def test_a_service_is_watched_for_a_while_and_goes_on(self):
        self.live("--build")
        child = self.start_program()
        watcher = self.watch("--slower-than", "p99.9", "--for", "3", "--attach", str(child.pid))
        out, err = watcher.communicate()
        self.assertEqual(watcher.returncode, 0, err)
        self.assertIn("completed", out)
        self.assertIsNone(child.poll(), "the program goes on")
        heartbeat, _, on = self.frontier("trace")
        self.assertEqual((heartbeat, on), (0, []))

    def test_bad_bounds(self):
        for bound in ("50", "ms", "-1ms", "p50", "p99.99", "5 s"):
            self.fails("watch", f"--slower-than={bound}", words=["--slower-than", "50ms"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
