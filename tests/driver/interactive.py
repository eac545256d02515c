"""The loop at a terminal, driven through a pseudo-terminal as a user would."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from support import VPROF, Project, end

PROMPT = r"\[q\]uit \([ea]\): $"


class Terminal:
    def __init__(self, test, *arguments):
        master, slave = pty.openpty()
        self.test = test
        self.master = master
        self.text = ""
        # A session of its own, so that Ctrl-C typed at the terminal reaches the program.
        self.child = subprocess.Popen([VPROF, *arguments], cwd=test.root, stdin=slave, stdout=slave, stderr=slave,
                                      start_new_session=True, preexec_fn=self.adopt_terminal)
        os.close(slave)
        test.addCleanup(os.close, master)
        test.addCleanup(end, self.child)

    @staticmethod
    def adopt_terminal():
        import fcntl
        import termios
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self, timeout):
        """Waits for output: None if there was none in time, "" at the end."""
        if not select.select([self.master], [], [], timeout)[0]:
            return None
        try:
            return os.read(self.master, 65536).decode(errors="replace")
        except OSError:
            return ""

    def expect(self, pattern, timeout=60):
        """Returns the output up to the end of `pattern` and drops it from the buffer."""
        deadline = time.time() + timeout
        while not re.search(pattern, self.text):
            more = self.read(0.2)
            if more == "" or time.time() > deadline:
                self.test.fail(f"{pattern!r} did not come; there is:\n{self.text}")
            self.text += (more or "").replace("\r\n", "\n")
        end_of_match = re.search(pattern, self.text).end()
        seen, self.text = self.text[:end_of_match], self.text[end_of_match:]
        return seen

    def type(self, text):
        os.write(self.master, text.encode())

    def finish(self, code=0, timeout=60):
        """Waits for the end of the program and returns the remaining output."""
        deadline = time.time() + timeout
        while time.time() < deadline:
            more = self.read(0.2)
            if more == "":
                break
            self.text += more or ""
            if more is None and self.child.poll() is not None:
                break
        self.test.assertEqual(self.child.wait(timeout=10), code, self.text)
        return self.text


class Interactive(Project):
    def state(self):
        return json.loads((self.root / ".vprof/state.json").read_text())

    def answer(self, terminal, choose, code=0):
        """Answers every question by `choose(name)` until the program ends."""
        asked = []
        while True:
            seen = terminal.expect(rf"(?:{PROMPT})|(?:vprof loop` resumes)|(?:done after)|(?:limit of)")
            if not re.search(PROMPT, seen):
                break
            name = re.findall(r"^\d+\. (.+?)  ", seen, re.M)[-1]
            asked.append(name)
            terminal.type(choose(name) + "\n")
        terminal.finish(code)
        return asked

    def test_expand_then_accept(self):
        before = self.snapshot()
        terminal = Terminal(self, "loop")
        names = self.answer(terminal, lambda name: "e" if name == "step" else "a")
        self.assertIn("step", names)
        self.assertIn("step@", self.state()["expanded"][1])
        self.assertEqual(self.state()["step"], "done")
        self.assertTrue(self.state()["selected"])
        self.assertEqual(self.snapshot(), before)
        statuses = {tuple(f["functions"]): f["status"]
                    for f in json.loads((self.root / ".vprof/report.json").read_text())["factors"]}
        self.assertIn("selected", statuses.values())

    def test_set_aside_is_not_asked_again(self):
        terminal = Terminal(self, "loop")
        names = self.answer(terminal, lambda name: "s" if name == "step" else "a")
        self.assertEqual(names.count("step"), 1)
        self.assertEqual([one["name"] for one in self.state()["set_aside"]], ["step"])
        self.assertEqual(self.answer(Terminal(self, "loop"), lambda name: "a"), [])

    def test_source_and_tree_are_shown_and_nonsense_is_asked_again(self):
        terminal = Terminal(self, "loop")
        while not re.search(r"\n\d+\. step  ", seen := terminal.expect(PROMPT)):
            terminal.type("s\n")  # on a busy machine another factor may come first
        self.assertRegex(seen, r"\d+\. step  src/work\.c:\d+\n +[\d.]+ % of the variance")
        terminal.type("o\n")
        self.assertRegex(terminal.expect(PROMPT), r" 25  int step\(")
        terminal.type("t\n")
        self.assertIn("order", terminal.expect(PROMPT))
        terminal.type("?\n")
        self.assertIn("letters in brackets", terminal.expect(PROMPT))
        terminal.type("q\n")
        self.assertIn("resumes here", terminal.finish())

    def test_quit_keeps_what_was_decided_and_goes_on_without_a_new_run(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("s\n")
        terminal.expect(PROMPT + r"|done after")
        terminal.type("q\n")
        terminal.finish()
        self.assertEqual(len(self.state()["set_aside"]), 1)
        run = (self.root / ".vprof/iterations/1/run.log").stat().st_mtime_ns
        again = Terminal(self, "loop")
        seen = again.expect(PROMPT + r"|done after")
        self.assertNotIn("expanding", seen)
        self.assertEqual((self.root / ".vprof/iterations/1/run.log").stat().st_mtime_ns, run)

    def test_end_of_input_quits(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("\x04")
        self.assertIn("resumes here", terminal.finish())

    def test_ctrl_c_at_the_question(self):
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)
        terminal.type("\x03")
        self.assertIn("interrupted", terminal.finish(code=128 + signal.SIGINT))
        terminal = Terminal(self, "loop")
        terminal.expect(PROMPT)

    def test_ctrl_c_in_the_workload(self):
        self.config('"./prog"', '"./prog; touch reached; test -f free || sleep 1000"')
        terminal = Terminal(self, "loop")
        self.wait_for(".vprof/mirror/reached", terminal.child)
        terminal.type("\x03")
        self.assertIn("interrupted", terminal.finish(code=130))
        self.write(".vprof/mirror/free", "")
        Terminal(self, "loop").expect(PROMPT)

    def test_progress_is_a_line_that_is_redrawn(self):
        self.config('"make"', '"make; sleep 1.5"')
        terminal = Terminal(self, "loop")
        seen = terminal.expect(PROMPT)
        self.assertRegex(seen, r"\r\x1b\[K[|/\\-] build: 1\.\d s")


class NoTerminal(Project):
    def test_progress_is_plain_lines(self):
        self.config('"make"', '"make; sleep 1.5"')
        done = self.vprof("loop", "--auto", "--max-iterations", "1")
        self.assertRegex(done.stderr, r"(?m)^build: 1\.\d s \.\.\.$")
        self.assertRegex(done.stderr, r"(?m)^build: 1\.\d s$")
        self.assertNotIn("\x1b", done.stderr)


if __name__ == "__main__":
    unittest.main()
